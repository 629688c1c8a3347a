//! Wave: AIR to machine code for a CPU, one simdgroup of 32 lanes at a time.
//!
//! ```text
//! thread      the code of one thread, and what is known about its values and blocks (`crate::thread`)
//! streams     loads that walk through memory, whose lines are prefetched or read in order
//! widen       the function of a simdgroup: control flow
//!   slots     memory for values between blocks
//!   instructions, elements, division, addresses, memory, turns, private, constants, calls, byte_products,
//!   byte_tiles, groups: the instructions; checked: those of shader validation
//!   entry     arguments and positions
//! regions     labels in long blocks
//! target      machine code
//! ```

mod addresses;
mod byte_products;
mod byte_tiles;
mod calls;
mod checked;
mod constants;
mod division;
mod elements;
mod entry;
mod groups;
mod instructions;
mod lanes;
mod memory;
mod parts;
mod private;
mod regions;
mod slots;
mod streams;
mod target;
#[cfg(test)]
mod tests;
mod turns;
mod widen;

pub use target::Target;

use crate::instrument::Checks;
use crate::ir::{Layout, ModuleRef, Opcode, Value, passes};
use crate::specialize::Specialized;
use crate::thread::{self, Prepared, flow, graph, shapes, types};
use crate::{bitcode, guard, instrument};
use abi::{Lanes, Object, Site, WaveKernel};
use byte_products::ByteProducts;
use entry::Arguments;
use groups::Permutation;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::{FileType, TargetMachine};
use rustc_hash::FxHashMap;
use std::fmt;
use streams::StreamHelp;
use widen::Widened;

/// Reason that a kernel cannot be compiled for a CPU.
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
            Error::Unsupported(what) => write!(f, "{what} is not supported on a CPU"),
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

/// Compiles a kernel to machine code, once for each of `lanes`, in their order. The code of one thread is prepared
/// once.
pub fn compile(function: &Specialized, target: &Target, lanes: &[Lanes]) -> Result<Vec<WaveKernel>> {
    compile_checked(function, target, lanes, None)
}

/// As [`compile`], with the checks of shader validation in the code.
pub fn compile_checked(
    function: &Specialized,
    target: &Target,
    lanes: &[Lanes],
    checks: Option<Checks>,
) -> Result<Vec<WaveKernel>> {
    with_scalar(function, target, checks, |scalar| {
        let compile = |&lanes: &Lanes| {
            let (module, widened) = scalar.widen(lanes)?;
            Ok(WaveKernel {
                name: function.reflection.name.clone(),
                symbol: SYMBOL.into(),
                object: scalar.emit(&module, widened.is_long, target::OBJECT)?,
                lanes,
                has_barrier: widened.has_barrier,
                static_threadgroup_memory: scalar.threadgroup_memory,
                private_memory: widened.private_memory,
                flush_denormals: scalar.prepared.flush_denormals,
                failures: scalar.prepared.failures.clone(),
                sites: scalar.sites_with_names(),
            })
        };
        lanes.iter().map(compile).collect()
    })
}

/// The widened and optimized LLVM IR of a kernel.
pub fn llvm_text(function: &Specialized, target: &Target, lanes: Lanes) -> Result<String> {
    with_scalar(function, target, None, |scalar| Ok(scalar.widen(lanes)?.0.print_to_string().to_string()))
}

/// The machine code of a kernel as text.
pub fn asm_text(function: &Specialized, target: &Target, lanes: Lanes) -> Result<String> {
    with_scalar(function, target, None, |scalar| {
        let (module, widened) = scalar.widen(lanes)?;
        let text = scalar.emit(&module, widened.is_long, target::ASSEMBLY)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    })
}

/// The name of the function in every object.
const SYMBOL: &str = "metalworks_kernel";

/// After widening: slots become registers, and uniform code is moved out of loops.
const FINISH: &str = "always-inline,globaldce,function(\
    sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,\
    loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,dse,loop-mssa(licm),adce,simplifycfg,\
    instcombine<no-verify-fixpoint>)";

/// A pass of `FINISH` that goes through all users of a variable whenever one of them changes.
const COMBINE: &str = ",instcombine<no-verify-fixpoint>";

/// Users of a variable from which on `COMBINE` is left out: an array with 8,000 initializers took it three seconds.
const MOST_USERS: usize = 4000;

/// The same of long code, whose slots stay in memory. Masks are most of them, one for each block: the time to make registers
/// of them grows with the square of the blocks, and register allocation takes ten times as long as all else.
const FINISH_LONG: &str = "always-inline,globaldce";

/// Blocks of widened code that are optimized. A divergent switch has about six for each case.
const MOST_BLOCKS: usize = 4000;

/// The same for optimized code with checks. Every access has four, and all values live across its call: the time of LLVM's
/// register allocation grows with the product. Ten times as many blocks are then compiled in the same time, and calls of
/// the runtime cost more than what the code loses.
const MOST_BLOCKS_WITH_CHECKS: usize = 1500;

fn count_blocks(module: ModuleRef) -> usize {
    module.functions().into_iter().map(|function| function.blocks().len()).sum()
}

/// Users of the variable of a function that has most of them.
fn most_users(function: Value) -> usize {
    let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    let variables = instructions.filter(|instruction| instruction.is(Opcode::LLVMAlloca));
    variables.map(|variable| variable.users().len()).max().unwrap_or_default()
}

/// Prepares a kernel and runs `then` on it. If LLVM aborts on code that it cannot compile, that is an error of this
/// kernel.
fn with_scalar<T: Send>(
    function: &Specialized,
    target: &Target,
    checks: Option<Checks>,
    then: impl FnOnce(&Scalar) -> Result<T> + Send,
) -> Result<T> {
    let compiled = guard::run(|| {
        let context = Context::create();
        let name = &function.reflection.name;
        let mut module = bitcode::parse(&context, function.bitcode(), name).map_err(Error::Invalid)?;
        let prepared = thread::prepare(&mut module, name, false, checks)?;
        then(&Scalar::new(&context, &module, name, prepared, checks, target)?)
    });
    compiled.unwrap_or_else(|crash| Err(Error::Internal(crash)))
}

/// The code of one thread, ready to be widened. Widening reads it and changes nothing, so that it can be done again for
/// other lanes.
struct Scalar<'c, 'm> {
    context: &'c Context,
    kernel: Value<'m>,
    prepared: Prepared,
    machine: TargetMachine,
    target: &'m Target,
    permutation: Permutation,
    stream_help: Option<StreamHelp>,
    byte_products: ByteProducts,
    bfloat_products: bool,
    byte_tiles: bool,
    threadgroup_variables: FxHashMap<Value<'m>, u32>,
    /// Bytes of all threadgroup variables.
    threadgroup_memory: u32,
    /// The checks of shader validation that are in the code.
    checks: Option<Checks>,
}

impl<'c, 'm> Scalar<'c, 'm> {
    /// `module` is prepared, and has the kernel `name`.
    fn new(
        context: &'c Context,
        module: &'m Module<'c>,
        name: &str,
        mut prepared: Prepared,
        checks: Option<Checks>,
        target: &'m Target,
    ) -> Result<Scalar<'c, 'm>> {
        let kernel = thread::kernel(ModuleRef::of(module), name)?;
        let (threadgroup_variables, threadgroup_memory) = threadgroup_variables(ModuleRef::of(module));
        for object in prepared.sites.iter_mut().flat_map(|site| site.object.candidates_mut()) {
            if let Object::ThreadgroupVariable { name, offset, .. } = object {
                let variable = threadgroup_variables.iter().find(|(variable, _)| variable.name() == *name);
                *offset = variable.map_or(0, |(_, offset)| *offset);
            }
        }
        Ok(Scalar {
            context,
            kernel,
            prepared,
            machine: target.machine(OptimizationLevel::Default)?,
            target,
            permutation: target.permutation(),
            stream_help: target.stream_help(),
            byte_products: target.byte_products(),
            bfloat_products: target.bfloat_products(),
            byte_tiles: target.byte_tiles(),
            threadgroup_variables,
            threadgroup_memory,
            checks,
        })
    }

    /// The places of checks, with the names of variables as the source has them.
    fn sites_with_names(&self) -> Vec<Site> {
        let mut sites = self.prepared.sites.clone();
        for object in sites.iter_mut().flat_map(|site| site.object.candidates_mut()) {
            if let Object::ThreadgroupVariable { name, .. } = object {
                *name = instrument::readable(name);
            }
        }
        sites
    }

    /// The optimized code of a simdgroup, in a module of its own.
    fn widen(&self, lanes: Lanes) -> Result<(Module<'c>, Widened)> {
        let mut wide = self.context.create_module(&self.kernel.name());
        wide.set_triple(&self.machine.get_triple());
        wide.set_data_layout(&self.machine.get_target_data().get_data_layout());
        let arguments = Arguments {
            roles: &self.prepared.roles,
            lanes,
            threadgroup_variables: &self.threadgroup_variables,
            permutation: self.permutation,
            stream_help: self.stream_help,
            byte_products: self.byte_products,
            bfloat_products: self.bfloat_products,
            byte_tiles: self.byte_tiles,
            sites: &self.prepared.sites,
            every_access: self.checks.is_some_and(|checks| checks.every_access),
        };
        let (body, mut widened) = widen::widen(self.kernel, &arguments, ModuleRef::of(&wide))?;
        turns::settle(ModuleRef::of(&wide));
        let entry = entry::write_loop(ModuleRef::of(&wide), SYMBOL, body, lanes);
        entry.add_attribute("nounwind");
        entry.add_text_attribute("probe-stack", "inline-asm");
        entry.add_text_attribute("no-builtins", "");
        entry.add_text_attribute("prefer-vector-width", "512");
        wide.verify().map_err(|error| Error::Internal(error.to_string()))?;
        widened.is_long = count_blocks(ModuleRef::of(&wide)) > MOST_BLOCKS;
        let finish = match widened.is_long {
            true => FINISH_LONG.into(),
            false if most_users(body) > MOST_USERS => FINISH.replace(COMBINE, ""),
            false => FINISH.into(),
        };
        passes::run_for(&mut wide, &finish, Some(&self.machine)).map_err(Error::Internal)?;
        wide.verify().map_err(|error| Error::Internal(error.to_string()))?;
        widened.is_long |= self.checks.is_some() && count_blocks(ModuleRef::of(&wide)) > MOST_BLOCKS_WITH_CHECKS;
        if !widened.is_long {
            regions::divide(ModuleRef::of(&wide));
        }
        Ok((wide, widened))
    }

    fn emit(&self, module: &Module, is_long: bool, kind: FileType) -> Result<Vec<u8>> {
        let quick = is_long.then(|| self.target.machine(OptimizationLevel::None)).transpose()?;
        let machine = quick.as_ref().unwrap_or(&self.machine);
        let buffer = machine.write_to_memory_buffer(module, kind);
        let buffer = buffer.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(buffer.as_slice().to_vec())
    }
}

/// The offset of each threadgroup variable, and the bytes that all take.
fn threadgroup_variables(module: ModuleRef) -> (FxHashMap<Value, u32>, u32) {
    const THREADGROUP: u32 = 3;
    let layout = Layout::of(module);
    let mut offsets = FxHashMap::default();
    let mut end = 0u64;
    for global in module.globals() {
        if global.ty().address_space() == THREADGROUP && global.has_use() {
            end = end.next_multiple_of(u64::from(global.alignment().max(16)));
            offsets.insert(global, end as u32);
            end += layout.size(global.global_type());
        }
    }
    (offsets, end as u32)
}
