//! The parts of the checker that change while it walks a tree.
//!
//! ```text
//! Position ────── where the walk is: scope, depth, pattern or instance
//! FunctionState ─ the function at hand: variables, result, loops
//! Diagnostics ─── what was reported, and the instantiations that notes name
//! ```
//!
//! **Invariant:** each part keeps its fields to itself and knows neither the others nor the checker.

mod diagnostics;
mod function;
mod position;

pub(super) use diagnostics::Diagnostics;
pub(super) use function::{FunctionStart, FunctionState};
pub(super) use position::Position;
