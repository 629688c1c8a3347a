//! Copies between buffers.

use super::same_device;
use crate::buffer::Buffer;
use crate::error::{Result, usage};
use crate::work::Copy;

/// Metal on a Mac copies whole words.
const ALIGNMENT: usize = 4;

/// Whether a command buffer of a device can take a copy.
pub(crate) fn copy(domain: u32, copy: &Copy) -> Result<()> {
    let Copy { source, range, destination, offset } = copy;
    for buffer in [source, destination] {
        same_device("copy_buffer", domain, buffer)?;
    }
    released("copy_buffer", copy)?;
    if range.start >= range.end || range.end > source.len() {
        let (std::ops::Range { start, end }, source) = (range, source.description());
        return usage(format!("copy_buffer: {start}..{end} is empty or not inside {source}, the source"));
    }
    let len = range.end - range.start;
    let Some(end) = offset.checked_add(len).filter(|&end| end <= destination.len()) else {
        let destination = destination.description();
        return usage(format!(
            "copy_buffer: {len} bytes at offset {offset} are not inside {destination}, the destination"
        ));
    };
    if destination.is_read_only() {
        return usage(format!(
            "copy_buffer: {}, the destination, is a view for reading only",
            destination.description()
        ));
    }
    let (from, to) = (source.addresses(range.clone()), destination.addresses(*offset..end));
    if from.start < to.end && to.start < from.end {
        let source = source.description();
        return usage(format!(
            "copy_buffer: {range:?} and {offset}..{end} of {source} overlap; copy by way of another buffer"
        ));
    }
    let numbers =
        [("the source begins at", from.start), ("the destination begins at", to.start), ("the length is", len)];
    for (what, number) in numbers {
        if !number.is_multiple_of(ALIGNMENT) {
            let divisor = 1 << number.trailing_zeros();
            return usage(format!(
                "copy_buffer: {what} a multiple of {divisor} only; Metal needs one of {ALIGNMENT}"
            ));
        }
    }
    Ok(())
}

/// Whether neither buffer was released.
pub(crate) fn released(call: &str, copy: &Copy) -> Result<()> {
    match [&copy.source, &copy.destination].into_iter().find(|buffer| buffer.is_released()) {
        Some(buffer) => {
            usage(format!("{call}: a copy from or to {}, which was released", Buffer::description(buffer)))
        }
        None => Ok(()),
    }
}
