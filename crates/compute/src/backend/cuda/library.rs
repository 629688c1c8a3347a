//! GPU code: the variants that a pipeline needs, and their origin.
//!
//! There is a variant for whole threadgroups of whole simdgroups, and one for all others. A pipeline whose threadgroups
//! have a promised size has the code for that size. One whose simdgroups are promised to be rows has the code for whole
//! threadgroups: its kernel guards the edges of its grid itself. Should a dispatch have smaller threadgroups all the
//! same, the other variant is made then. Every other pipeline has both.

use super::device::Device;
use super::pipeline::{LaterKernel, Pipeline};
use super::target::{CudaTarget, GpuSelector};
use crate::archive::artifact::{ArchiveEntry, TargetSelector};
use crate::backend::artifacts::{self, Compiled, KernelCompiler, Provided, Variant};
use crate::backend::{
    Artifact, BinaryArchive, CompileTarget, NewPipeline, PipelineOrigin, PipelineRequest, Simdgroups,
};
use crate::error::{Error, Result};
use crate::size::Size;
use abi::{SimtKernel, Threadgroups};
use msl::reflect::Kernel;

#[cfg(llvm)]
use crate::backend::air_dynamic;

const fn variant(threadgroups: Threadgroups) -> Variant {
    let description = match threadgroups {
        Threadgroups::Whole => "whole threadgroups",
        Threadgroups::Any => "threadgroups of any size",
    };
    Variant { name: threadgroups.name(), description }
}

const VARIANTS: [Variant; 2] = [variant(Threadgroups::Whole), variant(Threadgroups::Any)];

/// The variants to make with the pipeline.
fn needed(request: &PipelineRequest) -> &'static [Variant] {
    match (request.threads_per_threadgroup, request.simdgroups) {
        (Some(size), _) if is_whole(size) => &VARIANTS[..1],
        (Some(_), _) => &VARIANTS[1..],
        (None, Simdgroups::Rows) => &VARIANTS[..1],
        (None, Simdgroups::Any | Simdgroups::Full) => &VARIANTS,
    }
}

fn is_whole(size: Size) -> bool {
    size.volume().is_some_and(|volume| volume.is_multiple_of(abi::LANES))
}

/// Compiles artifacts for a GPU.
struct CudaCompiler {
    target: CudaTarget,
}

impl KernelCompiler for CudaCompiler {
    fn machine(&self) -> Result<Box<dyn TargetSelector>> {
        Ok(Box::new(GpuSelector::new(self.target)))
    }

    #[cfg(llvm)]
    fn compile(&self, request: &PipelineRequest, variants: &[Variant]) -> Result<Compiled> {
        compile(request, self.target, variants)
    }

    #[cfg(not(llvm))]
    fn compile(&self, request: &PipelineRequest, _: &[Variant]) -> Result<Compiled> {
        artifacts::without_compiler(request)
    }
}

#[cfg(llvm)]
fn compile(request: &PipelineRequest, target: CudaTarget, variants: &[Variant]) -> Result<Compiled> {
    use crate::backend::air_library::AirFunction;

    let function = match &request.function {
        Some(function) => function.clone(),
        None => {
            let function = request.library.new_function(&request.kernel, &request.constants)?;
            function.ok_or_else(|| request.no_function())?
        }
    };
    let function = AirFunction::of(&*function).ok_or_else(|| {
        Error::Usage(format!("kernel '{}' belongs to a library that was not opened for a GPU", request.kernel))
    })?;
    let linked = air_dynamic::link(request, &function.air)?;
    let air = linked.as_ref().unwrap_or(&function.air);
    let threadgroups =
        Threadgroups::ALL.into_iter().filter(|kind| variants.iter().any(|variant| variant.name == kind.name()));
    let artifact = |threadgroups: Threadgroups| {
        let kernel = super::compiler::compile(air, target, threadgroups)?;
        let bytes = kernel.to_bytes().ok_or_else(|| Error::Internal("code larger than 4 GiB".into()))?;
        Ok(Artifact { target: target.to_target(), variant: threadgroups.name().into(), bytes })
    };
    let artifacts = threadgroups.map(artifact).collect::<Result<_>>()?;
    Ok(Compiled { reflection: function.air.reflection().clone(), artifacts })
}

pub(super) fn new_pipeline(device: &Device, request: &PipelineRequest) -> Result<NewPipeline> {
    let compiler = CudaCompiler { target: device.target };
    let needed = needed(request);
    let Provided { reflection, artifacts, origin } = artifacts::provide(&compiler, request, needed)?;
    let kernels = artifacts.iter().map(|entry| kernel_of(entry)).collect::<Result<Vec<_>>>()?;
    let later: Option<LaterKernel> = (!needed.contains(&VARIANTS[1])).then(|| {
        let request = request.clone();
        let make = move || {
            let provided = artifacts::provide(&compiler, &request, &VARIANTS[1..])?;
            provided.artifacts.first().map(|entry| kernel_of(entry)).transpose()
        };
        Box::new(make) as LaterKernel
    });
    let pipeline = Box::new(Pipeline::new(device, &kernels, later)?);
    Ok(NewPipeline { reflection, origin, pipeline })
}

fn kernel_of(entry: &ArchiveEntry) -> Result<SimtKernel> {
    decode(&entry.reflection.name, &entry.artifact)
}

fn decode(kernel: &str, artifact: &Artifact) -> Result<SimtKernel> {
    let decoded = SimtKernel::from_bytes(&artifact.bytes);
    let decoded =
        decoded.filter(|decoded| decoded.name == kernel && decoded.threadgroups.name() == artifact.variant);
    decoded.ok_or_else(|| Error::Library(format!("kernel '{kernel}': the artifact is not GPU code")))
}

pub(super) fn pipeline_of_artifacts(
    device: &Device,
    kernel: &Kernel,
    artifacts: &[Artifact],
) -> Result<NewPipeline> {
    let kernels = artifacts.iter().map(|artifact| decode(&kernel.name, artifact)).collect::<Result<Vec<_>>>()?;
    let pipeline = Box::new(Pipeline::new(device, &kernels, None)?);
    Ok(NewPipeline { reflection: kernel.clone(), origin: PipelineOrigin::Archive, pipeline })
}

pub(super) fn archived_reflection(device: &Device, request: &PipelineRequest) -> Option<Kernel> {
    artifacts::reflection(&CudaCompiler { target: device.target }, request, &VARIANTS)
}

/// Compiles all variants of a kernel, for any supported GPU, into an archive.
#[cfg(llvm)]
pub(crate) fn compile_for(
    archive: &BinaryArchive,
    request: &PipelineRequest,
    target: &CompileTarget,
) -> Result<()> {
    let target = CudaTarget::named(target.machine().unwrap_or_default()).map_err(Error::Usage)?;
    super::compiler::check(target)?;
    let compiled = compile(request, target, &VARIANTS)?;
    artifacts::add(archive, request, compiled, &VARIANTS)
}

#[cfg(not(llvm))]
pub(crate) fn compile_for(_: &BinaryArchive, _: &PipelineRequest, _: &CompileTarget) -> Result<()> {
    crate::error::usage("there is no compiler in this program (the feature 'compiler' of the crate 'compute')")
}
