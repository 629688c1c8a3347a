//! Memory that kernels read and write.

use crate::backend::{Allocation, Memory, StorageMode};
use crate::device::Device;
use crate::error::{Error, Result, usage};
use crate::log;
use bytemuck::Pod;
use std::any::Any;
use std::fs::File;
use std::ops::{Bound, Range, RangeBounds};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// Memory of a device. A clone is the same memory.
///
/// As in Metal, nothing stops the host from reading and writing while a command buffer works on it: what is then read
/// is not specified. Wait for the command buffer first.
#[derive(Clone)]
pub struct Buffer {
    memory: Arc<Memory>,
    read_only: bool,
}

impl Device {
    /// A buffer of zeros, which the host and the device share.
    pub fn new_buffer(&self, len: usize) -> Result<Buffer> {
        self.new_buffer_with_storage_mode(len, StorageMode::Shared)
    }

    /// A buffer. What a private one holds at first is not specified: fill it ([`crate::CommandBuffer::fill_buffer`]).
    pub fn new_buffer_with_storage_mode(&self, len: usize, storage_mode: StorageMode) -> Result<Buffer> {
        self.check_len(len)?;
        Ok(self.buffer(self.backend().new_buffer(len, storage_mode)?, len, storage_mode))
    }

    /// A buffer with a copy of `bytes`.
    pub fn new_buffer_with_bytes(&self, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.new_buffer(bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// A buffer that is a part of a file; `..` is all of it. It is mapped into memory, and not copied, where the device's memory is
    /// the host's.
    ///
    /// On the CPU, what kernels or the host write stays in memory; on a GPU it can only be read
    /// ([`Buffer::is_read_only`]). The file does not change. It must not be shortened while it is in use: reading what is gone
    /// kills the process.
    pub fn new_buffer_with_file(&self, path: impl AsRef<Path>, range: impl RangeBounds<u64>) -> Result<Buffer> {
        let path = path.as_ref();
        let failed = |reason: String| Error::File { path: path.display().to_string(), reason };
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let file_len = file.metadata().map_err(|error| failed(error.to_string()))?.len();
        let Range { start, end } = bounds(&range, file_len);
        if start >= end {
            return usage(format!("a buffer from '{}': the range {start}..{end} is empty", path.display()));
        }
        if end > file_len {
            return Err(failed(format!("bytes {start}..{end} were asked for, and it has {file_len}")));
        }
        let len = usize::try_from(end - start).map_err(|_| failed("it does not fit into memory".into()))?;
        let opened = self.backend().new_buffer_with_file(&file, start, len).map_err(|error| match error {
            Error::File { reason, .. } => failed(reason),
            other => other,
        });
        Ok(self.buffer(opened?, len, StorageMode::Shared))
    }

    /// A buffer over memory that the caller has, such as a mapped file: nothing is copied. `owner` is kept as long as the device
    /// or anybody else uses the buffer, and then dropped, on any thread. Devices with memory of their own refuse it.
    ///
    /// # Safety
    ///
    /// As long as `owner` is not dropped, the memory must be there, and stay where it is; on a GPU, all of the pages that it has
    /// a part in. It is read and written as that of any buffer, so that no references to it may be in use while kernels work on
    /// it; what can only be read (a mapping for reading) must be bound as [`Buffer::read_only`]. No other buffer may be over the
    /// same memory if something writes it: GPUs know no order between buffers that share memory.
    pub unsafe fn new_buffer_with_bytes_no_copy(
        &self,
        memory: NonNull<[u8]>,
        owner: impl Any + Send + Sync,
    ) -> Result<Buffer> {
        self.check_len(memory.len())?;
        // SAFETY: the caller keeps to it.
        let allocation = unsafe { self.backend().new_buffer_with_bytes_no_copy(memory, Box::new(owner))? };
        Ok(self.buffer(allocation, memory.len(), StorageMode::Shared))
    }

    fn buffer(&self, allocation: Allocation, len: usize, storage: StorageMode) -> Buffer {
        let read_only = allocation.is_read_only;
        Buffer { memory: Arc::new(Memory::new(allocation, len, storage, self.domain())), read_only }
    }

    /// Whether there can be so large a buffer.
    fn check_len(&self, len: usize) -> Result<()> {
        if len == 0 {
            return usage("a buffer of 0 bytes: its length must be at least 1");
        }
        if len > self.max_buffer_length() {
            return Err(Error::OutOfMemory { what: "a buffer".into(), bytes: len as u64 });
        }
        Ok(())
    }
}

fn bounds(range: &impl RangeBounds<u64>, file_len: u64) -> Range<u64> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => file_len,
    };
    start..end
}

impl Buffer {
    /// The same memory, which kernels may only read: it cannot be bound to an argument that a kernel may write, and
    /// [`Buffer::write`] refuses. For weights, and for all that several dispatches share.
    pub fn read_only(&self) -> Buffer {
        Buffer { memory: self.memory.clone(), read_only: true }
    }

    /// Whether it is a view for reading only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Gives the memory back now, although clones exist. Nothing can crash on it: what is still there are zeros. To bind
    /// it, and to commit or replay what uses it, are errors from now on; what was committed before reads zeros or what was
    /// there. Memory of the caller's, and that of a GPU, goes with the last clone.
    pub fn release(&self) {
        self.memory.release();
    }

    /// Whether [`Buffer::release`] was called on it or on a clone.
    #[inline]
    pub fn is_released(&self) -> bool {
        self.memory.is_released()
    }

    /// Names it in messages and in tools that show what a GPU does; all its clones, too.
    pub fn set_label(&self, label: &str) {
        self.memory.set_label(label);
    }

    /// The name that it was given.
    pub fn label(&self) -> Option<Arc<str>> {
        self.memory.label()
    }

    /// Memory of a buffer that a table keeps.
    pub(crate) fn of(memory: Arc<Memory>, read_only: bool) -> Buffer {
        Buffer { memory, read_only }
    }

    #[inline]
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    pub(crate) fn description(&self) -> String {
        self.memory.description()
    }

    /// Its size in bytes, Metal's `length`.
    #[allow(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    #[inline]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Who can read and write it.
    pub fn storage_mode(&self) -> StorageMode {
        self.memory.storage()
    }

    /// Its first byte; null if it is private, or the device has memory of its own
    /// ([`Capabilities::unified_memory`](crate::Capabilities)). Where it [can only be read](Buffer::is_read_only), that goes for
    /// this, too: a write may end the process.
    pub fn contents(&self) -> *mut u8 {
        self.memory.host().map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }

    /// Numbers that stand for some of its bytes, which are inside of it: those of two buffers overlap where their memory does.
    /// To compare and not to read from: a device's memory need not have addresses of the host's.
    pub fn addresses(&self, range: Range<usize>) -> Range<usize> {
        self.memory.addresses(range)
    }

    /// A copy of all that it holds for the host; bytes after the last whole element are left out. Of a released buffer, zeros;
    /// of a private one, nothing.
    pub fn read<T: Pod>(&self) -> Vec<T> {
        if self.storage_mode() == StorageMode::Private {
            return Vec::new();
        }
        let count = self.len().checked_div(size_of::<T>()).unwrap_or(0);
        let mut elements = vec![T::zeroed(); count];
        if !self.is_released()
            && let Err(error) = self.memory.read(0, bytemuck::cast_slice_mut(&mut elements))
        {
            // Only where a device with memory of its own is lost; `read_at` has the error.
            log::line(format_args!("{} cannot be read: {error}", self.description()));
            elements.fill(T::zeroed());
        }
        elements
    }

    /// A copy of `count` elements from the byte `offset` on.
    pub fn read_at<T: Pod>(&self, offset: usize, count: usize) -> Result<Vec<T>> {
        self.check(offset, count.checked_mul(size_of::<T>()), "read")?;
        let mut elements = vec![T::zeroed(); count];
        self.memory.read(offset, bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// Fills `elements` from the byte `offset` on.
    pub fn read_into<T: Pod>(&self, offset: usize, elements: &mut [T]) -> Result<()> {
        self.check(offset, Some(size_of_val(elements)), "read")?;
        self.memory.read(offset, bytemuck::cast_slice_mut(elements))
    }

    /// Writes `elements` at the byte `offset`.
    pub fn write<T: Pod>(&self, offset: usize, elements: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        if self.read_only {
            return usage(format!("a write to {}, which is a view for reading only", self.description()));
        }
        self.check(offset, Some(bytes.len()), "write")?;
        self.memory.write(offset, bytes)
    }

    fn check(&self, offset: usize, bytes: Option<usize>, what: &str) -> Result<()> {
        match bytes.and_then(|bytes| offset.checked_add(bytes)) {
            _ if self.storage_mode() == StorageMode::Private => usage(format!(
                "a {what} of {}, which is private to its device; copy it to or from a shared one (copy_buffer)",
                self.description()
            )),
            _ if self.is_released() => usage(format!("a {what} of {}, which was released", self.description())),
            Some(end) if end <= self.len() => Ok(()),
            _ => {
                let bytes = bytes.unwrap_or(usize::MAX);
                let buffer = self.description();
                usage(format!("a {what} of {bytes} bytes at offset {offset} of {buffer}"))
            }
        }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut buffer = f.debug_struct("Buffer");
        buffer.field("len", &self.len());
        if let Some(label) = self.label() {
            buffer.field("label", &label);
        }
        buffer.finish_non_exhaustive()
    }
}
