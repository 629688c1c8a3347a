//! Compiles AIR to PTX. Only this file calls `air::simt`; `program/air.rs` makes the AIR.

use super::target::CudaTarget;
use crate::error::{Error, Result};
use crate::program::air::{Air, with_stack};
use abi::{SimtKernel, Threadgroups};
use air::simt::Architecture;

/// Compiles one variant of a kernel.
pub(super) fn compile(air: &Air, target: CudaTarget, threadgroups: Threadgroups) -> Result<SimtKernel> {
    use air::simt::Error as Problem;
    let kernel = || air.reflection().name.clone();
    let architecture =
        Architecture::named(&target.to_string()).map_err(|problem| Error::Usage(problem.to_string()))?;
    let code = with_stack(|| air::simt::compile(&air.specialized, &architecture, threadgroups))?;
    code.map_err(|problem| match problem {
        Problem::Unsupported(what) => Error::Unsupported { kernel: kernel(), what },
        Problem::Invalid(_) => Error::Library(format!("kernel '{}': {problem}", kernel())),
        Problem::Internal(what) => Error::Internal(format!("kernel '{}': {what}", kernel())),
    })
}
