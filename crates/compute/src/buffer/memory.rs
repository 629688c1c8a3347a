//! Where the bytes of a buffer are, and what keeps them there.
//!
//! | storage | on the processor | on an Apple GPU |
//! |---|---|---|
//! | shared | a mapping of our own | the same, and an `MTLBuffer` over it, without a copy |
//! | a file | a private mapping: writes stay in memory | a shared mapping, which can only be read |
//! | the caller's | as it is | the same, and an `MTLBuffer` over it |
//! | private | a mapping that the host is refused | an `MTLBuffer` with memory of its own |

use super::StorageMode;
use crate::device::Backend;
use crate::error::{Error, Result};
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::any::Any;
use std::fs::File;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

#[cfg(target_os = "macos")]
use crate::metal;

pub(crate) struct Memory {
    /// The first byte; null where there is none for the host.
    pub(super) base: *mut u8,
    /// The first of the numbers that stand for its bytes: its address, if it has one.
    pub(super) address: usize,
    pub(super) len: usize,
    pub(super) storage: StorageMode,
    /// [`Backend::domain`].
    pub(super) domain: u32,
    pub(super) is_released: AtomicBool,
    pub(super) label: Mutex<Option<Arc<str>>>,
    /// Whether the pages are ours, to be replaced by empty ones.
    has_own_pages: bool,
    kept: Kept,
}

/// What keeps the memory there.
enum Kept {
    /// Only there to be dropped.
    Mapping(#[allow(dead_code, reason = "it is dropped")] Mapping),
    /// It has the mapping.
    #[cfg(target_os = "macos")]
    Metal(metal::Buffer),
}

/// Pages of the host's.
#[allow(dead_code, reason = "they are dropped")]
pub(crate) enum Mapping {
    Writable(MmapMut),
    ReadOnly(Mmap),
    /// The caller's.
    Foreign(Box<dyn Any + Send + Sync>),
}

// SAFETY: the memory lives as long as the structure and does not move; what races on its bytes is the caller's business, as
// the documentation of `Buffer` says.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

/// From this size on, pages of 2 MiB save more than they cost.
#[cfg(target_os = "linux")]
const HUGE_PAGES_FROM: usize = 4 << 20;

impl Memory {
    /// Zeros.
    pub(super) fn anonymous(backend: &Backend, len: usize, storage: StorageMode) -> Result<Memory> {
        #[cfg(target_os = "macos")]
        if let (Backend::Metal(device), StorageMode::Private) = (backend, storage) {
            let kept = Kept::Metal(metal::Buffer::private(device, len)?);
            let address = nowhere(len);
            return Ok(Memory::new(backend, std::ptr::null_mut(), address, len, storage, false, kept));
        }
        let failed = |_| Error::OutOfMemory { what: "a buffer".into(), bytes: len as u64 };
        let mut mapping = MmapOptions::new().len(len).map_anon().map_err(failed)?;
        #[cfg(target_os = "linux")]
        if len >= HUGE_PAGES_FROM {
            // Only a hint: a kernel without them refuses.
            let _ = mapping.advise(memmap2::Advice::HugePage);
        }
        Memory::mapped(backend, mapping.as_mut_ptr(), len, storage, Mapping::Writable(mapping))
    }

    /// `len` bytes of a file, from `start` on; whether they can only be read, too.
    pub(super) fn file(
        backend: &Backend,
        file: &File,
        start: u64,
        len: usize,
    ) -> std::io::Result<(Result<Memory>, bool)> {
        let mut options = MmapOptions::new();
        options.offset(start).len(len);
        // SAFETY: a file that others shorten while it is mapped is the hazard that `new_buffer_with_file` documents; one that
        // others write changes under who reads it, as all shared memory does. Where the mapping is private, writes stay here.
        Ok(match backend {
            Backend::Cpu(_) => {
                let mut mapping = unsafe { options.no_reserve_swap().map_copy(file)? };
                let base = mapping.as_mut_ptr();
                (Memory::mapped(backend, base, len, StorageMode::Shared, Mapping::Writable(mapping)), false)
            }
            // Private pages would be copied when the GPU is given them.
            #[cfg(target_os = "macos")]
            Backend::Metal(_) => {
                let mapping = unsafe { options.map(file)? };
                let base = mapping.as_ptr().cast_mut();
                (Memory::mapped(backend, base, len, StorageMode::Shared, Mapping::ReadOnly(mapping)), true)
            }
        })
    }

    /// What the caller has.
    ///
    /// # Safety
    ///
    /// As [`crate::Device::new_buffer_with_bytes_no_copy`].
    pub(super) unsafe fn foreign(
        backend: &Backend,
        memory: NonNull<[u8]>,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Memory> {
        let base = memory.as_ptr().cast();
        Memory::mapped(backend, base, memory.len(), StorageMode::Shared, Mapping::Foreign(owner))
    }

    fn mapped(
        backend: &Backend,
        base: *mut u8,
        len: usize,
        storage: StorageMode,
        mapping: Mapping,
    ) -> Result<Memory> {
        match backend {
            Backend::Cpu(_) => {
                let is_ours = !matches!(mapping, Mapping::Foreign(_));
                let kept = Kept::Mapping(mapping);
                Ok(Memory::new(backend, base, base.addr(), len, storage, is_ours, kept))
            }
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => {
                let buffer = metal::Buffer::over(device, base, len, mapping)?;
                let base = buffer.copied_to().unwrap_or(base);
                // The pages under an `MTLBuffer` are not replaced: what Metal then does, nobody says.
                Ok(Memory::new(backend, base, base.addr(), len, storage, false, Kept::Metal(buffer)))
            }
        }
    }

    fn new(
        backend: &Backend,
        base: *mut u8,
        address: usize,
        len: usize,
        storage: StorageMode,
        has_own_pages: bool,
        kept: Kept,
    ) -> Memory {
        let domain = backend.domain();
        let (is_released, label) = (AtomicBool::new(false), Mutex::new(None));
        Memory { base, address, len, storage, domain, is_released, label, has_own_pages, kept }
    }

    /// What Metal has of it.
    #[cfg(target_os = "macos")]
    pub(super) fn metal(&self) -> Option<&metal::Buffer> {
        match &self.kept {
            Kept::Metal(buffer) => Some(buffer),
            Kept::Mapping(_) => None,
        }
    }

    /// The name that tools show.
    pub(super) fn set_device_label(&self, label: &str) {
        match &self.kept {
            Kept::Mapping(_) => {
                let _ = label;
            }
            #[cfg(target_os = "macos")]
            Kept::Metal(buffer) => buffer.set_label(label),
        }
    }

    /// Puts empty pages where the memory is, if it is ours. The addresses stay taken, so that nothing else comes to lie there.
    pub(super) fn give_back(&self) {
        #[cfg(unix)]
        if self.has_own_pages {
            // SAFETY: the pages are those of the mapping, which this structure keeps; the new ones go when it goes. Who reads
            // or writes at the same time finds the old ones or the new ones. Failure leaves everything as it was.
            unsafe {
                let Some(page) = page_size() else { return };
                let before = self.base.addr() % page;
                let start = self.base.sub(before).cast();
                let len = (before + self.len).next_multiple_of(page);
                let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED | libc::MAP_NORESERVE;
                libc::mmap(start, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            }
        }
    }
}

/// Numbers for bytes that have no address here, and that are no address of anything else.
#[cfg(target_os = "macos")]
fn nowhere(len: usize) -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Far above what a process can map; 2^59 bytes are enough for all times.
    static NEXT: AtomicUsize = AtomicUsize::new(1 << 60);
    NEXT.fetch_add(len.next_multiple_of(1 << 16), Ordering::Relaxed)
}

#[cfg(unix)]
pub(crate) fn page_size() -> Option<usize> {
    // SAFETY: sysconf only reads.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok().filter(|page| page.is_power_of_two())
}

/// The machine's memory: what is larger could be mapped here and there, but never filled.
pub(crate) fn max_buffer_length() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: sysconf only reads.
        let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
        if let (Ok(pages @ 1..), Some(page)) = (usize::try_from(pages), page_size()) {
            return pages.saturating_mul(page);
        }
    }
    isize::MAX as usize
}
