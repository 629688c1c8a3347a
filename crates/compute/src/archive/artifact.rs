//! Compiled kernels, opaque to everything but the back end that made them.

use super::key::Key;
use msl::reflect::Kernel;

/// Code that a back end compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    /// The machine that it is for.
    pub target: ArtifactTarget,
    /// Which of the pieces of code for one kernel it is, such as `row` and `any` on a CPU; a word of the back end's.
    pub variant: String,
    /// The code, in the back end's own form.
    pub bytes: Vec<u8>,
}

/// A machine that code was compiled for. Only its back end understands more of it than the words.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ArtifactTarget {
    /// The back end: `cpu`.
    pub backend: String,
    /// The machine, to be read by people: `x86_64 znver4`.
    pub machine: String,
    /// All else that tells its code from that for others.
    pub details: String,
}

impl ArtifactTarget {
    /// In a few words: `cpu x86_64 znver4`.
    pub fn name(&self) -> String {
        format!("{} {}", self.backend, self.machine)
    }
}

/// The machine that code is wanted for.
pub(crate) trait TargetSelector {
    /// The target that the compiler would compile for here; `None` where there is no compiler to say.
    fn exact(&self) -> Option<&ArtifactTarget>;

    /// How well code for `target` runs here: `None` where it does not, and most for the exact target.
    fn rank(&self, target: &ArtifactTarget) -> Option<usize>;
}

/// A kernel that was compiled.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ArchiveEntry {
    pub(crate) key: Key,
    /// The function constants, for people.
    pub(crate) constants: String,
    /// The kernel's interface, with these constants.
    pub(crate) reflection: Kernel,
    pub(crate) artifact: Artifact,
}

impl ArchiveEntry {
    /// Whether it can be what was asked for: a second look, after the key.
    pub(crate) fn is_of(&self, kernel: &str, variant: &str) -> bool {
        self.reflection.name == kernel && self.artifact.variant == variant
    }

    /// Bytes of machine code.
    pub(crate) fn code_size(&self) -> usize {
        self.artifact.bytes.len()
    }
}
