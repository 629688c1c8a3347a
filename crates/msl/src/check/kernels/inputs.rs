//! The attributes that bind the inputs of an entry point.

use super::stage_values::input_names;
use crate::check::names::{closest, did_you_mean};
use crate::check::state::Diagnostics;
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::vocabulary::attributes::{GRID_INPUTS, SCALAR_INPUTS};

/// Other attributes of the arguments of an entry point.
const OTHER_INPUTS: &[&str] = &[
    "buffer",
    "texture",
    "sampler",
    "threadgroup",
    "function_constant",
    "index",
    "id",
    "user",
    "post_depth_coverage",
    "imageblock",
    "thread_index_in_mesh",
];

/// Kind of built-in input that an attribute names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InputKind {
    /// Up to three dimensions.
    Grid,
    /// One number.
    Scalar,
}

/// The built-in input that an attribute names.
pub(super) fn builtin_input(name: &str) -> Option<InputKind> {
    if GRID_INPUTS.contains(&name) {
        return Some(InputKind::Grid);
    }
    SCALAR_INPUTS.contains(&name).then_some(InputKind::Scalar)
}

/// True unless an attribute is one of C++, GCC or clang, or unknown with a scope: those bind nothing.
pub(super) fn is_input(name: &str) -> bool {
    let is_foreign = crate::vocabulary::any_attribute(name).is_some_and(|word| !word.is_metal());
    !is_foreign && !name.contains("::")
}

/// Reports an attribute of a parameter that does not exist.
fn refuse_unknown_input(diagnostics: &mut Diagnostics, attribute: &ast::Attribute) -> bool {
    let name = attribute.name.as_str();
    let known = builtin_input(name).is_some() || OTHER_INPUTS.contains(&name) || !is_input(name);
    let known = known || input_names().any(|input| input == name);
    if known {
        return false;
    }
    let all = GRID_INPUTS.iter().chain(SCALAR_INPUTS).chain(OTHER_INPUTS).copied().chain(input_names());
    let near = closest(name, all);
    let diagnostic = Diagnostic::error("unknown-attribute", attribute.span, format!("unknown attribute '{name}'"));
    let diagnostic = did_you_mean(diagnostic, near);
    diagnostics.report(diagnostic);
    true
}

/// Refuses an attribute that no input has, or that this one of `all` repeats.
pub(super) fn refuse_input(
    diagnostics: &mut Diagnostics,
    all: &[ast::Attribute],
    attribute: &ast::Attribute,
) -> bool {
    refuse_repeated_location(diagnostics, all, attribute) || refuse_unknown_input(diagnostics, attribute)
}

/// Refuses a second `buffer` or other location of a parameter; true if it is one.
fn refuse_repeated_location(
    diagnostics: &mut Diagnostics,
    all: &[ast::Attribute],
    attribute: &ast::Attribute,
) -> bool {
    let name = &attribute.name;
    let first = all.iter().find(|other| other.name == *name);
    let is_repeated = matches!(name.as_str(), "buffer" | "threadgroup" | "texture" | "sampler")
        && first.is_some_and(|first| first.span != attribute.span);
    if is_repeated {
        diagnostics.error("attribute", attribute.span, format!("'{name}' attribute is given twice"));
    }
    is_repeated
}
