//! Every operation of the shader library with buffers for it, at any size: `metal-shader-bench` measures them and
//! [`crate::selftest`] checks them.
//!
//! ```text
//! table: one line for each operation ── case: with types and sizes ── shape, select
//!     ── build: the functions that inference calls, and their formulas ── data, random: buffers ── output: results
//! ```
//!
//! An operation states its formula in f64 beside the call ([`Output::expected`]); it is computed from the very numbers that are
//! in the buffers. A kernel that is in no line fails a test, and so does a result without a formula.

pub(crate) mod build;
mod case;
mod data;
mod formulas;
mod output;
mod random;
mod repeat;
mod select;
mod shape;
mod table;

pub use case::{Case, checked, measured};
pub use data::{Maker, Problem, Purpose, Workload};
pub use output::{Number, Output};
pub use repeat::{record, replay};
pub use select::{UnknownName, select};
pub use shape::{LETTERS, MODELS, Model, SELF_TEST, Shape, Wanted};
pub(crate) use table::Variants;
pub use table::{NOT_COVERED, Operation, all};
