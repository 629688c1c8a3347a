//! Host pages, for back ends whose devices use them directly.

use crate::error::{Error, Result};
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::any::Any;
use std::fs::File;
#[cfg(target_os = "linux")]
use std::ptr::NonNull;

/// Mapped pages, unmapped on drop.
pub enum Mapping {
    /// Anonymous memory.
    Writable(MmapMut),
    /// A file.
    ReadOnly(Mmap),
    /// The caller's memory.
    Foreign(Box<dyn Any + Send + Sync>),
}

/// Threshold from which 2 MiB pages pay off.
#[cfg(target_os = "linux")]
pub const HUGE_PAGES_FROM: usize = 4 << 20;

/// Maps zeroed memory.
pub fn anonymous(len: usize) -> Result<MmapMut> {
    let failed = |_| Error::OutOfMemory { what: "a buffer".into(), bytes: len as u64 };
    let mapping = MmapOptions::new().len(len).map_anon().map_err(failed)?;
    #[cfg(target_os = "linux")]
    if len >= HUGE_PAGES_FROM {
        // A hint: kernels without huge pages refuse it.
        let _ = mapping.advise(memmap2::Advice::HugePage);
    }
    Ok(mapping)
}

/// Size of the huge pages of most CPUs with pages of 4 KiB.
#[cfg(target_os = "linux")]
pub const HUGE_PAGE: usize = 2 << 20;

/// Anonymous memory that begins at a huge page.
#[cfg(target_os = "linux")]
pub struct HugeMapping {
    base: NonNull<u8>,
    len: usize,
    /// Keeps the pages mapped.
    _mapping: MmapMut,
}

// SAFETY: the pages live as long as the mapping and do not move; who accesses the bytes is up to the owner.
#[cfg(target_os = "linux")]
unsafe impl Send for HugeMapping {}
// SAFETY: as above.
#[cfg(target_os = "linux")]
unsafe impl Sync for HugeMapping {}

/// Maps zeroed memory that begins at a huge page, and asks for such pages.
///
/// The system aligns only some mappings, and only in newer versions; the first and the last part of another one would
/// have small pages.
#[cfg(target_os = "linux")]
pub fn huge(len: usize) -> Result<HugeMapping> {
    let mut mapping = anonymous(len.saturating_add(HUGE_PAGE))?;
    let start = mapping.as_mut_ptr();
    let base = start.wrapping_add(start.addr().next_multiple_of(HUGE_PAGE) - start.addr());
    let base = NonNull::new(base).ok_or_else(|| Error::Internal("a mapping at address 0".into()))?;
    Ok(HugeMapping { base, len, _mapping: mapping })
}

#[cfg(target_os = "linux")]
impl HugeMapping {
    /// The first byte.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }
}

/// Replaces pages of anonymous memory by zeros, and gives them back to the system.
///
/// # Safety
///
/// The bytes are whole pages of a private anonymous mapping, and may become zeros.
#[cfg(target_os = "linux")]
pub unsafe fn discard(base: NonNull<u8>, len: usize) {
    // SAFETY: the caller's promise. Concurrent accesses find old bytes or zeros. Failure changes nothing.
    unsafe { libc::madvise(base.as_ptr().cast(), len, libc::MADV_DONTNEED) };
}

/// Maps a part of a file copy-on-write: writes stay in memory.
pub fn private_file(file: &File, start: u64, len: usize) -> std::io::Result<MmapMut> {
    // SAFETY: another process may truncate the mapped file, the hazard that `new_buffer_with_file` documents; its
    // writes show through, as with all shared memory.
    unsafe { MmapOptions::new().offset(start).len(len).no_reserve_swap().map_copy(file) }
}

/// Maps a part of a file read-only.
pub fn shared_file(file: &File, start: u64, len: usize) -> std::io::Result<Mmap> {
    // SAFETY: as for `private_file`.
    unsafe { MmapOptions::new().offset(start).len(len).map(file) }
}

/// Replaces a mapping by empty pages. The addresses stay reserved, so that nothing else is mapped there.
///
/// # Safety
///
/// The `len` bytes at `base` are in a mapping that the caller owns, and may become zeros.
pub unsafe fn empty(base: *mut u8, len: usize) {
    let Some(page) = page_size() else { return };
    let before = base.addr() % page;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the pages belong to the mapping; the new ones are unmapped with it. Concurrent accesses find the old or
    // the new ones. Failure changes nothing.
    unsafe {
        let start = base.sub(before).cast();
        let len = (before + len).next_multiple_of(page);
        libc::mmap(start, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
    }
}

/// The page size, if the system reports it.
pub fn page_size() -> Option<usize> {
    // SAFETY: sysconf has no side effects.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok().filter(|page| page.is_power_of_two())
}

/// Physical memory in bytes: a larger buffer might be mapped, but not filled.
pub fn physical_memory() -> usize {
    // SAFETY: sysconf has no side effects.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    match (usize::try_from(pages), page_size()) {
        (Ok(pages @ 1..), Some(page)) => pages.saturating_mul(page),
        _ => isize::MAX as usize,
    }
}

/// Unique addresses for bytes that are not mapped in this process.
pub fn nowhere(len: usize) -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Far above what a process can map; 2^59 bytes last forever.
    static NEXT: AtomicUsize = AtomicUsize::new(1 << 60);
    NEXT.fetch_add(len.next_multiple_of(1 << 16), Ordering::Relaxed)
}
