//! The arguments of an encoder, remembered so that they can be set again in another one.

use super::buffer::Buffer;
use super::function_table::FunctionTable;
use super::pipeline::Pipeline;
use crate::runtime::{Size3, Strong};
use compute::ComputeCommandEncoder;
use compute::reflect::ArgumentKind;
use std::collections::BTreeMap;

/// The widths of whole threadgroups, and of those at the edge of a grid that is given in threads.
pub(crate) fn widths(threads: Size3, grid: Size3) -> [usize; 2] {
    [threads.width, grid.width.checked_rem(threads.width).unwrap_or(0)]
}

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
    /// A buffer whose object is not retained.
    Contents(compute::Buffer, usize),
    Bytes(Vec<u8>),
    Table(Strong),
}

impl Bindings {
    fn set(&mut self, index: usize, argument: Argument) {
        self.arguments.insert(index, argument);
    }

    /// Takes an argument away.
    pub(crate) fn clear(&mut self, index: usize) {
        self.arguments.remove(&index);
    }

    /// Checks what `compute` does not know, or would report in its own words: arguments that are missing or were taken
    /// away, and the size of threadgroups.
    pub(crate) fn check(&self, here: &str, threads: Size3) -> bool {
        let Some(pipeline) = self.pipeline.cast::<Pipeline>() else { return true };
        let volume = threads.width.saturating_mul(threads.height).saturating_mul(threads.depth);
        let most = pipeline.most_threads;
        forbid!(
            here,
            volume > most,
            false,
            "(threadsPerThreadgroup.width({}) * threadsPerThreadgroup.height({}) * threadsPerThreadgroup.depth({}))({volume}) \
             must be <= {most}. ({} threadgroup size limit)",
            threads.width,
            threads.height,
            threads.depth,
            if most < pipeline.state.max_total_threads_per_threadgroup() { "kernel" } else { "device" }
        );
        let kernel = pipeline.state.reflection();
        let mut buffers = kernel.arguments.iter().filter(|own| own.kind == ArgumentKind::Buffer && own.is_used);
        let missing = buffers.find(|own| !self.arguments.contains_key(&(own.index as usize)));
        if let Some(missing) = missing {
            let (function, index, name) = (&kernel.name, missing.index, &missing.name);
            crate::debug::fail(
                here,
                format_args!(
                    "Compute Function({function}): missing Buffer binding at index {index} for {name}[0]."
                ),
            );
        }
        missing.is_none()
    }

    pub(crate) fn set_buffer(&mut self, index: usize, buffer: Strong, offset: usize) {
        self.set(index, Argument::Buffer(buffer, offset));
    }

    pub(crate) fn set_contents(&mut self, index: usize, buffer: compute::Buffer, offset: usize) {
        self.set(index, Argument::Contents(buffer, offset));
    }

    pub(crate) fn set_offset(&mut self, index: usize, offset: usize) {
        if let Some(Argument::Buffer(_, own) | Argument::Contents(_, own)) = self.arguments.get_mut(&index) {
            *own = offset;
        }
    }

    pub(crate) fn set_bytes(&mut self, index: usize, bytes: &[u8]) {
        self.set(index, Argument::Bytes(bytes.to_vec()));
    }

    pub(crate) fn set_table(&mut self, index: usize, table: Strong) {
        self.set(index, Argument::Table(table));
    }

    pub(crate) fn set_memory(&mut self, index: usize, length: usize) {
        self.memory.insert(index, length);
    }

    /// Sets everything in another encoder, with code for threadgroups of these widths.
    pub(crate) fn apply(&self, encoder: &mut ComputeCommandEncoder, widths: [usize; 2]) -> compute::Result<()> {
        if let Some(pipeline) = self.pipeline.cast::<Pipeline>() {
            encoder.set_compute_pipeline_state(pipeline.for_widths(widths)?)?;
        }
        for (index, argument) in &self.arguments {
            match argument {
                Argument::Buffer(buffer, offset) => {
                    if let Some(buffer) = buffer.cast::<Buffer>() {
                        encoder.set_buffer(*index, &buffer.buffer, *offset)?;
                    }
                }
                Argument::Contents(buffer, offset) => drop(encoder.set_buffer(*index, buffer, *offset)?),
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
