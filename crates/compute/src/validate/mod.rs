//! Validation: the rules of Metal's API, checked against the kernel's reflection before a call is recorded.
//!
//! Mistakes that could corrupt memory, or whose effect would depend on the device, are always checked, in release
//! builds too. The rest, which can only give wrong results, is checked in validation: in debug builds, with
//! `METALWORKS_VALIDATION=1`, or after [`crate::Device::set_validation`].
//!
//! | check | when | where |
//! |---|---|---|
//! | index of a buffer or of threadgroup memory, 0 to 30 | always | the call that sets it |
//! | offset and range inside the buffer | always | the call that sets it |
//! | `set_bytes`: 1 to 4,096 bytes | always | the call that sets it |
//! | threadgroup memory: a multiple of 16, within the device's limit, at least one element | always | `memory` |
//! | every argument that the kernel uses is bound, to at least one element, aligned | always | `bindings` |
//! | an argument that a kernel may write is neither read-only nor `set_bytes` data | always | `bindings` |
//! | no buffer was released, when it is bound, committed and replayed | always | the encoder, `stale` |
//! | grid and threadgroup: not 0, within the limits and 32 bits, as promised | always | `grid` |
//! | encoding after the end, committing twice, an open or dropped encoder | always | encoder, command buffer |
//! | buffers belong to the encoding device | always | the call that binds or copies |
//! | copies and fills: inside the buffers, whole words, no overlap, no write to a read-only buffer | always | `copy` |
//! | patches are inside recorded bytes, and of this recording | always | the replay |
//! | bindings that no dispatch uses: a wrong index | validation | `unused` |

mod bindings;
mod copy;
mod grid;
mod memory;
mod stale;
mod unused;

pub(crate) use bindings::{BoundArgument, bindings};
pub(crate) use copy::{copy, copy_released, fill, fill_released};
pub(crate) use grid::grid;
pub(crate) use memory::{threadgroup_memory, threadgroup_memory_problem};
pub(crate) use stale::stale;
pub(crate) use unused::Uses;

use crate::backend::{Executable, Memory};
use crate::error::{Error, Result, usage};
use abi::call::ARGUMENT_SLOTS;
use msl::reflect::ArgumentKind;
use std::fmt::Display;
use std::sync::Arc;

/// A dispatch to validate.
pub(crate) struct Call<'a> {
    /// Name of the called method.
    pub(crate) name: &'static str,
    pub(crate) pipeline: &'a Executable,
    /// Buffers of the table.
    pub(crate) buffers: &'a [Arc<Memory>],
}

impl Call<'_> {
    /// Creates the error for a problem.
    fn refuse(&self, problem: impl Display) -> Error {
        Error::Usage(format!("{} of '{}': {problem}", self.name, self.pipeline.name()))
    }
}

#[inline]
pub(crate) fn index(call: &str, index: usize) -> Result<()> {
    if index < ARGUMENT_SLOTS {
        return Ok(());
    }
    usage(format!("{call}: index {index}; there are {ARGUMENT_SLOTS}, from 0 to {}", ARGUMENT_SLOTS - 1))
}

/// Checks that a buffer's memory belongs to the device.
#[inline]
pub(crate) fn same_device(call: &str, domain: u32, buffer: &Memory) -> Result<()> {
    if buffer.domain() == domain {
        return Ok(());
    }
    usage(format!("{call}: {} belongs to another device", buffer.description()))
}

/// Name of the argument with this index.
pub(crate) fn argument_name(pipeline: &Executable, kind: ArgumentKind, index: usize) -> Option<&str> {
    let mut arguments = pipeline.reflection.arguments.iter();
    arguments
        .find(|argument| argument.kind == kind && argument.index as usize == index)
        .map(|argument| &*argument.name)
}

/// Checks that table indices fit in 32 bits.
#[inline]
pub(crate) fn room(call: &str, entries: usize) -> Result<()> {
    if entries < (u32::MAX >> 1) as usize {
        return Ok(());
    }
    usage(format!("{call}: the encoder is full; end it and continue with another one"))
}

/// Formats a list: `2`, `2 and 5`, `1, 2 and 5`.
fn list(indices: u32) -> String {
    let mut text = String::new();
    let count = indices.count_ones();
    for (index, position) in (0..32).filter(|index| indices >> index & 1 == 1).zip(1..) {
        let before = match position {
            1 => "",
            _ if position == count => " and ",
            _ => ", ",
        };
        text += &format!("{before}{index}");
    }
    text
}

#[cfg(test)]
mod tests;
