//! Compiled kernels, opaque to all but the back end that made them.

use super::key::Key;
use msl::reflect::Kernel;

/// Code compiled by a back end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    /// The machine that it runs on.
    pub target: ArtifactTarget,
    /// The back end's name of the variant, such as `row` and `any` on a CPU.
    pub variant: String,
    /// The code, in the back end's own format.
    pub bytes: Vec<u8>,
}

/// A machine that code was compiled for. Only its back end interprets the fields.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ArtifactTarget {
    /// The back end: `cpu`.
    pub backend: String,
    /// The machine for display: `x86_64 znver4`.
    pub machine: String,
    /// All other properties that affect the code.
    pub details: String,
}

impl ArtifactTarget {
    /// Short name: `cpu x86_64 znver4`.
    pub fn name(&self) -> String {
        format!("{} {}", self.backend, self.machine)
    }
}

/// Selects code that runs on this machine.
pub(crate) trait TargetSelector {
    /// The target that the compiler compiles for here; `None` without a compiler.
    fn exact(&self) -> Option<&ArtifactTarget>;

    /// Ranks code for `target`, highest for the exact target; `None` if it does not run here.
    fn rank(&self, target: &ArtifactTarget) -> Option<usize>;
}

/// A compiled kernel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ArchiveEntry {
    pub(crate) key: Key,
    /// The function constants for display.
    pub(crate) constants: String,
    /// The kernel's reflection with these constants.
    pub(crate) reflection: Kernel,
    pub(crate) artifact: Artifact,
}

impl ArchiveEntry {
    /// Double-checks that a found entry is for this kernel and variant.
    pub(crate) fn is_of(&self, kernel: &str, variant: &str) -> bool {
        self.reflection.name == kernel && self.artifact.variant == variant
    }

    /// Bytes of machine code.
    pub(crate) fn code_size(&self) -> usize {
        self.artifact.bytes.len()
    }
}
