//! Fills the weight buffers, which are already allocated, while other threads compile pipelines.
//!
//! ```text
//! file ── lay out ─┬─ into the buffer itself, with unified memory
//!                  └─ into a staging buffer ── copy_buffer ── private buffer, without
//! ```
//!
//! Two staging buffers alternate: while the device copies from one, the host lays out into the other. Large matrices go
//! through in pieces, which bounds the size of the staging buffers.

use super::weights::{Contents, Unfilled, floats};
use crate::error::{Error, Result};
use crate::metal::MetalDevice;
use crate::metal::layout::{Layout, TILE_ROWS};
use crate::weights::Weights;
use compute::{Buffer, CommandBuffer};

/// Alignment of sizes and offsets of copies in Metal.
const COPY_ALIGNMENT: usize = 4;

/// Most bytes that are read from a file at a time, unless a single row of tiles is larger.
const MOST_READ: usize = 8 << 20;

/// Size of a copy of `bytes` bytes: a multiple of the alignment, at least one.
pub(super) fn copied_bytes(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(COPY_ALIGNMENT)
}

/// Fills buffers one after the other. Releases the pages of the file after each tensor.
pub(super) struct Filler<'a> {
    weights: &'a Weights,
    /// Called with the bytes done and the total.
    progress: &'a mut dyn FnMut(u64, u64),
    done: u64,
    total: u64,
    route: Route,
    /// A piece of the file.
    read: Vec<u8>,
}

/// Path of bytes to a buffer.
enum Route {
    /// The host writes the buffer; through this vector if it has no pointer to its memory.
    InPlace(Vec<u8>),
    Staged(Box<StagingBuffers>),
}

impl<'a> Filler<'a> {
    /// Creates a filler. Of `total` bytes, `done` are mapped and need no filling.
    pub(super) fn new(
        device: &MetalDevice,
        weights: &'a Weights,
        [done, total]: [u64; 2],
        progress: &'a mut dyn FnMut(u64, u64),
    ) -> Filler<'a> {
        let route = match device.tuning().staging {
            Some(size) => Route::Staged(Box::new(StagingBuffers::new(device, size))),
            None => Route::InPlace(Vec::new()),
        };
        Filler { weights, progress, done, total, route, read: Vec::new() }
    }

    /// Fills all buffers, and waits for all copies.
    pub(super) fn fill(mut self, tensors: &[Unfilled]) -> Result<()> {
        (self.progress)(self.done, self.total);
        for unfilled in tensors {
            self.tensor(unfilled)?;
            self.weights.forget(&unfilled.tensor);
            self.done += unfilled.tensor.size();
            (self.progress)(self.done, self.total);
        }
        match self.route {
            Route::InPlace(_) => Ok(()),
            Route::Staged(staging) => staging.finish(),
        }
    }

    fn tensor(&mut self, unfilled: &Unfilled) -> Result<()> {
        let Unfilled { tensor, buffer, contents } = unfilled;
        let (format, layout, count, rows, columns) = match *contents {
            Contents::Matrices { format, layout, count, rows, columns } => (format, layout, count, rows, columns),
            Contents::Vector => {
                let floats = floats(self.weights, tensor)?;
                let bytes: &[u8] = bytemuck::cast_slice(&floats);
                return self.route.put(buffer, 0, bytes.len(), |memory| {
                    memory.copy_from_slice(bytes);
                    Ok(())
                });
            }
        };
        let failed = |error| Error::Model(format!("tensor '{}': {error}", tensor.name));
        let in_file = |rows: usize| Layout::Blocks.matrix_bytes(format, rows, columns).map_err(failed);
        let on_device = |rows: usize| layout.matrix_bytes(format, rows, columns).map_err(failed);
        // Pieces that begin at a tile boundary can be laid out independently.
        let tiles = self.route.max_piece().min(MOST_READ) / on_device(TILE_ROWS)?.max(1);
        let piece = tiles.max(1).saturating_mul(TILE_ROWS);
        let pieces = (0..count).flat_map(|matrix| (0..rows).step_by(piece).map(move |first| (matrix, first)));
        for (matrix, first) in pieces {
            let count = piece.min(rows - first);
            let start = matrix * in_file(rows)? + in_file(first)?;
            let offset = matrix * on_device(rows)? + on_device(first)?;
            // Not from the mapped file, which someone may truncate.
            let blocks = self.weights.read(tensor, start..start + in_file(count)?, &mut self.read)?;
            self.route.put(buffer, offset, on_device(count)?, |memory| {
                layout.lay_out(format, count, columns, blocks, memory).map_err(failed)
            })?;
        }
        Ok(())
    }
}

impl Route {
    /// Largest piece in bytes, unless a single row of tiles is larger.
    fn max_piece(&self) -> usize {
        match self {
            Route::InPlace(_) => usize::MAX,
            Route::Staged(staging) => staging.size,
        }
    }

    /// Calls `write` to produce `len` bytes for `buffer` at the byte `offset`.
    fn put(
        &mut self,
        buffer: &Buffer,
        offset: usize,
        len: usize,
        write: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Route::InPlace(between) => write_at(buffer, offset, len, between, write),
            Route::Staged(staging) => staging.put(buffer, offset, len, write),
        }
    }
}

/// Two buffers that the host writes and the device copies from.
struct StagingBuffers {
    device: MetalDevice,
    size: usize,
    /// The buffer that the host writes, then the one that the device copies from.
    slots: [StagingSlot; 2],
    /// Bytes for a buffer without a host pointer.
    between: Vec<u8>,
}

#[derive(Default)]
struct StagingSlot {
    buffer: Option<Buffer>,
    /// Number of bytes written.
    used: usize,
    /// Copies from this buffer.
    command_buffer: Option<CommandBuffer>,
}

impl StagingBuffers {
    fn new(device: &MetalDevice, size: usize) -> StagingBuffers {
        StagingBuffers { device: device.clone(), size, slots: Default::default(), between: Vec::new() }
    }

    fn put(
        &mut self,
        destination: &Buffer,
        offset: usize,
        len: usize,
        write: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let copied = copied_bytes(len);
        if self.slots[0].used > 0 && self.slots[0].used + copied > self.size {
            self.swap()?;
        }
        let slot = &mut self.slots[0];
        let buffer = match &slot.buffer {
            Some(buffer) if buffer.len() >= slot.used + copied => buffer,
            // The slot is empty: this is its first use, or this tile is larger than all before.
            _ => {
                let buffer = self.device.device().new_buffer(copied.max(copied_bytes(self.size)))?;
                buffer.set_label("staging");
                slot.buffer.insert(buffer)
            }
        };
        write_at(buffer, slot.used, len, &mut self.between, write)?;
        let command_buffer = slot.command_buffer.get_or_insert_with(|| self.device.command_buffer());
        command_buffer.copy_buffer(buffer, slot.used..slot.used + copied, destination, offset)?;
        slot.used += copied;
        Ok(())
    }

    /// Commits the copies from the current buffer, and switches to the other one after its copies complete.
    fn swap(&mut self) -> Result<()> {
        if let Some(command_buffer) = &self.slots[0].command_buffer {
            command_buffer.commit()?;
        }
        self.slots.swap(0, 1);
        let slot = &mut self.slots[0];
        slot.used = 0;
        match slot.command_buffer.take() {
            Some(command_buffer) => Ok(command_buffer.wait_until_completed()?),
            None => Ok(()),
        }
    }

    /// Waits for all copies.
    fn finish(mut self) -> Result<()> {
        self.swap()?;
        self.swap()
    }
}

/// Calls `write` with the bytes of a buffer that is not in use: in place, or through `between` if it has no host
/// pointer.
fn write_at(
    buffer: &Buffer,
    offset: usize,
    len: usize,
    between: &mut Vec<u8>,
    write: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let contents = buffer.contents();
    if contents.is_null() {
        between.resize(len, 0);
        write(between)?;
        return Ok(buffer.write(offset, between)?);
    }
    assert!(offset.checked_add(len).is_some_and(|end| end <= buffer.len()), "weights exceed their buffer");
    // SAFETY: the range is inside of the buffer, whose memory lives as long as the buffer. No command uses a weight
    // buffer yet, and copies from a staging buffer complete before it is written again.
    write(unsafe { std::slice::from_raw_parts_mut(contents.add(offset), len) })
}
