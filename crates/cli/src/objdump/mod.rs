//! `metalworks objdump`: prints the contents of a `.metallib`.

mod detail;
mod json;
mod text;

use std::io;
use std::path::PathBuf;

use air::metallib::{Function, Library, stored_uuid};
use clap::Args;

use crate::input;
use crate::output::{self, FormatFlag, Outcome};
use crate::reflect::no_such_kernel;
use detail::Detail;

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks objdump kernels.metallib
  metalworks objdump kernels.metallib gemv
  metalworks objdump kernels.metallib --all --json

Exit status: 0 success, 1 the file is damaged or has no such function, 2 it could
not be read.";

#[derive(Args)]
pub(crate) struct Objdump {
    /// Read this library
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Print these functions in full
    ///
    /// Also their metadata, the reflection that the library has for them, and their AIR as text.
    #[arg(value_name = "KERNELS", conflicts_with = "all")]
    kernels: Vec<String>,

    /// Print all functions in full
    #[arg(long)]
    all: bool,

    /// Print JSON
    ///
    /// One object with the header and `functions`.
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,
}

/// A library, its file, and the functions to print.
struct Dump<'a> {
    file: String,
    bytes: &'a [u8],
    library: &'a Library<'a>,
    uuid: Option<[u8; 16]>,
    listed: Vec<Listed<'a>>,
}

/// A function to print.
struct Listed<'a> {
    function: &'a Function<'a>,
    /// The module is the one that was hashed.
    is_intact: bool,
}

impl Objdump {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let name = self.file.display().to_string();
        let bytes = match input::bytes(&self.file) {
            Ok(bytes) => bytes,
            Err(problem) => return output::error(&problem).map(|()| Outcome::NotTried),
        };
        let refuse = |message: &str| output::error(&format!("{name}: {message}")).map(|()| Outcome::Refused);
        let parsed = Library::parse(&bytes).and_then(|library| Ok((library, stored_uuid(&bytes)?)));
        let (library, uuid) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => return refuse(&error.to_string()),
        };
        let mut chosen: Vec<&Function> = Vec::new();
        for kernel in &self.kernels {
            let Some(function) = library.function(kernel) else {
                let names: Vec<&str> = library.functions().iter().map(Function::name).collect();
                return refuse(&no_such_kernel(kernel, &names));
            };
            chosen.push(function);
        }
        if chosen.is_empty() {
            chosen.extend(library.functions());
        }
        let in_full = self.all || !self.kernels.is_empty();
        let mut problems = Vec::new();
        let listed = chosen.into_iter().map(|function| Listed::new(function, &mut problems)).collect();
        let dump = Dump { file: name.clone(), bytes: &bytes, library: &library, uuid, listed };
        if self.format.is_json(self.json) {
            output::json_result(&json::of(&dump, in_full, &mut problems))?;
        } else {
            output::result(&text::list(&dump))?;
            // One at a time: the AIR of a large library takes gigabytes.
            for listed in dump.listed.iter().filter(|_| in_full) {
                let detail = Detail::new(listed.function, &mut problems);
                output::result(&text::function(listed, &detail))?;
            }
        }
        problems.iter().try_for_each(|problem| refuse(problem).map(|_| ()))?;
        Ok(if problems.is_empty() { Outcome::Fine } else { Outcome::Refused })
    }
}

impl<'a> Listed<'a> {
    /// Checks a function's hash; a wrong one goes to `problems`.
    fn new(function: &'a Function<'a>, problems: &mut Vec<String>) -> Listed<'a> {
        let bitcode = function.bitcode();
        let is_intact = bitcode.is_ok();
        problems.extend(bitcode.err().map(|error| error.to_string()));
        Listed { function, is_intact }
    }
}

/// A UUID in its usual form.
fn uuid_text(uuid: &[u8; 16]) -> String {
    let hex = hex(uuid);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn version((major, minor): (u16, u16)) -> String {
    format!("{major}.{minor}")
}

/// The file and line in the private metadata.
fn debug_location(function: &Function) -> Option<(String, u32)> {
    let (_, value) = function.private_tags.iter().find(|(tag, _)| tag == b"DEBI")?;
    let (line, path) = value.split_first_chunk::<4>()?;
    let path = path.strip_suffix(&[0]).unwrap_or(path);
    Some((String::from_utf8_lossy(path).into_owned(), u32::from_le_bytes(*line)))
}
