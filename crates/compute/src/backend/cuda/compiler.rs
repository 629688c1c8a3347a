//! Compiles AIR to PTX. Only this file calls `air::simt`; `program/air.rs` makes the AIR.

use super::target::CudaTarget;
use crate::error::{Error, Result};
use crate::program::air::{Air, with_stack};
use abi::{SimtKernel, Threadgroups};
use air::simt::Architecture;

/// Fails for a GPU that the compiler does not know. One at hand may be newer than all that it knows.
pub(super) fn check(target: CudaTarget) -> Result<()> {
    Architecture::named(&target.to_string()).map(drop).map_err(|problem| Error::Usage(problem.to_string()))
}

/// The best known architecture whose code the target runs.
fn architecture(target: CudaTarget) -> Result<Architecture> {
    let (major, minor) = target.capability();
    let known = Architecture::named(&target.to_string()).or_else(|_| Architecture::of_capability(major, minor));
    known.map_err(|problem| Error::Usage(problem.to_string()))
}

/// Compiles one variant of a kernel.
pub(super) fn compile(air: &Air, target: CudaTarget, threadgroups: Threadgroups) -> Result<SimtKernel> {
    use air::simt::Error as Problem;
    let kernel = || air.reflection().name.clone();
    let architecture = architecture(target)?;
    let code = with_stack(|| air::simt::compile(&air.specialized, &architecture, threadgroups))?;
    code.map_err(|problem| match problem {
        Problem::Unsupported(what) => Error::Unsupported { kernel: kernel(), what },
        Problem::Invalid(_) => Error::Library(format!("kernel '{}': {problem}", kernel())),
        Problem::Internal(what) => Error::Internal(format!("kernel '{}': {what}", kernel())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_newer_than_the_compiler_get_code_for_older_ones() {
        let newer = CudaTarget::of((19, 0));
        let found = architecture(newer).expect("code without features of one architecture");
        assert!(!found.name().ends_with('a'), "{}", found.name());
        assert!(check(newer).is_err_and(|problem| problem.to_string().contains("sm_90a")), "a name may be a typo");
        assert_eq!(architecture(CudaTarget::of((9, 0))).expect("it is known").name(), "sm_90a");
    }
}
