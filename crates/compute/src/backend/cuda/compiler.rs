//! Compiles AIR to PTX. Only this file calls `air::simt`; `program/air.rs` makes the AIR.

use super::target::CudaTarget;
use crate::error::{Error, Result};
use crate::program::air::Air;
use abi::{SimtKernel, Threadgroups};

/// Compiles one variant of a kernel.
pub(super) fn compile(air: &Air, target: CudaTarget, _: Threadgroups) -> Result<SimtKernel> {
    Err(Error::Unsupported { kernel: air.reflection().name.clone(), what: format!("code for {target}") })
}
