//! Our own compiler, from the folded text.
//!
//! The library must hold the bitcode that lowering the same text at run time gives: compiled code is cached under the digest
//! of the text, whichever of the two it came from. So name, options and math mode are those that `compute` is given
//! at run time; `tests/embedded_library.rs` compares.

use super::SWITCH;
use msl::{Compilation, Options};

/// The library of a shader, from its folded text.
pub(super) fn compile(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let compilation = msl::compile_source(&format!("{name}.metal"), text, &Options::default());
    if compilation.has_errors() {
        return Err(compilation.render_diagnostics(false));
    }
    let source = air::Source::from(&compilation).without_locations();
    air::compile(source, air::MathMode::Fast).map_err(|(kernel, error)| {
        let place = place(&error, &compilation).unwrap_or_else(|| format!("{name}.metal"));
        format!("{place}: error: kernel '{kernel}': {error} (with {SWITCH}=0, sources are compiled at run time)")
    })
}

/// The line that cannot be lowered, where that is known.
fn place(error: &air::Error, compilation: &Compilation) -> Option<String> {
    let air::Error::Unsupported { span, .. } = error else { return None };
    let sources = &compilation.sources;
    (*span != msl::source::Span::default()).then(|| sources.presumed(sources.outermost(*span)).to_string())
}
