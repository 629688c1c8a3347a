//! Filling the buffers of weights, which were allocated before: pipelines are compiled meanwhile.
//!
//! ```text
//! file ── lay out ─┬─ in the buffer itself, where the host and the device have the same memory
//!                  └─ in a staging buffer ── copy_buffer ── private buffer, where they do not
//! ```
//!
//! Two staging buffers take turns: while the device copies one, the host lays out into the other. Large matrices go through in
//! pieces, so that there is never more than the model and the staging buffers in memory.

use super::weights::{Contents, Unfilled, floats};
use crate::error::{Error, Result};
use crate::metal::MetalDevice;
use crate::metal::layout::{Layout, TILE_ROWS};
use crate::weights::Weights;
use compute::{Buffer, CommandBuffer};

/// Metal copies whole words.
const COPY_ALIGNMENT: usize = 4;

/// Bytes of a buffer that `bytes` bytes are copied to.
pub(super) fn copied_bytes(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(COPY_ALIGNMENT)
}

/// Fills buffers one after the other. What was read of the file is given back at once.
pub(super) struct Filler<'a> {
    weights: &'a Weights,
    /// Is told how many bytes are done, of all.
    progress: &'a mut dyn FnMut(u64, u64),
    done: u64,
    total: u64,
    route: Route,
}

/// How bytes get to a buffer.
enum Route {
    /// The host writes them there; bytes in between where it does not reach the memory.
    InPlace(Vec<u8>),
    Staged(Box<Staging>),
}

impl<'a> Filler<'a> {
    /// `done` bytes need no filling.
    pub(super) fn new(
        device: &MetalDevice,
        weights: &'a Weights,
        done: u64,
        progress: &'a mut dyn FnMut(u64, u64),
    ) -> Filler<'a> {
        let route = match device.tuning().staging {
            Some(size) => Route::Staged(Box::new(Staging::new(device, size))),
            None => Route::InPlace(Vec::new()),
        };
        let total = weights.tensors().iter().map(|tensor| tensor.size()).sum();
        Filler { weights, progress, done, total, route }
    }

    /// Fills all buffers; when it returns, nothing is being copied any more.
    pub(super) fn fill(mut self, tensors: &[Unfilled<'_>]) -> Result<()> {
        (self.progress)(self.done, self.total);
        for unfilled in tensors {
            self.tensor(unfilled)?;
            self.weights.forget(unfilled.tensor);
            self.done += unfilled.tensor.size();
            (self.progress)(self.done, self.total);
        }
        match self.route {
            Route::InPlace(_) => Ok(()),
            Route::Staged(staging) => staging.finish(),
        }
    }

    fn tensor(&mut self, unfilled: &Unfilled<'_>) -> Result<()> {
        let Unfilled { tensor, buffer, contents } = unfilled;
        let (format, layout, rows, columns) = match *contents {
            Contents::Matrix { format, layout, rows, columns } => (format, layout, rows, columns),
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
        let data = self.weights.data(tensor);
        let in_file = |rows: usize| Layout::Blocks.matrix_bytes(format, rows, columns).map_err(failed);
        let on_device = |rows: usize| layout.matrix_bytes(format, rows, columns).map_err(failed);
        // Parts that begin at a multiple of a tile's rows are laid out by themselves.
        let tiles = self.route.most_bytes() / on_device(TILE_ROWS)?.max(1);
        let piece = tiles.max(1).saturating_mul(TILE_ROWS);
        for first in (0..rows).step_by(piece) {
            let count = piece.min(rows - first);
            let blocks = &data[in_file(first)?..in_file(first + count)?];
            self.route.put(buffer, on_device(first)?, on_device(count)?, |memory| {
                layout.lay_out(format, count, columns, blocks, memory).map_err(failed)
            })?;
        }
        Ok(())
    }
}

impl Route {
    /// Bytes that go at once, unless a single tile has more.
    fn most_bytes(&self) -> usize {
        match self {
            Route::InPlace(_) => usize::MAX,
            Route::Staged(staging) => staging.size,
        }
    }

    /// Has `write` write `len` bytes that are to be in `buffer`, from the byte `offset` on.
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
struct Staging {
    device: MetalDevice,
    size: usize,
    /// The one that the host writes, and the one that the device copies from.
    slots: [Slot; 2],
    /// Bytes on their way to a buffer that the host does not reach.
    between: Vec<u8>,
}

#[derive(Default)]
struct Slot {
    buffer: Option<Buffer>,
    /// Bytes of it that are written.
    used: usize,
    /// The copies out of it.
    command_buffer: Option<CommandBuffer>,
}

impl Staging {
    fn new(device: &MetalDevice, size: usize) -> Staging {
        Staging { device: device.clone(), size, slots: Default::default(), between: Vec::new() }
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
            self.take_turns()?;
        }
        let slot = &mut self.slots[0];
        let buffer = match &slot.buffer {
            Some(buffer) if buffer.len() >= slot.used + copied => buffer,
            // It is empty: this is its first use, or a tile that is larger than all before.
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

    /// Has the device copy what is written, and goes on with the other buffer when its copies are done.
    fn take_turns(&mut self) -> Result<()> {
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
        self.take_turns()?;
        self.take_turns()
    }
}

/// Has `write` write bytes of a buffer that nobody else uses: in place, or `between` where the host does not reach its memory.
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
    assert!(offset.checked_add(len).is_some_and(|end| end <= buffer.len()), "weights outside of their buffer");
    // SAFETY: the bytes are inside of the buffer, whose memory is there as long as it. No kernel has it yet, and copies out of a
    // staging buffer are waited for before it is written again.
    write(unsafe { std::slice::from_raw_parts_mut(contents.add(offset), len) })
}
