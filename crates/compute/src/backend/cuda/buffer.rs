//! Buffers: memory of the device. The host reads and writes it by copies ([`super::transfers`]).

use super::context::DeviceMemory;
use super::device::{Device, Opened};
use super::transfers::Transfers;
use crate::backend::{self, Allocation, StorageMode, file_error};
use crate::error::Result;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The memory of a buffer.
pub(super) struct Buffer {
    memory: DeviceMemory,
    transfers: Arc<Transfers>,
}

impl backend::Buffer for Buffer {
    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: the range was checked to be inside the buffer.
        unsafe { self.transfers.read(self.memory.address() + offset as u64, bytes) }
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        // SAFETY: the range was checked to be inside the buffer; the driver waits for copies before it frees memory.
        unsafe { self.transfers.write(self.memory.address() + offset as u64, bytes) }
    }
}

impl Device {
    pub(super) fn allocate(&self, len: usize, storage: StorageMode) -> Result<Allocation> {
        let opened = self.open()?;
        let memory = DeviceMemory::new(&opened.context, len, "a buffer")?;
        if storage == StorageMode::Shared {
            // SAFETY: the memory has that many bytes; the driver waits before it frees memory.
            unsafe { opened.transfers.clear(memory.address(), len)? };
        }
        Ok(allocation(memory, opened, false))
    }

    /// Copies a part of a file to the device, read directly into pinned memory.
    pub(super) fn allocate_with_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        let opened = self.open()?;
        let memory = DeviceMemory::new(&opened.context, len, "a buffer with the contents of a file")?;
        let mut at = start;
        let read = |piece: &mut [u8]| {
            file.read_exact_at(piece, at).map_err(|error| file_error(&error))?;
            at += piece.len() as u64;
            Ok(())
        };
        // SAFETY: the memory has that many bytes; the driver waits before it frees memory.
        unsafe { opened.transfers.write_with(memory.address(), len, read)? };
        Ok(allocation(memory, opened, true))
    }
}

fn allocation(memory: DeviceMemory, opened: &Opened, is_read_only: bool) -> Allocation {
    let address = memory.address() as usize;
    let buffer = Box::new(Buffer { memory, transfers: opened.transfers.clone() });
    Allocation { address, host: None, is_read_only, buffer }
}
