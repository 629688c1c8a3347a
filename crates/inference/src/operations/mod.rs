//! Every operation of the shader library with buffers for it, at any size: what is measured by `metal-shader-bench` and
//! checked by [`crate::selftest`].
//!
//! ```text
//! table: one line for each operation ── case: with types and sizes ── shape, select
//!     ── build: the functions that inference calls ── data, random: buffers ── output: what they write
//! ```
//!
//! A kernel that is in no line fails a test.

pub(crate) mod build;
mod case;
mod data;
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
