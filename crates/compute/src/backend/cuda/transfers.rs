//! Copies between the host and the device.
//!
//! ```text
//! write ── slot of pinned memory ── copy on the transfer stream ─┬─ returns when the slot is filled
//!                                                                └─ queues wait for it before their next work
//! read ─── copy on the transfer stream, after all writes ── slot ── returns when it is done
//! ```
//!
//! Several slots alternate: while the device copies from one, the host fills the next. Files are read directly into
//! slots.

use super::context::{Context, Event, PinnedMemory, Stream};
use super::driver::DevicePointer;
use crate::error::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a slot.
const SLOT: usize = 8 << 20;

/// Number of slots.
const SLOTS: usize = 3;

/// Reads of at most this size go through the driver's own staging memory.
const SMALL: usize = 64 << 10;

/// The path between the host and the device.
pub(super) struct Transfers {
    context: Arc<Context>,
    state: Mutex<State>,
    /// Number of writes so far.
    writes: AtomicU64,
}

struct State {
    stream: Stream,
    /// Marks the last write for queues.
    written: Event,
    /// Allocated by the first large transfer.
    slots: Vec<Slot>,
    next: usize,
}

struct Slot {
    memory: PinnedMemory,
    /// The end of the last copy from it.
    copied: Event,
    is_busy: bool,
}

impl Transfers {
    pub(super) fn new(context: &Arc<Context>) -> Result<Transfers> {
        let (stream, written) = (Stream::new(context)?, Event::untimed(context)?);
        let state = Mutex::new(State { stream, written, slots: Vec::new(), next: 0 });
        Ok(Transfers { context: context.clone(), state, writes: AtomicU64::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // After a panic, a slot may have wrong contents, which the next transfer overwrites.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies bytes to the device.
    ///
    /// # Safety
    ///
    /// The device has that many bytes at the address, and they live until the copy is done.
    pub(super) unsafe fn write(&self, address: DevicePointer, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        let fill = |slot: &mut [u8]| {
            let (now, later) = rest.split_at(slot.len());
            slot.copy_from_slice(now);
            rest = later;
            Ok(())
        };
        // SAFETY: as the caller promises.
        unsafe { self.write_with(address, bytes.len(), fill) }
    }

    /// Copies `len` bytes to the device, which `fill` writes piece by piece, in order.
    ///
    /// # Safety
    ///
    /// As [`Transfers::write`].
    pub(super) unsafe fn write_with(
        &self,
        address: DevicePointer,
        len: usize,
        mut fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut state = self.state();
        let mut done = 0;
        while done < len {
            let piece = SLOT.min(len - done);
            let (stream, slot) = state.slot(&self.context)?;
            slot.wait()?;
            // SAFETY: the slot has that many bytes, no copy uses it, and the lock excludes other threads.
            fill(unsafe { std::slice::from_raw_parts_mut(slot.memory.base().as_ptr(), piece) })?;
            let api = self.context.current()?;
            // SAFETY: the caller promises the destination; the slot is not written before its event has happened.
            let code = unsafe {
                let source = slot.memory.base().as_ptr().cast();
                (api.cuMemcpyHtoDAsync_v2)(address + done as u64, source, piece, stream.raw())
            };
            self.context.check(code, || format!("{piece} bytes cannot be written"))?;
            slot.copied.record(stream)?;
            slot.is_busy = true;
            done += piece;
        }
        self.writes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Sets bytes of the device to zero.
    ///
    /// # Safety
    ///
    /// As [`Transfers::write`].
    pub(super) unsafe fn clear(&self, address: DevicePointer, len: usize) -> Result<()> {
        let state = self.state();
        let api = self.context.current()?;
        // SAFETY: as the caller promises.
        let code = unsafe { (api.cuMemsetD8Async)(address, 0, len, state.stream.raw()) };
        self.context.check(code, || format!("{len} bytes cannot be cleared"))?;
        self.writes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Copies bytes to the host.
    ///
    /// # Safety
    ///
    /// The device has that many bytes at the address.
    pub(super) unsafe fn read(&self, address: DevicePointer, bytes: &mut [u8]) -> Result<()> {
        let mut state = self.state();
        let api = self.context.current()?;
        let failed = || "bytes cannot be read".to_owned();
        if bytes.len() <= SMALL {
            // SAFETY: the caller promises the source; the destination lives until the stream is synchronized.
            let code = unsafe {
                (api.cuMemcpyDtoHAsync_v2)(bytes.as_mut_ptr().cast(), address, bytes.len(), state.stream.raw())
            };
            self.context.check(code, failed)?;
            return state.stream.synchronize();
        }
        let mut done = 0;
        for piece in bytes.chunks_mut(SLOT) {
            let (stream, slot) = state.slot(&self.context)?;
            slot.wait()?;
            let base = slot.memory.base().as_ptr();
            // SAFETY: the slot has that many bytes, and no copy uses it.
            let code = unsafe {
                (api.cuMemcpyDtoHAsync_v2)(base.cast(), address + done as u64, piece.len(), stream.raw())
            };
            self.context.check(code, failed)?;
            stream.synchronize()?;
            // SAFETY: as above; the copy is done.
            piece.copy_from_slice(unsafe { std::slice::from_raw_parts(base, piece.len()) });
            done += piece.len();
        }
        Ok(())
    }

    /// Makes later work of a stream wait for all writes so far; `seen` is the count that it has waited for.
    pub(super) fn before(&self, stream: &Stream, seen: &mut u64) -> Result<()> {
        let writes = self.writes.load(Ordering::Acquire);
        if *seen == writes {
            return Ok(());
        }
        let state = self.state();
        state.written.record(&state.stream)?;
        stream.wait_for(&state.written)?;
        *seen = writes;
        Ok(())
    }
}

impl State {
    /// The next slot, and the stream.
    fn slot(&mut self, context: &Arc<Context>) -> Result<(&Stream, &mut Slot)> {
        while self.slots.len() < SLOTS {
            let (memory, copied) = (PinnedMemory::new(context, SLOT)?, Event::untimed(context)?);
            self.slots.push(Slot { memory, copied, is_busy: false });
        }
        self.next = (self.next + 1) % SLOTS;
        let slot = self.slots.get_mut(self.next).ok_or_else(|| Error::Internal("no staging memory".into()))?;
        Ok((&self.stream, slot))
    }
}

impl Slot {
    /// Waits until no copy uses it.
    fn wait(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_busy) {
            self.copied.wait(|| "a write failed".into())?;
        }
        Ok(())
    }
}
