//! Functions that are more than a few instructions, written in Metal Shading Language and compiled by our own front end
//! the first time that a process needs them.
//!
//! Each becomes a module of its own, with all that it calls inlined, and is kept as bitcode: linking one costs no more
//! than its few instructions. Those called `fast_…` are the variants for fast mathematics, where there is one.
//!
//! The largest errors in units in the last place that were seen on 20 million numbers of all sizes (15 million pairs),
//! and what Metal's specification allows. All are right for infinities, NaN and zeros; of the fast variants, `pow` and
//! `powr` take no infinity, and those of angles nothing above 10⁶.
//!
//! | | error | allowed | fast | | error | allowed | fast |
//! |---|---|---|---|---|---|---|---|
//! | `exp` | 1.01 | 4 | 5.9 | `asin` | 2.24 | 4 | |
//! | `exp2` | 0.80 | 4 | 2.7 | `acos` | 1.02 | 4 | |
//! | `exp10` | 1.23 | 4 | 2.9 | `atan` | 2.05 | 5 | |
//! | `log` | 0.78 | 4 | 1.2 | `atan2` | 2.01 | 6 | |
//! | `log2` | 0.96 | 4 | 1.9 | `sinh` | 1.58 | 4 | |
//! | `log10` | 0.90 | 4 | 2.3 | `cosh` | 1.43 | 4 | |
//! | `pow`, `powr` | 4.10 | 16 | 4.1 | `tanh` | 1.29 | 5 | 2.2 |
//! | `sin` | 2.75 | 4 | 1.5 | `asinh` | 2.03 | 4 | |
//! | `cos` | 2.70 | 4 | 1.5 | `acosh` | 1.91 | 4 | |
//! | `tan` | 4.24 | 6 | 3.1 | `atanh` | 2.25 | 5 | |
//! | `sinpi` | 1.99 | 4 | | `rsqrt` | 0.50 | 2 | 1.5 |
//! | `cospi` | 1.94 | 4 | | `fmod` | 0 | 0 | |
//! | `tanpi` | 3.45 | 6 | | `ldexp` | 0.50 | 0.5 | |

use super::{Error, Expansion, Result, expand_functions, remove_declarations};
use crate::ir::{Type, Value, passes};
use crate::lower::lower_function;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use msl::program::{FunctionId, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The sources, in the order in which they see one another.
const SOURCES: &[&str] = &[
    include_str!("bits.metal"),
    include_str!("exponential.metal"),
    include_str!("logarithm.metal"),
    include_str!("power.metal"),
    include_str!("trigonometric.metal"),
    include_str!("pack.metal"),
];

/// Passes that shorten a lowered function.
const PASSES: &str = "always-inline,globaldce,function(sroa,early-cse,instcombine,simplifycfg,gvn,instcombine)";

/// The checked library.
struct Library {
    program: Program,
    functions: BTreeMap<String, FunctionId>,
    compiled: Mutex<BTreeMap<String, Arc<Function>>>,
}

/// A compiled function.
struct Function {
    bitcode: Vec<u8>,
    /// Its type, as LLVM prints it.
    ty: String,
}

/// The library, checked once.
fn library() -> Result<&'static Library> {
    static LIBRARY: OnceLock<std::result::Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(check).as_ref().map_err(|error| Error::Internal(error.clone()))
}

fn check() -> std::result::Result<Library, String> {
    let compilation = msl::compile_source("library.metal", &SOURCES.concat(), &msl::Options::default());
    if compilation.has_errors() {
        let messages: Vec<String> = compilation.diagnostics.iter().map(|d| format!("{d:?}")).collect();
        return Err(format!("the library: {}", messages.join("; ")));
    }
    let program = compilation.program;
    let own = |(index, function): (usize, &msl::program::Function)| {
        function.body.as_ref().map(|_| (function.name.to_string(), FunctionId(index as u32)))
    };
    let functions = program.functions.iter().enumerate().filter_map(own).collect();
    Ok(Library { program, functions, compiled: Mutex::default() })
}

impl Library {
    /// The compiled function of this name, if there is one.
    fn function(&self, name: &str) -> Result<Option<Arc<Function>>> {
        let Some(&id) = self.functions.get(name) else { return Ok(None) };
        if let Some(function) = self.compiled().get(name) {
            return Ok(Some(function.clone()));
        }
        // Not under the lock: where LLVM fails, its thread is parked with all that it holds. Of two threads that
        // compile the same function at once, one does it in vain.
        let function = Arc::new(self.compile(id, name)?);
        Ok(Some(self.compiled().entry(name.to_string()).or_insert(function).clone()))
    }

    fn compiled(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Function>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compile(&self, id: FunctionId, name: &str) -> Result<Function> {
        let internal = |error: String| Error::Internal(format!("the library's '{name}': {error}"));
        let context = Context::create();
        let mut module = lower_function(&context, &self.program, id, &symbol(name))
            .map_err(|error| internal(error.to_string()))?;
        if let Some(used) = expand_functions(&mut module)?.first() {
            return Err(internal(format!("it calls '{used}', which is not expanded in the library")));
        }
        remove_declarations(&mut module);
        passes::run(&mut module, PASSES).map_err(internal)?;
        module.verify().map_err(|error| internal(error.to_string()))?;
        let function = module.get_function(&symbol(name)).ok_or_else(|| internal("it is gone".into()))?;
        let ty = function.get_type().print_to_string().to_string();
        Ok(Function { bitcode: module.write_bitcode_to_memory().as_slice().to_vec(), ty })
    }
}

/// The symbol of a function of the library in a module.
fn symbol(name: &str) -> String {
    format!("metalworks.{name}")
}

/// Adds the definitions of functions of the library, to be inlined always.
pub(super) fn link(module: &mut Module, names: &BTreeSet<String>) -> Result<()> {
    let internal = |error: String| Error::Internal(format!("linking the library: {error}"));
    for name in names {
        let function = library()?.function(name)?.ok_or_else(|| internal(format!("there is no '{name}'")))?;
        let buffer = MemoryBuffer::create_from_memory_range_copy(&function.bitcode, name);
        let part = Module::parse_bitcode_from_buffer(&buffer, module.get_context())
            .map_err(|error| internal(error.to_string()))?;
        part.set_triple(&module.get_triple());
        part.set_data_layout(&module.get_data_layout());
        passes::link(module, part).map_err(internal)?;
        let linked = module.get_function(&symbol(name)).ok_or_else(|| internal(format!("'{name}' is gone")))?;
        linked.set_linkage(Linkage::Internal);
        let inline = Attribute::get_named_enum_kind_id("alwaysinline");
        linked.add_attribute(AttributeLoc::Function, module.get_context().create_enum_attribute(inline, 0));
    }
    Ok(())
}

impl<'m> Expansion<'m> {
    /// Applies a function of the library to scalars, or to vectors by component; `None` if there is no such function.
    pub(super) fn in_library(
        &mut self,
        base: &str,
        is_fast: bool,
        arguments: &[Value<'m>],
    ) -> Result<Option<Value<'m>>> {
        let float = Type::float(self.b.context());
        let is_exponent = matches!(base, "ilogb" | "frexp_exponent");
        let result = if is_exponent { Type::int(self.b.context(), 32) } else { float };
        let parameters: Vec<Type<'m>> = arguments.iter().map(|argument| argument.ty().scalar()).collect();
        let fast =
            if is_fast { self.library_function(&format!("fast_{base}"), result, &parameters)? } else { None };
        let function = match fast {
            None => self.library_function(base, result, &parameters)?,
            fast => fast,
        };
        Ok(function.map(|function| self.by_component(function, arguments)))
    }

    /// The declaration of a function of the library, if there is one of this type.
    pub(super) fn library_function(
        &mut self,
        name: &str,
        result: Type<'m>,
        parameters: &[Type<'m>],
    ) -> Result<Option<Value<'m>>> {
        let ty = result.function(parameters);
        let Some(function) = library()?.function(name)?.filter(|function| function.ty == ty.text()) else {
            return Ok(None);
        };
        drop(function);
        self.library.insert(name.to_string());
        let symbol = symbol(name);
        Ok(Some(self.module.function(&symbol).unwrap_or_else(|| self.module.add_function(&symbol, ty))))
    }
}
