//! Functions that are linked to a kernel, each a module of its own: visible functions, which it calls through tables,
//! and functions of dynamic libraries, which it calls by their symbols.

use super::{Error, SourceError, Specialized, set_constants};
use crate::calls::pointers::LINKED;
use crate::ir::{ModuleRef, Type, Value, passes};
use crate::lower::symbols::symbol;
use crate::lower::{Error as LowerError, MathMode, ProgramSource, lower_export, lower_visible};
use crate::{bitcode, guard};
use abi::Constants;
use inkwell::context::Context;
use inkwell::module::Module;
use msl::program::{FunctionId, VisibleFunction};

/// A visible function without function constants, or a function of a dynamic library.
#[derive(Clone, Debug)]
pub struct Visible {
    /// The name that the host uses, or the symbol.
    pub name: String,
    bitcode: Vec<u8>,
    /// Symbols of the functions that other libraries define.
    pub undefined: Vec<String>,
}

impl Visible {
    /// The function of a module whose constants are set.
    fn new(name: &str, module: &Module) -> Visible {
        let bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
        Visible { name: name.into(), bitcode, undefined: undefined(ModuleRef::of(module)) }
    }
}

/// Symbols of the functions that a function of a library calls and other libraries define; the error is LLVM's message.
pub fn undefined_symbols(bitcode: &[u8], name: &str) -> Result<Vec<String>, String> {
    guard::run(|| {
        let context = Context::create();
        Ok(undefined(ModuleRef::of(&bitcode::parse(&context, bitcode, name)?)))
    })?
}

/// Symbols of the functions that a module calls and does not define. Those of AIR, LLVM and our own are no symbols of
/// libraries.
pub(super) fn undefined(module: ModuleRef) -> Vec<String> {
    const OWN: [&str; 3] = ["air.", "llvm.", "metalworks."];
    let declared =
        module.functions().into_iter().filter(|function| function.is_declaration() && function.has_use());
    declared.map(Value::name).filter(|name| !OWN.iter().any(|start| name.starts_with(start))).collect()
}

/// Sets the function constants of a visible function of a library.
pub fn specialize_visible(bitcode: &[u8], name: &str, constants: &Constants) -> Result<Visible, Error> {
    let specialized = guard::run(|| {
        let context = Context::create();
        let mut module = bitcode::parse(&context, bitcode, name).map_err(Error::Malformed)?;
        if ModuleRef::of(&module).function(name).is_none_or(Value::is_declaration) {
            return Err(Error::NoKernel { name: name.into(), available: Vec::new() });
        }
        set_constants(&mut module, None, constants)?;
        Ok(Visible::new(name, &module))
    });
    specialized.unwrap_or_else(|crash| Err(Error::Malformed(crash)))
}

/// Lowers a visible function of a source and sets its function constants.
pub fn visible_function<'p>(
    source: impl Into<ProgramSource<'p>>,
    function: &VisibleFunction,
    math: MathMode,
    constants: &Constants,
) -> Result<Visible, SourceError> {
    let source = source.into();
    specialized(&function.name, constants, |context| lower_visible(context, source, function, math, false))
}

/// Lowers a function of a dynamic library, which has no function constants.
pub fn export<'p>(
    source: impl Into<ProgramSource<'p>>,
    function: FunctionId,
    math: MathMode,
) -> Result<Visible, SourceError> {
    let source = source.into();
    let name = symbol(source.program, function);
    specialized(&name, &Constants::new(), |context| lower_export(context, source, function, math, false))
}

fn specialized(
    name: &str,
    constants: &Constants,
    lower: impl for<'ctx> Fn(&'ctx Context) -> Result<Module<'ctx>, LowerError> + Send + Sync,
) -> Result<Visible, SourceError> {
    let specialized = guard::run(|| {
        let context = Context::create();
        bitcode::ignore_diagnostics(&context);
        let mut module = lower(&context).map_err(SourceError::Lower)?;
        let invalid = |error: inkwell::support::LLVMString| LowerError::Internal(error.to_string());
        module.verify().map_err(invalid).map_err(SourceError::Lower)?;
        set_constants(&mut module, None, constants).map_err(SourceError::Specialize)?;
        Ok(Visible::new(name, &module))
    });
    specialized.unwrap_or_else(|crash| Err(SourceError::Specialize(Error::Internal(crash))))
}

impl Specialized {
    /// The kernel with functions that it can call through tables, and others that it calls by their symbols. On a CPU,
    /// an entry of a table is the number of a function in the first list, from 1.
    pub fn link(&self, functions: &[&Visible], exports: &[&Visible]) -> Result<Specialized, Error> {
        guard::run(|| self.link_here(functions, exports)).unwrap_or_else(|crash| Err(Error::Internal(crash)))
    }

    fn link_here(&self, functions: &[&Visible], exports: &[&Visible]) -> Result<Specialized, Error> {
        let context = Context::create();
        let mut module =
            bitcode::parse(&context, &self.bitcode, &self.reflection.name).map_err(Error::Malformed)?;
        for function in functions.iter().chain(exports) {
            let part = bitcode::parse(&context, &function.bitcode, &function.name).map_err(Error::Malformed)?;
            same_types(ModuleRef::of(&module), ModuleRef::of(&part))?;
            let failed = |problem| Error::Malformed(format!("linking '{}': {problem}", function.name));
            passes::link(&mut module, part).map_err(failed)?;
        }
        if !functions.is_empty() {
            add_list(ModuleRef::of(&module), functions)?;
        }
        module.verify().map_err(|error| Error::Internal(error.to_string()))?;
        let undefined = undefined(ModuleRef::of(&module));
        let bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
        Ok(Specialized { bitcode, undefined, reflection: self.reflection.clone() })
    }
}

/// Refuses a function whose type is not the one that it is called with: symbols do not tell results apart.
fn same_types(module: ModuleRef, part: ModuleRef) -> Result<(), Error> {
    for function in part.functions() {
        let Some(other) = module.function(&function.name()) else { continue };
        if other.function_type() != function.function_type() {
            let (name, one, two) = (function.name(), other.function_type().text(), function.function_type().text());
            return Err(Error::Malformed(format!("'{name}' is declared as '{one}' and defined as '{two}'")));
        }
        if !other.is_declaration() && !function.is_declaration() {
            return Err(Error::Malformed(format!("'{}' is defined twice", function.name())));
        }
    }
    Ok(())
}

fn add_list(module: ModuleRef, functions: &[&Visible]) -> Result<(), Error> {
    let function = |visible: &&Visible| {
        let missing = || Error::Internal(format!("the function '{}' was lost", visible.name));
        module.function(&visible.name).ok_or_else(missing)
    };
    let values = functions.iter().map(function).collect::<Result<Vec<Value>, Error>>()?;
    module.add_global(LINKED, Type::pointer(module.context()).constant_array(&values));
    Ok(())
}
