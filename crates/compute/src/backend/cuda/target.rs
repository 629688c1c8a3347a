//! GPUs to compile for, and the code that a GPU can run.
//!
//! PTX for `sm_80` runs on that GPU and on all later ones: the driver compiles it. PTX for `sm_90a` uses features of
//! one architecture, and runs on that one alone.

use crate::archive::artifact::{ArtifactTarget, TargetSelector};
use std::fmt;

/// This back end's name in targets.
const BACKEND: &str = "cuda";

/// The prefix of the names of GPUs.
const PREFIX: &str = "sm_";

/// The oldest GPUs whose code can be compiled: Volta.
const OLDEST: u32 = 70;

/// Known architectures for messages.
const EXAMPLES: &str = "sm_70, sm_75, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_120, sm_120a";

/// An architecture of GPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CudaTarget {
    /// 90 for `sm_90`.
    number: u32,
    /// True for `sm_90a`: with features that other architectures do not have.
    is_exact: bool,
}

impl CudaTarget {
    /// The best target for a GPU of this compute capability.
    pub(super) fn of((major, minor): (u32, u32)) -> CudaTarget {
        CudaTarget { number: major * 10 + minor, is_exact: major >= 9 }
    }

    pub(super) fn named(name: &str) -> Result<CudaTarget, String> {
        let unknown = || format!("cannot compile for GPU '{name}'; known GPUs: {EXAMPLES}");
        let digits = name.strip_prefix(PREFIX).ok_or_else(unknown)?;
        let (digits, is_exact) = digits.strip_suffix('a').map_or((digits, false), |digits| (digits, true));
        let number = digits.parse().ok().filter(|number| (OLDEST..1000).contains(number)).ok_or_else(unknown)?;
        if is_exact && number < 90 { Err(unknown()) } else { Ok(CudaTarget { number, is_exact }) }
    }

    /// The compute capability: major, minor.
    #[cfg(llvm)]
    pub(super) fn capability(self) -> (u32, u32) {
        (self.number / 10, self.number % 10)
    }

    pub(super) fn to_target(self) -> ArtifactTarget {
        ArtifactTarget { backend: BACKEND.into(), machine: self.to_string(), details: String::new() }
    }

    /// True if code for `other` runs on this GPU.
    fn runs(self, other: CudaTarget) -> bool {
        if other.is_exact { other == self } else { other.number <= self.number }
    }
}

impl fmt::Display for CudaTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}{}", self.number, if self.is_exact { "a" } else { "" })
    }
}

/// Checks the name of a GPU to compile for; `None` is this machine's.
pub(crate) fn parse_target(machine: Option<&str>) -> Result<(), String> {
    match machine {
        Some(name) => CudaTarget::named(name).map(drop),
        None => Err(format!("name the GPU to compile for: {EXAMPLES}")),
    }
}

/// Selects code for a GPU.
pub(super) struct GpuSelector {
    target: CudaTarget,
    exact: ArtifactTarget,
}

impl GpuSelector {
    pub(super) fn new(target: CudaTarget) -> GpuSelector {
        GpuSelector { target, exact: target.to_target() }
    }
}

impl TargetSelector for GpuSelector {
    fn exact(&self) -> Option<&ArtifactTarget> {
        cfg!(llvm).then_some(&self.exact)
    }

    fn rank(&self, target: &ArtifactTarget) -> Option<usize> {
        if *target == self.exact {
            return Some(usize::MAX);
        }
        let other = (target.backend == BACKEND).then(|| CudaTarget::named(&target.machine).ok()).flatten()?;
        self.target.runs(other).then_some(other.number as usize * 2 + usize::from(other.is_exact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> CudaTarget {
        CudaTarget::named(name).expect("it is known")
    }

    #[test]
    fn names_round_trip() {
        for name in ["sm_70", "sm_86", "sm_90", "sm_90a", "sm_120a"] {
            assert_eq!(target(name).to_string(), name);
        }
        assert_eq!(CudaTarget::of((9, 0)).to_string(), "sm_90a");
        assert_eq!(CudaTarget::of((8, 6)).to_string(), "sm_86");
        assert_eq!(CudaTarget::of((12, 0)).to_string(), "sm_120a");
        for name in ["", "sm_", "sm_9", "sm_60", "sm_80a", "sm_90b", "90", "hopper", "sm_1000", "sm_-90"] {
            assert!(CudaTarget::named(name).is_err_and(|problem| problem.contains("sm_90a")), "{name}");
        }
        assert!(parse_target(None).is_err());
    }

    #[test]
    fn gpus_run_code_for_older_ones() {
        let hopper = GpuSelector::new(target("sm_90a"));
        let rank = |name: &str| hopper.rank(&target(name).to_target());
        assert!(rank("sm_90a") > rank("sm_90") && rank("sm_90") > rank("sm_80") && rank("sm_80").is_some());
        assert_eq!((rank("sm_100"), rank("sm_100a")), (None, None));
        let cpu = ArtifactTarget { backend: "cpu".into(), machine: "sm_80".into(), details: String::new() };
        assert_eq!(hopper.rank(&cpu), None);
        assert_eq!(GpuSelector::new(target("sm_86")).rank(&target("sm_90a").to_target()), None);
    }
}
