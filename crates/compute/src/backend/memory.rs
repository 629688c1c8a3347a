//! A buffer as everything above the back ends sees it: where its bytes are, whose they are, and whether they are still there.

use super::{Allocation, Buffer};
use crate::error::Result;
use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Access to the memory of a buffer.
///
/// | | device with unified memory (CPU, Apple's GPUs) | device with memory of its own |
/// |---|---|---|
/// | shared | in place, by [`contents`](crate::Buffer::contents) too | [`read`](crate::Buffer::read) and [`write`](crate::Buffer::write) copy to and from the device |
/// | private | the device's; the host's calls are errors | the same |
/// | a file | mapped | copied to the device when it is opened |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StorageMode {
    /// The host and the device.
    #[default]
    Shared,
    /// The device alone: the host's calls for it are errors, whatever the device is.
    /// [`crate::CommandBuffer::copy_buffer`] fills it and reads it.
    Private,
}

/// The memory of a buffer.
pub struct Memory {
    address: usize,
    host: Option<NonNull<u8>>,
    len: usize,
    storage: StorageMode,
    domain: u32,
    is_released: AtomicBool,
    label: Mutex<Option<Arc<str>>>,
    buffer: Box<dyn Buffer>,
}

// SAFETY: the memory lives as long as the structure and does not move; what races on its bytes is the caller's business, as
// the documentation of `crate::Buffer` says.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Buffers that were released in this process. Whoever saw that none of its buffers was need not look again before this goes up.
static RELEASES: AtomicU64 = AtomicU64::new(0);

#[inline]
pub(crate) fn releases() -> u64 {
    RELEASES.load(Ordering::Acquire)
}

impl Memory {
    pub(crate) fn new(allocation: Allocation, len: usize, storage: StorageMode, domain: u32) -> Memory {
        let Allocation { address, host, buffer, .. } = allocation;
        let host = host.filter(|_| storage == StorageMode::Shared);
        let (is_released, label) = (AtomicBool::new(false), Mutex::new(None));
        Memory { address, host, len, storage, domain, is_released, label, buffer }
    }

    /// The number of its first byte: [`Allocation::address`].
    #[inline]
    pub fn address(&self) -> usize {
        self.address
    }

    /// Where the host finds its first byte, if it reaches it.
    #[inline]
    pub fn host(&self) -> Option<NonNull<u8>> {
        self.host
    }

    /// Its size in bytes.
    #[allow(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Access to it.
    #[inline]
    pub fn storage(&self) -> StorageMode {
        self.storage
    }

    /// The device that has it: [`super::Properties::domain`].
    #[inline]
    pub fn domain(&self) -> u32 {
        self.domain
    }

    /// Back-end state.
    pub fn buffer(&self) -> &dyn Any {
        &*self.buffer
    }

    /// Whether it was given back.
    #[inline]
    pub fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Acquire)
    }

    pub(crate) fn release(&self) {
        if !self.is_released.swap(true, Ordering::AcqRel) {
            RELEASES.fetch_add(1, Ordering::AcqRel);
            self.buffer.release();
        }
    }

    pub(crate) fn label(&self) -> Option<Arc<str>> {
        self.label.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_label(&self, label: &str) {
        let mut own = self.label.lock().unwrap_or_else(PoisonError::into_inner);
        self.buffer.set_label(label);
        *own = Some(label.into());
    }

    /// Its name in messages.
    pub(crate) fn description(&self) -> String {
        let label = self.label().map(|label| format!(" '{label}'")).unwrap_or_default();
        format!("the buffer{label} of {} bytes", self.len)
    }

    /// Copies bytes to the host. The range is inside, and the memory is shared.
    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        assert!(self.has(offset, bytes.len()));
        match self.host {
            // SAFETY: the range was checked, and `bytes` is memory of Rust's, which no buffer is.
            Some(host) => unsafe {
                bytes.as_mut_ptr().copy_from_nonoverlapping(host.as_ptr().add(offset), bytes.len());
            },
            None => self.buffer.read(offset, bytes)?,
        }
        Ok(())
    }

    /// Copies bytes from the host. The range is inside, and the memory is shared.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        assert!(self.has(offset, bytes.len()));
        match self.host {
            // SAFETY: as for reading.
            Some(host) => unsafe {
                host.as_ptr().add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
            },
            None => self.buffer.write(offset, bytes)?,
        }
        Ok(())
    }

    fn has(&self, offset: usize, len: usize) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.len)
    }

    /// Numbers for some of its bytes, which are inside of it.
    pub(crate) fn addresses(&self, range: Range<usize>) -> Range<usize> {
        self.address + range.start..self.address + range.end
    }
}
