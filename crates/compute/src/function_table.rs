//! Tables of visible functions: kernels call the functions, the host fills the tables.
//!
//! ```text
//! Library ── VisibleFunction ── LinkedFunctions of a pipeline descriptor ── ComputePipelineState
//!                                     FunctionHandle ── VisibleFunctionTable ── set_visible_function_table ─┘
//! ```

use crate::buffer::Buffer;
use crate::error::{Error, Result, usage};
use crate::pipeline::ComputePipelineState;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A linked function of one pipeline state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionHandle {
    name: Arc<str>,
    pipeline: NonZeroU64,
    /// Its number in tables.
    number: u32,
}

/// A table of functions for one pipeline state. A clone is the same table.
#[derive(Clone, Debug)]
pub struct VisibleFunctionTable {
    /// The number of entries, then the entries.
    buffer: Buffer,
    pipeline: NonZeroU64,
    kernel: Arc<str>,
    len: usize,
}

impl ComputePipelineState {
    /// The handle of a linked function.
    pub fn function_handle(&self, name: &str) -> Result<FunctionHandle> {
        let position = self.linked().iter().position(|linked| **linked == *name);
        let position = position.ok_or_else(|| {
            let kernel = &self.executable().name;
            Error::Usage(format!("kernel '{kernel}': no function '{name}' is linked to its pipeline state"))
        })?;
        Ok(FunctionHandle { name: name.into(), pipeline: self.executable().number, number: position as u32 + 1 })
    }

    /// A table with this many entries, at least one, all empty.
    pub fn new_visible_function_table(&self, len: usize) -> Result<VisibleFunctionTable> {
        /// More entries than any table needs.
        const MOST: usize = 1 << 20;
        let kernel = self.executable().name.clone();
        if !self.device().backend().has_function_tables() {
            let what = format!("a visible function table on {}", self.device().name());
            return Err(Error::Unsupported { kernel: kernel.to_string(), what });
        }
        if len == 0 || len > MOST {
            return usage(format!("new_visible_function_table: {len} entries; a table has 1 to {MOST}"));
        }
        let mut entries = vec![0u32; len + 1];
        entries[0] = len as u32;
        let table = self.device().backend().new_function_table(self.executable().pipeline(), len)?;
        let buffer = match table {
            Some(table) => self.device().function_table(table, size_of_val(&entries[..])),
            None => self.device().new_buffer_with_bytes(bytemuck::cast_slice(&entries))?,
        };
        Ok(VisibleFunctionTable { buffer, pipeline: self.executable().number, kernel, len })
    }
}

impl FunctionHandle {
    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl VisibleFunctionTable {
    /// Number of entries.
    #[allow(clippy::len_without_is_empty, reason = "a table is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Sets an entry, or empties it. No command buffer that uses the table may be running.
    pub fn set_function(&self, index: usize, handle: Option<&FunctionHandle>) -> Result<()> {
        if index >= self.len {
            return usage(format!("set_function: index {index} is not inside a table of {} entries", self.len));
        }
        if let Some(handle) = handle.filter(|handle| handle.pipeline != self.pipeline) {
            return usage(format!(
                "set_function: '{}' is a handle of another pipeline state than the table, which is for kernel '{}'",
                handle.name, self.kernel
            ));
        }
        self.buffer.write((index + 1) * size_of::<u32>(), &[handle.map_or(0, |handle| handle.number)])
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The number of the pipeline state that it is for.
    pub(crate) fn pipeline_number(&self) -> NonZeroU64 {
        self.pipeline
    }
}
