//! Visible functions: each is a module of its own, which is linked to the kernels that call it through tables.

use super::{Error, SourceError, Specialized, set_constants};
use crate::calls::pointers::LINKED;
use crate::ir::{ModuleRef, Type, Value, passes};
use crate::lower::{Error as LowerError, MathMode, ProgramSource, lower_visible};
use crate::{bitcode, guard};
use abi::Constants;
use inkwell::context::Context;
use msl::program::VisibleFunction;

/// A visible function without function constants.
#[derive(Clone, Debug)]
pub struct Visible {
    /// The name that the host uses.
    pub name: String,
    bitcode: Vec<u8>,
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
        Ok(Visible { name: name.into(), bitcode: module.write_bitcode_to_memory().as_slice().to_vec() })
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
    let specialized = guard::run(|| {
        let context = Context::create();
        bitcode::ignore_diagnostics(&context);
        let mut module = lower_visible(&context, source, function, math).map_err(SourceError::Lower)?;
        let invalid = |error: inkwell::support::LLVMString| LowerError::Internal(error.to_string());
        module.verify().map_err(invalid).map_err(SourceError::Lower)?;
        set_constants(&mut module, None, constants).map_err(SourceError::Specialize)?;
        let bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
        Ok(Visible { name: function.name.to_string(), bitcode })
    });
    specialized.unwrap_or_else(|crash| Err(SourceError::Specialize(Error::Internal(crash))))
}

impl Specialized {
    /// The kernel with functions that it can call through tables. On a CPU, an entry of a table is the number of a
    /// function in this list, from 1.
    pub fn link(&self, functions: &[&Visible]) -> Result<Specialized, Error> {
        guard::run(|| self.link_here(functions)).unwrap_or_else(|crash| Err(Error::Internal(crash)))
    }

    fn link_here(&self, functions: &[&Visible]) -> Result<Specialized, Error> {
        let context = Context::create();
        let mut module =
            bitcode::parse(&context, &self.bitcode, &self.reflection.name).map_err(Error::Malformed)?;
        for function in functions {
            let part = bitcode::parse(&context, &function.bitcode, &function.name).map_err(Error::Malformed)?;
            let failed = |problem| Error::Malformed(format!("linking '{}': {problem}", function.name));
            passes::link(&mut module, part).map_err(failed)?;
        }
        add_list(ModuleRef::of(&module), functions)?;
        module.verify().map_err(|error| Error::Internal(error.to_string()))?;
        let bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
        Ok(Specialized { bitcode, reflection: self.reflection.clone() })
    }
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
