//! Visible functions: kernels call them through tables that the host fills.
//!
//! ```text
//! Library ── VisibleFunction ── LinkedFunctions of a pipeline descriptor ── ComputePipelineState
//!                                     FunctionHandle ── VisibleFunctionTable ── set_visible_function_table ─┘
//! ```

use crate::archive::key::Key;
use crate::backend::{self, LinkedFunction};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result, usage};
use crate::library::Library;
use crate::pipeline::ComputePipelineState;
use abi::Constants;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A function with the attribute `[[visible]]`, with fixed function constants. A clone is the same function.
#[derive(Clone)]
pub struct VisibleFunction {
    library: Library,
    name: Arc<str>,
    function: Arc<dyn backend::VisibleFunction>,
    digest: Option<[u8; 32]>,
}

/// The functions that a kernel can call through visible function tables, as Metal's `MTLLinkedFunctions`.
#[derive(Clone, Default, Debug)]
pub struct LinkedFunctions {
    /// Functions that tables can hold, with different names.
    pub functions: Vec<VisibleFunction>,
}

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

impl Library {
    /// A function with the attribute `[[visible]]`, with values for its function constants.
    pub fn new_visible_function(&self, name: &str, constants: &Constants) -> Result<VisibleFunction> {
        let function = self.backend().new_visible_function(name, constants)?;
        let function = function.ok_or_else(|| {
            Error::Usage(match self.function_names().iter().any(|other| other == name) {
                true => format!("'{name}' is a kernel, not a visible function"),
                false => format!("the library has no visible function '{name}'"),
            })
        })?;
        let digest = self.backend().digest(name).map(|digest| Key::new(&digest, name, constants, "visible").0);
        Ok(VisibleFunction { library: self.clone(), name: name.into(), function, digest })
    }
}

impl VisibleFunction {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for VisibleFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VisibleFunction").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl LinkedFunctions {
    /// The functions for a pipeline request, checked to belong to the device.
    pub(crate) fn for_device(&self, device: &Device, kernel: &str) -> Result<Vec<LinkedFunction>> {
        if !self.functions.is_empty() && !device.backend().has_function_tables() {
            let what = format!("linking functions on {}", device.name());
            return Err(Error::Unsupported { kernel: kernel.into(), what });
        }
        let mut linked: Vec<LinkedFunction> = Vec::new();
        for VisibleFunction { library, name, function, digest } in &self.functions {
            library.for_device(device, name)?;
            if linked.iter().any(|other| other.name == *name) {
                return usage(format!("kernel '{kernel}': two linked functions have the name '{name}'"));
            }
            linked.push(LinkedFunction { name: name.clone(), function: function.clone(), digest: *digest });
        }
        Ok(linked)
    }
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
        let buffer = self.device().new_buffer_with_bytes(bytemuck::cast_slice(&entries))?;
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
