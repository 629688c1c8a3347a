//! CPU targets of compiled code.

use super::features;
use crate::archive::artifact::{ArtifactTarget, TargetSelector};
use crate::error::Result;

/// This back end's name in targets.
const BACKEND: &str = "cpu";

/// A CPU as LLVM describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CpuTarget {
    /// `x86_64` or `aarch64`.
    pub(super) architecture: String,
    /// LLVM's name of the CPU.
    pub(super) cpu: String,
    /// Features in addition to the CPU's, or missing: `+avx2,-avx512f`.
    pub(super) features: String,
    /// LLVM's version. Code from another version differs, but runs as well.
    pub(super) llvm: String,
}

impl CpuTarget {
    #[cfg_attr(not(llvm), allow(dead_code, reason = "only a compiler makes targets"))]
    pub(super) fn to_target(&self) -> ArtifactTarget {
        ArtifactTarget {
            backend: BACKEND.into(),
            machine: format!("{} {}", self.architecture, self.cpu),
            details: format!("{} {}", self.features, self.llvm),
        }
    }

    /// Parses the result of [`CpuTarget::to_target`]; `None` for targets of other back ends.
    fn parse(target: &ArtifactTarget) -> Option<CpuTarget> {
        let (architecture, cpu) = target.machine.split_once(' ')?;
        let (features, llvm) = target.details.split_once(' ')?;
        let [architecture, cpu, features, llvm] = [architecture, cpu, features, llvm].map(str::to_owned);
        (target.backend == BACKEND).then_some(CpuTarget { architecture, cpu, features, llvm })
    }
}

/// Checks the name of a CPU to compile for; `None` is this CPU.
pub(crate) fn parse_target(machine: Option<&str>) -> std::result::Result<(), String> {
    match machine {
        None => Ok(()),
        Some(name) if features::is_known(name) => Ok(()),
        Some(name) => {
            let known: Vec<&str> = features::known_cpus().collect();
            Err(format!("cannot compile for CPU '{name}'; known CPUs: {}", known.join(", ")))
        }
    }
}

/// Checks `METALWORKS_CPU`, so that a device is refused rather than each of its pipelines.
pub(super) fn check_environment() -> Result<()> {
    // LLVM is slow to ask, and not needed for kernels from archives.
    #[cfg(llvm)]
    if std::env::var_os("METALWORKS_CPU").is_some() {
        super::compiler::CompilerTarget::host()?;
    }
    Ok(())
}

/// This CPU as a target.
pub(super) struct Host {
    exact: Option<ArtifactTarget>,
    /// The older CPU that this one stands in for (`METALWORKS_CPU`).
    taken_for: Option<String>,
}

impl Host {
    pub(super) fn new() -> Result<Host> {
        let taken_for = std::env::var("METALWORKS_CPU").ok();
        #[cfg(llvm)]
        let exact = Some(super::compiler::CompilerTarget::host()?.target().to_target());
        #[cfg(not(llvm))]
        let exact = None;
        Ok(Host { exact, taken_for })
    }
}

impl TargetSelector for Host {
    fn exact(&self) -> Option<&ArtifactTarget> {
        self.exact.as_ref()
    }

    fn rank(&self, target: &ArtifactTarget) -> Option<usize> {
        match self.exact.as_ref() == Some(target) {
            true => Some(usize::MAX),
            false => features::can_run(&CpuTarget::parse(target)?, self.taken_for.as_deref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_round_trip() {
        let target = |features: &str| CpuTarget {
            architecture: "x86_64".into(),
            cpu: "haswell".into(),
            features: features.into(),
            llvm: "22.1.2".into(),
        };
        for target in [target(""), target("+avx2,-avx512f")] {
            assert_eq!(CpuTarget::parse(&target.to_target()), Some(target));
        }
        let other = |backend: &str, machine: &str, details: &str| {
            let [backend, machine, details] = [backend, machine, details].map(str::to_owned);
            CpuTarget::parse(&ArtifactTarget { backend, machine, details })
        };
        assert_eq!(other("cuda", "sm_90 a", "b c"), None);
        assert_eq!(other("cpu", "x86_64", "b c"), None);
        assert_eq!(other("cpu", "x86_64 haswell", ""), None);
    }
}
