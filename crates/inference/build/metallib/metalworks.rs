//! Our own compiler, from the folded source.
//!
//! The library must contain the bitcode that lowering the same source at run time gives: compiled code is cached by the
//! digest of the source, whichever of the two it came from. So name, options and math mode are those that `compute`
//! gets at run time; `tests/embedded_library.rs` compares the two.

use super::SWITCH;
use msl::{Compilation, Options};

/// Compiles the folded source of a shader to a library.
pub(super) fn compile(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let compilation = msl::compile_source(&format!("{name}.metal"), text, &Options::default());
    if compilation.has_errors() {
        return Err(compilation.render_diagnostics(false));
    }
    let source = air::ProgramSource::from(&compilation);
    let compiled = air::compile(source, air::MathMode::Fast).map_err(|error| format!("{name}.metal: {error}"))?;
    match compiled.left_out.first() {
        None => Ok(compiled.library),
        Some((kernel, error)) => {
            let location = location(error, &compilation).unwrap_or_else(|| format!("{name}.metal"));
            let remedy = format!("(with {SWITCH}=0, sources are compiled at run time)");
            Err(format!("{location}: error: kernel '{kernel}': {error} {remedy}"))
        }
    }
}

/// Source line that cannot be lowered, if known.
fn location(error: &air::Error, compilation: &Compilation) -> Option<String> {
    let air::Error::Unsupported { span, .. } = error else { return None };
    let sources = &compilation.sources;
    (*span != msl::source::Span::default()).then(|| sources.presumed(sources.outermost(*span)).to_string())
}
