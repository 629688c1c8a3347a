//! Recordings: a sequence of dispatches that was encoded once and is replayed any number of times.
//!
//! ```text
//! CommandRecorder ── the calls of an encoder ── finish ── Recording: the table, and the back end's own
//!                                                             │
//!                        CommandBuffer::replay(patches) ──────┘
//! ```
//!
//! **Invariant:** what depends on nothing but the recording is done by `finish`: a replay compiles nothing and looks no
//! buffer up. What it changes, the patched bytes, it has for itself alone.

use super::encoder::{BytesLocation, ComputeCommandEncoder, DispatchType};
use crate::backend::{ArgumentMemory, BYTES_ALIGNMENT, Recorded, Table};
use crate::device::Device;
use crate::error::{Result, usage};
use crate::validate;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Dispatches that can be replayed, in any command buffer of their device, by several threads at once. A clone is the
/// same recording. It keeps its buffers and pipeline states alive.
#[derive(Clone)]
pub struct Recording {
    inner: Arc<Inner>,
}

struct Inner {
    number: u32,
    device: Device,
    recorded: Arc<Recorded>,
}

/// Bytes that one replay has in place of recorded ones.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a> {
    /// What [`ComputeCommandEncoder::set_bytes`] or [`Recording::bytes_location`] gave.
    pub location: BytesLocation,
    /// The first byte to replace, counted from the location's first one.
    pub offset: usize,
    /// What to put there.
    pub bytes: &'a [u8],
}

/// Records what an encoder would encode. It is one, in all but its end: pass it to what takes an encoder.
///
/// ```
/// # #[cfg(llvm)] {
/// # use compute::{CompileOptions, Device, DispatchType, FunctionConstantValues, Patch, Size};
/// # let source = "
/// #     kernel void add(device float *x [[buffer(0)]], constant float &step [[buffer(1)]],
/// #                     uint i [[thread_position_in_grid]]) { x[i] += step; }";
/// # let device = Device::system_default()?;
/// # let library = device.new_library_with_source(source, &CompileOptions::default())?;
/// # let function = library.new_function("add", &FunctionConstantValues::new())?;
/// # let pipeline = device.new_compute_pipeline_state(&function)?;
/// # let buffer = device.new_buffer(128)?;
/// # let queue = device.new_command_queue();
/// let mut recorder = device.new_command_recorder(DispatchType::Concurrent);
/// recorder.set_compute_pipeline_state(&pipeline)?;
/// recorder.set_buffer(0, &buffer, 0)?;
/// let step = recorder.set_bytes(1, &1.0f32.to_ne_bytes())?;
/// recorder.dispatch_threads(Size::linear(32), Size::linear(32))?;
/// let recording = recorder.finish()?;
///
/// let command_buffer = queue.new_command_buffer();
/// command_buffer.replay(&recording, &[])?;
/// command_buffer.replay(&recording, &[Patch { location: step, offset: 0, bytes: &10.0f32.to_ne_bytes() }])?;
/// command_buffer.replay(&recording, &[])?;
/// command_buffer.commit()?;
/// command_buffer.wait_until_completed()?;
/// assert_eq!(buffer.read::<f32>()[0], 1.0 + 10.0 + 1.0);
/// # }
/// # Ok::<(), compute::Error>(())
/// ```
pub struct CommandRecorder {
    encoder: ComputeCommandEncoder,
    device: Device,
    number: u32,
}

impl Device {
    /// Begins a recording.
    pub fn new_command_recorder(&self, dispatch_type: DispatchType) -> CommandRecorder {
        static NUMBERS: AtomicU32 = AtomicU32::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed).max(1);
        let encoder = ComputeCommandEncoder::for_recording(number, self, dispatch_type);
        CommandRecorder { encoder, device: self.clone(), number }
    }
}

impl CommandRecorder {
    /// Ends the recording, and makes it ready.
    pub fn finish(mut self) -> Result<Recording> {
        let table = self.encoder.finish()?;
        validate::stale("finish", &table)?;
        let prepared = self.device.backend().record(&table)?;
        let recorded = Arc::new(Recorded { table, prepared });
        let inner = Inner { number: self.number, device: self.device, recorded };
        Ok(Recording { inner: Arc::new(inner) })
    }
}

impl Deref for CommandRecorder {
    type Target = ComputeCommandEncoder;

    fn deref(&self) -> &ComputeCommandEncoder {
        &self.encoder
    }
}

impl DerefMut for CommandRecorder {
    fn deref_mut(&mut self) -> &mut ComputeCommandEncoder {
        &mut self.encoder
    }
}

impl Recording {
    /// How many dispatches there are.
    pub fn dispatch_count(&self) -> usize {
        self.table().len()
    }

    /// How often a dispatch waits for all before it; in a serial recording, all but the first do.
    pub fn barrier_count(&self) -> usize {
        self.table().dispatches.iter().skip(1).filter(|dispatch| dispatch.waits).count()
    }

    /// Where the bytes are that a dispatch, counted from 0, has at an index; `None` where it has a buffer or nothing. For
    /// those who did not call `set_bytes` themselves. Dispatches for which the bytes were set once share the location.
    pub fn bytes_location(&self, dispatch: usize, index: usize) -> Option<BytesLocation> {
        let table = self.table();
        let bindings = if dispatch < table.len() { table.bindings_of(dispatch) } else { &[] };
        bindings.iter().find(|binding| usize::from(binding.index) == index).and_then(|binding| {
            match binding.memory {
                ArgumentMemory::Bytes { block, len } => {
                    Some(BytesLocation { recording: self.inner.number, block, len })
                }
                ArgumentMemory::Buffer { .. } => None,
            }
        })
    }

    pub(crate) fn table(&self) -> &Table {
        &self.inner.recorded.table
    }

    pub(crate) fn recorded(&self) -> &Arc<Recorded> {
        &self.inner.recorded
    }

    /// Whether it can be replayed now.
    pub(crate) fn check(&self, call: &str) -> Result<()> {
        validate::stale(call, self.table())
    }

    /// Whether its pipeline states are for this device.
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.inner.device.is_same(device)
    }

    /// Which bytes a patch replaces, counted from the first block's first.
    pub(crate) fn patched(&self, patch: &Patch) -> Result<Range<usize>> {
        let Patch { location, offset, bytes } = patch;
        if location.recording != self.inner.number {
            return usage("replay: a patch with a location of another recording or command buffer");
        }
        match offset.checked_add(bytes.len()) {
            Some(end) if end <= location.len as usize => {
                let start = location.block as usize * BYTES_ALIGNMENT + offset;
                Ok(start..start + bytes.len())
            }
            _ => usage(format!(
                "replay: a patch of {} bytes at offset {offset}; set_bytes was given {} there",
                bytes.len(),
                location.len
            )),
        }
    }
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("dispatches", &self.dispatch_count()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CommandRecorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandRecorder").field("dispatches", &self.dispatch_count()).finish_non_exhaustive()
    }
}
