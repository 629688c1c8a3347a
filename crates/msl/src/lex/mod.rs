//! From text to tokens.
//!
//! ```text
//! text ── lex ──> raw tokens ── preprocess ──> raw tokens ── number, character, string ──> Token
//! ```
//!
//! Raw tokens are small and `Copy`: their text is a [`Symbol`], so that the preprocessor compares and copies
//! numbers. Literals are checked and evaluated only if they reach the parser: text in
//! a branch that is not taken, or in an `#error`, may be anything.
//!
//! **Invariant:** raw tokens, whitespace, comments and line continuations add up to every byte of the source.

mod number;
mod punct;
mod raw;
mod scan;
mod symbols;
mod text;
pub mod token;

#[cfg(test)]
mod tests;

pub use number::number;
pub use raw::{RawKind, RawToken};
pub use scan::{Lexed, MAX_TOKENS, lex};
pub use symbols::{Symbol, Symbols};
pub use text::{character, string};

pub(crate) use symbols::known;
