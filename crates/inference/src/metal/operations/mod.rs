//! Operations: one file for each family of kernels, named after its shader.
//!
//! A file has all that concerns its operations: a struct of arguments and a function that checks, binds and sizes the grid.
//! The build declares its module. Formulas, layouts and grids are described in the shader.

use crate::operations::Operation;

include!(concat!(env!("OUT_DIR"), "/operations.rs"));
