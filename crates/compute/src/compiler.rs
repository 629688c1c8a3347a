//! The calls into the crate `air`, and thereby LLVM: the only file that makes them.

use crate::archive::CompileTarget;
use crate::archive::target as archive;
use crate::error::{Error, Result};
use crate::library::MathMode;
use abi::{Constants, Lanes, WaveKernel};
use msl::Compilation;
use msl::program::EntryPoint;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The AIR of one kernel with its constants set.
pub(crate) struct Air {
    specialized: air::Specialized,
}

impl Air {
    pub(crate) fn reflection(&self) -> &msl::reflect::Kernel {
        &self.specialized.reflection
    }
}

/// Checked program to AIR, for one kernel.
pub(crate) fn lower(compilation: &Compilation, entry: &EntryPoint, math_mode: MathMode) -> Result<Vec<u8>> {
    let source = air::Source::from(compilation).without_locations();
    let function = with_stack(|| air::compile_kernel(source, entry, math(math_mode)))?;
    let function = function.map_err(|error| not_lowered(&entry.name, error))?;
    let bitcode = function.bitcode().map_err(|error| Error::Internal(error.to_string()))?;
    Ok(bitcode.to_vec())
}

/// Sets the function constants.
pub(crate) fn specialize(bitcode: Cow<[u8]>, kernel: &str, constants: &Constants) -> Result<Air> {
    let specialized = with_stack(|| air::specialize(&bitcode, kernel, constants))?;
    let specialized = specialized.map_err(|problem| not_specialized(kernel, problem))?;
    Ok(Air { specialized })
}

/// Checked program to AIR with its constants set, for one kernel: [`lower`] and [`specialize`] without bitcode in between.
#[expect(dead_code, reason = "the library still takes the two steps")]
pub(crate) fn specialize_source(
    compilation: &Compilation,
    entry: &EntryPoint,
    math_mode: MathMode,
    constants: &Constants,
) -> Result<Air> {
    use air::specialize::SourceError;
    let source = air::Source::from(compilation).without_locations();
    let specialized = with_stack(|| air::specialize_kernel(source, entry, math(math_mode), constants))?;
    let specialized = specialized.map_err(|error| match error {
        SourceError::Lower(error) => not_lowered(&entry.name, error),
        SourceError::Specialize(problem) => not_specialized(&entry.name, problem),
    })?;
    Ok(Air { specialized })
}

fn math(mode: MathMode) -> air::MathMode {
    match mode {
        MathMode::Fast => air::MathMode::Fast,
        MathMode::Safe => air::MathMode::Safe,
    }
}

fn not_lowered(kernel: &str, error: air::Error) -> Error {
    match error {
        air::Error::Unsupported { what, .. } => Error::Unsupported { kernel: kernel.into(), what },
        air::Error::Internal(what) => Error::Internal(format!("kernel '{kernel}': {what}")),
    }
}

fn not_specialized(kernel: &str, problem: air::specialize::Error) -> Error {
    use air::specialize::Error as Problem;
    match problem {
        Problem::NoKernel { .. }
        | Problem::UnknownConstant { .. }
        | Problem::WrongType { .. }
        | Problem::Contradiction(_)
        | Problem::Missing(_) => Error::Constants { kernel: kernel.into(), problem: problem.to_string() },
        Problem::Malformed(_) => Error::Library(format!("kernel '{kernel}': {problem}")),
        Problem::Unsupported(what) => Error::Unsupported { kernel: kernel.into(), what },
        Problem::Internal(what) => Error::Internal(format!("kernel '{kernel}': {what}")),
    }
}

/// What is compiled for.
#[derive(Clone)]
pub(crate) struct Target {
    wave: air::wave::Target,
}

impl Target {
    /// This processor, or the older one that `METALWORKS_CPU` takes it for.
    pub(crate) fn host() -> Result<Target> {
        // LLVM is asked once: the answer is the same, and takes a while.
        static HOST: OnceLock<std::result::Result<Target, Error>> = OnceLock::new();
        match std::env::var("METALWORKS_CPU") {
            Ok(cpu) => Target::checked(air::wave::Target::host_as(&cpu)),
            Err(_) => HOST.get_or_init(|| Target::checked(air::wave::Target::host())).clone(),
        }
    }

    pub(crate) fn new(target: &CompileTarget) -> Result<Target> {
        match target {
            CompileTarget::HostCpu => Target::host(),
            CompileTarget::Cpu(name) => Target::checked(air::wave::Target::named(name)),
        }
    }

    fn checked(target: std::result::Result<air::wave::Target, air::wave::Error>) -> Result<Target> {
        let unsupported = |problem: air::wave::Error| Error::Usage(problem.to_string());
        target.map(|wave| Target { wave }).map_err(unsupported)
    }

    /// What tells its code from that for others.
    pub(crate) fn identity(&self) -> archive::Target {
        archive::Target::Cpu(archive::CpuTarget {
            architecture: self.wave.architecture().into(),
            cpu: self.wave.cpu().into(),
            features: self.wave.features().into(),
            llvm: air::llvm_version(),
        })
    }
}

/// AIR to machine code.
pub(crate) fn compile(air: &Air, target: &Target, lanes: Lanes) -> Result<WaveKernel> {
    use air::wave::Error as Problem;
    let kernel = || air.reflection().name.clone();
    let code = with_stack(|| air::wave::compile(&air.specialized, &target.wave, &[lanes]))?;
    let code = code.map_err(|problem| match problem {
        Problem::Unsupported(what) => Error::Unsupported { kernel: kernel(), what },
        Problem::Invalid(_) => Error::Library(format!("kernel '{}': {problem}", kernel())),
        Problem::Internal(what) => Error::Internal(format!("kernel '{}': {what}", kernel())),
    })?;
    code.into_iter().next().ok_or_else(|| Error::Internal(format!("kernel '{}': no code", kernel())))
}

/// The stack of the compiler's threads: expressions nest, and LLVM's passes recurse.
const STACK_SIZE: usize = 64 << 20;

/// Calls `work` where there is stack enough, whatever thread is asking.
fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("compile".into()).stack_size(STACK_SIZE);
        let spawned = thread.spawn_scoped(scope, work);
        let thread = spawned
            .map_err(|_| Error::OutOfMemory { what: "the compiler's stack".into(), bytes: STACK_SIZE as u64 })?;
        thread.join().map_err(|_| Error::Internal("the compiler panicked".into()))
    })
}
