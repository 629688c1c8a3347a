//! GPU buffers: an `MTLBuffer` with its own memory, or over host pages.

use super::device::Device;
use super::held::Held;
use crate::backend::pages::{self, Mapping, page_size};
use crate::backend::{self, Allocation};
use crate::error::{Error, Result};
use crate::log;
use block2::RcBlock;
use objc2::rc::autoreleasepool;
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{MTLBuffer, MTLDevice, MTLResource, MTLResourceOptions};
use std::any::Any;
use std::ffi::c_void;
use std::fs::File;
use std::ptr::NonNull;
use std::sync::Once;

/// A Metal buffer, and the offset of ours in it.
pub(crate) struct Buffer {
    buffer: Held<ProtocolObject<dyn MTLBuffer>>,
    offset: usize,
    /// True if Metal did not accept the host pages and made a copy.
    is_copy: bool,
}

// SAFETY: Objective-C reference counts are atomic. A finished buffer is only encoded, which reads immutable state, and
// labelled, which happens under a lock. Its bytes are shared as `compute::Buffer` documents.
unsafe impl Send for Buffer {}
unsafe impl Sync for Buffer {}

impl backend::Buffer for Buffer {
    fn set_label(&self, label: &str) {
        autoreleasepool(|_| self.buffer.setLabel(Some(&NSString::from_str(label))));
    }
}

impl Device {
    /// Allocates memory that the host cannot access.
    pub(super) fn private_buffer(&self, len: usize) -> Result<Allocation> {
        let buffer = Box::new(Buffer::private(self, len)?);
        Ok(Allocation { address: pages::nowhere(len), host: None, is_read_only: false, buffer })
    }

    /// Allocates zeroed memory.
    pub(super) fn shared_buffer(&self, len: usize) -> Result<Allocation> {
        let mut mapping = pages::anonymous(len)?;
        self.over(mapping.as_mut_ptr(), len, Mapping::Writable(mapping), false)
    }

    /// Maps read-only: the GPU would get a copy of copy-on-write pages.
    pub(super) fn map_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        let mapping = pages::shared_file(file, start, len).map_err(|error| backend::file_error(&error))?;
        self.over(mapping.as_ptr().cast_mut(), len, Mapping::ReadOnly(mapping), true)
    }

    pub(super) fn import(&self, memory: NonNull<[u8]>, owner: Box<dyn Any + Send + Sync>) -> Result<Allocation> {
        self.over(memory.as_ptr().cast(), memory.len(), Mapping::Foreign(owner), false)
    }

    fn over(&self, base: *mut u8, len: usize, mapping: Mapping, is_read_only: bool) -> Result<Allocation> {
        let buffer = Buffer::over(self, base, len, mapping)?;
        let base = buffer.copied_to().unwrap_or(base);
        let host = NonNull::new(base).ok_or_else(|| Error::Internal("a mapping at address 0".into()))?;
        Ok(Allocation { address: base.addr(), host: Some(host), is_read_only, buffer: Box::new(buffer) })
    }
}

impl Buffer {
    /// Allocates memory that the host cannot access. All buffers keep Metal's hazard tracking, so that encoders and
    /// command buffers that use the same buffer wait for each other.
    fn private(device: &Device, len: usize) -> Result<Buffer> {
        autoreleasepool(|_| {
            let buffer = device.raw().newBufferWithLength_options(len, MTLResourceOptions::StorageModePrivate);
            let buffer = Held::new(buffer.ok_or_else(|| out_of_memory(device, len))?);
            Ok(Buffer { buffer, offset: 0, is_copy: false })
        })
    }

    /// Wraps the pages of `mapping` around the `len` bytes at `base`. Metal accepts whole pages only, 16 KiB on Apple
    /// silicon: unaligned data begins at an offset in Metal's buffer.
    fn over(device: &Device, base: *mut u8, len: usize, mapping: Mapping) -> Result<Buffer> {
        let page = page_size().ok_or_else(|| Error::Internal("the page size is unknown".into()))?;
        let offset = base.addr() % page;
        let length = (offset + len).next_multiple_of(page);
        if length > device.limits().max_buffer_length {
            return Err(out_of_memory(device, length));
        }
        let pages = NonNull::new(base.wrapping_sub(offset).cast::<c_void>());
        let pages = pages.ok_or_else(|| Error::Internal("a mapping at address 0".into()))?;
        let is_foreign = matches!(mapping, Mapping::Foreign(_));
        // Metal keeps the block as long as the buffer, and command buffers in flight keep the buffer: so the pages stay
        // mapped as long as the GPU may use them, in any order of drops. The block does not refer to the buffer: there
        // is no cycle.
        let deallocator = RcBlock::new(move |_: NonNull<c_void>, _: usize| {
            let _kept = &mapping;
        });
        autoreleasepool(|_| {
            // SAFETY: the pages are whole, and mapped until the block is dropped, which may happen on any thread: the
            // mapping's contents are `Send`.
            let in_place = unsafe {
                device.raw().newBufferWithBytesNoCopy_length_options_deallocator(
                    pages,
                    length,
                    MTLResourceOptions::StorageModeShared,
                    Some(&deallocator),
                )
            };
            // Virtual machines have returned no buffer, or an empty one.
            match in_place.filter(|buffer| buffer.length() >= length) {
                Some(buffer) => Ok(Buffer { buffer: Held::new(buffer), offset, is_copy: false }),
                // A copy would hide the caller's memory from kernels.
                None if is_foreign => Err(out_of_memory(device, length)),
                None => Buffer::copy(device, base, len),
            }
        })
    }

    /// Copies the memory where Metal does not accept it directly.
    fn copy(device: &Device, base: *mut u8, len: usize) -> Result<Buffer> {
        static SAID: Once = Once::new();
        SAID.call_once(|| {
            log::line(format_args!("{} does not accept host memory: buffers are copied", device.name()));
        });
        let bytes = NonNull::new(base.cast()).ok_or_else(|| Error::Internal("a mapping at address 0".into()))?;
        // SAFETY: `len` bytes are mapped there.
        let buffer = unsafe {
            device.raw().newBufferWithBytes_length_options(bytes, len, MTLResourceOptions::StorageModeShared)
        };
        let buffer = Held::new(buffer.ok_or_else(|| out_of_memory(device, len))?);
        Ok(Buffer { buffer, offset: 0, is_copy: true })
    }

    /// Host address of the copy, if there is one.
    fn copied_to(&self) -> Option<*mut u8> {
        self.is_copy.then(|| self.buffer.contents().as_ptr().cast())
    }

    /// The Metal buffer.
    pub(crate) fn raw(&self) -> &ProtocolObject<dyn MTLBuffer> {
        &self.buffer
    }

    /// Offset of our bytes in it.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }
}

fn out_of_memory(device: &Device, bytes: usize) -> Error {
    Error::OutOfMemory { what: format!("a buffer on {}", device.name()), bytes: bytes as u64 }
}
