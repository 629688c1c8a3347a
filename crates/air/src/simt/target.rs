//! The GPUs that code is generated for.

use super::{Error, Result};
use inkwell::OptimizationLevel;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};
use std::sync::Once;

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// The names, and the first version of PTX that has all that generated code uses on them.
const ARCHITECTURES: &[(&str, &str)] = &[
    ("sm_70", "ptx78"),
    ("sm_72", "ptx78"),
    ("sm_75", "ptx78"),
    ("sm_80", "ptx78"),
    ("sm_86", "ptx78"),
    ("sm_87", "ptx78"),
    ("sm_89", "ptx78"),
    ("sm_90", "ptx78"),
    ("sm_90a", "ptx80"),
    ("sm_100", "ptx86"),
    ("sm_100a", "ptx86"),
    ("sm_101", "ptx86"),
    ("sm_101a", "ptx86"),
    ("sm_103", "ptx88"),
    ("sm_103a", "ptx88"),
    ("sm_120", "ptx87"),
    ("sm_120a", "ptx87"),
    ("sm_121", "ptx88"),
    ("sm_121a", "ptx88"),
];

/// A kind of NVIDIA GPU, by its compute capability.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Architecture {
    name: &'static str,
    ptx: &'static str,
}

impl Architecture {
    /// The architecture with this name: `sm_80`, `sm_90a`.
    pub fn named(name: &str) -> Result<Architecture> {
        let found = ARCHITECTURES.iter().find(|(known, _)| *known == name);
        found.map(|&(name, ptx)| Architecture { name, ptx }).ok_or_else(|| {
            let known: Vec<&str> = ARCHITECTURES.iter().map(|(name, _)| *name).collect();
            Error::Unsupported(format!("the architecture '{name}' (known: {})", known.join(", ")))
        })
    }

    /// The best known architecture whose code runs on a GPU of this compute capability.
    pub fn of_capability(major: u32, minor: u32) -> Result<Architecture> {
        let exact = [format!("sm_{major}{minor}a"), format!("sm_{major}{minor}")];
        if let Some(found) = exact.iter().find_map(|name| Architecture::named(name).ok()) {
            return Ok(found);
        }
        // Code without the letter runs on all later GPUs.
        let number = major * 10 + minor;
        let older = ARCHITECTURES.iter().rev().map(|&(name, ptx)| Architecture { name, ptx });
        let mut older = older.filter(|known| !known.name.ends_with('a') && known.number() <= number);
        older.next().ok_or_else(|| Error::Unsupported(format!("a GPU of compute capability {major}.{minor}")))
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The compute capability as a number: 90 for `sm_90a`.
    pub(super) fn number(&self) -> u32 {
        self.name.trim_start_matches("sm_").trim_end_matches('a').parse().unwrap_or(0)
    }

    /// True if it has products of warpgroups.
    pub(super) fn has_warpgroups(&self) -> bool {
        self.name == "sm_90a"
    }

    pub(super) fn machine(&self) -> Result<TargetMachine> {
        initialize();
        let triple = TargetTriple::create(TRIPLE);
        let target = Target::from_triple(&triple).map_err(|error| Error::Internal(error.to_string()))?;
        let features = format!("+{}", self.ptx);
        let (level, relocation) = (OptimizationLevel::Aggressive, RelocMode::Default);
        target
            .create_target_machine(&triple, self.name, &features, level, relocation, CodeModel::Default)
            .ok_or_else(|| Error::Unsupported(format!("the architecture '{}'", self.name)))
    }
}

pub(super) const ASSEMBLY: FileType = FileType::Assembly;

fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| Target::initialize_nvptx(&InitializationConfig::default()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_architecture_for_a_capability_is_found() {
        let name = |major, minor| Architecture::of_capability(major, minor).map(|found| found.name()).ok();
        assert_eq!(name(9, 0), Some("sm_90a"));
        assert_eq!(name(8, 0), Some("sm_80"));
        assert_eq!(name(8, 8), Some("sm_87"));
        assert_eq!(name(12, 9), Some("sm_121"));
        assert_eq!(name(6, 1), None);
        assert!(Architecture::named("sm_1").is_err());
    }
}
