//! Buffers of the toy: private memory of the inner device. The host's bytes go through staging memory that both can
//! access.
//!
//! ```text
//! write: host ── staging ── copy on the device ── private memory
//! read:  host ── staging ── copy on the device ── private memory
//! ```

use super::counts::Counters;
use compute::backend::{self, Allocation, StorageMode, pages};
use compute::{CommandBuffer, CommandQueue, Result};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The inner device copies whole words.
const WORD: usize = 4;

/// Size of the staging memory, in whole words. Longer transfers go in pieces.
const STAGING: usize = 1 << 20;

/// Initial contents of private memory, to catch code that expects zeros.
const GARBAGE: u8 = 0xab;

/// The memory of a buffer.
pub(super) struct Buffer {
    /// Whole words.
    pub(super) memory: compute::Buffer,
    transfers: Arc<Transfers>,
}

/// The path between the host and the device, for one transfer at a time.
pub(super) struct Transfers {
    queue: CommandQueue,
    staging: Mutex<compute::Buffer>,
    counters: Arc<Counters>,
}

pub(super) fn allocate(
    inner: &compute::Device,
    transfers: &Arc<Transfers>,
    len: usize,
    storage: StorageMode,
) -> Result<Allocation> {
    let size = len.next_multiple_of(WORD);
    let memory = inner.new_buffer_with_storage_mode(size, StorageMode::Private)?;
    let value = match storage {
        StorageMode::Shared => 0,
        StorageMode::Private => GARBAGE,
    };
    transfers.run(|commands| commands.fill_buffer(&memory, 0..size, value))?;
    Ok(Allocation {
        address: pages::nowhere(len),
        host: None,
        is_read_only: false,
        buffer: Box::new(Buffer { memory, transfers: transfers.clone() }),
    })
}

impl backend::Buffer for Buffer {
    fn set_label(&self, label: &str) {
        self.memory.set_label(label);
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let staging = self.transfers.staging();
        for piece in pieces(offset, bytes.len()) {
            self.transfers.run(|commands| commands.copy_buffer(&self.memory, piece.words, &staging, 0))?;
            staging.read_into(piece.skipped, &mut bytes[piece.host])?;
        }
        let mut counts = self.transfers.counters.lock();
        counts.downloads += 1;
        counts.downloaded_bytes += bytes.len() as u64;
        Ok(())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let staging = self.transfers.staging();
        for Piece { words, skipped, host } in pieces(offset, bytes.len()) {
            if words.len() != host.len() {
                // The neighbours in the first and the last word stay as they are.
                self.transfers.run(|commands| commands.copy_buffer(&self.memory, words.clone(), &staging, 0))?;
            }
            staging.write(skipped, &bytes[host])?;
            let Range { start, end } = words;
            self.transfers.run(|commands| commands.copy_buffer(&staging, 0..end - start, &self.memory, start))?;
        }
        let mut counts = self.transfers.counters.lock();
        counts.uploads += 1;
        counts.uploaded_bytes += bytes.len() as u64;
        Ok(())
    }
}

/// A part of a transfer, small enough for the staging memory.
struct Piece {
    /// The words of the buffer that it lies in.
    words: Range<usize>,
    /// Bytes of the first word before it.
    skipped: usize,
    /// The range in the host's bytes.
    host: Range<usize>,
}

/// The parts of a transfer of `len` bytes from the byte `offset` on.
fn pieces(offset: usize, len: usize) -> impl Iterator<Item = Piece> {
    let end = offset + len;
    let mut next = offset;
    std::iter::from_fn(move || {
        let start = next;
        let first = start / WORD * WORD;
        next = end.min(first + STAGING);
        (start < next).then(|| Piece {
            words: first..next.next_multiple_of(WORD),
            skipped: start - first,
            host: start - offset..next - offset,
        })
    })
}

impl Transfers {
    pub(super) fn new(inner: &compute::Device, counters: Arc<Counters>) -> Result<Transfers> {
        let staging = Mutex::new(inner.new_buffer(STAGING)?);
        Ok(Transfers { queue: inner.new_command_queue(), staging, counters })
    }

    fn staging(&self) -> MutexGuard<'_, compute::Buffer> {
        // Bytes of an earlier transfer do not matter.
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work on the inner device, and waits for it.
    fn run(&self, encode: impl FnOnce(&CommandBuffer) -> Result<()>) -> Result<()> {
        let commands = self.queue.new_command_buffer();
        encode(&commands)?;
        commands.commit()?;
        commands.wait_until_completed()
    }
}
