//! A front end for the Metal Shading Language, in pure Rust, for any machine.
//!
//! ```text
//! source ── preprocess ── parse ── check ── Program ── reflect
//!            lex           ast      templates, overloads, constants
//! ```
//!
//! [`compile_file`] and [`compile_source`] run all stages. The result holds the diagnostics, the checked,
//! template-free [`Program`] that a code generator walks (see [`walk`]), and answers questions about the kernels'
//! arguments ([`Compilation::reflect`]). No stage stops at the first mistake, and none panics, whatever it is given.

pub mod diagnostics;
pub mod lex;
pub mod parse;
pub mod preprocess;
pub mod program;
pub mod reflect;
pub mod source;
pub mod stdlib;
pub mod types;
pub mod vocabulary;
pub mod walk;

mod check;
mod compile;
mod evaluate;
mod expanded;
mod filter;
mod fold;
mod uninitialized;

pub use compile::{Compilation, MAX_FILE_BYTES, Options, ReadError, Timings, compile_file, compile_source};
pub use diagnostics::{Diagnostic, Severity};
pub use expanded::{Expanded, expand_file};
pub use fold::{fold, line_directive};
pub use preprocess::{LanguageVersion, MathFunctions, MathMode};
pub use program::Program;
pub use source::SourceMap;

/// Tests the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
