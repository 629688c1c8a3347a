//! Conversions: from the type of an expression to the type that is needed.
//!
//! ```text
//! rank ──── the conversion sequence and its rank     user ── constructors and conversion functions
//! apply ─── the expression that converts
//! ```
//!
//! The rules are C++'s, with Metal's: vectors convert to nothing but their packed form, a scalar spreads over a vector,
//! `half` and `bfloat` do not convert into one another, and a pointer or reference never changes its address space.

mod apply;
mod rank;
mod user;

pub(super) use apply::{Purpose, cannot_convert};
pub(super) use rank::{Conversion, Rank};
