//! Buffers: memory that kernels read and write.

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
/// As in Metal, the host can read and write it while a command buffer uses it, with unspecified results. Wait for the
/// command buffer first.
#[derive(Clone)]
pub struct Buffer {
    memory: Arc<Memory>,
    read_only: bool,
}

impl Device {
    /// Creates a buffer of zeros, shared by the host and the device.
    pub fn new_buffer(&self, len: usize) -> Result<Buffer> {
        self.new_buffer_with_storage_mode(len, StorageMode::Shared)
    }

    /// Creates a buffer. The initial contents of a private one are unspecified: fill it
    /// ([`crate::CommandBuffer::fill_buffer`]).
    pub fn new_buffer_with_storage_mode(&self, len: usize, storage_mode: StorageMode) -> Result<Buffer> {
        self.check_len(len)?;
        Ok(self.buffer(self.backend().new_buffer(len, storage_mode)?, len, storage_mode))
    }

    /// Creates a buffer with a copy of `bytes`.
    pub fn new_buffer_with_bytes(&self, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.new_buffer(bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// Creates a buffer from a part of a file; `..` is all of it. It is mapped into memory, not copied, if the device
    /// shares the host's memory.
    ///
    /// On the CPU, writes of kernels and the host stay in memory; on a GPU the buffer is read-only
    /// ([`Buffer::is_read_only`]). The file does not change. It must not be truncated while it is in use: accessing
    /// missing pages kills the process.
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
            return Err(failed(format!("bytes {start}..{end} were requested, but it has {file_len}")));
        }
        let len = usize::try_from(end - start).map_err(|_| failed("it does not fit into memory".into()))?;
        let opened = self.backend().new_buffer_with_file(&file, start, len).map_err(|error| match error {
            Error::File { reason, .. } => failed(reason),
            other => other,
        });
        Ok(self.buffer(opened?, len, StorageMode::Shared))
    }

    /// Creates a buffer over the caller's memory, such as a mapped file, without a copy. `owner` is kept as long as the
    /// buffer is in use by the device or by clones, and then dropped, on any thread. Devices with their own memory
    /// refuse it.
    ///
    /// # Safety
    ///
    /// Until `owner` is dropped, the memory must stay valid and in place; on a GPU, all pages that it touches. It is
    /// read and written like any buffer, so no references to it may be in use while kernels access it; read-only memory
    /// (a read-only mapping) must be bound as [`Buffer::read_only`]. If it is written, no other buffer may cover the
    /// same memory: GPUs do not order accesses through different buffers.
    pub unsafe fn new_buffer_with_bytes_no_copy(
        &self,
        memory: NonNull<[u8]>,
        owner: impl Any + Send + Sync,
    ) -> Result<Buffer> {
        self.check_len(memory.len())?;
        // SAFETY: as the caller promises.
        let allocation = unsafe { self.backend().new_buffer_with_bytes_no_copy(memory, Box::new(owner))? };
        Ok(self.buffer(allocation, memory.len(), StorageMode::Shared))
    }

    /// Declares that a buffer has no contents yet: with shader validation that looks for races, a kernel's read of a byte
    /// that no kernel, copy or fill has written since is a finding. Writes of the host do not count.
    pub fn declare_uninitialized(&self, buffer: &Buffer) -> Result<()> {
        if !self.shader_validation().is_some_and(|validation| validation.checks.races) {
            return usage("a buffer declared uninitialized: turn on shader validation with races first");
        }
        self.backend().declare_uninitialized(buffer.memory());
        Ok(())
    }

    /// A visible function table of the back end.
    pub(crate) fn function_table(&self, allocation: Allocation, len: usize) -> Buffer {
        self.buffer(allocation, len, StorageMode::Shared)
    }

    fn buffer(&self, allocation: Allocation, len: usize, storage: StorageMode) -> Buffer {
        let read_only = allocation.is_read_only;
        Buffer { memory: Arc::new(Memory::new(allocation, len, storage, self.domain())), read_only }
    }

    /// Checks the size of a new buffer.
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
    /// A read-only view of the same memory: it cannot be bound to an argument that a kernel may write, and
    /// [`Buffer::write`] refuses. For weights and other data shared by several dispatches.
    pub fn read_only(&self) -> Buffer {
        Buffer { memory: self.memory.clone(), read_only: true }
    }

    /// True if it is a read-only view.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Releases the memory now, although clones exist. Later accesses are safe and find zeros. From now on, binding it,
    /// and committing or replaying work that uses it, are errors; work committed before reads zeros or the old
    /// contents. The caller's memory, and a GPU's, is released with the last clone.
    pub fn release(&self) {
        self.memory.release();
    }

    /// True if [`Buffer::release`] was called on it or on a clone.
    #[inline]
    pub fn is_released(&self) -> bool {
        self.memory.is_released()
    }

    /// Sets the name for messages and GPU tools, for all clones.
    pub fn set_label(&self, label: &str) {
        self.memory.set_label(label);
    }

    /// Its name.
    pub fn label(&self) -> Option<Arc<str>> {
        self.memory.label()
    }

    /// The buffer of memory that a table keeps.
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

    /// Size in bytes, Metal's `length`.
    #[allow(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    #[inline]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Its storage mode.
    pub fn storage_mode(&self) -> StorageMode {
        self.memory.storage()
    }

    /// Host address of the first byte; null if it is private, or if the device has its own memory
    /// ([`Capabilities::unified_memory`](crate::Capabilities)). If it is [read-only](Buffer::is_read_only), a write may
    /// kill the process.
    pub fn contents(&self) -> *mut u8 {
        self.memory.host().map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }

    /// Addresses of a range, which must be inside the buffer: those of two buffers overlap if their memory does. Only
    /// for comparison: they need not be host addresses.
    pub fn addresses(&self, range: Range<usize>) -> Range<usize> {
        self.memory.addresses(range)
    }

    /// A copy of its contents; bytes after the last whole element are left out. Zeros for a released buffer; empty for
    /// a private one.
    pub fn read<T: Pod>(&self) -> Vec<T> {
        if self.storage_mode() == StorageMode::Private {
            return Vec::new();
        }
        let count = self.len().checked_div(size_of::<T>()).unwrap_or(0);
        let mut elements = vec![T::zeroed(); count];
        if !self.is_released()
            && let Err(error) = self.memory.read(0, bytemuck::cast_slice_mut(&mut elements))
        {
            // Fails only if a device with its own memory is lost; `read_at` returns the error.
            log::line(format_args!("{} cannot be read: {error}", self.description()));
            elements.fill(T::zeroed());
        }
        elements
    }

    /// A copy of `count` elements, starting at byte `offset`.
    pub fn read_at<T: Pod>(&self, offset: usize, count: usize) -> Result<Vec<T>> {
        self.check(offset, count.checked_mul(size_of::<T>()), "read")?;
        let mut elements = vec![T::zeroed(); count];
        self.memory.read(offset, bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    /// Fills `elements`, starting at byte `offset`.
    pub fn read_into<T: Pod>(&self, offset: usize, elements: &mut [T]) -> Result<()> {
        self.check(offset, Some(size_of_val(elements)), "read")?;
        self.memory.read(offset, bytemuck::cast_slice_mut(elements))
    }

    /// Writes `elements`, starting at byte `offset`.
    pub fn write<T: Pod>(&self, offset: usize, elements: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        if self.read_only {
            return usage(format!("a write to {}, which is read-only", self.description()));
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
