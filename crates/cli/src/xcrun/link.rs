//! `metallib`, and `metal` without `-c`: from objects to a library.

use std::path::{Path, PathBuf};

use air::metallib::{Function, Header, Library};
use msl::LanguageVersion;

use super::archive;
use super::compile::{functions, refused, write};
use super::flags::Flags;
use crate::compile::link::Linked;
use crate::compile::merge::Merge;
use crate::compile::{Contents, Failure, Result, library_functions};
use crate::{input, output};

/// The library of `metal` without `-o`.
const DEFAULT: &str = "default.metallib";

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<String> = arguments
        .iter()
        // Apple's linker can split modules, and optimize; here they are.
        .filter(|argument| {
            !matches!(argument.as_str(), "-split-module" | "--split-module" | "-split-module-without-linking")
        })
        .cloned()
        .collect();
    let flags = Flags { takes_objects: true, ..Flags::parse(&arguments)? };
    if let Some(question) = flags.question {
        return question.answer("metallib");
    }
    if flags.inputs.is_empty() {
        return Err(Failure::Refused("no input files".into()));
    }
    if let Some(source) = flags.inputs.iter().find(|file| !input::is_stdin(file) && is_source(file)) {
        return Err(refused(source, &"it is a source: compile it with metal -c first"));
    }
    link(&flags)
}

fn is_source(file: &Path) -> bool {
    input::is_stdin(file) || file.extension().is_some_and(|extension| extension == "metal")
}

pub(super) fn link(flags: &Flags) -> Result<()> {
    let path = flags.output.clone().unwrap_or_else(|| PathBuf::from(DEFAULT));
    if flags.dynamic {
        let message = "-dynamiclib is not supported by this command: use metalworks compile --dynamic";
        return Err(Failure::Refused(message.into()));
    }
    let linked = Linked::read(&libraries(flags)?)?;
    let mut merge = Merge::new();
    for file in &flags.inputs {
        for contents in inputs(flags, file, &path)? {
            contents.functions.iter().try_for_each(|function| linked.check(file, function))?;
            let header = flags.macos.map_or(contents.header, Header::for_macos);
            merge.add(file, header, contents.functions)?;
        }
    }
    let (mut library, undescribed) = merge.finish();
    if let Some(function) = undescribed {
        let path = path.display();
        output::warning(&format!("{path}: no reflection list, since '{function}' cannot be described in one"))?;
    }
    library.link_with(linked.install_names.iter().map(String::as_str));
    let bytes = library.write().map_err(|error| refused(&path, &error))?;
    write(&path, &bytes)
}

/// Files of the libraries of `-l`.
fn libraries(flags: &Flags) -> Result<Vec<PathBuf>> {
    let find = |name: &String| {
        let names = [format!("lib{name}.metallib"), format!("{name}.metallib")];
        let here = [PathBuf::from(".")];
        let mut folders = flags.library_folders.iter().chain(&here);
        let found =
            folders.find_map(|folder| names.iter().map(|name| folder.join(name)).find(|path| path.is_file()));
        found.ok_or_else(|| Failure::Refused(format!("library not found for -l{name}")))
    };
    flags.libraries.iter().map(find).collect()
}

/// The functions of an input: a source, an object, an archive of objects, or a library.
fn inputs(flags: &Flags, file: &Path, output: &Path) -> Result<Vec<Contents>> {
    if is_source(file) && !flags.takes_objects {
        return Ok(vec![functions(flags, file, output)?]);
    }
    compiled(file)
}

/// The functions of an object, an archive of objects, or a library. Objects come through a pipe, too:
/// `metal -c k.metal -o - | metallib - -o k.metallib`.
fn compiled(file: &Path) -> Result<Vec<Contents>> {
    let is_stdin = input::is_stdin(file);
    let bytes = if is_stdin { input::stdin_bytes() } else { input::bytes(file) };
    let bytes = bytes.map_err(Failure::NotTried)?;
    if air::is_object(&bytes) {
        return Ok(vec![object(file, &bytes)?]);
    }
    if archive::is_archive(&bytes) {
        let members = archive::members(&bytes).map_err(|error| refused(file, &error))?;
        return members.into_iter().map(|member| object(file, member.bytes)).collect();
    }
    if !is_stdin && Library::parse(&bytes).is_ok() {
        return Ok(vec![library_functions(file, |_| true)?]);
    }
    Err(refused(file, &"it is neither a source (.metal) nor an object, an archive or a library"))
}

/// `metal-nm`: prints the functions of objects, archives and libraries.
pub(super) fn list_symbols(arguments: &[String]) -> Result<()> {
    let files: Vec<&Path> = arguments.iter().filter(|argument| !argument.starts_with('-')).map(Path::new).collect();
    if files.is_empty() {
        return Err(Failure::Refused("no input files".into()));
    }
    for file in &files {
        if files.len() > 1 {
            output::result(&format!("\n{}:\n", file.display()))?;
        }
        for contents in compiled(file)? {
            let names =
                contents.functions.iter().map(|function| format!("---------------- T {}\n", function.name()));
            output::result(&names.collect::<String>())?;
        }
    }
    Ok(())
}

fn object(file: &Path, bytes: &[u8]) -> Result<Contents> {
    let functions = air::read_object(bytes).map_err(|error| refused(file, &error))?;
    let macos = |function: &Function| {
        let (major, minor) = function.language_version;
        air::AirVersion::of(LanguageVersion::new(major.into(), minor.into())).macos
    };
    let header = functions.iter().map(macos).max().map_or_else(Header::default, Header::for_macos);
    Ok(Contents { header, functions, left_out: Vec::new() })
}
