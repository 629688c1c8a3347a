//! Encoders: the calls that fill a command buffer or a recording.

use super::hazards::Hazards;
use crate::backend::{ArgumentMemory, BYTES_ALIGNMENT, Table, releases};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Result, usage};
use crate::function_table::VisibleFunctionTable;
use crate::pipeline::ComputePipelineState;
use crate::validate::{self, BoundArgument, Uses};
use abi::call::ARGUMENT_SLOTS;
use msl::reflect::ArgumentKind;
use std::ops::Range;
use std::sync::Arc;

/// Ordering of the dispatches of an encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DispatchType {
    /// Each dispatch begins after the one before has ended.
    #[default]
    Serial,
    /// Dispatches may overlap, except on hazards: a dispatch that reads or writes bytes written by an earlier one, or
    /// writes bytes read by it, waits. An argument accesses everything from its offset to the end of the buffer, or the
    /// range of [`ComputeCommandEncoder::set_buffer_range`].
    ///
    /// The environment variable `METALWORKS_SERIAL=1` and [`Device::set_serial`] make it serial.
    Concurrent,
}

/// Location of the bytes of a [`ComputeCommandEncoder::set_bytes`] call in a recording.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BytesLocation {
    /// Number of the recording; 0 for a command buffer.
    pub(super) recording: u32,
    pub(super) block: u32,
    pub(super) len: u32,
}

/// Limit of `set_bytes`, as in Metal.
const MAX_BYTES: usize = 4096;

/// Records dispatches into a command buffer. State persists across dispatches until it is set again.
///
/// Every method rejects what Metal's validation would reject; a failed call records nothing. An encoder must be ended:
/// a command buffer whose encoder was dropped without [`ComputeCommandEncoder::end_encoding`] cannot be committed.
pub struct ComputeCommandEncoder {
    destination: Destination,
    is_open: bool,
    pub(super) table: Box<Table>,
    /// Index into the table's pipelines.
    pub(super) pipeline: Option<u32>,
    pub(super) bound: [Option<BoundArgument>; ARGUMENT_SLOTS],
    pub(super) threadgroup_memory: [u32; ARGUMENT_SLOTS],
    /// Accesses since the last barrier; `None` if every dispatch waits anyway.
    pub(super) hazards: Option<Hazards>,
    /// Forces the next dispatch to wait.
    pub(super) waits: bool,
    /// Shader validation takes dispatches without a barrier between them for unordered.
    pub(super) needs_barriers: bool,
    validation: bool,
    pub(super) uses: Uses,
    /// The device's limit.
    most_threadgroup_memory: usize,
    /// Domain of the buffers and pipeline states that can be used.
    domain: u32,
}

/// Receives the dispatches of an encoder: a command buffer.
pub(crate) trait PassSink: Send + Sync {
    fn end_pass(&self, table: Box<Table>);

    /// Called if the encoder is dropped before its end.
    fn abandon_pass(&self);

    fn label(&self) -> Option<&str>;
}

/// Destination of the recorded dispatches.
enum Destination {
    CommandBuffer(Arc<dyn PassSink>),
    /// A recording, with the number in its locations.
    Recording(u32),
}

impl ComputeCommandEncoder {
    pub(crate) fn for_command_buffer(
        command_buffer: Arc<dyn PassSink>,
        device: &Device,
        dispatch_type: DispatchType,
        table: Box<Table>,
    ) -> ComputeCommandEncoder {
        ComputeCommandEncoder::new(Destination::CommandBuffer(command_buffer), device, dispatch_type, table)
    }

    pub(crate) fn for_recording(
        number: u32,
        device: &Device,
        dispatch_type: DispatchType,
    ) -> ComputeCommandEncoder {
        ComputeCommandEncoder::new(Destination::Recording(number), device, dispatch_type, Box::default())
    }

    fn new(
        destination: Destination,
        device: &Device,
        dispatch_type: DispatchType,
        mut table: Box<Table>,
    ) -> ComputeCommandEncoder {
        table.checked_releases = releases().into();
        let is_concurrent = dispatch_type == DispatchType::Concurrent && !device.is_serial();
        ComputeCommandEncoder {
            destination,
            is_open: true,
            table,
            pipeline: None,
            bound: [const { None }; ARGUMENT_SLOTS],
            threadgroup_memory: [0; ARGUMENT_SLOTS],
            hazards: is_concurrent.then(Hazards::default),
            waits: true,
            needs_barriers: false,
            validation: device.is_validating(),
            uses: Uses::default(),
            most_threadgroup_memory: device.max_threadgroup_memory_length(),
            domain: device.domain(),
        }
    }

    /// Sets the kernel of the following dispatches.
    pub fn set_compute_pipeline_state(&mut self, pipeline: &ComputePipelineState) -> Result<()> {
        self.open("set_compute_pipeline_state")?;
        let executable = pipeline.executable();
        if executable.domain != self.domain {
            let kernel = executable.name();
            return usage(format!(
                "set_compute_pipeline_state: the pipeline state of '{kernel}' belongs to another device"
            ));
        }
        self.pipeline = Some(self.table.pipelines.keep(executable));
        Ok(())
    }

    /// Binds a buffer, starting at byte `offset`, to `[[buffer(index)]]`.
    pub fn set_buffer(&mut self, index: usize, buffer: &Buffer, offset: usize) -> Result<()> {
        self.open("set_buffer")?;
        validate::index("set_buffer", index)?;
        if offset >= buffer.len() {
            let (at, buffer) = (self.at(ArgumentKind::Buffer, index), buffer.description());
            return usage(format!("set_buffer: offset {offset} at {at} is not inside {buffer}"));
        }
        self.bind("set_buffer", index, buffer, offset..buffer.len())
    }

    /// Binds a range of a buffer to `[[buffer(index)]]`. The kernel must not access other bytes: in a concurrent
    /// encoder, dispatches that use those do not wait for it.
    pub fn set_buffer_range(&mut self, index: usize, buffer: &Buffer, range: Range<usize>) -> Result<()> {
        self.open("set_buffer_range")?;
        validate::index("set_buffer_range", index)?;
        if range.start >= range.end || range.end > buffer.len() {
            let (at, buffer) = (self.at(ArgumentKind::Buffer, index), buffer.description());
            let Range { start, end } = range;
            return usage(format!("set_buffer_range: {start}..{end} at {at} is empty or not inside {buffer}"));
        }
        self.bind("set_buffer_range", index, buffer, range)
    }

    /// The range must be inside the buffer.
    fn bind(&mut self, call: &str, index: usize, buffer: &Buffer, range: Range<usize>) -> Result<()> {
        if buffer.is_released() {
            return usage(format!(
                "{call}: {} was released ({})",
                buffer.description(),
                self.at(ArgumentKind::Buffer, index)
            ));
        }
        let memory = buffer.memory();
        validate::same_device(call, self.domain, memory)?;
        let kept = self.table.buffers.keep(memory);
        self.uses.bind(index);
        self.bound[index] = Some(BoundArgument {
            memory: ArgumentMemory::Buffer { buffer: kept, offset: range.start },
            address: memory.address() + range.start,
            len: range.end - range.start,
            read_only: buffer.is_read_only(),
            table_of: None,
        });
        Ok(())
    }

    /// Binds a visible function table to `[[buffer(index)]]`. Dispatches must use the pipeline state that made it.
    /// Entries that are set before the command buffer runs count.
    pub fn set_visible_function_table(&mut self, index: usize, table: &VisibleFunctionTable) -> Result<()> {
        let call = "set_visible_function_table";
        self.open(call)?;
        validate::index(call, index)?;
        let buffer = table.buffer();
        self.bind(call, index, buffer, 0..buffer.len())?;
        if let Some(bound) = &mut self.bound[index] {
            bound.table_of = Some(table.pipeline_number());
        }
        Ok(())
    }

    /// The name of an index in messages.
    #[cold]
    fn at(&self, kind: ArgumentKind, index: usize) -> String {
        let argument = self.pipeline.and_then(|pipeline| {
            let pipeline = &self.table.pipelines.items[pipeline as usize];
            Some((validate::argument_name(pipeline, kind, index)?, pipeline.name()))
        });
        match argument {
            Some((argument, kernel)) => format!("index {index}, the argument '{argument}' of '{kernel}'"),
            None => format!("index {index}"),
        }
    }

    /// Changes the offset of the buffer bound at `index`; it is bound to its end.
    pub fn set_buffer_offset(&mut self, index: usize, offset: usize) -> Result<()> {
        self.open("set_buffer_offset")?;
        validate::index("set_buffer_offset", index)?;
        match self.bound[index] {
            Some(BoundArgument {
                memory: ArgumentMemory::Buffer { buffer, .. },
                read_only,
                table_of: None,
                ..
            }) => {
                let buffer = Buffer::of(self.table.buffers.items[buffer as usize].clone(), read_only);
                self.set_buffer(index, &buffer, offset)
            }
            _ => usage(format!("set_buffer_offset: no buffer is bound at index {index}; call set_buffer first")),
        }
    }

    /// Binds a copy of `bytes`, at most 4,096, to `[[buffer(index)]]`. In a recording, replays can patch the bytes at
    /// the returned location.
    pub fn set_bytes(&mut self, index: usize, bytes: &[u8]) -> Result<BytesLocation> {
        self.open("set_bytes")?;
        validate::index("set_bytes", index)?;
        if bytes.is_empty() || bytes.len() > MAX_BYTES {
            let (at, bytes) = (self.at(ArgumentKind::Buffer, index), bytes.len());
            return usage(format!(
                "set_bytes: {bytes} bytes at {at}; it takes 1 to {MAX_BYTES}, use a buffer for more"
            ));
        }
        validate::room("set_bytes", self.table.bytes.len())?;
        let block = self.table.push_bytes(bytes);
        let len = bytes.len() as u32;
        let memory = ArgumentMemory::Bytes { block, len };
        self.uses.bind(index);
        self.bound[index] = Some(BoundArgument {
            memory,
            address: BYTES_ALIGNMENT,
            len: bytes.len(),
            read_only: true,
            table_of: None,
        });
        let recording = match self.destination {
            Destination::Recording(number) => number,
            Destination::CommandBuffer(_) => 0,
        };
        Ok(BytesLocation { recording, block, len })
    }

    /// Sets the length of `[[threadgroup(index)]]` in bytes, a multiple of 16 as in Metal.
    pub fn set_threadgroup_memory_length(&mut self, index: usize, bytes: usize) -> Result<()> {
        self.open("set_threadgroup_memory_length")?;
        validate::index("set_threadgroup_memory_length", index)?;
        if let Some(problem) = validate::threadgroup_memory_problem(bytes, self.most_threadgroup_memory) {
            let at = self.at(ArgumentKind::ThreadgroupMemory, index);
            return usage(format!("set_threadgroup_memory_length: {bytes} bytes at {at}; {problem}"));
        }
        self.threadgroup_memory[index] = bytes as u32;
        Ok(())
    }

    /// Number of dispatches so far.
    pub fn dispatch_count(&self) -> usize {
        self.table.dispatches.len()
    }

    /// Ends the encoder: the command buffer accepts another one, or can be committed.
    pub fn end_encoding(&mut self) -> Result<()> {
        self.open("end_encoding")?;
        self.check_uses("end_encoding")?;
        match &self.destination {
            Destination::CommandBuffer(command_buffer) => {
                command_buffer.end_pass(std::mem::take(&mut self.table));
                self.is_open = false;
                Ok(())
            }
            Destination::Recording(_) => usage("end_encoding: call finish to end a recording"),
        }
    }

    /// Ends the encoder of a recording.
    pub(super) fn finish(&mut self) -> Result<Box<Table>> {
        self.check_uses("finish")?;
        self.is_open = false;
        Ok(std::mem::take(&mut self.table))
    }

    fn check_uses(&self, call: &str) -> Result<()> {
        if self.validation { self.uses.check(call, &self.table) } else { Ok(()) }
    }

    pub(super) fn open(&self, call: &str) -> Result<()> {
        if self.is_open {
            return Ok(());
        }
        let label = match &self.destination {
            Destination::CommandBuffer(command_buffer) => command_buffer.label(),
            Destination::Recording(_) => None,
        };
        let label = label.map(|label| format!(" '{label}'")).unwrap_or_default();
        usage(format!("{call}: the encoder has ended; create a new one from the command buffer{label}"))
    }
}

impl Drop for ComputeCommandEncoder {
    fn drop(&mut self) {
        if let (true, Destination::CommandBuffer(command_buffer)) = (self.is_open, &self.destination) {
            command_buffer.abandon_pass();
        }
    }
}

impl std::fmt::Debug for ComputeCommandEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dispatches = self.table.dispatches.len();
        f.debug_struct("ComputeCommandEncoder").field("dispatches", &dispatches).finish_non_exhaustive()
    }
}
