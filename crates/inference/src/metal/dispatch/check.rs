//! Checks of an operation's arguments. They reject accesses outside of a buffer, and outputs that would overwrite an
//! input before it is read.

use super::Encoding;
use crate::metal::kernels::common::MAX_SIMDGROUPS;
use crate::metal::library::{BufferSlice, KernelInfo};
use compute::{Error, Result};
use std::fmt::Display;
use std::ops::Range;

/// Checks the arguments of one operation by the reflection of its kernel.
#[derive(Clone, Copy)]
pub(crate) struct Check<'a> {
    /// The operation's name, for messages.
    operation: &'a str,
    kernel: &'static KernelInfo,
}

impl<'a> Check<'a> {
    pub(crate) fn new(operation: &'a str, kernel: &'static KernelInfo) -> Check<'a> {
        Check { operation, kernel }
    }

    /// A usage error, prefixed with the operation's name.
    pub(crate) fn error<T>(&self, problem: impl Display) -> Result<T> {
        Err(Error::Usage(format!("{}: {problem}", self.operation)))
    }

    /// Number of simdgroups for a row of `numbers` numbers.
    pub(crate) fn simdgroups(&self, encoding: &Encoding<'_>, numbers: usize) -> Result<usize> {
        let simdgroups = encoding.tuning.row_simdgroups(numbers);
        match (1..=MAX_SIMDGROUPS).contains(&simdgroups) {
            true => Ok(simdgroups),
            false => {
                self.error(format_args!("{simdgroups} simdgroups for a row: it must be 1 to {MAX_SIMDGROUPS}"))
            }
        }
    }

    /// Checks a number that a kernel takes as `uint`: at least 1.
    pub(crate) fn count(&self, name: &str, value: usize) -> Result<u32> {
        match u32::try_from(value) {
            Ok(count @ 1..) if count <= i32::MAX as u32 => Ok(count),
            _ => self.error(format_args!("{name} is {value}: it must be between 1 and {}", i32::MAX)),
        }
    }

    /// Checks that the kernel's argument `name` has room for as many elements as the product of `counts`.
    pub(crate) fn room<'n>(
        &self,
        name: &'n str,
        slice: &BufferSlice<'_>,
        counts: &[usize],
    ) -> Result<UsedBytes<'n>> {
        self.elements(name, slice, counts, self.element_size(name)?)
    }

    /// Checks that `slice` has room for as many elements of `size` bytes as the product of `counts`: for buffers that
    /// are not an argument of the kernel.
    pub(crate) fn elements<'n>(
        &self,
        name: &'n str,
        slice: &BufferSlice<'_>,
        counts: &[usize],
        size: usize,
    ) -> Result<UsedBytes<'n>> {
        let needed = counts.iter().try_fold(size, |bytes, &count| bytes.checked_mul(count));
        match needed {
            Some(needed) if needed <= slice.len() => {
                let range = slice.offset()..slice.offset() + needed;
                Ok(UsedBytes { name, bytes: slice.buffer().addresses(range) })
            }
            _ => {
                let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                let (counts, len) = (counts.join(" × "), slice.len());
                self.error(format_args!("{name} has {len} bytes, but {counts} elements of {size} bytes are needed"))
            }
        }
    }

    /// Checks that the kernel's argument `name` has room for rows of `width` elements, `stride` elements apart.
    pub(crate) fn rows<'n>(
        &self,
        name: &'n str,
        slice: &BufferSlice<'_>,
        rows: usize,
        stride: usize,
        width: usize,
    ) -> Result<UsedBytes<'n>> {
        if width > stride {
            return self
                .error(format_args!("{name}: rows of {width} elements, but only {stride} from one to the next"));
        }
        // The last row needs no padding.
        let elements = match rows {
            0 => 0,
            _ => (rows - 1).saturating_mul(stride).saturating_add(width),
        };
        self.room(name, slice, &[elements])
    }

    /// Checks that the output starts where an input starts, or does not overlap it. In place, a thread overwrites only
    /// elements that it alone reads.
    pub(crate) fn in_place_or_no_overlap(&self, output: &UsedBytes<'_>, input: &UsedBytes<'_>) -> Result<()> {
        match output.bytes.start == input.bytes.start {
            true => Ok(()),
            false => self.no_overlap(output, input),
        }
    }

    /// Checks that the output and an input do not overlap.
    pub(crate) fn no_overlap(&self, output: &UsedBytes<'_>, input: &UsedBytes<'_>) -> Result<()> {
        let (a, b) = (&output.bytes, &input.bytes);
        if a.start < b.end && b.start < a.end && !a.is_empty() && !b.is_empty() {
            return self
                .error(format_args!("{} would be written over {} while that is read", output.name, input.name));
        }
        Ok(())
    }

    /// Size of an element of the kernel's argument `name`, from the reflection.
    fn element_size(&self, name: &str) -> Result<usize> {
        match self.kernel.arguments.iter().find(|argument| argument.name == name) {
            Some(argument) => Ok(argument.element_size),
            None => self.error(format_args!("internal error: {} has no argument '{name}'", self.kernel.name)),
        }
    }
}

/// Bytes that an operation uses in a buffer.
pub(crate) struct UsedBytes<'n> {
    name: &'n str,
    /// Range of addresses.
    bytes: Range<usize>,
}
