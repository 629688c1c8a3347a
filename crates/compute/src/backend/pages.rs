//! Pages of the host's, for back ends whose devices use them in place.

use crate::error::{Error, Result};
use memmap2::{Mmap, MmapMut, MmapOptions};
use std::any::Any;
use std::fs::File;

/// Mapped pages, which go when it is dropped.
pub enum Mapping {
    /// Ours.
    Writable(MmapMut),
    /// A file.
    ReadOnly(Mmap),
    /// The caller's.
    Foreign(Box<dyn Any + Send + Sync>),
}

/// From this size on, pages of 2 MiB save more than they cost.
#[cfg(target_os = "linux")]
const HUGE_PAGES_FROM: usize = 4 << 20;

/// Zeros.
pub fn anonymous(len: usize) -> Result<MmapMut> {
    let failed = |_| Error::OutOfMemory { what: "a buffer".into(), bytes: len as u64 };
    let mapping = MmapOptions::new().len(len).map_anon().map_err(failed)?;
    #[cfg(target_os = "linux")]
    if len >= HUGE_PAGES_FROM {
        // Only a hint: a kernel without them refuses.
        let _ = mapping.advise(memmap2::Advice::HugePage);
    }
    Ok(mapping)
}

/// A part of a file; what is written stays in memory.
pub fn private_file(file: &File, start: u64, len: usize) -> std::io::Result<MmapMut> {
    // SAFETY: a file that others shorten while it is mapped is the hazard that `new_buffer_with_file` documents; one that others
    // write changes under whoever reads it, as all shared memory does.
    unsafe { MmapOptions::new().offset(start).len(len).no_reserve_swap().map_copy(file) }
}

/// A part of a file, which can only be read.
pub fn shared_file(file: &File, start: u64, len: usize) -> std::io::Result<Mmap> {
    // SAFETY: as for a private one.
    unsafe { MmapOptions::new().offset(start).len(len).map(file) }
}

/// Puts empty pages where a mapping of ours is. The addresses stay taken, so that nothing else comes to lie there.
///
/// # Safety
///
/// The `len` bytes at `base` are in a mapping that the caller keeps, and may become zeros.
pub unsafe fn empty(base: *mut u8, len: usize) {
    let Some(page) = page_size() else { return };
    let before = base.addr() % page;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the pages are those of the mapping; the new ones go when it goes. Whoever reads or writes at the same time finds
    // the old ones or the new ones. Failure leaves everything as it was.
    unsafe {
        let start = base.sub(before).cast();
        let len = (before + len).next_multiple_of(page);
        libc::mmap(start, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
    }
}

/// The size of a page, where the system says it.
pub fn page_size() -> Option<usize> {
    // SAFETY: sysconf only reads.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok().filter(|page| page.is_power_of_two())
}

/// The machine's memory: what is larger could be mapped here and there, but never filled.
pub fn physical_memory() -> usize {
    // SAFETY: sysconf only reads.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    match (usize::try_from(pages), page_size()) {
        (Ok(pages @ 1..), Some(page)) => pages.saturating_mul(page),
        _ => isize::MAX as usize,
    }
}

/// Numbers for bytes that have no address here, and that are no address of anything else.
pub fn nowhere(len: usize) -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Far above what a process can map; 2^59 bytes are enough for all times.
    static NEXT: AtomicUsize = AtomicUsize::new(1 << 60);
    NEXT.fetch_add(len.next_multiple_of(1 << 16), Ordering::Relaxed)
}
