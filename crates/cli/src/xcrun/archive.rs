//! `metal-ar`: archives of objects, in the format of `ar`.

use std::path::Path;

use super::compile::write;
use crate::compile::{Failure, Result};
use crate::{input, output};

const MAGIC: &[u8] = b"!<arch>\n";
/// Size of the header of a member.
const HEADER: usize = 60;

/// A file in an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: &'a [u8],
}

pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The files in an archive, names of BSD's form (`#1/12`) included; the error is a message.
pub(super) fn members(bytes: &[u8]) -> std::result::Result<Vec<Member<'_>>, String> {
    let mut rest = bytes.strip_prefix(MAGIC).ok_or("it is no archive")?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let damaged = || format!("the archive is damaged at byte {}", bytes.len() - rest.len());
        let header = rest.get(..HEADER).and_then(|header| std::str::from_utf8(header).ok()).ok_or_else(damaged)?;
        let field = |range: std::ops::Range<usize>| header.get(range).map(str::trim_end).ok_or_else(damaged);
        let size: usize = field(48..58)?.parse().map_err(|_| damaged())?;
        let body = rest.get(HEADER..).and_then(|body| body.get(..size)).ok_or_else(damaged)?;
        let name = field(0..16)?;
        let member = match name.strip_prefix("#1/") {
            Some(length) => {
                let length: usize = length.parse().map_err(|_| damaged())?;
                let (name, bytes) = body.split_at_checked(length).ok_or_else(damaged)?;
                let name = std::str::from_utf8(name).map_err(|_| damaged())?;
                Member { name: name.trim_end_matches('\0'), bytes }
            }
            None => Member { name: name.trim_end_matches('/'), bytes: body },
        };
        // Others' archives begin with a list of symbols.
        if !matches!(member.name, "" | "__.SYMDEF" | "__.SYMDEF SORTED") {
            members.push(member);
        }
        rest = &rest[(HEADER + size.next_multiple_of(2)).min(rest.len())..];
    }
    Ok(members)
}

fn archive(members: &[Member]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for member in members {
        // BSD's form, since names are long. The padding keeps members at even offsets.
        let name = member.name.len().next_multiple_of(4);
        let size = name + member.bytes.len();
        bytes.extend(
            format!("{:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", format!("#1/{name}"), 0, 0, 0, 644).bytes(),
        );
        bytes.extend(member.name.bytes());
        bytes.extend(std::iter::repeat_n(0, name - member.name.len()));
        bytes.extend(member.bytes);
        if !size.is_multiple_of(2) {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// `metal-libtool -static FILES -o ARCHIVE`
pub(super) fn libtool(arguments: &[String]) -> Result<()> {
    let (mut output, mut files, mut is_static) = (None, Vec::new(), false);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-static" => is_static = true,
            "-o" => output = arguments.next().cloned(),
            "-c" | "-D" | "-v" => {}
            flag if flag.starts_with('-') => return Err(Failure::Refused(format!("unknown argument: '{flag}'"))),
            _ => files.push(argument.clone()),
        }
    }
    match output {
        Some(output) if is_static && !files.is_empty() => {
            // An old archive is replaced.
            if let Err(error) = std::fs::remove_file(&output)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(Failure::NotTried(format!("cannot replace '{output}': {error}")));
            }
            run(&[vec!["rcs".to_owned(), output], files].concat())
        }
        _ => Err(Failure::Refused("usage: metal-libtool -static FILES -o ARCHIVE".into())),
    }
}

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let [operation, path, files @ ..] = arguments else {
        return Err(Failure::Refused("usage: metal-ar rcs ARCHIVE FILES, or metal-ar t|x ARCHIVE".into()));
    };
    let path = Path::new(path);
    let operation = operation.trim_start_matches('-');
    let unknown = operation.chars().find(|letter| !"rqtxcsuvD".contains(*letter));
    if let Some(letter) = unknown {
        return Err(Failure::Refused(format!("unknown option {letter}")));
    }
    let read = |path: &Path| input::bytes(path).map_err(Failure::NotTried);
    let old = if path.exists() { read(path)? } else { MAGIC.to_vec() };
    let mut present = members(&old).map_err(|error| Failure::Refused(format!("{}: {error}", path.display())))?;
    if operation.contains(['t', 'x']) {
        if !path.exists() {
            return Err(Failure::NotTried(format!("cannot read '{}': no such file", path.display())));
        }
        for member in present {
            if operation.contains('t') {
                output::result(&format!("{}\n", member.name))?;
            } else {
                let name = Path::new(member.name).file_name().unwrap_or_default();
                write(Path::new(name), member.bytes)?;
            }
        }
        return Ok(());
    }
    if !operation.contains(['r', 'q']) {
        return Err(Failure::Refused("specify one of the operations r, q, t and x".into()));
    }
    let added: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|file| {
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, read(Path::new(file))?))
        })
        .collect::<Result<_>>()?;
    for (name, bytes) in &added {
        let member = Member { name, bytes };
        match present.iter_mut().find(|present| present.name == name) {
            Some(place) if operation.contains('r') => *place = member,
            _ => present.push(member),
        }
    }
    write(path, &archive(&present))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back() {
        let files =
            [Member { name: "a.air", bytes: b"123" }, Member { name: "a long name of a file.air", bytes: b"" }];
        let bytes = archive(&files);
        assert_eq!(members(&bytes).expect("it is read"), files);
        // GNU's form of a short name.
        let gnu = format!("!<arch>\n{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\nxy", "b.air/", 0, 0, 0, 644, 2);
        assert_eq!(members(gnu.as_bytes()).expect("it is read"), [Member { name: "b.air", bytes: b"xy" }]);
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = archive(&[Member { name: "a.air", bytes: b"123" }]);
        for end in MAGIC.len() + 1..bytes.len() - 1 {
            assert!(members(&bytes[..end]).is_err(), "{end}");
        }
    }
}
