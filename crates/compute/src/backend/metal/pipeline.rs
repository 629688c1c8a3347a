//! Pipeline states: kernels that Metal compiled.
//!
//! ```text
//! function ── descriptor ── found in an archive ─────────────────────────────────────┐
//!                 └──────── compiled, at once or with a completion handler, added ───┴─ reflection ── compared ── Pipeline
//! ```

use super::archive::CompiledDescriptor;
use super::device::Device;
use super::function::{DescribedFunction, Function};
use super::held::Held;
use super::{driver_error, reflection};
use crate::archive::BinaryArchive;
use crate::archive::key::{Identity, describe};
use crate::cache::Handler;
use crate::error::{Error, Result};
use crate::pipeline::{Code, ComputePipelineDescriptor, ComputePipelineState, PipelineOrigin};
use crate::recipe::Recipe;
use crate::reported::ReportedKernel;
use abi::Constants;
use block2::RcBlock;
use msl::reflect::Kernel;
use objc2::Message;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSArray, NSError, NSString};
use objc2_metal::{
    MTLComputePipelineDescriptor, MTLComputePipelineReflection, MTLComputePipelineState, MTLDevice,
    MTLPipelineOption,
};
use std::sync::Arc;

/// A kernel that is ready to run. Metal's pipeline states may be used by any thread.
pub(crate) struct Pipeline {
    state: Held<ProtocolObject<dyn MTLComputePipelineState>>,
    /// That of its device.
    domain: u32,
    origin: PipelineOrigin,
    /// Those that keep it.
    archives: Vec<BinaryArchive>,
}

impl Pipeline {
    /// Metal's own.
    pub(crate) fn state(&self) -> &ProtocolObject<dyn MTLComputePipelineState> {
        &self.state
    }

    /// Bytes of threadgroup memory for the kernel's own variables.
    pub(crate) fn static_threadgroup_memory(&self) -> usize {
        self.state.staticThreadgroupMemoryLength()
    }

    /// The largest threadgroup that it can run with.
    pub(crate) fn max_total_threads(&self) -> usize {
        self.state.maxTotalThreadsPerThreadgroup()
    }

    /// The number of threads in a simdgroup.
    pub(crate) fn thread_execution_width(&self) -> usize {
        self.state.threadExecutionWidth()
    }

    /// [`Device::domain`] of its device.
    pub(crate) fn domain(&self) -> u32 {
        self.domain
    }

    pub(crate) fn origin(&self) -> PipelineOrigin {
        self.origin
    }

    /// Has the archives write what they have not written yet.
    pub(crate) fn flush_archives(&self) {
        self.archives.iter().for_each(BinaryArchive::flush);
    }
}

/// Makes a pipeline state now. When validating, what Metal says of the kernel must be what the front end says of its source.
pub(crate) fn create(
    device: &Arc<Device>,
    recipe: &Recipe,
    descriptor: &ComputePipelineDescriptor,
    validate: bool,
) -> Result<ComputePipelineState> {
    autoreleasepool(|_| {
        let plan = Plan::new(device, recipe, descriptor, validate)?;
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

/// Makes a pipeline state, and calls `handler` with it: what an archive has on this thread, what Metal compiles on one of
/// Metal's.
pub(crate) fn create_with_completion_handler(
    device: &Arc<Device>,
    recipe: &Recipe,
    descriptor: &ComputePipelineDescriptor,
    validate: bool,
    handler: Handler,
) {
    let begun = autoreleasepool(|_| {
        let plan = Plan::new(device, recipe, descriptor, validate)?;
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
    Found(ComputePipelineState),
    Missing(Plan, Retained<MTLComputePipelineDescriptor>),
}

/// Has Metal compile on a thread of its own.
fn compile(plan: Plan, metal: Retained<MTLComputePipelineDescriptor>, handler: Handler) {
    let device = plan.device.clone();
    let for_archives = Held::new(metal.clone());
    // Metal copies the block and releases it when it has called it; the handler goes with it, and says so if it never was.
    let block = RcBlock::new(
        move |state: *mut ProtocolObject<dyn MTLComputePipelineState>,
              reflection: *mut MTLComputePipelineReflection,
              error: *mut NSError| {
            let made = autoreleasepool(|_| {
                // SAFETY: each is null or an object that lives while the block runs.
                let (state, reflection, error) =
                    unsafe { (Retained::retain(state), Retained::retain(reflection), error.as_ref()) };
                match (state, error) {
                    (Some(state), _) => {
                        plan.keep(&for_archives);
                        plan.finish((state, reflection), PipelineOrigin::Compiled)
                    }
                    (None, Some(error)) => Err(plan.failed(error)),
                    (None, None) => Err(Error::Internal(format!("{}: neither made nor failed", plan.what()))),
                }
            });
            handler.call(made);
        },
    );
    // SAFETY: the block takes what Metal hands to it, and may be called on any thread: the plan and the handler may, and nobody
    // changes the descriptor.
    unsafe {
        device.raw().newComputePipelineStateWithDescriptor_options_completionHandler(
            &metal,
            INFORMATION,
            RcBlock::as_ptr(&block),
        );
    }
}

/// What Metal says about a function, by way of a pipeline state that nobody keeps.
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

/// What is asked about a kernel.
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

/// What Metal says about a kernel, if it does.
fn reported((state, reflection): &Made, name: &str, function_constants: &[u32]) -> Option<ReportedKernel> {
    Some(ReportedKernel {
        name: name.into(),
        bindings: reflection::bindings(reflection.as_ref()?),
        function_constants: function_constants.to_vec(),
        static_threadgroup_memory: state.staticThreadgroupMemoryLength() as u64,
    })
}

fn says_nothing(name: &str, constants: &Constants) -> Error {
    Error::Internal(format!("{}: Metal says nothing about its arguments", what(name, constants)))
}

/// A kernel with its constants, for messages.
pub(super) fn what(name: &str, constants: &Constants) -> String {
    match describe(constants) {
        constants if constants.is_empty() => format!("kernel '{name}'"),
        constants => format!("kernel '{name}' ({constants})"),
    }
}

/// All that it takes to make a pipeline state.
struct Plan {
    device: Arc<Device>,
    identity: Identity,
    function: Arc<Making>,
    descriptor: ComputePipelineDescriptor,
    validate: bool,
}

/// A function that was made for this, or before.
enum Making {
    Now(Function),
    Before(Arc<DescribedFunction>),
}

impl Making {
    fn function(&self) -> &Function {
        match self {
            Making::Now(function) => function,
            Making::Before(function) => function.function(),
        }
    }
}

impl Plan {
    fn new(
        device: &Arc<Device>,
        recipe: &Recipe,
        descriptor: &ComputePipelineDescriptor,
        validate: bool,
    ) -> Result<Plan> {
        let identity = recipe.identity();
        let Identity { library, kernel, constants } = identity;
        let metal = library.metal(device, kernel)?;
        let function = match &recipe.metal {
            Some(function) => Making::Before(function.clone()),
            None => Making::Now(metal.function(kernel, constants, || library.no_function(kernel))?),
        };
        Ok(Plan {
            device: device.clone(),
            identity: identity.clone(),
            function: Arc::new(function),
            descriptor: descriptor.clone(),
            validate,
        })
    }

    fn metal_descriptor(&self) -> Retained<MTLComputePipelineDescriptor> {
        let metal = MTLComputePipelineDescriptor::new();
        let label = self.descriptor.label.as_deref().unwrap_or(&self.identity.kernel);
        metal.setLabel(Some(&NSString::from_str(label)));
        metal.setComputeFunction(Some(self.function.function().raw()));
        // What is promised are multiples of 32, and GPUs of other makers have simdgroups of 64, too.
        let full = self.descriptor.thread_group_size_is_multiple_of_thread_execution_width
            && self.device.capabilities().simdgroup_matrix;
        // SAFETY: dispatches that break the promise are refused (`validate::grid`).
        unsafe { metal.setThreadGroupSizeIsMultipleOfThreadExecutionWidth(full) };
        metal
    }

    /// What the first archive has that has it.
    fn find(&self, metal: &MTLComputePipelineDescriptor) -> Option<Made> {
        let options = MTLPipelineOption(INFORMATION.0 | MTLPipelineOption::FailOnBinaryArchiveMiss.0);
        let found = self.descriptor.binary_archives.iter().find_map(|archive| {
            // An archive may not change while Metal looks into it.
            let found = archive.look_in_metal(&self.device, |archive| {
                metal.setBinaryArchives(Some(&NSArray::from_slice(&[archive.raw()])));
                make(&self.device, metal, options).ok()
            });
            found.flatten()
        });
        metal.setBinaryArchives(None);
        found
    }

    fn may_compile(&self) -> Result<()> {
        if !self.descriptor.fail_on_binary_archive_miss {
            return Ok(());
        }
        let archives: Vec<String> = self.descriptor.binary_archives.iter().map(BinaryArchive::describe).collect();
        let archives = if archives.is_empty() { "none".into() } else { archives.join(", ") };
        Err(Error::ArchiveMiss {
            kernel: self.identity.kernel.to_string(),
            constants: describe(&self.identity.constants),
            problem: format!(
                "what Metal compiles is not in any archive ({archives}), and the descriptor says not to compile; create \
                 it once without that, with one of them"
            ),
        })
    }

    /// Has the archives keep what was compiled.
    fn keep(&self, metal: &MTLComputePipelineDescriptor) {
        for archive in &self.descriptor.binary_archives {
            archive.add_to_metal(&self.device, CompiledDescriptor::new(metal.retain()));
        }
    }

    fn what(&self) -> String {
        what(&self.identity.kernel, &self.identity.constants)
    }

    fn failed(&self, error: &NSError) -> Error {
        driver_error(format!("{} cannot be compiled", self.what()), error)
    }

    fn finish(&self, made: Made, origin: PipelineOrigin) -> Result<ComputePipelineState> {
        let reflection = self.reflection(&made)?;
        let archives = self.descriptor.binary_archives.clone();
        let domain = self.device.domain();
        let code = Code::Metal(Pipeline { state: Held::new(made.0), domain, origin, archives });
        let limits = self.device.limits();
        ComputePipelineState::new(reflection, code, &self.descriptor, limits.max_threadgroup_memory_length)
    }

    /// The kernel's interface: as Metal says, in the words of the front end where that has read the source, or does so now.
    /// When validating, it is an error if they differ.
    fn reflection(&self, made: &Made) -> Result<Kernel> {
        let Identity { library, kernel, constants } = &self.identity;
        let reported = reported(made, kernel, self.function.function().constants());
        // A source that was checked when the program was built is read only to be compared.
        let is_read = self.validate || !library.metal(&self.device, kernel)?.is_checked() || reported.is_none();
        // There may be none, or one that only Metal can read.
        let source = if is_read { library.reflection(kernel, constants).ok() } else { None };
        match (reported, source) {
            (Some(reported), Some(source)) => match reported.differences(&source) {
                differences if differences.is_empty() => Ok(reported.in_words_of(source)),
                differences if self.validate => Err(Error::Internal(format!(
                    "{}: Metal and the front end differ: {}",
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
