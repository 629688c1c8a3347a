//! Runs the front end over a shader: an error ends the build.

use msl::{Compilation, Options};
use std::path::Path;

/// Checks a shader; the result may have warnings. The error is the text of all diagnostics, with carets.
pub(crate) fn check(path: &Path, include: &Path) -> Result<Compilation, String> {
    let options = Options { include_dirs: vec![include.to_path_buf()], warnings: true, ..Options::default() };
    let compilation = msl::compile_file(path, &options).map_err(|error| error.to_string())?;
    match compilation.has_errors() {
        true => Err(compilation.render_diagnostics(false)),
        false => Ok(compilation),
    }
}
