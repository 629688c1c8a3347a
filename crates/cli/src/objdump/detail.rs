//! The contents of one function.

use air::metallib::Function;
use air::metallib::reflection::FunctionReflection;

/// The reflection and the AIR of a function.
pub(super) struct Detail<'a> {
    pub(super) reflection: Option<FunctionReflection<'a>>,
    pub(super) air: Option<String>,
}

impl<'a> Detail<'a> {
    /// Decodes a function; its errors go to `problems`.
    pub(super) fn new(function: &'a Function<'a>, problems: &mut Vec<String>) -> Detail<'a> {
        let name = function.name();
        let mut keep = |problem: String| problems.push(format!("function '{name}': {problem}"));
        let reflection = function.reflection.as_deref().map(FunctionReflection::parse).transpose();
        let reflection = reflection.unwrap_or_else(|error| {
            keep(error.to_string());
            None
        });
        // Bitcode that is not intact was reported already.
        let air = function.bitcode().ok().map(|bitcode| air::bitcode_text(bitcode, name)).transpose();
        let air = air.unwrap_or_else(|error| {
            keep(error);
            None
        });
        Detail { reflection, air }
    }
}

/// True if a module has debug information.
pub(super) fn has_source_lines(air: &str) -> bool {
    air.lines().any(|line| line.starts_with("!llvm.dbg.cu = "))
}
