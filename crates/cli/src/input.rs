//! Reads shaders from files or stdin (`-`), and detects compiled libraries.

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

/// Reads all of stdin; the error says why it could not be read.
pub(crate) fn stdin() -> Result<String, String> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("{STDIN_NAME}: {error}"))?;
    String::from_utf8(bytes)
        .map_err(|error| format!("{STDIN_NAME}: not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
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
    output::diagnostics(&compilation.render_diagnostics(Color::Auto.on_stderr()))?;
    let summary = msl::diagnostics::render::summary(compilation.error_count(), compilation.warning_count());
    output::diagnostics(&format!("{}\n", summary.unwrap_or_default().trim_end()))?;
    Ok(Err(Outcome::Refused))
}

/// True if a file is a compiled library, by its extension or its magic number.
pub(crate) fn is_library(path: &Path) -> bool {
    let begins_as_one = || {
        let mut start = [0; 4];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && start == *b"MTLB"
    };
    !is_stdin(path) && (path.extension().is_some_and(|extension| extension == "metallib") || begins_as_one())
}

/// True if the input is stdin.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
