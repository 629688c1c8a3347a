//! Initialization: variables, members and temporaries, from values, parentheses and braces.
//!
//! ```text
//! variables ── auto_types
//!     └── initialize ──┬── lists ── aggregates       brace lists, with elided braces and designators
//!                      │     └── narrowing
//!                      └── compose                   vectors and matrices from their parts
//! ```

mod aggregates;
mod auto_types;
mod compose;
mod initialize;
mod lists;
mod narrowing;
mod variables;

pub(super) use auto_types::contains_auto;
