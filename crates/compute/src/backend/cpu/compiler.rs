//! Compiles AIR to machine code. Only this file calls `air::wave`; `program/air.rs` makes the AIR.

use super::amx;
use super::target::CpuTarget;
use crate::error::{Error, Result};
use crate::finding::ShaderChecks;
use crate::program::air::{Air, with_stack};
use abi::{Lanes, WaveKernel};
use std::sync::OnceLock;

/// A CPU to compile for.
#[derive(Clone)]
pub(super) struct CompilerTarget {
    wave: air::wave::Target,
}

impl CompilerTarget {
    /// This CPU, or the older one that `METALWORKS_CPU` names.
    pub(super) fn host() -> Result<CompilerTarget> {
        // Query LLVM once: it is slow, and the answer does not change.
        static HOST: OnceLock<Result<CompilerTarget>> = OnceLock::new();
        match std::env::var("METALWORKS_CPU") {
            Ok(cpu) => match air::wave::Target::host_as(&cpu) {
                Ok(wave) => Ok(CompilerTarget { wave }),
                Err(problem) => Err(Error::Usage(format!("METALWORKS_CPU is '{cpu}': {problem}"))),
            },
            Err(_) => HOST.get_or_init(CompilerTarget::this).clone(),
        }
    }

    /// This CPU.
    fn this() -> Result<CompilerTarget> {
        let CompilerTarget { wave } = CompilerTarget::checked(air::wave::Target::host())?;
        Ok(CompilerTarget { wave: if amx::is_granted() { wave.with_tiles() } else { wave } })
    }

    /// A CPU by its LLVM name.
    pub(super) fn named(cpu: &str) -> Result<CompilerTarget> {
        CompilerTarget::checked(air::wave::Target::named(cpu))
    }

    fn checked(target: std::result::Result<air::wave::Target, air::wave::Error>) -> Result<CompilerTarget> {
        target.map(|wave| CompilerTarget { wave }).map_err(|problem| Error::Usage(problem.to_string()))
    }

    /// True if products of matrices of `bfloat` are faster than those of `float`.
    pub(super) fn prefers_bfloats(&self) -> bool {
        self.wave.prefers_bfloats()
    }

    /// Describes the target in artifacts.
    pub(super) fn target(&self) -> CpuTarget {
        CpuTarget {
            architecture: self.wave.architecture().into(),
            cpu: self.wave.cpu().into(),
            features: self.wave.features().into(),
            llvm: air::llvm_version(),
        }
    }
}

/// Compiles one variant of a kernel for each of `lanes`, with these checks.
pub(super) fn compile(
    air: &Air,
    machine: &CompilerTarget,
    lanes: &[Lanes],
    checks: Option<ShaderChecks>,
) -> Result<Vec<WaveKernel>> {
    use air::wave::Error as Problem;
    let checks = checks.map(|checks| air::instrument::Checks { every_access: checks.races, nan: checks.nan });
    let kernel = || air.reflection().name.clone();
    let code = with_stack(|| air::wave::compile_checked(&air.specialized, &machine.wave, lanes, checks))?;
    code.map_err(|problem| match problem {
        Problem::Unsupported(what) => Error::Unsupported { kernel: kernel(), what },
        Problem::Invalid(_) => Error::Library(format!("kernel '{}': {problem}", kernel())),
        Problem::Internal(what) => Error::Internal(format!("kernel '{}': {what}", kernel())),
    })
}
