//! Validation of copies and fills.

use super::same_device;
use crate::backend::{Copy, Fill, Memory};
use crate::error::{Result, usage};
use std::ops::Range;

/// Metal on a Mac copies whole words.
const ALIGNMENT: usize = 4;

/// Checks a copy of a command buffer.
pub(crate) fn copy(domain: u32, copy: &Copy, destination_is_read_only: bool) -> Result<()> {
    let Copy { source, range, destination, offset } = copy;
    for buffer in [source, destination] {
        same_device("copy_buffer", domain, buffer)?;
    }
    copy_released("copy_buffer", copy)?;
    inside("copy_buffer", ", the source", source, range)?;
    let len = range.end - range.start;
    let Some(end) = offset.checked_add(len).filter(|&end| end <= destination.len()) else {
        let destination = destination.description();
        return usage(format!(
            "copy_buffer: {len} bytes at offset {offset} are not inside {destination}, the destination"
        ));
    };
    if destination_is_read_only {
        return usage(format!("copy_buffer: {}, the destination, is read-only", destination.description()));
    }
    let (from, to) = (source.addresses(range.clone()), destination.addresses(*offset..end));
    if from.start < to.end && to.start < from.end {
        let source = source.description();
        return usage(format!(
            "copy_buffer: {range:?} and {offset}..{end} of {source} overlap; copy through another buffer"
        ));
    }
    let numbers =
        [("the source begins at", from.start), ("the destination begins at", to.start), ("the length is", len)];
    whole_words("copy_buffer", &numbers)
}

/// Checks a fill of a command buffer.
pub(crate) fn fill(domain: u32, fill: &Fill, is_read_only: bool) -> Result<()> {
    let Fill { buffer, range, .. } = fill;
    same_device("fill_buffer", domain, buffer)?;
    fill_released("fill_buffer", fill)?;
    inside("fill_buffer", "", buffer, range)?;
    if is_read_only {
        return usage(format!("fill_buffer: {} is read-only", buffer.description()));
    }
    let numbers = [("the range begins at", range.start), ("the length is", range.end - range.start)];
    whole_words("fill_buffer", &numbers)
}

fn inside(call: &str, role: &str, buffer: &Memory, range: &Range<usize>) -> Result<()> {
    if range.start < range.end && range.end <= buffer.len() {
        return Ok(());
    }
    let (Range { start, end }, buffer) = (range, buffer.description());
    usage(format!("{call}: {start}..{end} is empty or not inside {buffer}{role}"))
}

fn whole_words(call: &str, numbers: &[(&str, usize)]) -> Result<()> {
    match numbers.iter().find(|(_, number)| !number.is_multiple_of(ALIGNMENT)) {
        Some((what, number)) => {
            let divisor = 1 << number.trailing_zeros();
            usage(format!("{call}: {what} a multiple of {divisor} only; Metal needs one of {ALIGNMENT}"))
        }
        None => Ok(()),
    }
}

/// Checks that neither buffer was released.
pub(crate) fn copy_released(call: &str, copy: &Copy) -> Result<()> {
    released(call, "a copy from or to", &[&copy.source, &copy.destination])
}

/// Checks that the buffer was not released.
pub(crate) fn fill_released(call: &str, fill: &Fill) -> Result<()> {
    released(call, "a fill of", &[&fill.buffer])
}

fn released(call: &str, what: &str, buffers: &[&Memory]) -> Result<()> {
    match buffers.iter().find(|buffer| buffer.is_released()) {
        Some(buffer) => usage(format!("{call}: {what} {}, which was released", buffer.description())),
        None => Ok(()),
    }
}
