//! The arguments of an encoder, remembered so that they can be set again in another one.

use super::buffer::Buffer;
use super::function_table::FunctionTable;
use super::pipeline::Pipeline;
use crate::runtime::Strong;
use compute::ComputeCommandEncoder;
use std::collections::BTreeMap;

/// A pipeline state and arguments.
#[derive(Clone, Default)]
pub(crate) struct Bindings {
    pub(crate) pipeline: Strong,
    arguments: BTreeMap<usize, Argument>,
    memory: BTreeMap<usize, usize>,
}

#[derive(Clone)]
enum Argument {
    Buffer(Strong, usize),
    Bytes(Vec<u8>),
    Table(Strong),
}

impl Bindings {
    pub(crate) fn set_buffer(&mut self, index: usize, buffer: Strong, offset: usize) {
        self.arguments.insert(index, Argument::Buffer(buffer, offset));
    }

    pub(crate) fn set_offset(&mut self, index: usize, offset: usize) {
        if let Some(Argument::Buffer(_, own)) = self.arguments.get_mut(&index) {
            *own = offset;
        }
    }

    pub(crate) fn set_bytes(&mut self, index: usize, bytes: &[u8]) {
        self.arguments.insert(index, Argument::Bytes(bytes.to_vec()));
    }

    pub(crate) fn set_table(&mut self, index: usize, table: Strong) {
        self.arguments.insert(index, Argument::Table(table));
    }

    pub(crate) fn set_memory(&mut self, index: usize, length: usize) {
        self.memory.insert(index, length);
    }

    /// Sets everything in another encoder.
    pub(crate) fn apply(&self, encoder: &mut ComputeCommandEncoder) -> compute::Result<()> {
        if let Some(pipeline) = self.pipeline.cast::<Pipeline>() {
            encoder.set_compute_pipeline_state(&pipeline.state)?;
        }
        for (index, argument) in &self.arguments {
            match argument {
                Argument::Buffer(buffer, offset) => {
                    if let Some(buffer) = buffer.cast::<Buffer>() {
                        encoder.set_buffer(*index, &buffer.buffer, *offset)?;
                    }
                }
                Argument::Bytes(bytes) => drop(encoder.set_bytes(*index, bytes)?),
                Argument::Table(table) => {
                    if let Some(table) = table.cast::<FunctionTable>() {
                        encoder.set_visible_function_table(*index, &table.table)?;
                    }
                }
            }
        }
        for (index, length) in &self.memory {
            encoder.set_threadgroup_memory_length(*index, *length)?;
        }
        Ok(())
    }
}
