//! CPU code: the variants that a pipeline needs, and their origin.
//!
//! There is a variant for rows, simdgroups of 32 adjacent threads, and one for all others. Rows are faster, and enough
//! for a pipeline whose threadgroups are promised to be multiples of 32 wide. A pipeline with a promised size has the
//! code for that size; every other pipeline has both, so that no dispatch compiles.

use super::pipeline::Pipeline;
use super::run::shape::Shape;
use super::target::Host;
use crate::archive::artifact::{ArchiveEntry, TargetSelector};
use crate::backend::artifacts::{self, Compiled, KernelCompiler, Provided, Variant};
use crate::backend::{
    Artifact, BinaryArchive, CompileTarget, NewPipeline, PipelineOrigin, PipelineRequest, Simdgroups,
};
use crate::error::{Error, Result};
use crate::finding::ShaderChecks;
use crate::size::Size;
use abi::{Lanes, WaveKernel};
use msl::reflect::Kernel;

#[cfg(llvm)]
use crate::backend::air_dynamic;

const fn variant(lanes: Lanes, checks: Option<ShaderChecks>) -> Variant {
    let description = match lanes {
        Lanes::Row => "full simdgroups",
        Lanes::Any => "threadgroups whose width is not a multiple of 32",
    };
    // Checked code is another artifact: its name is in the key.
    let name = match (lanes, checks) {
        (lanes, None) => lanes.name(),
        (Lanes::Row, Some(checks)) => match (checks.races, checks.nan) {
            (false, false) => "row/bounds",
            (true, false) => "row/races",
            (false, true) => "row/bounds+nan",
            (true, true) => "row/races+nan",
        },
        (Lanes::Any, Some(checks)) => match (checks.races, checks.nan) {
            (false, false) => "any/bounds",
            (true, false) => "any/races",
            (false, true) => "any/bounds+nan",
            (true, true) => "any/races+nan",
        },
    };
    Variant { name, description }
}

/// The lanes of a variant's name.
fn lanes_of(variant: &str) -> &str {
    variant.split('/').next().unwrap_or(variant)
}

const VARIANTS: [Variant; 2] = [variant(Lanes::Row, None), variant(Lanes::Any, None)];

/// The variants that dispatches may need.
fn needed(request: &PipelineRequest, checks: Option<ShaderChecks>) -> Vec<Variant> {
    let variant = |lanes| variant(lanes, checks);
    match (request.threads_per_threadgroup, request.simdgroups) {
        (Some(Size { width, height, depth }), _) => {
            let narrow = |extent: usize| u32::try_from(extent).unwrap_or(u32::MAX);
            Shape::new([narrow(width), narrow(height), narrow(depth)]).lanes().map(variant).collect()
        }
        (None, Simdgroups::Rows) => vec![variant(Lanes::Row)],
        // A full simdgroup can span several rows.
        (None, Simdgroups::Any | Simdgroups::Full) => Lanes::ALL.map(variant).to_vec(),
    }
}

/// Compiles artifacts for this machine.
struct CpuCompiler {
    #[cfg_attr(not(llvm), allow(dead_code, reason = "nothing is compiled"))]
    checks: Option<ShaderChecks>,
}

impl KernelCompiler for CpuCompiler {
    fn machine(&self) -> Result<Box<dyn TargetSelector>> {
        Ok(Box::new(Host::new()?))
    }

    #[cfg(llvm)]
    fn compile(&self, request: &PipelineRequest, variants: &[Variant]) -> Result<Compiled> {
        compile(request, &super::compiler::CompilerTarget::host()?, variants, self.checks)
    }

    #[cfg(not(llvm))]
    fn compile(&self, request: &PipelineRequest, _: &[Variant]) -> Result<Compiled> {
        artifacts::without_compiler(request)
    }
}

#[cfg(llvm)]
fn compile(
    request: &PipelineRequest,
    machine: &super::compiler::CompilerTarget,
    variants: &[Variant],
    checks: Option<ShaderChecks>,
) -> Result<Compiled> {
    use crate::backend::air_library::{AirFunction, AirLibrary};

    let function = match &request.function {
        Some(function) => function.clone(),
        None => {
            let function = request.library.new_function(&request.kernel, &request.constants)?;
            function.ok_or_else(|| request.no_function())?
        }
    };
    let function = AirFunction::of(&*function).ok_or_else(|| {
        Error::Usage(format!("kernel '{}' belongs to a library that was not opened for the CPU", request.kernel))
    })?;
    let lanes: Vec<Lanes> = Lanes::ALL
        .into_iter()
        .filter(|lanes| variants.iter().any(|variant| lanes_of(variant.name) == lanes.name()))
        .collect();
    let library = AirLibrary::of(&*request.library).filter(|_| checks.is_some());
    let located =
        library.map(|library| library.located(&request.kernel, &request.constants)).transpose()?.flatten();
    let own = located.as_ref().unwrap_or(&function.air);
    let linked = air_dynamic::link(request, own)?;
    let air = linked.as_ref().unwrap_or(own);
    let kernels = super::compiler::compile(air, machine, &lanes, checks)?;
    let target = machine.target().to_target();
    let artifact = |kernel: WaveKernel| {
        let bytes = kernel.to_bytes().ok_or_else(|| Error::Internal("code larger than 4 GiB".into()))?;
        Ok(Artifact { target: target.clone(), variant: variant(kernel.lanes, checks).name.into(), bytes })
    };
    let artifacts = kernels.into_iter().map(artifact).collect::<Result<_>>()?;
    Ok(Compiled { reflection: function.air.reflection().clone(), artifacts })
}

pub(super) fn new_pipeline(request: &PipelineRequest, checks: Option<ShaderChecks>) -> Result<NewPipeline> {
    let provided = artifacts::provide(&CpuCompiler { checks }, request, &needed(request, checks))?;
    let Provided { reflection, artifacts, origin } = provided;
    let kernels = artifacts.iter().map(|entry| kernel_of(entry)).collect::<Result<Vec<_>>>()?;
    let pipeline = Box::new(Pipeline::new(&kernels)?);
    Ok(NewPipeline { reflection, origin, pipeline })
}

fn kernel_of(entry: &ArchiveEntry) -> Result<WaveKernel> {
    decode(&entry.reflection.name, &entry.artifact)
}

fn decode(kernel: &str, artifact: &Artifact) -> Result<WaveKernel> {
    let decoded = WaveKernel::from_bytes(&artifact.bytes);
    let decoded =
        decoded.filter(|decoded| decoded.name == kernel && decoded.lanes.name() == lanes_of(&artifact.variant));
    decoded.ok_or_else(|| Error::Library(format!("kernel '{kernel}': the artifact is not CPU code")))
}

pub(super) fn pipeline_of_artifacts(kernel: &Kernel, artifacts: &[Artifact]) -> Result<NewPipeline> {
    let kernels = artifacts.iter().map(|artifact| decode(&kernel.name, artifact)).collect::<Result<Vec<_>>>()?;
    let pipeline = Box::new(Pipeline::new(&kernels)?);
    Ok(NewPipeline { reflection: kernel.clone(), origin: PipelineOrigin::Archive, pipeline })
}

pub(super) fn archived_reflection(request: &PipelineRequest) -> Option<Kernel> {
    artifacts::reflection(&CpuCompiler { checks: None }, request, &VARIANTS)
}

/// Compiles all variants of a kernel, for any supported CPU, into an archive.
#[cfg(llvm)]
pub(crate) fn compile_for(
    archive: &BinaryArchive,
    request: &PipelineRequest,
    target: &CompileTarget,
) -> Result<()> {
    use super::compiler::CompilerTarget;
    let machine = match target.machine() {
        Some(name) => CompilerTarget::named(name)?,
        None => CompilerTarget::host()?,
    };
    let compiled = compile(request, &machine, &VARIANTS, None)?;
    artifacts::add(archive, request, compiled, &VARIANTS)
}

#[cfg(not(llvm))]
pub(crate) fn compile_for(_: &BinaryArchive, _: &PipelineRequest, _: &CompileTarget) -> Result<()> {
    crate::error::usage("there is no compiler in this program (the feature 'compiler' of the crate 'compute')")
}
