//! From a program to the AIR of one kernel: the calls into the crate `air` that do not depend on a machine.

use super::MathMode;
use crate::error::{ConstantsProblem, Error, Result};
use abi::Constants;
use msl::Compilation;
use msl::program::{EntryPoint, FunctionId, VisibleFunction};

/// The AIR of one kernel with its constants set.
pub(crate) struct Air {
    pub(crate) specialized: air::Specialized,
}

impl Air {
    pub(crate) fn reflection(&self) -> &msl::reflect::Kernel {
        &self.specialized.reflection
    }
}

/// The AIR of a visible function with its constants set.
pub(crate) struct VisibleAir {
    pub(crate) visible: air::Visible,
}

impl Air {
    /// The kernel with functions that it can call through tables, and with those that it calls by name.
    pub(crate) fn link(&self, functions: &[&VisibleAir], exports: &[VisibleAir]) -> Result<Air> {
        let functions: Vec<&air::Visible> = functions.iter().map(|function| &function.visible).collect();
        let exports: Vec<&air::Visible> = exports.iter().map(|function| &function.visible).collect();
        let specialized = with_stack(|| self.specialized.link(&functions, &exports))?;
        let kernel = &self.reflection().name;
        Ok(Air { specialized: specialized.map_err(|problem| not_specialized(kernel, problem))? })
    }
}

/// Lowers a visible function of a checked program, with its constants set.
pub(crate) fn lower_visible(
    compilation: &Compilation,
    function: &VisibleFunction,
    math_mode: MathMode,
    constants: &Constants,
) -> Result<VisibleAir> {
    let source = air::ProgramSource::from(compilation).with_imports().with_locations();
    let visible =
        with_stack(|| air::visible_function(source, function, super::compiler_mode(math_mode), constants))?;
    Ok(VisibleAir { visible: visible.map_err(|error| not_lowered(compilation, &function.name, error))? })
}

/// Lowers a function of a dynamic library.
pub(crate) fn lower_export(
    compilation: &Compilation,
    function: FunctionId,
    math_mode: MathMode,
) -> Result<VisibleAir> {
    let source = air::ProgramSource::from(compilation).with_imports().with_locations();
    let visible = with_stack(|| air::export(source, function, super::compiler_mode(math_mode)))?;
    let name = &compilation.program.function(function).name;
    Ok(VisibleAir { visible: visible.map_err(|error| not_lowered(compilation, name, error))? })
}

/// Compiles the functions of a dynamic library into a `.metallib`.
pub(crate) fn dynamic_metallib(
    compilation: &Compilation,
    math_mode: MathMode,
    install_name: &str,
    linked: &[String],
) -> Result<Vec<u8>> {
    let source = air::ProgramSource::from(compilation).with_imports();
    let mode = super::compiler_mode(math_mode);
    let compiled = with_stack(|| air::compile_dynamic(source, mode, install_name, linked))?;
    compiled.map_err(|(name, error)| not_lowered(compilation, &name, air::specialize::SourceError::Lower(error)))
}

/// Reads a visible function of a `.metallib`, with its constants set.
pub(crate) fn specialize_visible(bitcode: &[u8], name: &str, constants: &Constants) -> Result<VisibleAir> {
    let visible = with_stack(|| air::specialize_visible(bitcode, name, constants))?;
    Ok(VisibleAir { visible: visible.map_err(|problem| not_specialized(name, problem))? })
}

/// Lowers a kernel of a checked program, with its constants set.
pub(crate) fn lower(
    compilation: &Compilation,
    entry: &EntryPoint,
    math_mode: MathMode,
    constants: &Constants,
) -> Result<Air> {
    lower_source(compilation, air::ProgramSource::from(compilation).with_imports(), entry, math_mode, constants)
}

/// As [`lower`], for shader validation: with the lines of the source.
pub(crate) fn lower_located(
    compilation: &Compilation,
    entry: &EntryPoint,
    math_mode: MathMode,
    constants: &Constants,
) -> Result<Air> {
    let source = air::ProgramSource::from(compilation).with_imports().with_checks();
    lower_source(compilation, source, entry, math_mode, constants)
}

fn lower_source(
    compilation: &Compilation,
    source: air::ProgramSource,
    entry: &EntryPoint,
    math_mode: MathMode,
    constants: &Constants,
) -> Result<Air> {
    let specialized =
        with_stack(|| air::specialize_kernel(source, entry, super::compiler_mode(math_mode), constants))?;
    let specialized = specialized.map_err(|error| not_lowered(compilation, &entry.name, error))?;
    Ok(Air { specialized })
}

fn not_lowered(compilation: &msl::Compilation, name: &str, error: air::specialize::SourceError) -> Error {
    use air::specialize::SourceError;
    match error {
        SourceError::Lower(air::Error::Unsupported { what, span }) => {
            let what = match (span != msl::source::Span::default()).then(|| compilation.sources.outermost(span)) {
                Some(span) => format!("{what} at {}", compilation.sources.presumed(span)),
                None => what,
            };
            Error::Unsupported { kernel: name.to_string(), what }
        }
        SourceError::Lower(air::Error::Internal(what)) => Error::Internal(format!("kernel '{name}': {what}")),
        SourceError::Specialize(problem) => not_specialized(name, problem),
    }
}

/// Reads a kernel of a `.metallib`, with its constants set.
pub(crate) fn specialize(bitcode: &[u8], kernel: &str, constants: &Constants) -> Result<Air> {
    let specialized = with_stack(|| air::specialize(bitcode, kernel, constants))?;
    let specialized = specialized.map_err(|problem| not_specialized(kernel, problem))?;
    Ok(Air { specialized })
}

fn not_specialized(kernel: &str, problem: air::specialize::Error) -> Error {
    use air::specialize::Error as Problem;
    match problem {
        Problem::NoKernel { .. }
        | Problem::UnknownConstant { .. }
        | Problem::WrongType { .. }
        | Problem::Contradiction(_) => {
            Error::Constants { kernel: kernel.into(), problem: ConstantsProblem::Wrong(problem.to_string()) }
        }
        Problem::Missing(constants) => {
            let constants = constants.iter().map(ToString::to_string).collect();
            Error::Constants { kernel: kernel.into(), problem: ConstantsProblem::Unset(constants) }
        }
        Problem::Malformed(_) => Error::Library(format!("kernel '{kernel}': {problem}")),
        Problem::Unsupported(what) => Error::Unsupported { kernel: kernel.into(), what },
        Problem::Internal(what) => Error::Internal(format!("kernel '{kernel}': {what}")),
    }
}

/// Stack size for the compiler: expressions nest, and LLVM's passes recurse.
const STACK_SIZE: usize = 64 << 20;

/// Calls `work` on a thread with a large stack.
pub(crate) fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("compile".into()).stack_size(STACK_SIZE);
        let spawned = thread.spawn_scoped(scope, work);
        let thread = spawned
            .map_err(|_| Error::OutOfMemory { what: "the compiler's stack".into(), bytes: STACK_SIZE as u64 })?;
        thread.join().map_err(|_| Error::Internal("the compiler panicked".into()))
    })
}
