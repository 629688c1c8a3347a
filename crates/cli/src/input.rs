//! Reads shaders and other files, or stdin (`-`), and detects compiled libraries.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use msl::{Compilation, Options};

use crate::output::{self, Color, Outcome};

/// Name of stdin in diagnostics.
const STDIN_NAME: &str = "<stdin>";

/// Name of the input in messages.
pub(crate) fn display_name(path: &Path) -> String {
    if is_stdin(path) { STDIN_NAME.to_owned() } else { path.display().to_string() }
}

/// Compiles an input; the error says why it could not be read.
pub(crate) fn compile(path: &Path, options: &Options) -> Result<Compilation, String> {
    if !is_stdin(path) {
        return msl::compile_file(path, options).map_err(|error| error.to_string());
    }
    Ok(msl::compile_source(STDIN_NAME, &stdin()?, options))
}

/// Reads all of stdin, up to the limit of files; the error says why it could not be read.
pub(crate) fn stdin() -> Result<String, String> {
    String::from_utf8(stdin_bytes()?)
        .map_err(|error| format!("{STDIN_NAME}: not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
}

/// Reads all of stdin, up to the limit of files, as it is; the error says why it could not be read.
pub(crate) fn stdin_bytes() -> Result<Vec<u8>, String> {
    at_most(msl::MAX_FILE_BYTES, io::stdin().lock()).map_err(|error| format!("cannot read '{STDIN_NAME}': {error}"))
}

/// Reads a text, up to the limit of shaders. The error is for the user.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let bytes = read(path, msl::MAX_FILE_BYTES)?;
    let not_text = |valid| format!("cannot read '{}': not UTF-8 at byte {valid}", path.display());
    String::from_utf8(bytes).map_err(|error| not_text(error.utf8_error().valid_up_to()))
}

/// Reads a regular file of any size, or a pipe or a device up to the limit of shaders. The error is for the user.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    read(path, u64::MAX)
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let read = || {
        let file = File::open(path)?;
        // Pipes and devices such as `/dev/zero` may have no end.
        let limit = if file.metadata()?.is_file() { limit } else { msl::MAX_FILE_BYTES };
        at_most(limit, file)
    };
    read().map_err(|error| format!("cannot read '{}': {error}", path.display()))
}

fn at_most(limit: u64, from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", limit >> 20))),
        false => Ok(bytes),
    }
}

/// True if stdin is a file or a pipe, and not a terminal, a device such as /dev/null, or closed.
pub(crate) fn is_piped() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        use std::os::unix::fs::FileTypeExt;
        let stdin = io::stdin().as_fd().try_clone_to_owned().map(std::fs::File::from);
        let metadata = stdin.and_then(|stdin| stdin.metadata());
        metadata.is_ok_and(|metadata| metadata.is_file() || metadata.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        !std::io::IsTerminal::is_terminal(&io::stdin())
    }
}

/// Compiles an input; on errors, prints them and returns the outcome.
pub(crate) fn compile_or_report(path: &Path, options: &Options) -> io::Result<Result<Compilation, Outcome>> {
    let compilation = match compile(path, options) {
        Ok(compilation) => compilation,
        Err(message) => {
            output::error(&message)?;
            return Ok(Err(Outcome::NotTried));
        }
    };
    if !compilation.has_errors() {
        return Ok(Ok(compilation));
    }
    output::styled_diagnostics(&compilation.render_diagnostics(Color::Auto.on_stderr()))?;
    let summary = msl::diagnostics::render::summary(compilation.error_count(), compilation.warning_count());
    output::diagnostics(&format!("{}\n", summary.unwrap_or_default().trim_end()))?;
    Ok(Err(Outcome::Refused))
}

/// True if a file is a compiled library, by its extension or its magic number.
pub(crate) fn is_library(path: &Path) -> bool {
    // Data that is read from a pipe is gone.
    let is_file = || std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let begins_as_one = || {
        let mut start = [0; 4];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && start == *b"MTLB"
    };
    !is_stdin(path)
        && (path.extension().is_some_and(|extension| extension == "metallib") || is_file() && begins_as_one())
}

/// True if the input is stdin.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
