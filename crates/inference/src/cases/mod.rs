//! Cases: every operation of the shader library with types, sizes and buffers. `metal-shader-bench` measures them, and
//! [`crate::selftest`] checks them.
//!
//! ```text
//! operation: the tables of metal/operations ── case: with types and sizes ── shape, select
//!     ── data, random: buffers ── output: results, and the formula's ── repeat: recorded once, replayed
//! ```
//!
//! A test fails if a kernel has no case.

mod case;
mod data;
pub(crate) mod formulas;
mod kv_blocks;
mod operation;
mod output;
mod random;
mod repeat;
mod select;
mod shape;

pub(crate) use case::DispatchTypes;
pub use case::{Case, checked, measured};
pub(crate) use data::{Array, Built, Cache, ExpertWeights, Weights, all};
pub use data::{Maker, Problem, Purpose, Workload};
pub(crate) use operation::Variants;
pub use operation::{NOT_COVERED, Operation, all as all_operations};
pub use output::{Number, Output};
pub use repeat::{record, replay};
pub use select::{UnknownName, covering, select};
pub use shape::{LETTERS, MODELS, Model, SELF_TEST, Shape, Wanted};
