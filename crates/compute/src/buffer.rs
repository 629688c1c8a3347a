//! Memory that kernels read and write.

use crate::error::{Error, Result, usage};
use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Memory that the host and the device share. A clone is the same memory.
///
/// As in Metal, nothing stops the host from reading and writing while a command buffer works on it: what is then read
/// is not specified. Wait for the command buffer first.
#[derive(Clone)]
pub struct Buffer {
    memory: Arc<Memory>,
    read_only: bool,
}

struct Memory {
    /// Keeps the mapping; only touched through `base`.
    _mapping: MmapMut,
    base: *mut u8,
    len: usize,
    is_released: AtomicBool,
    label: Mutex<Option<Arc<str>>>,
}

/// How many buffers were released in this process. Who saw that none of its buffers was need not look at them again
/// before this goes up.
static RELEASES: AtomicU64 = AtomicU64::new(0);

pub(crate) fn releases() -> u64 {
    RELEASES.load(Ordering::Acquire)
}

// SAFETY: the mapping lives as long as the structure and does not move; what races on its bytes is the caller's business,
// as the documentation of `Buffer` says.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

/// From this size on, pages of 2 MiB save more than they cost.
#[cfg(target_os = "linux")]
const HUGE_PAGES_FROM: usize = 4 << 20;

impl Buffer {
    pub(crate) fn zeroed(len: usize) -> Result<Buffer> {
        let memory = || Error::OutOfMemory { what: "a buffer".into(), bytes: len as u64 };
        if len == 0 {
            return usage("a buffer of 0 bytes: its length must be at least 1");
        }
        if len > max_buffer_length() {
            return Err(memory());
        }
        let mapping = MmapOptions::new().len(len).map_anon().map_err(|_| memory())?;
        #[cfg(target_os = "linux")]
        if len >= HUGE_PAGES_FROM {
            // Only a hint: a kernel without them refuses.
            let _ = mapping.advise(memmap2::Advice::HugePage);
        }
        Ok(Buffer::new(mapping))
    }

    pub(crate) fn with_bytes(bytes: &[u8]) -> Result<Buffer> {
        let buffer = Buffer::zeroed(bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    pub(crate) fn with_file(path: &Path, range: impl RangeBounds<u64>) -> Result<Buffer> {
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
        // SAFETY: the mapping is private, so that writes stay here. A file that others shorten while it is mapped is
        // the hazard that `new_buffer_with_file` documents.
        let mapping = unsafe { MmapOptions::new().offset(start).len(len).no_reserve_swap().map_copy(&file) };
        Ok(Buffer::new(mapping.map_err(|error| failed(error.to_string()))?))
    }

    fn new(mut mapping: MmapMut) -> Buffer {
        let (base, len) = (mapping.as_mut_ptr(), mapping.len());
        let (is_released, label) = (AtomicBool::new(false), Mutex::new(None));
        Buffer { memory: Arc::new(Memory { _mapping: mapping, base, len, is_released, label }), read_only: false }
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
    /// it, and to commit or replay what uses it, are errors from now on; what was committed before reads zeros.
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

    /// Names it in messages; all its clones, too.
    pub fn set_label(&self, label: &str) {
        *self.memory.label.lock().unwrap_or_else(PoisonError::into_inner) = Some(label.into());
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

    /// Its size in bytes, Metal's `length`.
    #[allow(clippy::len_without_is_empty, reason = "a buffer has at least one byte")]
    pub fn len(&self) -> usize {
        self.memory.len
    }

    /// Its first byte.
    pub fn contents(&self) -> *mut u8 {
        self.memory.base
    }

    /// A copy of all that it holds; bytes after the last whole element are left out. Of a released buffer, zeros.
    pub fn read<T: Pod>(&self) -> Vec<T> {
        let count = self.len().checked_div(size_of::<T>()).unwrap_or(0);
        let mut elements = vec![T::zeroed(); count];
        self.copy_out(0, bytemuck::cast_slice_mut(&mut elements));
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

impl Memory {
    /// Puts empty pages where the memory is. The addresses stay taken, so that nothing else comes to lie there.
    fn give_back(&self) {
        #[cfg(unix)]
        // SAFETY: the pages are those of the mapping, which this structure keeps; the new ones go when it goes. Who reads
        // or writes at the same time finds the old ones or the new ones. Failure leaves everything as it was.
        unsafe {
            let Ok(page @ 1..) = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)) else { return };
            let before = self.base.addr() % page;
            let start = self.base.sub(before).cast();
            let len = (before + self.len).next_multiple_of(page);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED | libc::MAP_NORESERVE;
            libc::mmap(start, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        }
    }
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

/// The machine's memory: what is larger could be mapped here and there, but never filled.
pub(crate) fn max_buffer_length() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: sysconf only reads.
        let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        if let (Ok(pages @ 1..), Ok(page @ 1..)) = (usize::try_from(pages), usize::try_from(page)) {
            return pages.saturating_mul(page);
        }
    }
    isize::MAX as usize
}
