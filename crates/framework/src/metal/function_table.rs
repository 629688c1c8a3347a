//! Visible function tables and the handles that they hold.

use super::pipeline::Pipeline;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::encode::ResourceId;
use crate::runtime::{Fields, Id, Object, Range, Strong};

/// A linked function of a pipeline state.
pub(crate) struct Handle {
    pipeline: Strong,
    handle: compute::FunctionHandle,
}

/// `None` if no function of this name is linked.
pub(crate) fn handle(pipeline: Object<Pipeline>, name: &str) -> Option<Strong> {
    let handle = pipeline.state.function_handle(name).ok()?;
    Some(Strong::new(Handle { pipeline: pipeline.strong(), handle }))
}

class! {
    FUNCTION_HANDLE = "MTLDebugFunctionHandle": NS_OBJECT, new Handle, ["MTLFunctionHandle"]
    methods {
        - "functionType" (_this) -> usize { 5 }
        - "name" (this) -> Id { string::new(this.handle.name()).autorelease() }
        - "device" (this) -> Id { crate::foundation::ask(this.pipeline.id(), c"device").unwrap_or(Id::NIL) }
        - "gpuResourceID" (this) -> ResourceId { ResourceId(this.id().0.addr() as u64) }
    }
}

/// A table of functions.
pub(crate) struct FunctionTable {
    pipeline: Strong,
    pub(crate) table: compute::VisibleFunctionTable,
    label: Fields<Strong>,
}

pub(crate) fn create(pipeline: Object<Pipeline>, here: &str, count: usize) -> Option<Strong> {
    match pipeline.state.new_visible_function_table(count) {
        Ok(table) => {
            Some(Strong::new(FunctionTable { pipeline: pipeline.strong(), table, label: Fields::default() }))
        }
        Err(problem) => {
            crate::debug::fail(here, format_args!("{problem}"));
            None
        }
    }
}

fn set(this: Object<FunctionTable>, here: &str, function: Id, index: usize) {
    let handle = if function.is_nil() { None } else { function.expect::<Handle>(here, "function") };
    if let Err(problem) = this.table.set_function(index, handle.as_ref().map(|handle| &handle.handle)) {
        crate::debug::fail(here, format_args!("{problem}"));
    }
}

class! {
    VISIBLE_FUNCTION_TABLE = "MTLDebugVisibleFunctionTable": NS_OBJECT, new FunctionTable,
        ["MTLVisibleFunctionTable", "MTLResource", "MTLAllocation"]
    methods {
        - "device" (this) -> Id { crate::foundation::ask(this.pipeline.id(), c"device").unwrap_or(Id::NIL) }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
        - "storageMode" (_this) -> usize { super::descriptors::PRIVATE }
        - "cpuCacheMode" (_this) -> usize { 0 }
        - "hazardTrackingMode" (_this) -> usize { 2 }
        - "resourceOptions" (_this) -> usize { super::descriptors::PRIVATE << 4 }
        - "heap" (_this) -> Id { Id::NIL }
        - "heapOffset" (_this) -> usize { 0 }
        - "isAliasable" (_this) -> bool { false }
        - "makeAliasable" (_this) { forbid!(HERE, true, (), "the table must be allocated from a heap."); }
        - "setPurgeableState:" (_this, _state: usize) -> usize { 2 }
        - "allocatedSize" (this) -> usize { 4 * (this.table.len() + 1) }
        - "gpuResourceID" (this) -> ResourceId { ResourceId(this.id().0.addr() as u64) }
        - "setFunction:atIndex:" (this, function: Id, index: usize) { set(this, HERE, function, index) }
        - "setFunctions:withRange:" (this, functions: *const Id, range: Range) {
            for (at, function) in super::residency::objects(functions, range.length).iter().enumerate() {
                set(this, HERE, *function, range.location + at);
            }
        }
    }
}
