//! Memory that kernels read and write.

mod memory;

pub(crate) use memory::max_buffer_length;
#[cfg(target_os = "macos")]
pub(crate) use memory::{Mapping, page_size};

use crate::device::Backend;
use crate::error::{Error, Result, usage};
use bytemuck::Pod;
use memory::Memory;
use std::any::Any;
use std::fs::File;
use std::ops::{Bound, Range, RangeBounds};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

/// Memory of a device. A clone is the same memory.
///
/// As in Metal, nothing stops the host from reading and writing while a command buffer works on it: what is then read
/// is not specified. Wait for the command buffer first.
#[derive(Clone)]
pub struct Buffer {
    memory: Arc<Memory>,
    read_only: bool,
}

/// Who can read and write the memory of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StorageMode {
    /// The host and the device.
    #[default]
    Shared,
    /// The device alone: the host's calls for it are errors, whatever the device is.
    /// [`crate::CommandBuffer::copy_buffer`] fills it and reads it.
    Private,
}

/// How many buffers were released in this process. Who saw that none of its buffers was need not look at them again
/// before this goes up.
static RELEASES: AtomicU64 = AtomicU64::new(0);

pub(crate) fn releases() -> u64 {
    RELEASES.load(Ordering::Acquire)
}

impl Buffer {
    pub(crate) fn zeroed(backend: &Backend, len: usize, storage: StorageMode) -> Result<Buffer> {
        check_len(backend, len)?;
        Ok(Buffer::new(Memory::anonymous(backend, len, storage)?))
    }

    pub(crate) fn with_bytes(backend: &Backend, bytes: &[u8]) -> Result<Buffer> {
        let buffer = Buffer::zeroed(backend, bytes.len(), StorageMode::Shared)?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    pub(crate) fn with_file(backend: &Backend, path: &Path, range: impl RangeBounds<u64>) -> Result<Buffer> {
        let failed = |reason: String| Error::File { path: path.display().to_string(), reason };
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let file_len = file.metadata().map_err(|error| failed(error.to_string()))?.len();
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
        if start >= end {
            return usage(format!("a buffer from '{}': the range {start}..{end} is empty", path.display()));
        }
        if end > file_len {
            return Err(failed(format!("bytes {start}..{end} were asked for, and it has {file_len}")));
        }
        let len = usize::try_from(end - start).map_err(|_| failed("it does not fit into memory".into()))?;
        let mapped = Memory::file(backend, &file, start, len);
        let (memory, read_only) = mapped.map_err(|error| failed(error.to_string()))?;
        Ok(Buffer { read_only, ..Buffer::new(memory?) })
    }

    /// # Safety
    ///
    /// As [`crate::Device::new_buffer_with_bytes_no_copy`].
    pub(crate) unsafe fn with_bytes_no_copy(
        backend: &Backend,
        memory: NonNull<[u8]>,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Buffer> {
        check_len(backend, memory.len())?;
        // SAFETY: the caller keeps to it.
        Ok(Buffer::new(unsafe { Memory::foreign(backend, memory, owner)? }))
    }

    fn new(memory: Memory) -> Buffer {
        Buffer { memory: Arc::new(memory), read_only: false }
    }

    /// The same memory, which kernels may only read: it cannot be bound to an argument that a kernel may write, and
    /// [`Buffer::write`] refuses. For weights, and for all that several dispatches share.
    pub fn read_only(&self) -> Buffer {
        Buffer { memory: self.memory.clone(), read_only: true }
    }

    /// Whether it is a view for reading only.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Gives the memory back now, although clones exist. Nothing can crash on it: what is still there are zeros. To bind
    /// it, and to commit or replay what uses it, are errors from now on; what was committed before reads zeros or what was
    /// there. Memory of the caller's, and that of a GPU, goes with the last clone.
    pub fn release(&self) {
        if !self.memory.is_released.swap(true, Ordering::AcqRel) {
            RELEASES.fetch_add(1, Ordering::AcqRel);
            self.memory.give_back();
        }
    }

    /// Whether [`Buffer::release`] was called on it or on a clone.
    pub fn is_released(&self) -> bool {
        self.memory.is_released.load(Ordering::Acquire)
    }

    /// Names it in messages and in tools that show what a GPU does; all its clones, too.
    pub fn set_label(&self, label: &str) {
        let mut own = self.memory.label.lock().unwrap_or_else(PoisonError::into_inner);
        self.memory.set_device_label(label);
        *own = Some(label.into());
    }

    /// The name that it was given.
    pub fn label(&self) -> Option<Arc<str>> {
        self.memory.label.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What messages call it.
    pub(crate) fn description(&self) -> String {
        let label = self.label().map(|label| format!(" '{label}'")).unwrap_or_default();
        format!("the buffer{label} of {} bytes", self.len())
    }

    /// Tells its memory from that of others.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.memory).addr()
    }

    /// Whose memory it is: [`Backend::domain`].
    pub(crate) fn domain(&self) -> u32 {
        self.memory.domain
    }

    /// Its size in bytes, Metal's `length`.
    #[allow(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    pub fn len(&self) -> usize {
        self.memory.len
    }

    /// Who can read and write it.
    pub fn storage_mode(&self) -> StorageMode {
        self.memory.storage
    }

    /// Its first byte; null if it is private. Where it [can only be read](Buffer::is_read_only), that goes for this, too: a
    /// write may end the process.
    pub fn contents(&self) -> *mut u8 {
        match self.memory.storage {
            StorageMode::Shared => self.memory.base,
            StorageMode::Private => std::ptr::null_mut(),
        }
    }

    /// Its first byte, for the processor as a device.
    pub(crate) fn base(&self) -> *mut u8 {
        self.memory.base
    }

    /// Numbers that stand for some of its bytes, which are inside of it: those of two buffers overlap where their memory does.
    /// To compare and not to read from: a private buffer need not have addresses.
    pub fn addresses(&self, range: Range<usize>) -> Range<usize> {
        self.memory.address + range.start..self.memory.address + range.end
    }

    #[cfg(target_os = "macos")]
    pub(crate) fn metal(&self) -> Option<&crate::metal::Buffer> {
        self.memory.metal()
    }

    /// A copy of all that it holds for the host; bytes after the last whole element are left out. Of a released buffer, zeros;
    /// of a private one, nothing.
    pub fn read<T: Pod>(&self) -> Vec<T> {
        if self.memory.storage == StorageMode::Private {
            return Vec::new();
        }
        let count = self.len().checked_div(size_of::<T>()).unwrap_or(0);
        let mut elements = vec![T::zeroed(); count];
        if !self.is_released() {
            self.copy_out(0, bytemuck::cast_slice_mut(&mut elements));
        }
        elements
    }

    /// A copy of `count` elements from the byte `offset` on.
    pub fn read_at<T: Pod>(&self, offset: usize, count: usize) -> Result<Vec<T>> {
        self.check(offset, count.checked_mul(size_of::<T>()), "read")?;
        let mut elements = vec![T::zeroed(); count];
        self.copy_out(offset, bytemuck::cast_slice_mut(&mut elements));
        Ok(elements)
    }

    /// Fills `elements` from the byte `offset` on.
    pub fn read_into<T: Pod>(&self, offset: usize, elements: &mut [T]) -> Result<()> {
        self.check(offset, Some(size_of_val(elements)), "read")?;
        self.copy_out(offset, bytemuck::cast_slice_mut(elements));
        Ok(())
    }

    /// Writes `elements` at the byte `offset`.
    pub fn write<T: Pod>(&self, offset: usize, elements: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        if self.read_only {
            return usage(format!("a write to {}, which is a view for reading only", self.description()));
        }
        self.check(offset, Some(bytes.len()), "write")?;
        // SAFETY: the range was checked, and `bytes` is memory of Rust's, which no buffer is.
        unsafe { self.contents().add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// Both ends of the range must lie in the buffer.
    fn copy_out(&self, offset: usize, bytes: &mut [u8]) {
        assert!(offset.checked_add(bytes.len()).is_some_and(|end| end <= self.len()));
        // SAFETY: the range was checked, and `bytes` is memory of Rust's, which no buffer is.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(self.contents().add(offset), bytes.len()) };
    }

    fn check(&self, offset: usize, bytes: Option<usize>, what: &str) -> Result<()> {
        match bytes.and_then(|bytes| offset.checked_add(bytes)) {
            _ if self.memory.storage == StorageMode::Private => usage(format!(
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

/// Whether there can be so large a buffer.
fn check_len(backend: &Backend, len: usize) -> Result<()> {
    if len == 0 {
        return usage("a buffer of 0 bytes: its length must be at least 1");
    }
    if len > backend.limits().max_buffer_length {
        return Err(Error::OutOfMemory { what: "a buffer".into(), bytes: len as u64 });
    }
    Ok(())
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
