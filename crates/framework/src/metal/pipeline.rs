//! Compute pipeline states.

use super::archive::Archive;
use super::descriptors::{ComputePipelineFields, FunctionTableFields, LinkedFunctions};
use super::device::{Device, failed};
use super::function::{Function, FunctionKind};
use super::library::Library;
use super::{errors, function_table, reflection};
use crate::foundation::array::Items;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::encode::ResourceId;
use crate::runtime::{Fields, Id, Object, Size3, Strong};
use compute::reflect::ArgumentKind;
use compute::{ComputePipelineDescriptor, Error, FunctionConstantValues, FunctionDescriptor, Size};
use std::sync::OnceLock;

/// A pipeline state.
pub(crate) struct Pipeline {
    device: Strong,
    /// The code for threadgroups whose width is a multiple of 32, and for others, too, unless `general` has it.
    pub(crate) state: compute::ComputePipelineState,
    /// The code for all threadgroups, compiled when a dispatch needs it: most programs never do.
    general: Option<General>,
    /// A copy: a program that keeps pipeline states keeps no strings.
    label: Option<String>,
    required_threads: Size3,
    /// The most threads of a threadgroup: what the code takes, or fewer if the descriptor says so.
    pub(crate) most_threads: usize,
    /// Functions that are linked to it.
    linked: Vec<Strong>,
}

/// A pipeline state that is created on first use.
struct General {
    kernel: Kernel,
    descriptor: ComputePipelineDescriptor,
    state: OnceLock<Result<compute::ComputePipelineState, Error>>,
}

/// A kernel with its constants.
enum Kernel {
    Specialized(compute::Function),
    Named(compute::Library, String, FunctionConstantValues),
}

impl Kernel {
    fn of(function: Object<Function>) -> Result<Kernel, Error> {
        if let Some(kernel) = &function.kernel {
            return Ok(Kernel::Specialized(kernel.clone()));
        }
        let library = function.library.cast::<Library>();
        let library = library.ok_or_else(|| Error::Internal("a function without a library".into()))?;
        Ok(Kernel::Named(library.library.clone(), function.listed.name.clone(), function.constants.clone()))
    }

    fn state(
        &self,
        device: &compute::Device,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<compute::ComputePipelineState, Error> {
        match self {
            Kernel::Specialized(kernel) => device.new_compute_pipeline_state_with_descriptor(kernel, descriptor),
            Kernel::Named(library, name, constants) => {
                let function = FunctionDescriptor { library, name, constants };
                device.new_compute_pipeline_state_with_function_descriptor(&function, descriptor)
            }
        }
    }
}

impl Pipeline {
    /// The state for threadgroups of this width, and of this one at the edge of the grid.
    pub(crate) fn for_widths(&self, widths: [usize; 2]) -> compute::Result<&compute::ComputePipelineState> {
        let is_general = |width: usize| !width.is_multiple_of(self.state.thread_execution_width());
        match (&self.general, self.device.cast::<Device>()) {
            (Some(general), Some(device)) if widths.into_iter().any(is_general) => {
                let made = general.state.get_or_init(|| general.kernel.state(&device.device, &general.descriptor));
                made.as_ref().map_err(Clone::clone)
            }
            _ => Ok(&self.state),
        }
    }
}

/// `MTLPipelineOptionFailOnBinaryArchiveMiss`
const FAIL_ON_MISS: usize = 4;
/// `MTLPipelineOptionArgumentInfo`, also named BindingInfo
const BINDING_INFO: usize = 1;

pub(crate) fn with_function(
    this: Object<Device>,
    here: &str,
    function: Id,
    options: usize,
    reflection: *mut Id,
    error: *mut Id,
) -> Id {
    let fields = ComputePipelineFields { function: Strong::retain(function), ..ComputePipelineFields::default() };
    create(this, here, &fields, options, reflection, error)
}

pub(crate) fn create(
    this: Object<Device>,
    here: &str,
    fields: &ComputePipelineFields,
    options: usize,
    reflection: *mut Id,
    error: *mut Id,
) -> Id {
    let Some(function) = fields.function.id().expect::<Function>(here, "computeFunction") else { return Id::NIL };
    forbid!(
        here,
        function.listed.kind != FunctionKind::Kernel,
        Id::NIL,
        "Compute Pipeline Descriptor Validation\ncomputeFunction '{}' is not a kernel function.",
        function.listed.name
    );
    let linked = fields.linked.cast::<Fields<LinkedFunctions>>().map(|linked| linked.lock().functions.clone());
    let linked = Items::of(linked.unwrap_or_default().id());
    match compile(this, function, fields, &linked, options) {
        Ok((state, general)) => {
            if options & BINDING_INFO != 0 && !reflection.is_null() {
                reflection::create(state.reflection()).autorelease().store(reflection);
            }
            let (label, required_threads) = (string::text(fields.label.id()), fields.required_threads);
            let most = state.max_total_threads_per_threadgroup();
            let most_threads = if fields.max_threads > 0 { most.min(fields.max_threads) } else { most };
            let device = this.strong();
            Strong::new(Pipeline { device, state, general, label, required_threads, most_threads, linked })
                .into_id()
        }
        Err(problem) => failed(errors::of_pipeline(&problem), error),
    }
}

/// Looks in the program's archives, then compiles, unless that is forbidden. Only `addComputePipelineFunctions…` adds
/// code to the program's archives.
fn compile(
    this: Object<Device>,
    function: Object<Function>,
    fields: &ComputePipelineFields,
    linked: &[Strong],
    options: usize,
) -> Result<(compute::ComputePipelineState, Option<General>), Error> {
    let archives = Items::of(fields.archives.id());
    let archives: Vec<_> = archives.iter().filter_map(|archive| archive.cast::<Archive>()).collect();
    let may_compile = options & FAIL_ON_MISS == 0;
    if !archives.is_empty() || !may_compile {
        let parts = archives.iter().flat_map(|archive| archive.parts()).collect();
        let found = state(this, function, &descriptor(fields, linked, parts, true)?);
        match found {
            Err(Error::ArchiveMiss { .. }) if may_compile => {}
            found => return found.map(|state| (state, None)),
        }
    }
    let kernel = Kernel::of(function)?;
    let descriptor = descriptor(fields, linked, this.compiled.clone(), false)?;
    let whole = |kernel: &Kernel| Ok((kernel.state(&this.device, &descriptor)?, None));
    if descriptor.threads_per_threadgroup.is_some() || !linked.is_empty() {
        return whole(&kernel);
    }
    let rows = ComputePipelineDescriptor {
        thread_group_width_is_multiple_of_thread_execution_width: true,
        ..descriptor.clone()
    };
    let state = kernel.state(&this.device, &rows)?;
    // Function tables belong to one state, also empty ones.
    if state.reflection().arguments.iter().any(|own| own.kind == ArgumentKind::VisibleFunctionTable) {
        return whole(&kernel);
    }
    Ok((state, Some(General { kernel, descriptor, state: OnceLock::new() })))
}

/// Makes the pipeline state of a function.
pub(crate) fn state(
    this: Object<Device>,
    function: Object<Function>,
    descriptor: &ComputePipelineDescriptor,
) -> Result<compute::ComputePipelineState, Error> {
    Kernel::of(function)?.state(&this.device, descriptor)
}

/// The descriptor as `compute` takes it.
pub(crate) fn descriptor(
    fields: &ComputePipelineFields,
    linked: &[Strong],
    binary_archives: Vec<compute::BinaryArchive>,
    fail_on_binary_archive_miss: bool,
) -> Result<ComputePipelineDescriptor, Error> {
    let functions = linked.iter().map(|function| {
        let function = function.cast::<Function>().and_then(|function| function.visible.clone());
        function.ok_or_else(|| Error::Usage("linkedFunctions: only visible functions can be linked".into()))
    });
    let Size3 { width, height, depth } = fields.required_threads;
    Ok(ComputePipelineDescriptor {
        label: string::text(fields.label.id()),
        thread_group_size_is_multiple_of_thread_execution_width: fields.whole_simdgroups,
        threads_per_threadgroup: (width * height * depth > 0).then(|| Size::new(width, height, depth)),
        linked_functions: compute::LinkedFunctions { functions: functions.collect::<Result<_, _>>()? },
        binary_archives,
        fail_on_binary_archive_miss,
        ..ComputePipelineDescriptor::default()
    })
}

class! {
    COMPUTE_PIPELINE_STATE = "MTLDebugComputePipelineState": NS_OBJECT, new Pipeline, ["MTLComputePipelineState", "MTLAllocation"]
    refused {
        "newIntersectionFunctionTableWithDescriptor:" "this device has no ray tracing (supportsRaytracing is NO)",
        "newComputePipelineStateWithAdditionalBinaryFunctions:error:" "link all functions when the pipeline state is made (linkedFunctions)",
    }
    absent {
        "functionHandleWithBinaryFunction:", "newComputePipelineStateWithBinaryFunctions:error:",
    }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.as_ref().map_or(Id::NIL, |label| string::new(label).autorelease()) }
        - "maxTotalThreadsPerThreadgroup" (this) -> usize { this.most_threads }
        - "threadExecutionWidth" (this) -> usize { this.state.thread_execution_width() }
        - "staticThreadgroupMemoryLength" (this) -> usize { this.state.static_threadgroup_memory_length() }
        - "requiredThreadsPerThreadgroup" (this) -> Size3 { this.required_threads }
        - "imageblockMemoryLengthForDimensions:" (_this, _size: Size3) -> usize { 0 }
        - "supportIndirectCommandBuffers" (_this) -> bool { false }
        - "gpuResourceID" (this) -> ResourceId { ResourceId(this.id().0.addr() as u64) }
        // Disabled: `METALWORKS_VALIDATION` turns it on, for all pipeline states.
        - "shaderValidation" (_this) -> isize { 2 }
        - "allocatedSize" (this) -> usize { this.state.code_size() }
        - "reflection" (this) -> Id { reflection::create(this.state.reflection()).autorelease() }
        - "functionHandleWithFunction:" (this, function: Id) -> Id {
            let Some(function) = function.expect::<Function>(HERE, "function") else { return Id::NIL };
            let is_linked = this.linked.iter().any(|linked| linked.id() == function.id());
            if is_linked { function_table::handle(this, &function.listed.name).map_or(Id::NIL, Strong::autorelease) } else { Id::NIL }
        }
        - "functionHandleWithName:" (this, name: Id) -> Id {
            function_table::handle(this, &string::describe(name)).map_or(Id::NIL, Strong::autorelease)
        }
        - "newVisibleFunctionTableWithDescriptor:" (this, descriptor: Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<FunctionTableFields>>(HERE, "descriptor") else { return Id::NIL };
            let count = fields.lock().count;
            function_table::create(this, HERE, count).map_or(Id::NIL, Strong::into_id)
        }
    }
}
