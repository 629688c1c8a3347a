//! Kernels, independent of a device: function constants, and the table of arguments.

pub(crate) mod arguments;
pub mod constants;
