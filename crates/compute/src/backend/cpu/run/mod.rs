//! Execution of dispatches: from tables to calls of generated code, on several threads.
//!
//! **Invariant:** this module does not use the compiler: it runs compiled kernels only.

pub(crate) mod checks;
mod denormals;
pub(super) mod execute;
pub(super) mod fault;
mod fibers;
mod grid;
pub(super) mod messages;
mod pace;
mod patience;
pub(super) mod pool;
pub(super) mod program;
pub(super) mod shape;
mod walk;
