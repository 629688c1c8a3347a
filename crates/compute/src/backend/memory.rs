//! A buffer as the layers above the back ends see it: address, owner, and state.

use super::{Allocation, Buffer};
use crate::error::Result;
use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Access to the memory of a buffer.
///
/// | | device with unified memory (CPU, Apple's GPUs) | device with its own memory |
/// |---|---|---|
/// | shared | direct, also by [`contents`](crate::Buffer::contents) | [`read`](crate::Buffer::read) and [`write`](crate::Buffer::write) copy to and from the device |
/// | private | device only; host access is an error | the same |
/// | a file | mapped | copied to the device when it is opened |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StorageMode {
    /// Accessible to the host and the device.
    #[default]
    Shared,
    /// Accessible to the device only: host access is an error on every device. [`crate::CommandBuffer::copy_buffer`]
    /// fills and reads it.
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

// SAFETY: the memory lives as long as the structure and does not move; data races on its bytes are the caller's
// responsibility, as the documentation of `crate::Buffer` says.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Number of buffers released in this process. A reader that found none of its own released need not check again until
/// it rises.
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

    /// [`Allocation::address`] of its first byte.
    #[inline]
    pub fn address(&self) -> usize {
        self.address
    }

    /// Host address of its first byte, if the host can access it.
    #[inline]
    pub fn host(&self) -> Option<NonNull<u8>> {
        self.host
    }

    /// Size in bytes.
    #[allow(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Its storage mode.
    #[inline]
    pub fn storage(&self) -> StorageMode {
        self.storage
    }

    /// [`super::Properties::domain`] of its device.
    #[inline]
    pub fn domain(&self) -> u32 {
        self.domain
    }

    /// Back-end state.
    pub fn buffer(&self) -> &dyn Any {
        &*self.buffer
    }

    /// True if the memory was released.
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

    /// The buffer's name in messages.
    pub(crate) fn description(&self) -> String {
        let label = self.label().map(|label| format!(" '{label}'")).unwrap_or_default();
        format!("the buffer{label} of {} bytes", self.len)
    }

    /// Copies bytes to the host. The range must be inside the buffer, and the memory shared.
    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        assert!(self.has(offset, bytes.len()));
        match self.host {
            // SAFETY: the range was checked, and `bytes` is Rust memory, which does not overlap a buffer.
            Some(host) => unsafe {
                bytes.as_mut_ptr().copy_from_nonoverlapping(host.as_ptr().add(offset), bytes.len());
            },
            None => self.buffer.read(offset, bytes)?,
        }
        Ok(())
    }

    /// Copies bytes from the host. The range must be inside the buffer, and the memory shared.
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

    /// Device addresses of a range, which must be inside the buffer.
    pub(crate) fn addresses(&self, range: Range<usize>) -> Range<usize> {
        self.address + range.start..self.address + range.end
    }
}
