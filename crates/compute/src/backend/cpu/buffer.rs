//! CPU buffers: pages of the process, shared by kernels and the host.

#[cfg(target_os = "linux")]
use super::arena::ArenaPart;
use super::device::Device;
#[cfg(target_os = "linux")]
use crate::backend::pages::HugeMapping;
use crate::backend::pages::{self, Mapping};
use crate::backend::{self, Allocation, StorageMode};
use crate::error::{Error, Result};
use std::any::Any;
use std::fs::File;
use std::ptr::NonNull;

/// Pages and their owner.
struct Buffer {
    base: NonNull<u8>,
    len: usize,
    pages: BufferPages,
}

/// The owner of the pages.
enum BufferPages {
    Mapping(Mapping),
    #[cfg(target_os = "linux")]
    Huge(#[expect(dead_code, reason = "it is dropped")] HugeMapping),
    #[cfg(target_os = "linux")]
    Part(ArenaPart),
}

// SAFETY: the pages live as long as the mapping and do not move.
unsafe impl Send for Buffer {}
// SAFETY: as above; data races on the bytes are the caller's responsibility.
unsafe impl Sync for Buffer {}

impl backend::Buffer for Buffer {
    /// Does not release the caller's memory: it goes with the last clone.
    fn release(&self) {
        match &self.pages {
            BufferPages::Mapping(Mapping::Foreign(_)) => {}
            #[cfg(target_os = "linux")]
            BufferPages::Part(part) => part.discard(),
            // SAFETY: the mapping is ours and kept here.
            _ => unsafe { pages::empty(self.base.as_ptr(), self.len) },
        }
    }
}

impl Device {
    /// Allocates zeroed memory.
    ///
    /// The host fills shared buffers. Private ones, such as a KV cache, may be empty for the most part: they do not
    /// share huge pages, which would make them resident.
    pub(super) fn allocate(&self, len: usize, storage: StorageMode) -> Result<Allocation> {
        #[cfg(target_os = "linux")]
        if let Some(part) = if storage == StorageMode::Shared { self.arena().allocate(len)? } else { None } {
            return allocation(part.base().as_ptr(), len, BufferPages::Part(part));
        }
        #[cfg(target_os = "linux")]
        if len >= pages::HUGE_PAGES_FROM {
            let mapping = pages::huge(len)?;
            return allocation(mapping.base().as_ptr(), len, BufferPages::Huge(mapping));
        }
        #[cfg(not(target_os = "linux"))]
        let _ = storage;
        let mut mapping = pages::anonymous(len)?;
        allocation(mapping.as_mut_ptr(), len, BufferPages::Mapping(Mapping::Writable(mapping)))
    }

    /// Maps copy-on-write: writes stay in memory.
    pub(super) fn map_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        let mapped = pages::private_file(file, start, len);
        let mut mapping = mapped.map_err(|error| backend::file_error(&error))?;
        allocation(mapping.as_mut_ptr(), len, BufferPages::Mapping(Mapping::Writable(mapping)))
    }

    pub(super) fn import(&self, memory: NonNull<[u8]>, owner: Box<dyn Any + Send + Sync>) -> Result<Allocation> {
        allocation(memory.as_ptr().cast(), memory.len(), BufferPages::Mapping(Mapping::Foreign(owner)))
    }
}

fn allocation(base: *mut u8, len: usize, pages: BufferPages) -> Result<Allocation> {
    let base = NonNull::new(base).ok_or_else(|| Error::Internal("a mapping at address 0".into()))?;
    Ok(Allocation {
        // Dispatches compute their pointers from this address.
        address: base.as_ptr().expose_provenance(),
        host: Some(base),
        is_read_only: false,
        buffer: Box::new(Buffer { base, len, pages }),
    })
}
