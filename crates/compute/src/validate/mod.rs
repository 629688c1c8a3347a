//! What an encoder checks before it records: the rules of Metal's API against the kernel's reflection.
//!
//! What could harm memory, or leave a device in doubt about what to do, is checked always, in release builds too. The
//! rest, which can only give wrong results, is checked in validation: in debug builds, with `METALWORKS_VALIDATION=1`, or
//! where [`crate::Device::set_validation`] turned it on.
//!
//! | check | when | where |
//! |---|---|---|
//! | index of a buffer or of threadgroup memory, 0 to 30 | always | the call that sets it |
//! | offset and range inside of the buffer | always | the call that sets it |
//! | `set_bytes`: 1 to 4,096 bytes | always | the call that sets it |
//! | threadgroup memory: a multiple of 16, within the device's limit, an element at least | always | `memory` |
//! | every argument that the kernel uses bound; what is bound large enough for an element, aligned | always | `bindings` |
//! | what a kernel may write is not read-only, nor bytes | always | `bindings` |
//! | no released buffer, when it is bound, committed and replayed | always | the encoder, `stale` |
//! | grid and threadgroup: not 0, within the limits and 32 bits, full simdgroups if promised | always | `grid` |
//! | encoding after the end, committing twice, an open or dropped encoder | always | encoder, command buffer |
//! | buffers of the device that encodes | always | the call that binds or copies |
//! | copies and fills: inside of the buffers, whole words, no overlap, nothing read-only written | always | `copy` |
//! | patches inside of bytes that were recorded, and of this recording | always | the replay |
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

/// A dispatch that is checked.
pub(crate) struct Call<'a> {
    /// The method that was called.
    pub(crate) name: &'static str,
    pub(crate) pipeline: &'a Executable,
    /// Those of the table.
    pub(crate) buffers: &'a [Arc<Memory>],
}

impl Call<'_> {
    /// The error that a problem is.
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

/// Whether a buffer has memory that the device can reach.
#[inline]
pub(crate) fn same_device(call: &str, domain: u32, buffer: &Memory) -> Result<()> {
    if buffer.domain() == domain {
        return Ok(());
    }
    usage(format!("{call}: {} was made by another device", buffer.description()))
}

/// The name of the argument with this index.
pub(crate) fn argument_name(pipeline: &Executable, kind: ArgumentKind, index: usize) -> Option<&str> {
    let mut arguments = pipeline.reflection.arguments.iter();
    arguments
        .find(|argument| argument.kind == kind && argument.index as usize == index)
        .map(|argument| &*argument.name)
}

/// The tables count with 32 bits.
#[inline]
pub(crate) fn room(call: &str, entries: usize) -> Result<()> {
    if entries < (u32::MAX >> 1) as usize {
        return Ok(());
    }
    usage(format!("{call}: the encoder is full; end it, and go on with another one"))
}

/// A list as one says it: `2`, `2 and 5`, `1, 2 and 5`.
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
