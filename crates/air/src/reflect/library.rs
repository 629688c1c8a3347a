//! The interface of the kernels of a library.

use super::{Error, reflect};
use crate::metallib::{Function, FunctionKind, Library, ParseError};
use crate::{bitcode, guard};
use inkwell::context::Context;
use msl::reflect::{OtherFunction, Reflection};
use std::fmt;

/// Reason that a library cannot be described. The file's fault.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LibraryError {
    /// The container is damaged.
    Container(ParseError),
    /// LLVM does not accept the bitcode of a function.
    Bitcode {
        /// The function.
        function: String,
        /// LLVM's message.
        problem: String,
    },
    /// The metadata of a function are not as they should be.
    Metadata(Error),
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LibraryError::Container(error) => error.fmt(f),
            LibraryError::Bitcode { function, problem } => write!(f, "bitcode of '{function}': {problem}"),
            LibraryError::Metadata(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LibraryError {}

/// Describes a library, or only those of its functions for which `is_wanted` holds.
pub fn reflect_library(library: &Library, is_wanted: impl Fn(&str) -> bool) -> Result<Reflection, LibraryError> {
    let mut whole = Reflection::default();
    for function in library.functions().iter().filter(|function| is_wanted(function.name())) {
        let stage = match function.kind {
            FunctionKind::Kernel => {
                add_kernel(function, &mut whole)?;
                continue;
            }
            FunctionKind::Vertex => "vertex",
            FunctionKind::Fragment => "fragment",
            FunctionKind::Visible => "visible",
            _ => "other",
        };
        whole.functions.push(OtherFunction { name: function.name().into(), stage: stage.into() });
    }
    let constants = &mut whole.function_constants;
    constants.sort_by(|a, b| (a.index, &a.name, &a.ty).cmp(&(b.index, &b.name, &b.ty)));
    constants.dedup();
    Ok(whole)
}

fn add_kernel(function: &Function, whole: &mut Reflection) -> Result<(), LibraryError> {
    let bytes = function.bitcode().map_err(LibraryError::Container)?;
    let refused = |problem| LibraryError::Bitcode { function: function.name().into(), problem };
    let found = guard::run(|| {
        let context = Context::create();
        let module = bitcode::parse(&context, bytes, function.name()).map_err(refused)?;
        reflect(&module).map_err(LibraryError::Metadata)
    });
    let found = found.map_err(refused)??;
    whole.kernels.extend(found.kernels);
    for constant in found.function_constants {
        if !whole.function_constants.contains(&constant) {
            whole.function_constants.push(constant);
        }
    }
    Ok(())
}
