//! Pipeline states: kernels compiled by Metal.
//!
//! ```text
//! function ── descriptor ── found in an archive ─────────────────────────────────┐
//!                 └──────── compiled, now or with a completion handler, added ───┴─ reflection ── compared ── Pipeline
//! ```

use super::archive::{ArchiveDriver, CompiledDescriptor};
use super::device::Device;
use super::dynamic_library;
use super::error::driver_error;
use super::function::{DescribedFunction, Function};
use super::function_table::VisibleFunction;
use super::held::Held;
use super::library::Library;
use super::reflection;
use crate::backend::driver::constants::describe;
use crate::backend::driver::reported::ReportedKernel;
use crate::backend::{self, BinaryArchive, Handler, NewPipeline, PipelineOrigin, PipelineRequest, Simdgroups, own};
use crate::error::{Error, Result};
use abi::Constants;
use block2::RcBlock;
use msl::reflect::Kernel;
use objc2::Message;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSArray, NSError, NSString};
use objc2_metal::{
    MTLComputePipelineDescriptor, MTLComputePipelineReflection, MTLComputePipelineState, MTLDevice, MTLFunction,
    MTLLinkedFunctions, MTLPipelineOption,
};
use std::sync::Arc;

/// A kernel that is ready to run. Metal pipeline states are thread-safe.
pub(super) struct Pipeline {
    state: Held<ProtocolObject<dyn MTLComputePipelineState>>,
    linked: Vec<Held<ProtocolObject<dyn MTLFunction>>>,
}

impl Pipeline {
    /// The functions that are linked to it.
    pub(super) fn linked(&self) -> &[Held<ProtocolObject<dyn MTLFunction>>] {
        &self.linked
    }

    /// The Metal pipeline state.
    pub(super) fn state(&self) -> &ProtocolObject<dyn MTLComputePipelineState> {
        &self.state
    }
}

impl backend::Pipeline for Pipeline {
    fn thread_execution_width(&self) -> usize {
        self.state.threadExecutionWidth()
    }

    fn max_total_threads(&self) -> usize {
        self.state.maxTotalThreadsPerThreadgroup()
    }

    fn static_threadgroup_memory(&self) -> usize {
        self.state.staticThreadgroupMemoryLength()
    }
}

/// Creates a pipeline state. When validating, Metal's reflection of the kernel must match the front end's.
pub(super) fn create(device: &Arc<Device>, request: &PipelineRequest) -> Result<NewPipeline> {
    autoreleasepool(|_| {
        let plan = PipelinePlan::new(device, request.clone())?;
        let metal = plan.metal_descriptor();
        if let Some(found) = plan.find(&metal) {
            return plan.finish(found, PipelineOrigin::Archive);
        }
        plan.may_compile()?;
        let compiled = make(device, &metal, INFORMATION).map_err(|error| plan.failed(&error))?;
        plan.keep(&metal);
        plan.finish(compiled, PipelineOrigin::Compiled)
    })
}

/// Creates a pipeline state and passes it to `handler`: on this thread if an archive has it, on one of Metal's if Metal
/// compiles it.
pub(super) fn create_with_completion_handler(
    device: &Arc<Device>,
    request: PipelineRequest,
    handler: Handler<NewPipeline>,
) {
    let begun = autoreleasepool(|_| {
        let plan = PipelinePlan::new(device, request)?;
        let metal = plan.metal_descriptor();
        if let Some(found) = plan.find(&metal) {
            return plan.finish(found, PipelineOrigin::Archive).map(Begun::Found);
        }
        plan.may_compile()?;
        Ok(Begun::Missing(plan, metal))
    });
    match begun {
        Ok(Begun::Found(pipeline)) => handler.call(Ok(pipeline)),
        Err(error) => handler.call(Err(error)),
        Ok(Begun::Missing(plan, metal)) => autoreleasepool(|_| compile(plan, metal, handler)),
    }
}

#[allow(clippy::large_enum_variant, reason = "it lives for a moment")]
enum Begun {
    Found(NewPipeline),
    Missing(PipelinePlan, Retained<MTLComputePipelineDescriptor>),
}

/// Compiles on one of Metal's threads.
fn compile(plan: PipelinePlan, metal: Retained<MTLComputePipelineDescriptor>, handler: Handler<NewPipeline>) {
    let device = plan.device.clone();
    let for_archives = Held::new(metal.clone());
    // Metal copies the block and releases it after the call; the handler goes with it, and reports an error if it was
    // not called.
    let block = RcBlock::new(
        move |state: *mut ProtocolObject<dyn MTLComputePipelineState>,
              reflection: *mut MTLComputePipelineReflection,
              error: *mut NSError| {
            let made = autoreleasepool(|_| {
                // SAFETY: each is null, or an object that lives while the block runs.
                let (state, reflection, error) =
                    unsafe { (Retained::retain(state), Retained::retain(reflection), error.as_ref()) };
                match (state, error) {
                    (Some(state), _) => {
                        plan.keep(&for_archives);
                        plan.finish((state, reflection), PipelineOrigin::Compiled)
                    }
                    (None, Some(error)) => Err(plan.failed(error)),
                    (None, None) => Err(Error::Internal(format!(
                        "{}: Metal returned neither a pipeline state nor an error",
                        plan.what()
                    ))),
                }
            });
            handler.call(made);
        },
    );
    // SAFETY: the block's parameters are those that Metal passes. Any thread may call it: the plan and the handler are
    // `Send`, and the descriptor is no longer changed.
    unsafe {
        device.raw().newComputePipelineStateWithDescriptor_options_completionHandler(
            &metal,
            INFORMATION,
            RcBlock::as_ptr(&block),
        );
    }
}

/// Metal's reflection of a function, from a temporary pipeline state.
pub(super) fn reflect(
    device: &Arc<Device>,
    function: &Function,
    name: &str,
    constants: &Constants,
) -> Result<Kernel> {
    autoreleasepool(|_| {
        let metal = MTLComputePipelineDescriptor::new();
        metal.setComputeFunction(Some(function.raw()));
        let made =
            make(device, &metal, INFORMATION).map_err(|error| driver_error(what(name, constants), &error))?;
        match reported(&made, name, function.constants()) {
            Some(reported) => Ok(reported.to_kernel()),
            None => Err(says_nothing(name, constants)),
        }
    })
}

/// The requested reflection.
const INFORMATION: MTLPipelineOption =
    MTLPipelineOption(MTLPipelineOption::BindingInfo.0 | MTLPipelineOption::BufferTypeInfo.0);

type Made = (Retained<ProtocolObject<dyn MTLComputePipelineState>>, Option<Retained<MTLComputePipelineReflection>>);

fn make(
    device: &Device,
    metal: &MTLComputePipelineDescriptor,
    options: MTLPipelineOption,
) -> std::result::Result<Made, Retained<NSError>> {
    let mut reflection = None;
    let state = device.raw().newComputePipelineStateWithDescriptor_options_reflection_error(
        metal,
        options,
        Some(&mut reflection),
    )?;
    Ok((state, reflection))
}

/// Metal's reflection of a kernel, if it has one.
fn reported((state, reflection): &Made, name: &str, function_constants: &[u32]) -> Option<ReportedKernel> {
    Some(ReportedKernel {
        name: name.into(),
        bindings: reflection::bindings(reflection.as_ref()?),
        function_constants: function_constants.to_vec(),
        static_threadgroup_memory: state.staticThreadgroupMemoryLength() as u64,
    })
}

fn says_nothing(name: &str, constants: &Constants) -> Error {
    Error::Internal(format!("{}: Metal returned no reflection of its arguments", what(name, constants)))
}

/// A kernel with its constants, for messages.
pub(super) fn what(name: &str, constants: &Constants) -> String {
    match describe(constants) {
        constants if constants.is_empty() => format!("kernel '{name}'"),
        constants => format!("kernel '{name}' ({constants})"),
    }
}

/// The inputs of a pipeline state.
struct PipelinePlan {
    device: Arc<Device>,
    request: PipelineRequest,
    function: Making,
}

/// A function created for this pipeline, or before.
enum Making {
    Now(Function),
    Before(Arc<dyn backend::Function>),
}

impl PipelinePlan {
    fn new(device: &Arc<Device>, request: PipelineRequest) -> Result<PipelinePlan> {
        let function = match &request.function {
            Some(function) => Making::Before(function.clone()),
            None => {
                let library: &Library = own(&*request.library)?;
                let function = library.function(&request.kernel, &request.constants)?;
                Making::Now(function.ok_or_else(|| request.no_function())?)
            }
        };
        let plan = PipelinePlan { device: device.clone(), request, function };
        plan.function()?;
        plan.linked()?;
        dynamic_library::array(&plan.request.preloaded)?;
        Ok(plan)
    }

    fn function(&self) -> Result<&Function> {
        match &self.function {
            Making::Now(function) => Ok(function),
            Making::Before(function) => Ok(own::<DescribedFunction>(&**function)?.function()),
        }
    }

    /// The functions that are linked to the kernel.
    fn linked(&self) -> Result<Vec<&ProtocolObject<dyn MTLFunction>>> {
        let linked = self.request.linked.iter();
        linked.map(|linked| Ok(own::<VisibleFunction>(&*linked.function)?.raw())).collect()
    }

    fn metal_descriptor(&self) -> Retained<MTLComputePipelineDescriptor> {
        let metal = MTLComputePipelineDescriptor::new();
        let label = self.request.label.as_deref().unwrap_or(&self.request.kernel);
        metal.setLabel(Some(&NSString::from_str(label)));
        metal.setComputeFunction(self.function().ok().map(Function::raw));
        if let Ok(functions) = self.linked()
            && !functions.is_empty()
        {
            let linked = MTLLinkedFunctions::linkedFunctions();
            linked.setFunctions(Some(&NSArray::from_slice(&functions)));
            metal.setLinkedFunctions(Some(&linked));
        }
        if !self.request.preloaded.is_empty()
            && let Ok(libraries) = dynamic_library::array(&self.request.preloaded)
        {
            metal.setPreloadedLibraries(&libraries);
        }
        // The promise is about multiples of 32, but other vendors' GPUs also have simdgroups of 64.
        let full = self.request.simdgroups != Simdgroups::Any && self.device.capabilities().simdgroup_matrix;
        // SAFETY: dispatches that break the promise are rejected (`validate::grid`).
        unsafe { metal.setThreadGroupSizeIsMultipleOfThreadExecutionWidth(full) };
        metal
    }

    /// Looks the pipeline up in the archives, in order.
    fn find(&self, metal: &MTLComputePipelineDescriptor) -> Option<Made> {
        let options = MTLPipelineOption(INFORMATION.0 | MTLPipelineOption::FailOnBinaryArchiveMiss.0);
        if !ArchiveDriver::is_used() {
            return None;
        }
        let found = self.request.archives.iter().find_map(|archive| {
            let new = || ArchiveDriver::archive(&self.device);
            // An archive must not change during Metal's lookup.
            let found = archive.look_in_driver(self.device.registry_id(), new, |archive| {
                metal.setBinaryArchives(Some(&NSArray::from_slice(&[archive.raw()])));
                make(&self.device, metal, options).ok()
            });
            found.flatten()
        });
        metal.setBinaryArchives(None);
        found
    }

    fn may_compile(&self) -> Result<()> {
        if !self.request.fail_on_archive_miss {
            return Ok(());
        }
        let archives: Vec<String> = self.request.archives.iter().map(BinaryArchive::describe).collect();
        let archives = if archives.is_empty() { "none".into() } else { archives.join(", ") };
        Err(Error::ArchiveMiss {
            kernel: self.request.kernel.to_string(),
            constants: describe(&self.request.constants),
            problem: format!(
                "Metal's code is not in any archive ({archives}), and the descriptor forbids compiling; create \
                 the pipeline state once without that promise, with one of these archives"
            ),
        })
    }

    /// Adds compiled code to the archives.
    fn keep(&self, metal: &MTLComputePipelineDescriptor) {
        for archive in self.request.archives.iter().filter(|_| ArchiveDriver::is_used()) {
            let new = || ArchiveDriver::archive(&self.device);
            archive.add_to_driver(self.device.registry_id(), new, CompiledDescriptor::new(metal.retain()));
        }
    }

    fn what(&self) -> String {
        what(&self.request.kernel, &self.request.constants)
    }

    fn failed(&self, error: &NSError) -> Error {
        driver_error(format!("{} cannot be compiled", self.what()), error)
    }

    fn finish(&self, made: Made, origin: PipelineOrigin) -> Result<NewPipeline> {
        let reflection = self.reflection(&made)?;
        let linked = self.linked()?.into_iter().map(|function| Held::new(function.retain())).collect();
        Ok(NewPipeline { reflection, origin, pipeline: Box::new(Pipeline { state: Held::new(made.0), linked }) })
    }

    /// The kernel's reflection: Metal's, merged with the front end's if the source was parsed or is parsed now. When
    /// validating, a difference is an error. Metal decides which arguments are used, in every build.
    fn reflection(&self, made: &Made) -> Result<Kernel> {
        let PipelineRequest { library, kernel, constants, validate, .. } = &self.request;
        let reported = reported(made, kernel, self.function()?.constants());
        let own: &Library = own(&**library)?;
        // A source that was checked when the program was built is parsed only to be compared.
        let is_read = *validate || !own.is_checked() || reported.is_none();
        // There may be no source, or one that only Metal can read.
        let source = if is_read { library.reflection(kernel, constants).ok().flatten() } else { None };
        match (reported, source) {
            (Some(reported), Some(source)) => match reported.differences(&source) {
                differences if differences.is_empty() => Ok(reported.in_words_of(source)),
                differences if *validate => Err(Error::Internal(format!(
                    "{}: the reflections of Metal and of the front end differ: {}",
                    self.what(),
                    differences.join("; ")
                ))),
                _ => Ok(reported.to_kernel()),
            },
            (Some(reported), None) => Ok(reported.to_kernel()),
            (None, Some(source)) => Ok(source),
            (None, None) => Err(says_nothing(kernel, constants)),
        }
    }
}
