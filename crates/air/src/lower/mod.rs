//! From a checked program to AIR: one LLVM module for each entry point, as Apple's compiler makes them.
//!
//! ```text
//! module ─ triple, data layout, one function for each reachable function, constants      metadata (../metadata)
//! functions ─ parameters, variables, bodies          statements ─ control flow
//! places ─ addresses in memory                       expressions ─ values           access ─ types in memory
//! coherence ─ accesses of coherent memory            locations ─ lines of the source
//! builtins ─ the library's functions as AIR's intrinsics
//! ```
//!
//! A *register type* (numbers, vectors, pointers, simdgroup matrices) is an LLVM value. Structs, arrays and matrices
//! stay in memory as bytes: an expression of such a type is evaluated into a place, and LLVM's SROA takes the memory
//! away. `bool` is `i1` in registers and `i8` in memory. A struct's fields are reached by their byte offsets, so that
//! `msl` alone decides the layout.

mod access;
mod alignment;
mod builtins;
mod coherence;
mod constants;
mod contraction;
mod expressions;
mod functions;
mod intersection;
mod locations;
mod matrices;
mod numbers;
mod places;
mod statements;
pub(crate) mod symbols;
mod threadgroup;
pub(crate) mod types;

use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, GlobalValue, MetadataValue, PointerValue};
use msl::program::{
    EntryPoint, Expr, FunctionId, GlobalId, IntersectionFunction, LocalId, Program, VisibleFunction,
};
use msl::source::{SourceMap, Span};
use msl::types::Ty;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;

pub use msl::MathMode;

/// The input of lowering: a program, and the files that it came from if these are known.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSource<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its files. Without them, a module does not say where its kernel was written.
    pub sources: Option<&'p SourceMap>,
    /// Each instruction says in which line it was written, if the files are known. That takes a quarter more time, and
    /// half as much memory again.
    pub has_locations: bool,
    /// Functions that are declared and never defined are those of other libraries, and stay undefined in the module.
    pub may_import: bool,
    /// The code is for shader validation: it has checks of operations that are optimized away otherwise.
    pub is_checked: bool,
}

impl ProgramSource<'_> {
    /// The same with functions of other libraries.
    pub fn with_imports(self) -> Self {
        ProgramSource { may_import: true, ..self }
    }

    /// The same for shader validation.
    pub fn with_checks(self) -> Self {
        ProgramSource { has_locations: true, is_checked: true, ..self }
    }

    /// The same with the lines of instructions, as debug information.
    pub fn with_locations(self) -> Self {
        ProgramSource { has_locations: true, ..self }
    }
}

impl<'p> From<&'p Program> for ProgramSource<'p> {
    fn from(program: &'p Program) -> ProgramSource<'p> {
        ProgramSource { program, sources: None, has_locations: false, may_import: false, is_checked: false }
    }
}

impl<'p> From<&'p msl::Compilation> for ProgramSource<'p> {
    fn from(compilation: &'p msl::Compilation) -> ProgramSource<'p> {
        ProgramSource { sources: Some(&compilation.sources), ..ProgramSource::from(&compilation.program) }
    }
}

/// Reason that a kernel cannot be lowered.
#[derive(Debug)]
pub enum Error {
    /// The input asks for something that is not supported yet.
    Unsupported {
        /// The feature.
        what: String,
        /// Its place in the source.
        span: Span,
    },
    /// A mistake of ours: the program was checked, and still cannot be expressed.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unsupported { what, .. } => write!(f, "{what} is not supported yet"),
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<BuilderError> for Error {
    fn from(error: BuilderError) -> Error {
        Error::Internal(error.to_string())
    }
}

/// The result of a step of lowering.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// The version of AIR, and that of the first macOS that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AirVersion {
    /// 6 of AIR 2.6.
    pub minor: u16,
    /// 14 of macOS 14.0.
    pub macos: u16,
}

impl AirVersion {
    /// The version of AIR for a version of the language: that of the first macOS which has both, and no older one than
    /// macOS 14. (With Apple's compiler it follows from the deployment target alone.)
    pub fn of(std: msl::LanguageVersion) -> AirVersion {
        match (std.major, std.minor) {
            (..=2, _) | (3, ..=1) => AirVersion { minor: 6, macos: 14 },
            (3, _) => AirVersion { minor: 7, macos: 15 },
            (4.., _) => AirVersion { minor: 8, macos: 26 },
        }
    }

    /// `air64_v26-apple-macosx14.0.0`
    pub fn triple(self) -> String {
        format!("air64_v2{}-apple-macosx{}.0.0", self.minor, self.macos)
    }
}

/// The data layout of AIR.
pub const DATA_LAYOUT: &str = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-\
                               v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-\
                               v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32";

/// A module under construction.
pub(crate) struct Lowering<'ctx, 'p> {
    /// Before the module, which must not be gone when these are finished.
    locations: Option<locations::Locations<'ctx, 'p>>,
    pub(crate) context: &'ctx Context,
    pub(crate) module: Module<'ctx>,
    pub(crate) builder: Builder<'ctx>,
    pub(crate) program: &'p Program,
    pub(crate) sources: Option<&'p SourceMap>,
    pub(crate) math: MathMode,
    /// The module goes into a library: it says about memory what Apple's compiler says, and has its form of function
    /// constants.
    pub(crate) is_for_library: bool,
    may_import: bool,
    /// The module gets checks of shader validation.
    is_checked: bool,
    /// The function that the module is for, and its name, if it is no entry point.
    linked: Option<(FunctionId, String)>,
    /// Operations may be fused where the mode and the pragmas allow it.
    may_contract: bool,
    functions: HashMap<FunctionId, FunctionValue<'ctx>>,
    globals: HashMap<GlobalId, PointerValue<'ctx>>,
    /// Addresses of members of unions, and of parts of these.
    shared: HashSet<PointerValue<'ctx>>,
    /// Addresses of members of structs.
    members: HashMap<PointerValue<'ctx>, access::Member>,
    /// Types in the metadata of loads and stores.
    access_types: RefCell<HashMap<Ty, MetadataValue<'ctx>>>,
    /// Variables in threadgroup memory.
    pub(crate) threadgroup: HashMap<(FunctionId, LocalId), GlobalValue<'ctx>>,
    frame: Option<functions::Frame<'ctx, 'p>>,
    /// Pointers that are aligned less than their types are: to members of packed structs.
    weak: alignment::WeakPointers<'ctx>,
    /// The code being lowered, for errors.
    here: Span,
    /// Matrix values already evaluated in the operation at hand.
    matrices: HashMap<*const Expr, PointerValue<'ctx>>,
}

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    fn new(context: &'ctx Context, module: Module<'ctx>, source: ProgramSource<'p>, math: MathMode) -> Self {
        Lowering {
            locations: None,
            context,
            module,
            builder: context.create_builder(),
            program: source.program,
            sources: source.sources,
            math,
            is_for_library: false,
            may_import: source.may_import,
            is_checked: source.is_checked,
            linked: None,
            may_contract: true,
            functions: HashMap::new(),
            globals: HashMap::new(),
            shared: HashSet::new(),
            members: HashMap::new(),
            access_types: RefCell::new(HashMap::new()),
            threadgroup: HashMap::new(),
            frame: None,
            weak: alignment::WeakPointers::default(),
            here: Span::default(),
            matrices: HashMap::new(),
        }
    }
}

/// Lowers a function that is no entry point, and all that it reaches, under a name of its own; as it is written, with
/// no operation fused.
pub(crate) fn lower_function<'ctx>(
    context: &'ctx Context,
    program: &Program,
    function: FunctionId,
    name: &str,
) -> std::result::Result<Module<'ctx>, Error> {
    let mut lowering =
        Lowering::new(context, new_module(context, program.std, name), program.into(), MathMode::Safe);
    lowering.may_contract = false;
    let value = lowering.function(function)?;
    value.as_global_value().set_name(name);
    value.set_linkage(inkwell::module::Linkage::External);
    Ok(lowering.module)
}

/// Lowers one entry point and all that it reaches.
pub fn lower<'ctx, 'p>(
    context: &'ctx Context,
    source: impl Into<ProgramSource<'p>>,
    entry: &EntryPoint,
    math: MathMode,
) -> std::result::Result<Module<'ctx>, Error> {
    lower_entry(context, source.into(), entry, math, false)
}

/// The same for a library.
pub(crate) fn lower_for_library<'ctx>(
    context: &'ctx Context,
    source: ProgramSource,
    entry: &EntryPoint,
    math: MathMode,
) -> std::result::Result<Module<'ctx>, Error> {
    lower_entry(context, source, entry, math, true)
}

fn lower_entry<'ctx>(
    context: &'ctx Context,
    source: ProgramSource,
    entry: &EntryPoint,
    math: MathMode,
    is_for_library: bool,
) -> std::result::Result<Module<'ctx>, Error> {
    let module = new_module(context, source.program.std, &entry.name);
    let locations = locations::Locations::new(context, &module, source, entry.span);
    let mut lowering = Lowering { locations, is_for_library, ..Lowering::new(context, module, source, math) };
    lowering.entry_point(entry)?;
    crate::calls::keep_cycles(&lowering.module);
    Ok(lowering.module)
}

/// Lowers a function that hosts link to kernels, and all that it reaches.
pub(crate) fn lower_visible<'ctx>(
    context: &'ctx Context,
    source: ProgramSource,
    function: &VisibleFunction,
    math: MathMode,
    is_for_library: bool,
) -> std::result::Result<Module<'ctx>, Error> {
    let module = new_module(context, source.program.std, &function.name);
    let locations = locations::Locations::new(context, &module, source, function.span);
    let mut lowering = Lowering { locations, is_for_library, ..Lowering::new(context, module, source, math) };
    lowering.visible_function(function)?;
    crate::calls::keep_cycles(&lowering.module);
    Ok(lowering.module)
}

/// Lowers a function of ray tracing for a library, and all that it reaches.
pub(crate) fn lower_intersection<'ctx>(
    context: &'ctx Context,
    source: ProgramSource,
    function: &IntersectionFunction,
    math: MathMode,
) -> std::result::Result<Module<'ctx>, Error> {
    let module = new_module(context, source.program.std, &source.program.entry_points[function.entry].name);
    let mut lowering = Lowering { is_for_library: true, ..Lowering::new(context, module, source, math) };
    lowering.intersection_function(function)?;
    crate::calls::keep_cycles(&lowering.module);
    Ok(lowering.module)
}

/// Lowers a function that kernels of other libraries call, and all that it reaches.
pub(crate) fn lower_export<'ctx>(
    context: &'ctx Context,
    source: ProgramSource,
    function: FunctionId,
    math: MathMode,
    is_for_library: bool,
) -> std::result::Result<Module<'ctx>, Error> {
    let module = new_module(context, source.program.std, &symbols::symbol(source.program, function));
    let span = source.program.function(function).span;
    let locations = locations::Locations::new(context, &module, source, span);
    let mut lowering = Lowering { locations, is_for_library, ..Lowering::new(context, module, source, math) };
    lowering.export(function)?;
    crate::calls::keep_cycles(&lowering.module);
    Ok(lowering.module)
}

fn new_module<'ctx>(context: &'ctx Context, std: msl::LanguageVersion, name: &str) -> Module<'ctx> {
    let module = context.create_module(name);
    module.set_triple(&inkwell::targets::TargetTriple::create(&AirVersion::of(std).triple()));
    let layout = inkwell::targets::TargetData::create(DATA_LAYOUT);
    module.set_data_layout(&layout.get_data_layout());
    module
}
