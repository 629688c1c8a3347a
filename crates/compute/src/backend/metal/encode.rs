//! Encodes work with Metal's encoders. [`crate::backend::driver::commands`] decides on the commands of a table.
//!
//! | step | encoder |
//! |---|---|
//! | a pass in which every dispatch waits for the one before | compute, serial |
//! | any other pass | compute, concurrent, with a barrier before each dispatch that waits |
//! | a replay | as its pass, with the patched bytes |
//! | a copy, a fill | blit |
//!
//! Metal tracks buffers, so that an encoder waits for earlier ones that write what it uses. There are no fences, heaps
//! or residency sets: their gain has not been measured. Indirect command buffers cannot replay: they have no
//! `setBytes`.

use super::buffer::Buffer;
use super::device::Device;
use super::function_table::FunctionTable;
use super::pipeline::Pipeline;
use super::recording;
use crate::backend::driver::commands::{CommandSink, DispatchSize, EncoderState};
use crate::backend::{Block, Copy, Executable, Fill, Memory, Step, Table, Work, own};
use crate::error::{Error, Result};
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSRange, NSString};
use objc2_metal::{
    MTLBarrierScope, MTLBlitCommandEncoder, MTLCommandBuffer, MTLCommandEncoder, MTLComputeCommandEncoder,
    MTLDispatchType, MTLSize,
};
use std::ptr::NonNull;

/// Parameters of all encoding.
#[derive(Clone, Copy)]
pub(crate) struct Encoding<'a> {
    pub(crate) device: &'a Device,
    /// Label encoders, and group the commands of each dispatch under its kernel's name, for tools and errors.
    pub(crate) named: bool,
}

impl Encoding<'_> {
    /// Encodes all steps.
    pub(crate) fn work(self, commands: &ProtocolObject<dyn MTLCommandBuffer>, work: &Work) -> Result<()> {
        for step in work.steps() {
            match step {
                Step::Pass(table) => self.table(commands, table, &table.bytes)?,
                Step::Replay { recorded, patches } => recording::replay(self, commands, work, recorded, patches)?,
                Step::Copy(copy) => self.copy(commands, copy)?,
                Step::Fill(fill) => self.fill(commands, fill)?,
            }
        }
        Ok(())
    }

    /// Encodes all dispatches of a table, with `bytes` as the data of `setBytes`.
    pub(super) fn table(
        self,
        commands: &ProtocolObject<dyn MTLCommandBuffer>,
        table: &Table,
        bytes: &[Block],
    ) -> Result<()> {
        if table.is_empty() {
            return Ok(());
        }
        let mut encoder = Compute::new(commands, self, table.may_overlap())?;
        if self.named {
            encoder.raw.setLabel(Some(&NSString::from_str(&table_label(table))));
        }
        table.commands(bytes, &mut encoder)
    }

    /// Encodes a single dispatch of a table.
    pub(crate) fn single(
        self,
        commands: &ProtocolObject<dyn MTLCommandBuffer>,
        table: &Table,
        number: usize,
        bytes: &[Block],
    ) -> Result<()> {
        let mut encoder = Compute::new(commands, self, false)?;
        if self.named {
            let name = table.executable(number).name();
            encoder.raw.setLabel(Some(&NSString::from_str(name)));
        }
        table.dispatch_commands(number, bytes, &mut EncoderState::default(), &mut encoder)
    }

    pub(crate) fn copy(self, commands: &ProtocolObject<dyn MTLCommandBuffer>, copy: &Copy) -> Result<()> {
        let Copy { source, range, destination, offset } = copy;
        let (from, to): (&Buffer, &Buffer) = (own(source.buffer())?, own(destination.buffer())?);
        let encoder = commands.blitCommandEncoder().ok_or_else(no_encoder)?;
        if self.named {
            encoder.setLabel(Some(&NSString::from_str("copy")));
        }
        // SAFETY: both ranges were checked to be inside their buffers, which the work keeps alive until it completes.
        unsafe {
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                from.raw(),
                from.offset() + range.start,
                to.raw(),
                to.offset() + offset,
                range.end - range.start,
            );
        }
        encoder.endEncoding();
        Ok(())
    }

    pub(crate) fn fill(self, commands: &ProtocolObject<dyn MTLCommandBuffer>, fill: &Fill) -> Result<()> {
        let Fill { buffer, range, value } = fill;
        let buffer: &Buffer = own(buffer.buffer())?;
        let encoder = commands.blitCommandEncoder().ok_or_else(no_encoder)?;
        if self.named {
            encoder.setLabel(Some(&NSString::from_str("fill")));
        }
        let bytes = NSRange::new(buffer.offset() + range.start, range.end - range.start);
        encoder.fillBuffer_range_value(buffer.raw(), bytes, *value);
        encoder.endEncoding();
        Ok(())
    }
}

/// An encoder that is ended when dropped: Metal aborts the process over one that is not.
struct Compute<'a> {
    raw: Retained<ProtocolObject<dyn MTLComputeCommandEncoder>>,
    encoding: Encoding<'a>,
}

impl Compute<'_> {
    fn new<'a>(
        commands: &ProtocolObject<dyn MTLCommandBuffer>,
        encoding: Encoding<'a>,
        is_concurrent: bool,
    ) -> Result<Compute<'a>> {
        let dispatch_type = if is_concurrent { MTLDispatchType::Concurrent } else { MTLDispatchType::Serial };
        let raw = commands.computeCommandEncoderWithDispatchType(dispatch_type).ok_or_else(no_encoder)?;
        Ok(Compute { raw, encoding })
    }
}

impl Drop for Compute<'_> {
    fn drop(&mut self) {
        self.raw.endEncoding();
    }
}

impl CommandSink for Compute<'_> {
    fn set_pipeline(&mut self, pipeline: &Executable) -> Result<()> {
        let pipeline: &Pipeline = own(pipeline.pipeline())?;
        self.raw.setComputePipelineState(pipeline.state());
        Ok(())
    }

    fn set_buffer(&mut self, index: usize, buffer: &Memory, offset: usize) -> Result<()> {
        if let Ok(table) = own::<FunctionTable>(buffer.buffer()) {
            // SAFETY: the index was checked when it was bound, and the work keeps the table alive until it completes.
            unsafe { self.raw.setVisibleFunctionTable_atBufferIndex(Some(table.raw()), index) };
            return Ok(());
        }
        let metal: &Buffer = own(buffer.buffer())?;
        // SAFETY: index and offset were checked when it was bound, and the table keeps the buffer alive until the work
        // completes.
        unsafe { self.raw.setBuffer_offset_atIndex(Some(metal.raw()), metal.offset() + offset, index) };
        Ok(())
    }

    fn set_buffer_offset(&mut self, index: usize, buffer: &Memory, offset: usize) -> Result<()> {
        let metal: &Buffer = own(buffer.buffer())?;
        // SAFETY: as for `set_buffer`; the buffer is already bound.
        unsafe { self.raw.setBufferOffset_atIndex(metal.offset() + offset, index) };
        Ok(())
    }

    fn set_bytes(&mut self, index: usize, bytes: &[u8]) {
        // SAFETY: Metal copies the bytes, 1 to 4,096; the index was checked when they were bound.
        unsafe { self.raw.setBytes_length_atIndex(NonNull::from(bytes).cast(), bytes.len(), index) };
    }

    fn set_threadgroup_memory(&mut self, index: usize, length: usize) {
        // SAFETY: the index was checked when it was set, and the length is a multiple of 16.
        unsafe { self.raw.setThreadgroupMemoryLength_atIndex(length, index) };
    }

    fn barrier(&mut self) {
        self.raw.memoryBarrierWithScope(MTLBarrierScope::Buffers);
    }

    fn dispatch(&mut self, pipeline: &Executable, grid: DispatchSize, size: [u32; 3]) -> Result<()> {
        let Encoding { device, named } = self.encoding;
        let extent =
            |of: [u32; 3]| MTLSize { width: of[0] as usize, height: of[1] as usize, depth: of[2] as usize };
        if matches!(grid, DispatchSize::Threads(_)) && !device.capabilities().nonuniform_threadgroups {
            let name = device.name();
            return Err(Error::Usage(format!(
                "{name} does not support dispatch_threads with partial threadgroups; dispatch whole threadgroups"
            )));
        }
        if named {
            self.raw.pushDebugGroup(&NSString::from_str(pipeline.label().unwrap_or(pipeline.name())));
        }
        match grid {
            DispatchSize::Threadgroups(groups) => {
                self.raw.dispatchThreadgroups_threadsPerThreadgroup(extent(groups), extent(size));
            }
            DispatchSize::Threads(threads) => {
                self.raw.dispatchThreads_threadsPerThreadgroup(extent(threads), extent(size))
            }
        }
        if named {
            self.raw.popDebugGroup();
        }
        Ok(())
    }
}

/// The label of a table's encoder, for errors and tools.
fn table_label(table: &Table) -> String {
    const NAMED: usize = 4;
    let mut names: Vec<&str> = (0..table.len().min(NAMED)).map(|number| table.executable(number).name()).collect();
    let more = format!("{} more", table.len().saturating_sub(NAMED));
    if table.len() > NAMED {
        names.push(&more);
    }
    names.join(", ")
}

fn no_encoder() -> Error {
    Error::Internal("Metal made no encoder".into())
}
