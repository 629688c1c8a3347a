//! Recordings: sequences of dispatches, encoded once and replayed many times.
//!
//! ```text
//! CommandRecorder ── encoder calls ── finish ── Recording: the table, and back-end state
//!                                                  │
//!             CommandBuffer::replay(patches) ──────┘
//! ```
//!
//! **Invariant:** `finish` does all work that does not change between replays: a replay compiles nothing and looks up
//! no buffer. Each replay has its own copy of the patched bytes.

use super::encoder::{BytesLocation, ComputeCommandEncoder, DispatchType};
use crate::backend::{ArgumentMemory, BYTES_ALIGNMENT, Recorded, Table};
use crate::device::Device;
use crate::error::{Result, usage};
use crate::validate;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Dispatches that can be replayed in any command buffer of their device, by several threads at once. A clone is the
/// same recording. It keeps its buffers and pipeline states alive.
#[derive(Clone)]
pub struct Recording {
    inner: Arc<RecordingInner>,
}

struct RecordingInner {
    number: u32,
    device: Device,
    recorded: Arc<Recorded>,
}

/// Bytes that replace recorded ones in one replay.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a> {
    /// Returned by [`ComputeCommandEncoder::set_bytes`] or [`Recording::bytes_location`].
    pub location: BytesLocation,
    /// Offset of the first replaced byte in the location.
    pub offset: usize,
    /// The new bytes.
    pub bytes: &'a [u8],
}

/// Records dispatches for replays. It dereferences to an encoder: pass it to code that encodes, then call `finish`.
///
/// ```
/// # #[cfg(llvm)] {
/// # use metalworks_compute::{CompileOptions, Device, DispatchType, FunctionConstantValues, Patch, Size};
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
/// # Ok::<(), metalworks_compute::Error>(())
/// ```
pub struct CommandRecorder {
    encoder: ComputeCommandEncoder,
    device: Device,
    number: u32,
}

impl Device {
    /// Starts a recording.
    pub fn new_command_recorder(&self, dispatch_type: DispatchType) -> CommandRecorder {
        static NUMBERS: AtomicU32 = AtomicU32::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed).max(1);
        let encoder = ComputeCommandEncoder::for_recording(number, self, dispatch_type);
        CommandRecorder { encoder, device: self.clone(), number }
    }
}

impl CommandRecorder {
    /// Ends the recording, and prepares it for replays.
    pub fn finish(mut self) -> Result<Recording> {
        let table = self.encoder.finish()?;
        validate::stale("finish", &table)?;
        let prepared = self.device.backend().record(&table)?;
        let recorded = Arc::new(Recorded { table, prepared });
        let inner = RecordingInner { number: self.number, device: self.device, recorded };
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
    /// Number of dispatches.
    pub fn dispatch_count(&self) -> usize {
        self.table().len()
    }

    /// Number of dispatches that wait for all before them; in a serial recording, all but the first.
    pub fn barrier_count(&self) -> usize {
        self.table().dispatches.iter().skip(1).filter(|dispatch| dispatch.waits).count()
    }

    /// Location of the bytes that a dispatch, counted from 0, has at an index; `None` if a buffer or nothing is bound.
    /// For code that did not call `set_bytes` itself. Dispatches that share one `set_bytes` call share the location.
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

    /// Checks that it can be replayed now.
    pub(crate) fn check(&self, call: &str) -> Result<()> {
        validate::stale(call, self.table())
    }

    /// True if its pipeline states are for this device.
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.inner.device.is_same(device)
    }

    /// The bytes that a patch replaces, counted from the start of the first block.
    pub(crate) fn patched(&self, patch: &Patch) -> Result<Range<usize>> {
        let Patch { location, offset, bytes } = patch;
        if location.recording != self.inner.number {
            return usage("replay: a patch has a location of another recording or command buffer");
        }
        match offset.checked_add(bytes.len()) {
            Some(end) if end <= location.len as usize => {
                let start = location.block as usize * BYTES_ALIGNMENT + offset;
                Ok(start..start + bytes.len())
            }
            _ => usage(format!(
                "replay: a patch of {} bytes at offset {offset}; set_bytes recorded {} there",
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
