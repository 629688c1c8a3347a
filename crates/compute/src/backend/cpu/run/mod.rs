//! Dispatches in execution: from tables to calls of generated code, on several threads.
//!
//! **Invariant:** nothing here knows the compiler: a kernel that was compiled before is all it takes.

mod denormals;
mod execute;
mod fibers;
mod grid;
mod patience;
pub(super) mod pool;
pub(super) mod program;
pub(super) mod shape;
