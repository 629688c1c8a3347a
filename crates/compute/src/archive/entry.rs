//! One compiled kernel with what is to be known about it.

use super::key::Key;
use super::target::Target;
use abi::{Lanes, WaveKernel};
use msl::reflect::Kernel;

/// A kernel that was compiled.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) target: Target,
    /// The function constants, for people.
    pub(crate) constants: String,
    /// The kernel's interface, with these constants.
    pub(crate) reflection: Kernel,
    pub(crate) payload: Payload,
}

/// What the back end made. Those for GPUs will be further variants.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Payload {
    Wave(WaveKernel),
}

impl Entry {
    /// Whether it can be what was asked for: a second look, after the key.
    pub(crate) fn is_of(&self, kernel: &str, lanes: Lanes) -> bool {
        let Payload::Wave(wave) = &self.payload;
        self.reflection.name == kernel && wave.name == kernel && wave.lanes == lanes
    }

    /// Bytes of machine code.
    pub(crate) fn code_size(&self) -> usize {
        let Payload::Wave(wave) = &self.payload;
        wave.object.len()
    }
}
