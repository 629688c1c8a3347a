//! Expand: every function of AIR that concerns one thread alone becomes plain LLVM.
//!
//! Afterwards there are LLVM's own instructions, those of its intrinsics that every code generator has on vectors (no
//! call of a C library hides behind them), and the functions across threads: `air.simd_…`, `air.quad_…`,
//! `air.simdgroup…`, `air.wg.barrier`, `air.atomic.…`, `air.get_simdgroup_size`, which belong to the code generators.
//!
//! ```text
//! names ─ the names of functions     emit ─ arithmetic on scalars and short vectors
//! convert, integer, math, relational ─ functions that are a few instructions
//! library ─ those that are more, written in Metal Shading Language (library/*.metal)
//! bfloat ─ arithmetic on `bfloat`, by that on `float`     flags ─ the promises of fast mathematics
//! ```
//!
//! **Why not LLVM's `llvm.exp`, `llvm.fptosi.sat`, `llvm.ldexp`, …?** They exist for vectors only in the IR: LLVM 22
//! computes them one element after the other, mostly by calling the C library. The functions of the library here are
//! straight lines of arithmetic, that become the same straight lines on 32 lanes.
//!
//! **Invariant:** afterwards no instruction promises that numbers are never NaN or infinite (see `flags`).

mod bfloat;
mod convert;
mod emit;
pub(crate) mod flags;
mod integer;
mod library;
mod math;
mod names;
mod order;
mod relational;
#[cfg(test)]
mod tests;

use crate::ir::{Builder, ModuleRef, Opcode, Rewrite, Value, passes};
use inkwell::llvm_sys::LLVMFastMathApproxFunc;
use inkwell::module::Module;
use names::Name;
use std::collections::BTreeSet;
use std::fmt;

/// Reason that a module cannot be expanded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// The module calls a function that is not supported.
    Unsupported(String),
    /// A mistake of ours.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unsupported(name) => write!(f, "the function '{name}' is not supported"),
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {}

type Result<T> = std::result::Result<T, Error>;

/// Rewrites a module in place.
pub(crate) fn expand(module: &mut Module) -> Result<()> {
    flags::drop_promises(&Rewrite::new(module));
    let library = expand_functions(module)?;
    library::link(module, &library)?;
    bfloat::expand(&Rewrite::new(module))?;
    remove_declarations(module);
    Ok(())
}

/// Rewrites one function of a module in place.
pub(crate) fn expand_function(module: &mut Module, name: &str) -> Result<()> {
    let library = {
        let rewrite = Rewrite::new(module);
        let mut expansion = Expansion::new(&rewrite);
        for function in expansion.module.functions().into_iter().filter(|function| function.name() == name) {
            expansion.function(function)?;
        }
        expansion.library
    };
    library::link(module, &library)
}

/// Expands the bodies of all functions, and returns the functions of the library that they call.
fn expand_functions(module: &mut Module) -> Result<BTreeSet<String>> {
    let rewrite = Rewrite::new(module);
    let mut expansion = Expansion::new(&rewrite);
    expansion.functions()?;
    Ok(expansion.library)
}

/// Deletes AIR's functions that nothing calls any more.
fn remove_declarations(module: &mut Module) {
    passes::delete_declarations(module, |function| function.name().starts_with("air."));
}

/// A module under expansion.
struct Expansion<'m> {
    rewrite: &'m Rewrite<'m>,
    module: ModuleRef<'m>,
    b: Builder<'m>,
    /// The functions of the library that are called.
    library: BTreeSet<String>,
}

impl<'m> Expansion<'m> {
    fn new(rewrite: &'m Rewrite<'m>) -> Expansion<'m> {
        let module = rewrite.module();
        Expansion { rewrite, module, b: Builder::new(module), library: BTreeSet::new() }
    }

    /// The bodies of all functions.
    fn functions(&mut self) -> Result<()> {
        self.module.functions().into_iter().try_for_each(|function| self.function(function))
    }

    fn function(&mut self, function: Value<'m>) -> Result<()> {
        for block in function.blocks() {
            for instruction in block.instructions() {
                self.instruction(instruction)?;
            }
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: Value<'m>) -> Result<()> {
        let result = match instruction.opcode() {
            Opcode::LLVMCall => {
                let Some(callee) = instruction.callee().map(Value::name) else { return Ok(()) };
                let Some(name) = Name::parse(&callee) else { return Ok(()) };
                self.b.before(instruction);
                match name {
                    Name::AcrossThreads => None,
                    Name::Llvm { base } => self.llvm(base, instruction)?,
                    name => Some(self.air(&name, instruction)?.ok_or(Error::Unsupported(callee))?),
                }
            }
            Opcode::LLVMFRem => {
                self.b.before(instruction);
                self.math("fmod", is_approximate(instruction), &instruction.operands())?
            }
            _ => None,
        };
        if let Some(result) = result {
            instruction.replace_all_uses_with(result);
            self.rewrite.erase(instruction);
        }
        Ok(())
    }

    /// The result of one of AIR's functions; `None` for one that is not known.
    fn air(&mut self, name: &Name, call: Value<'m>) -> Result<Option<Value<'m>>> {
        let arguments = call.arguments();
        let Name::Air { base, is_fast, sign } = *name else {
            let Name::Convert { to, from } = *name else { return Ok(None) };
            return self.convert(&arguments, call.ty(), to, from);
        };
        if let Some(value) = self.integer(base, sign, &arguments) {
            return Ok(Some(value));
        }
        if let Some(value) = self.relational(base, &arguments, call.ty())? {
            return Ok(Some(value));
        }
        self.math(base, is_fast, &arguments)
    }
}

/// True if LLVM may compute it by an approximation (`afn`).
fn is_approximate(instruction: Value) -> bool {
    instruction.fast_math().is_some_and(|flags| flags & LLVMFastMathApproxFunc != 0)
}
