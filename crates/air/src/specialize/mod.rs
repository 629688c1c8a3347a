//! From a function of a library or a source and values for its function constants to a function without any.
//!
//! ```text
//! parse or lower, verify ── constants: find, check the values ── is_function_constant_defined: answered
//!     ── values into the globals ── fold ── static initializer evaluated ── arguments: those that exist
//!     ── fold, drop dead code ── Specialized
//! ```
//!
//! Both forms of function constants are understood: Apple's, where a static initializer copies each into a variable
//! that the code reads, and ours, where the code reads the constant itself (the module `metadata::constants` draws
//! both).
//!
//! **Which constants must be set:** all that the function lists and uses, unless some code in it asks
//! `is_function_constant_defined`. One that code asks for need not be set, as long as no code that runs reads it: after
//! folding, `is_function_constant_defined(c) ? c : 1` does not, and a plain `c` next to it does, which is an error.
//!
//! **Arguments** whose condition is false are no longer in the reflection and not in the module's `!air.kernel`. The
//! function keeps its parameters at their positions: such a parameter is there and unused. The reflection says of the
//! other arguments whether any code uses them that is left.

mod arguments;
mod arrays;
mod constants;
mod error;
mod fold;
mod link;
#[cfg(test)]
mod tests;

pub use error::{ConstantInfo, Error, SourceError};
pub(crate) use fold::initializer;
pub use link::{Visible, export, specialize_visible, undefined_symbols, visible_function};

use crate::compile::lower_verified;
use crate::ir::{ModuleRef, Rewrite};
use crate::lower::{MathMode, ProgramSource};
use crate::{bitcode, calls, expand, guard, instrument, reflect};
use abi::Constants;
use inkwell::context::Context;
use inkwell::module::Module;
use msl::program::EntryPoint;
use msl::reflect::Kernel;

/// A kernel without function constants.
#[derive(Clone, Debug)]
pub struct Specialized {
    bitcode: Vec<u8>,
    /// Symbols of the functions that other libraries define.
    pub undefined: Vec<String>,
    /// Its interface: the arguments that exist with these constants, and whether the kernel uses them.
    pub reflection: Kernel,
}

impl Specialized {
    /// The module, verified: the kernel and the globals that it uses, with every function inlined that can be.
    pub fn bitcode(&self) -> &[u8] {
        &self.bitcode
    }

    /// The module as text.
    pub fn text(&self) -> Result<String, Error> {
        crate::bitcode_text(&self.bitcode, &self.reflection.name).map_err(Error::Malformed)
    }
}

/// Sets the function constants of a kernel of a library.
pub fn specialize(bitcode: &[u8], kernel: &str, constants: &Constants) -> Result<Specialized, Error> {
    guard::run(|| specialize_here(bitcode, kernel, constants)).unwrap_or_else(|crash| Err(Error::Malformed(crash)))
}

fn specialize_here(bitcode: &[u8], kernel: &str, constants: &Constants) -> Result<Specialized, Error> {
    let context = Context::create();
    let mut module = bitcode::parse(&context, bitcode, kernel).map_err(Error::Malformed)?;
    has_kernel(&module, kernel)?;
    specialize_module(&mut module, kernel, constants)
}

/// Lowers a kernel of a source and sets its function constants, without bitcode in between.
pub fn specialize_kernel<'p>(
    source: impl Into<ProgramSource<'p>>,
    entry: &EntryPoint,
    math: MathMode,
    constants: &Constants,
) -> Result<Specialized, SourceError> {
    let source = source.into();
    let specialized = guard::run(|| {
        let context = Context::create();
        bitcode::ignore_diagnostics(&context);
        let mut module = lower_verified(&context, source, entry, math).map_err(SourceError::Lower)?;
        if source.is_checked {
            // So that a variable whose address goes to a function is followed there.
            fold::inline(&mut module).map_err(SourceError::Specialize)?;
            instrument::early::insert(&mut module);
        }
        specialize_module(&mut module, &entry.name, constants).map_err(SourceError::Specialize)
    });
    // The module is ours, and so is the fault.
    specialized.unwrap_or_else(|crash| Err(SourceError::Specialize(Error::Internal(crash))))
}

/// Sets the function constants of a kernel of `module`, which is verified.
fn specialize_module(module: &mut Module, kernel: &str, constants: &Constants) -> Result<Specialized, Error> {
    set_constants(module, Some(kernel), constants)?;
    let reflection = description(module, kernel)?;
    let undefined = link::undefined(ModuleRef::of(module));
    Ok(Specialized { bitcode: module.write_bitcode_to_memory().as_slice().to_vec(), undefined, reflection })
}

fn set_constants(module: &mut Module, kernel: Option<&str>, constants: &Constants) -> Result<(), Error> {
    expand::flags::drop_promises(&Rewrite::new(module));
    calls::pointers::expect_null(ModuleRef::of(module));

    let mut found = constants::find(module)?;
    constants::assign(&mut found, constants, constants::lists_all(module))?;
    constants::answer(module, &mut found);
    fold::normalize_predicates(&Rewrite::new(module));
    constants::set(module, &found)?;
    fold::simplify(module)?;
    while fold::keep_stored_constants(&Rewrite::new(module)) {
        fold::simplify(module)?;
    }
    constants::settle(module, &found)?;
    fold::keep_threadgroup_memory(module);
    fold::evaluate_initializer(module)?;
    if let Some(kernel) = kernel {
        arguments::decide(module, kernel)?;
    }
    fold::clean(module)?;

    module.verify().map_err(|error| Error::Internal(error.to_string()))
}

fn has_kernel(module: &Module, name: &str) -> Result<(), Error> {
    let kernels = reflect::reflect(module).map_err(malformed)?.kernels;
    if kernels.iter().any(|kernel| kernel.name == name) {
        return Ok(());
    }
    let available = kernels.into_iter().map(|kernel| kernel.name).collect();
    Err(Error::NoKernel { name: name.into(), available })
}

fn description(module: &Module, name: &str) -> Result<Kernel, Error> {
    let kernels = reflect::reflect(module).map_err(malformed)?.kernels;
    let kernel = kernels.into_iter().find(|kernel| kernel.name == name);
    kernel.ok_or_else(|| Error::Internal(format!("the kernel '{name}' was lost")))
}

fn malformed(error: reflect::Error) -> Error {
    Error::Malformed(error.to_string())
}
