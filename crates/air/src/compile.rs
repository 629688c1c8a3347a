//! From a checked program to a library of compiled functions.

use crate::lower::symbols::symbol;
use crate::lower::{
    AirVersion, Error, MathMode, ProgramSource, lower, lower_export, lower_for_library, lower_intersection,
    lower_visible,
};
use crate::metallib::{Function, FunctionKind, Header, Library};
use crate::optimize::{optimize, optimize_linked};
use crate::reflect::{library_constants, reflect, reflection_buffer};
use inkwell::context::Context;
use inkwell::llvm_sys::core::LLVMContextSetDiscardValueNames;
use inkwell::module::Module;
use msl::program::{EntryPoint, FunctionId, IntersectionFunction, Program, VisibleFunction};

/// A library, and the kernels of the program that are not in it.
#[derive(Debug)]
pub struct Compiled {
    /// The `.metallib`.
    pub library: Vec<u8>,
    /// Kernels that cannot be compiled, and why.
    pub left_out: Vec<(String, Error)>,
}

/// Compiles a program into a `.metallib`. A kernel that cannot be compiled does not stop the others.
pub fn compile<'p>(source: impl Into<ProgramSource<'p>>, math: MathMode) -> Result<Compiled, Error> {
    let source = source.into();
    let mut library = Library::new(Header::for_macos(AirVersion::of(source.program.std).macos));
    let mut left_out = Vec::new();
    for entry in source.program.kernels() {
        match compile_kernel(source, entry, math) {
            Ok(function) => library.add(function).map_err(|error| Error::Internal(error.to_string()))?,
            Err(error) => left_out.push((entry.name.to_string(), error)),
        }
    }
    for visible in &source.program.visible_functions {
        match compile_visible(source, visible, math) {
            Ok(function) => library.add(function).map_err(|error| Error::Internal(error.to_string()))?,
            Err(error) => left_out.push((visible.name.to_string(), error)),
        }
    }
    for intersection in &source.program.intersection_functions {
        match compile_intersection(source, intersection, math) {
            Ok(function) => library.add(function).map_err(|error| Error::Internal(error.to_string()))?,
            Err(error) => {
                let entry = &source.program.entry_points[intersection.entry];
                left_out.push((entry.name.to_string(), error));
            }
        }
    }
    library.unify_reflection(|_| None);
    let library = library.write().map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Compiled { library, left_out })
}

/// Lowers and optimizes on a thread of its own: expressions are walked recursively, and the caller's stack may be small.
fn guarded<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    crate::guard::run(work).unwrap_or_else(|crash| Err(Error::Internal(crash)))
}

/// Compiles one kernel.
pub fn compile_kernel<'p>(
    source: impl Into<ProgramSource<'p>>,
    entry: &EntryPoint,
    math: MathMode,
) -> Result<Function<'static>, Error> {
    let source = source.into();
    guarded(|| {
        let context = Context::create();
        discard_names(&context);
        let mut module = lower_for_library(&context, source, entry, math)?;
        module.verify().map_err(|error| Error::Internal(error.to_string()))?;
        crate::calls::loop_tail_calls(&mut module).map_err(Error::Internal)?;
        optimize(&mut module, source.program, entry, math)?;
        let mut function = write(source.program, &module, &entry.name, FunctionKind::Kernel)?;
        function.reflection =
            reflection_buffer(&module).map_err(|error| Error::Internal(error.to_string()))?.map(Into::into);
        Ok(function)
    })
}

/// Compiles one visible function.
pub fn compile_visible<'p>(
    source: impl Into<ProgramSource<'p>>,
    visible: &VisibleFunction,
    math: MathMode,
) -> Result<Function<'static>, Error> {
    let source = source.into();
    guarded(|| {
        let context = Context::create();
        discard_names(&context);
        let mut module = lower_visible(&context, source, visible, math, true)?;
        module.verify().map_err(|error| Error::Internal(error.to_string()))?;
        crate::calls::loop_tail_calls(&mut module).map_err(Error::Internal)?;
        optimize_linked(&mut module, source.program, &visible.name, visible.function, math)?;
        write(source.program, &module, &visible.name, FunctionKind::Visible)
    })
}

/// Compiles one function of ray tracing. Nothing here runs it.
pub fn compile_intersection<'p>(
    source: impl Into<ProgramSource<'p>>,
    intersection: &IntersectionFunction,
    math: MathMode,
) -> Result<Function<'static>, Error> {
    let source = source.into();
    guarded(|| {
        let context = Context::create();
        discard_names(&context);
        let mut module = lower_intersection(&context, source, intersection, math)?;
        module.verify().map_err(|error| Error::Internal(error.to_string()))?;
        crate::calls::loop_tail_calls(&mut module).map_err(Error::Internal)?;
        let entry = &source.program.entry_points[intersection.entry];
        optimize_linked(&mut module, source.program, &entry.name, entry.function, math)?;
        write(source.program, &module, &entry.name, FunctionKind::Intersection)
    })
}

/// Compiles a function of a dynamic library; the name is its symbol.
pub fn compile_export<'p>(
    source: impl Into<ProgramSource<'p>>,
    function: FunctionId,
    math: MathMode,
) -> Result<Function<'static>, Error> {
    let source = source.into();
    guarded(|| {
        let context = Context::create();
        discard_names(&context);
        let mut module = lower_export(&context, source, function, math, true)?;
        module.verify().map_err(|error| Error::Internal(error.to_string()))?;
        crate::calls::loop_tail_calls(&mut module).map_err(Error::Internal)?;
        let name = symbol(source.program, function);
        optimize_linked(&mut module, source.program, &name, function, math)?;
        write(source.program, &module, &name, FunctionKind::Unqualified)
    })
}

/// Compiles the functions of a program that kernels of other libraries can call into a dynamic library. The error names
/// the function that cannot be compiled.
pub fn compile_dynamic<'p>(
    source: impl Into<ProgramSource<'p>>,
    math: MathMode,
    install_name: &str,
    linked: &[String],
) -> Result<Vec<u8>, (String, Error)> {
    let source = source.into();
    let mut library = Library::new(Header::for_macos(AirVersion::of(source.program.std).macos));
    for (symbol, function) in exports(source.program) {
        let name = || source.program.function(function).name.to_string();
        let compiled = compile_export(source, function, math).map_err(|error| (name(), error))?;
        library.add(compiled).map_err(|error| (symbol, Error::Internal(error.to_string())))?;
    }
    library.make_dynamic(install_name);
    library.link_with(linked.iter().map(String::as_str));
    library.write().map_err(|error| (install_name.to_owned(), Error::Internal(error.to_string())))
}

/// The functions of a program that kernels of other libraries can call, by their symbols.
pub fn exports(program: &Program) -> Vec<(String, FunctionId)> {
    let has_body = |id: &&FunctionId| program.function(**id).body.is_some();
    program.external_functions.iter().filter(has_body).map(|id| (symbol(program, *id), *id)).collect()
}

/// A function of a library, without its reflection.
fn write(program: &Program, module: &Module, name: &str, kind: FunctionKind) -> Result<Function<'static>, Error> {
    let constants = reflect(module).map_err(|error| Error::Internal(error.to_string()))?;
    let bitcode = crate::bitcode::write::write(module)
        .map_err(|what| Error::Internal(format!("the module cannot be written for LLVM 14: {what}")))?;
    let mut function = Function::new(name.to_owned(), kind, &bitcode);
    let version = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    function.air_version = (2, AirVersion::of(program.std).minor);
    function.language_version = (version(program.std.major), version(program.std.minor));
    function.constants = library_constants(&constants);
    Ok(function)
}

/// Has LLVM forget the names of values, as Apple's compiler does. Functions and variables keep theirs.
fn discard_names(context: &Context) {
    // SAFETY: the context is alive.
    unsafe { LLVMContextSetDiscardValueNames(context.raw(), 1) };
}

/// The AIR of one kernel for the code generator here, verified.
pub(crate) fn lower_verified<'ctx>(
    context: &'ctx Context,
    source: ProgramSource,
    entry: &EntryPoint,
    math: MathMode,
) -> Result<Module<'ctx>, Error> {
    let module = lower(context, source, entry, math)?;
    module.verify().map_err(|error| Error::Internal(error.to_string()))?;
    Ok(module)
}

/// A module as text; the error is LLVM's message.
pub fn bitcode_text(bitcode: &[u8], name: &str) -> Result<String, String> {
    crate::guard::run(|| {
        let context = Context::create();
        let module = crate::bitcode::parse(&context, bitcode, name)?;
        Ok(module.print_to_string().to_string())
    })?
}
