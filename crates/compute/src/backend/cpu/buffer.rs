//! CPU buffers: pages of the process, shared by kernels and the host.

use super::device::Device;
use crate::backend::pages::{self, Mapping};
use crate::backend::{self, Allocation};
use crate::error::{Error, Result};
use std::any::Any;
use std::fs::File;
use std::ptr::NonNull;

/// Pages and their owner.
struct Buffer {
    base: NonNull<u8>,
    len: usize,
    mapping: Mapping,
}

// SAFETY: the pages live as long as the mapping and do not move.
unsafe impl Send for Buffer {}
// SAFETY: as above; data races on the bytes are the caller's responsibility.
unsafe impl Sync for Buffer {}

impl backend::Buffer for Buffer {
    /// Does not release the caller's memory: it goes with the last clone.
    fn release(&self) {
        if !matches!(self.mapping, Mapping::Foreign(_)) {
            // SAFETY: the mapping is ours and kept here.
            unsafe { pages::empty(self.base.as_ptr(), self.len) };
        }
    }
}

impl Device {
    pub(super) fn allocate(&self, len: usize) -> Result<Allocation> {
        let mut mapping = pages::anonymous(len)?;
        allocation(mapping.as_mut_ptr(), len, Mapping::Writable(mapping))
    }

    /// Maps copy-on-write: writes stay in memory.
    pub(super) fn map_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        let mapped = pages::private_file(file, start, len);
        let mut mapping = mapped.map_err(|error| backend::file_error(&error))?;
        allocation(mapping.as_mut_ptr(), len, Mapping::Writable(mapping))
    }

    pub(super) fn import(&self, memory: NonNull<[u8]>, owner: Box<dyn Any + Send + Sync>) -> Result<Allocation> {
        allocation(memory.as_ptr().cast(), memory.len(), Mapping::Foreign(owner))
    }
}

fn allocation(base: *mut u8, len: usize, mapping: Mapping) -> Result<Allocation> {
    let base = NonNull::new(base).ok_or_else(|| Error::Internal("a mapping at address 0".into()))?;
    Ok(Allocation {
        // Dispatches compute their pointers from this address.
        address: base.as_ptr().expose_provenance(),
        host: Some(base),
        is_read_only: false,
        buffer: Box::new(Buffer { base, len, mapping }),
    })
}
