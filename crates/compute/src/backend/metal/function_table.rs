//! Visible functions, and the tables that kernels call them through.

use super::function::Function;
use super::held::Held;
use super::library::Library;
use super::pipeline::Pipeline;
use crate::backend::{self, Allocation, pages};
use crate::error::{Error, Result};
use abi::Constants;
use objc2::rc::autoreleasepool;
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLComputePipelineState, MTLFunction, MTLFunctionHandle, MTLFunctionType, MTLResource, MTLVisibleFunctionTable,
    MTLVisibleFunctionTableDescriptor,
};

/// A visible function with its constants set.
pub(super) struct VisibleFunction {
    function: Function,
}

impl VisibleFunction {
    /// Returns `None` if there is no such function.
    pub(super) fn new(library: &Library, name: &str, constants: &Constants) -> Result<Option<VisibleFunction>> {
        let function = Function::of_type(library, name, constants, MTLFunctionType::Visible)?;
        Ok(function.map(|function| VisibleFunction { function }))
    }

    /// The Metal function.
    pub(super) fn raw(&self) -> &ProtocolObject<dyn MTLFunction> {
        self.function.raw()
    }
}

impl backend::VisibleFunction for VisibleFunction {}

/// A table of one pipeline state. As a buffer, it has a word for the number of its entries, which is ignored, and one
/// for each entry.
pub(super) struct FunctionTable {
    table: Held<ProtocolObject<dyn MTLVisibleFunctionTable>>,
    /// The linked functions of the pipeline state.
    handles: Vec<Held<ProtocolObject<dyn MTLFunctionHandle>>>,
    len: usize,
}

// SAFETY: Objective-C reference counts are atomic. Entries are set while no command buffer uses the table, as
// `compute::VisibleFunctionTable` documents; encoding only reads the table.
unsafe impl Send for FunctionTable {}
unsafe impl Sync for FunctionTable {}

const WORD: usize = size_of::<u32>();

impl FunctionTable {
    /// A table with `len` empty entries.
    pub(super) fn allocate(pipeline: &Pipeline, len: usize) -> Result<Allocation> {
        let table = autoreleasepool(|_| {
            let descriptor = MTLVisibleFunctionTableDescriptor::visibleFunctionTableDescriptor();
            // SAFETY: a table may have any number of entries that fits in memory.
            unsafe { descriptor.setFunctionCount(len) };
            let table = pipeline.state().newVisibleFunctionTableWithDescriptor(&descriptor);
            table.map(Held::new)
        });
        let bytes = (len + 1) * WORD;
        let what = "a visible function table".into();
        let table = table.ok_or(Error::OutOfMemory { what, bytes: bytes as u64 })?;
        let handles = autoreleasepool(|_| pipeline.handles())?;
        let buffer = Box::new(FunctionTable { table, handles, len });
        Ok(Allocation { address: pages::nowhere(bytes), host: None, is_read_only: false, buffer })
    }

    /// The Metal table.
    pub(super) fn raw(&self) -> &ProtocolObject<dyn MTLVisibleFunctionTable> {
        &self.table
    }

    /// Sets entries to the functions with these numbers, from 1; 0 empties them.
    fn set(&self, first: usize, numbers: impl Iterator<Item = u32>) -> Result<()> {
        for (index, number) in (first..self.len).zip(numbers) {
            let handle = match number {
                0 => None,
                _ => Some(self.handles.get(number as usize - 1).ok_or_else(no_handle)?),
            };
            // SAFETY: the index is inside the table.
            unsafe { self.table.setFunction_atIndex(handle.map(|handle| &**handle), index) };
        }
        Ok(())
    }
}

impl backend::Buffer for FunctionTable {
    fn set_label(&self, label: &str) {
        autoreleasepool(|_| self.table.setLabel(Some(&NSString::from_str(label))));
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let numbers = bytes.chunks_exact(WORD).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        autoreleasepool(|_| match offset / WORD {
            0 => self.set(0, numbers.skip(1)),
            word => self.set(word - 1, numbers),
        })
    }
}

impl Pipeline {
    /// Handles of the linked functions, in their order.
    fn handles(&self) -> Result<Vec<Held<ProtocolObject<dyn MTLFunctionHandle>>>> {
        let handle = |function: &Held<ProtocolObject<dyn MTLFunction>>| {
            self.state().functionHandleWithFunction(function).map(Held::new).ok_or_else(no_handle)
        };
        self.linked().iter().map(handle).collect()
    }
}

fn no_handle() -> Error {
    Error::Internal("Metal has no handle for a linked function".into())
}
