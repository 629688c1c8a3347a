//! Reading a shader from a file, or from stdin when its name is `-`.

use std::io::Read;
use std::path::Path;

use msl::{Compilation, Options};

/// What stdin is called in diagnostics.
const STDIN_NAME: &str = "<stdin>";

/// How the input is called in what we print.
pub(crate) fn display_name(path: &Path) -> String {
    if is_stdin(path) { STDIN_NAME.to_owned() } else { path.display().to_string() }
}

/// Compiles one input; the error says why it could not be read.
pub(crate) fn compile(path: &Path, options: &Options) -> Result<Compilation, String> {
    if !is_stdin(path) {
        return msl::compile_file(path, options).map_err(|error| error.to_string());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("{STDIN_NAME}: {error}"))?;
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("{STDIN_NAME}: not UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    Ok(msl::compile_source(STDIN_NAME, &text, options))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
