//! Operations: one file for each.
//!
//! A file has all that concerns its operation: the struct of its arguments, the function that checks, binds and sizes the
//! grid, and a table `OPERATIONS` with the cases that the benchmark measures and the self-test checks: kernels, types, sizes,
//! bytes, arithmetic, and the formula in f64. The build declares the modules and collects the tables. Formulas, layouts and
//! grids are described in the shaders.

use crate::cases::Operation;

include!(concat!(env!("OUT_DIR"), "/operations.rs"));
