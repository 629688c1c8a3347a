//! The interface between the code generators of the crate `air` and the runtime that calls their code (the crate
//! `compute`). It knows neither LLVM nor devices, so that compiled kernels can be stored and run where there is no
//! compiler.
//!
//! * [`call`]: the arguments of generated code for a CPU, one simdgroup of 32 lanes at a time.
//! * [`kernel`]: a compiled kernel; [`encoding`]: the same as bytes.
//! * [`simt`]: a kernel compiled for an NVIDIA GPU.
//! * [`constants`]: values for function constants.
//! * [`site`]: places in a kernel that was compiled for shader validation.

/// Tells one compiler from another: its version and, where they are at hand, a hash of its sources. Code that was
/// compiled with another fingerprint is not run.
pub const COMPILER_FINGERPRINT: &str = env!("METALWORKS_COMPILER_FINGERPRINT");

pub mod call;
pub mod constants;
pub mod encoding;
pub mod kernel;
pub mod simt;
pub mod site;
#[cfg(test)]
mod tests;

pub use call::{Checks, Dispatch, LANES, Simdgroup, Threadgroup};
pub use constants::{ConstantKey, ConstantValue, Constants};
pub use kernel::{Entry, Lanes, WaveKernel};
pub use simt::{SimtKernel, SimtParameter, Threadgroups};
pub use site::{Object, Operation, Site, SourceLocation};

/// Tests the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
