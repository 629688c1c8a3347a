//! Simt: AIR to PTX for NVIDIA GPUs. A thread of Metal is a thread of CUDA, a simdgroup a warp, a threadgroup a block.
//!
//! ```text
//! thread          the code of one thread, optimized, and where its lanes are together (`crate::thread`)
//! barriers        branches of which some lanes skip a barrier
//! matrix          simdgroup matrices: two elements in each lane
//!   product       their loads, stores and products     tiles  products that are computed together
//!   fragments     loads of several     alignment  multiples that addresses are and can be
//!   warpgroups    products of four simdgroups
//! address_spaces  the module in NVPTX's address spaces
//! calls           barriers and functions across threads
//!   groups        functions between lanes     atomic  atomic functions
//! entry           the functions that are launched: bindings and positions
//! half            arithmetic that keeps denormal numbers
//! legal           code that compilers in drivers get wrong
//! launch          waits for the kernels before
//! target          LLVM's own passes for the GPU, and PTX
//! ```

mod address_spaces;
mod alignment;
mod atomic;
mod barriers;
mod calls;
mod entry;
mod fragments;
mod groups;
mod half;
mod lanes;
mod launch;
mod legal;
mod matrix;
mod product;
mod rights;
mod target;
mod tiles;
mod warpgroups;

pub use target::Architecture;

use crate::expand::flags;
use crate::ir::{Layout, ModuleRef, Opcode, Rewrite, Value, passes};
use crate::specialize::Specialized;
use crate::thread::{self, Prepared};
use crate::{bitcode, guard};
use abi::{SimtKernel, SimtParameter, Threadgroups};
use entry::Interface;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMFastMathAllowReassoc;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use std::fmt;

/// Reason that a kernel cannot be compiled for a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// It uses something that is not supported, named here.
    Unsupported(String),
    /// The kernel is not valid: the message of LLVM's verifier.
    Invalid(String),
    /// A fault of this compiler.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unsupported(what) => write!(f, "{what} is not supported on an NVIDIA GPU"),
            Error::Invalid(what) => write!(f, "the kernel is not valid: {what}"),
            Error::Internal(what) => write!(f, "internal error of the code generator: {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<thread::Error> for Error {
    fn from(error: thread::Error) -> Error {
        match error {
            thread::Error::Unsupported(what) => Error::Unsupported(what),
            thread::Error::Invalid(what) => Error::Invalid(what),
            thread::Error::Internal(what) => Error::Internal(what),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Compiles a kernel to PTX.
pub fn compile(
    function: &Specialized,
    architecture: &Architecture,
    threadgroups: Threadgroups,
) -> Result<SimtKernel> {
    with_module(function, architecture, threadgroups, |lowered, module, machine| {
        let has_bytes = !lowered.bytes_parameters.is_empty();
        Ok(SimtKernel {
            name: function.reflection.name.clone(),
            threadgroups,
            waits: launch::can_wait(architecture),
            early: lowered.early,
            ptx: ptx(module, machine)?,
            entry: entry::ENTRY.into(),
            bytes_entry: has_bytes.then(|| entry::BYTES_ENTRY.into()),
            parameters: lowered.parameters,
            bytes_parameters: lowered.bytes_parameters,
            static_threadgroup_memory: threadgroup_memory(ModuleRef::of(module)),
            max_threads: function.reflection.max_total_threads_per_threadgroup,
            thread_multiple: lowered.thread_multiple,
            failures: lowered.failures,
        })
    })
}

/// The optimized LLVM IR of a kernel.
pub fn llvm_text(
    function: &Specialized,
    architecture: &Architecture,
    threadgroups: Threadgroups,
) -> Result<String> {
    with_module(function, architecture, threadgroups, |_, module, _| Ok(module.print_to_string().to_string()))
}

/// The PTX of a kernel.
pub fn ptx_text(function: &Specialized, architecture: &Architecture, threadgroups: Threadgroups) -> Result<String> {
    with_module(function, architecture, threadgroups, |_, module, machine| ptx(module, machine))
}

/// The entries with the kernel's code in them, and addresses whose memory is known.
const ENTRIES: &str = "always-inline,globaldce,function(sroa<modify-cfg>,infer-address-spaces)";

/// All that LLVM knows.
const OPTIMIZE: &str = "default<O3>";

/// The first architecture with products of matrices of half and bfloat.
const WITH_PRODUCTS: u32 = 80;

/// The instructions of a GPU for products of matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Units {
    None,
    /// Products of a simdgroup.
    Simdgroups,
    /// And of four simdgroups together.
    Warpgroups,
}

impl Units {
    /// Those that code for some threadgroups can use.
    fn of(architecture: &Architecture, threadgroups: Threadgroups) -> Units {
        match architecture.number() {
            _ if architecture.has_warpgroups() && threadgroups == Threadgroups::Whole => Units::Warpgroups,
            number if number >= WITH_PRODUCTS => Units::Simdgroups,
            _ => Units::None,
        }
    }
}

/// A kernel in the form of the GPU.
struct Lowered {
    parameters: Vec<SimtParameter>,
    bytes_parameters: Vec<SimtParameter>,
    failures: Vec<String>,
    /// Buffers that may be read before the kernels before it have ended.
    early: Vec<u32>,
    /// The number of threads in a threadgroup is a multiple of it.
    thread_multiple: u32,
}

/// Lowers and optimizes a kernel and runs `then` on it. If LLVM aborts on code that it cannot compile, that is an error
/// of this kernel.
fn with_module<T: Send>(
    function: &Specialized,
    architecture: &Architecture,
    threadgroups: Threadgroups,
    then: impl FnOnce(Lowered, &Module, &TargetMachine) -> Result<T> + Send,
) -> Result<T> {
    let compiled = guard::run(|| {
        let context = Context::create();
        let name = &function.reflection.name;
        let machine = architecture.machine()?;
        let mut air = bitcode::parse(&context, function.bitcode(), name).map_err(Error::Invalid)?;
        // With it, the driver would compile without optimization.
        passes::strip_debug_info(&mut air);
        promise_constants(ModuleRef::of(&air));
        alignment::correct(ModuleRef::of(&air));
        let prepared = thread::prepare(&mut air, name, true, None)?;
        alignment::distrust_distances(ModuleRef::of(&air));
        barriers::meet(&mut air, name, &prepared.roles)?;
        calls::mark(ModuleRef::of(&air), name, &prepared.roles)?;
        let has_warpgroups = matrix::rewrite(&Rewrite::new(&mut air), name, Units::of(architecture, threadgroups))?;
        let mut module = address_spaces::translate(&context, &air)?;
        module.set_triple(&machine.get_triple());
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        calls::lower(&Rewrite::new(&mut module), name, threadgroups)?;
        let flush_denormals = prepared.flush_denormals;
        let mut lowered = lower_entries(&mut module, function, threadgroups, prepared, &machine)?;
        if has_warpgroups {
            lowered.thread_multiple = warpgroups::THREADS;
        }
        // Sums in the order of the source have the same result as on CPUs, and kernels are written so that no addition
        // waits for another; LLVM would add one number after the other.
        flags::drop_flags(&Rewrite::new(&mut module), LLVMFastMathAllowReassoc);
        passes::run_for(&mut module, OPTIMIZE, Some(&machine)).map_err(Error::Internal)?;
        if flush_denormals {
            half::keep_denormals(&Rewrite::new(&mut module));
        }
        legal::avoid(&Rewrite::new(&mut module));
        if launch::can_wait(architecture) {
            wait(&Rewrite::new(&mut module), &lowered);
        }
        verify(&module)?;
        then(lowered, &module, &machine)
    });
    compiled.unwrap_or_else(|crash| Err(Error::Internal(crash)))
}

/// Writes the entries, and inlines the kernel into them.
fn lower_entries(
    module: &mut Module,
    function: &Specialized,
    threadgroups: Threadgroups,
    prepared: Prepared,
    machine: &TargetMachine,
) -> Result<Lowered> {
    let interface = Interface {
        roles: &prepared.roles,
        reflection: &function.reflection,
        threadgroups,
        can_fail: !prepared.failures.is_empty(),
        flush_denormals: prepared.flush_denormals,
    };
    let (parameters, bytes_parameters) = {
        let module = ModuleRef::of(module);
        let kernel = thread::kernel(module, &function.reflection.name)?;
        kernel.make_internal();
        kernel.make_inlined();
        let parameters = entry::write(module, kernel, &interface, false)?;
        let by_bytes = interface.has_bytes().then(|| entry::write(module, kernel, &interface, true));
        (parameters, by_bytes.transpose()?.unwrap_or_default())
    };
    align_threadgroup_memory(ModuleRef::of(module));
    verify(module)?;
    passes::run_for(module, ENTRIES, Some(machine)).map_err(Error::Internal)?;
    entry::write_failures(&Rewrite::new(module));
    let early = launch::early_buffers(&function.reflection);
    Ok(Lowered { parameters, bytes_parameters, failures: prepared.failures, early, thread_multiple: 1 })
}

/// Lets all entries wait for the kernels before.
fn wait(rewrite: &Rewrite, lowered: &Lowered) {
    let entries = [(entry::ENTRY, &lowered.parameters), (entry::BYTES_ENTRY, &lowered.bytes_parameters)];
    for (name, parameters) in entries {
        if let Some(entry) = rewrite.module().function(name) {
            launch::wait(rewrite, entry, parameters, &lowered.early);
        }
    }
}

fn verify(module: &Module) -> Result<()> {
    module.verify().map_err(|error| Error::Internal(error.to_string()))
}

/// Says of all loads from the constant address space that nothing changes the memory.
fn promise_constants(module: ModuleRef) {
    const CONSTANT: u32 = 2;
    let instructions =
        module.functions().into_iter().flat_map(Value::blocks).flat_map(|block| block.instructions());
    for load in instructions.filter(|instruction| instruction.is(Opcode::LLVMLoad)) {
        if load.operand(0).ty().address_space() == CONSTANT && !load.is_volatile() {
            load.set_invariant();
        }
    }
}

fn ptx(module: &Module, machine: &TargetMachine) -> Result<String> {
    let buffer = machine.write_to_memory_buffer(module, target::ASSEMBLY);
    let buffer = buffer.map_err(|error| Error::Internal(error.to_string()))?;
    let text = String::from_utf8_lossy(buffer.as_slice()).into_owned();
    Ok(launch::with_ordinary_loads(text.trim_end_matches('\0'), multiplies(&text)))
}

/// True if code multiplies matrices by the tensor cores.
fn multiplies(ptx: &str) -> bool {
    [product::INSTRUCTION, warpgroups::INSTRUCTION].iter().any(|name| ptx.contains(name))
}

/// Aligns threadgroup variables, so that four numbers can be accessed at once.
fn align_threadgroup_memory(module: ModuleRef) {
    for variable in threadgroup_variables(module) {
        variable.set_alignment(variable.alignment().max(THREADGROUP_ALIGNMENT));
    }
}

const THREADGROUP_ALIGNMENT: u32 = 16;

fn threadgroup_variables<'m>(module: ModuleRef<'m>) -> impl Iterator<Item = Value<'m>> {
    const THREADGROUP: u32 = 3;
    let variables = module.globals().into_iter();
    variables.filter(|global| global.ty().address_space() == THREADGROUP && !global.is_declaration())
}

/// Bytes of all threadgroup variables.
fn threadgroup_memory(module: ModuleRef) -> u32 {
    let layout = Layout::of(module);
    let end = threadgroup_variables(module).fold(0u64, |end, variable| {
        end.next_multiple_of(u64::from(variable.alignment())) + layout.size(variable.global_type())
    });
    end as u32
}
