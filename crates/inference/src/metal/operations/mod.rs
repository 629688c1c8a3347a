//! Operations: one file for each.
//!
//! A file contains everything about its operation: the struct of its arguments; the function that checks them, binds
//! them and sizes the grid; and a table `OPERATIONS` with the cases that the benchmark measures and the self-test
//! checks: kernels, types, sizes, bytes, arithmetic, and the formula in f64. The build declares the modules and
//! collects the tables. The shaders describe formulas, layouts and grids.

use crate::cases::Operation;

include!(concat!(env!("OUT_DIR"), "/operations.rs"));
