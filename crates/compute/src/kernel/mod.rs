//! A kernel before any device has seen it: its function constants, and the table of its arguments.

pub(crate) mod arguments;
pub mod constants;
