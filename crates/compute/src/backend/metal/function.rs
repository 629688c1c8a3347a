//! Functions: kernels with their constants set.

use super::error::driver_error;
use super::held::Held;
use super::library::Library;
use super::{data_type, pipeline};
use crate::backend;
use crate::backend::driver::constants::{Available, assign, bytes, is_meant};
use crate::error::{Error, Result};
use abi::{ConstantKey, Constants};
use msl::reflect::Kernel;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{MTLFunction, MTLFunctionConstantValues, MTLFunctionType, MTLLibrary};
use std::ptr::NonNull;

/// A kernel with its constants set. Metal functions are thread-safe.
pub(crate) struct Function {
    function: Held<ProtocolObject<dyn MTLFunction>>,
    /// Indices of its function constants.
    constants: Vec<u32>,
}

impl Function {
    /// Returns `None` if there is no such kernel.
    pub(super) fn new(library: &Library, name: &str, constants: &Constants) -> Result<Option<Function>> {
        Function::of_type(library, name, constants, MTLFunctionType::Kernel)
    }

    /// A function that is a kernel, or one that kernels call; `None` if there is none of this name and type.
    pub(super) fn of_type(
        library: &Library,
        name: &str,
        constants: &Constants,
        ty: MTLFunctionType,
    ) -> Result<Option<Function>> {
        autoreleasepool(|_| {
            let raw = library.raw()?;
            let metal_name = NSString::from_str(name);
            // For a function with constants, this one only lists them.
            let Some(general) = raw.newFunctionWithName(&metal_name) else { return Ok(None) };
            if general.functionType() != ty {
                return Ok(None);
            }
            let available = available(&general);
            let indices = available.iter().map(|constant| constant.index).collect();
            let values = values(library, name, &available, constants)?;
            if available.is_empty() {
                return Ok(Some(Function { function: Held::new(general), constants: indices }));
            }
            let function = raw.newFunctionWithName_constantValues_error(&metal_name, &values);
            let function = function.map_err(|error| {
                driver_error(format!("{} cannot be specialized", pipeline::what(name, constants)), &error)
            })?;
            Ok(Some(Function { function: Held::new(function), constants: indices }))
        })
    }

    /// The Metal function.
    pub(super) fn raw(&self) -> &ProtocolObject<dyn MTLFunction> {
        &self.function
    }

    /// Indices of its function constants.
    pub(super) fn constants(&self) -> &[u32] {
        &self.constants
    }
}

/// The constants of a function.
fn available(function: &ProtocolObject<dyn MTLFunction>) -> Vec<Available> {
    let (_, constants) = function.functionConstantsDictionary().to_vecs();
    let available = constants.iter().map(|constant| Available {
        name: constant.name().to_string(),
        // Indices have 16 bits.
        index: u32::try_from(constant.index()).unwrap_or(u32::MAX),
        ty: data_type::name(constant.r#type()),
        must_be_set: constant.required(),
    });
    let mut available: Vec<Available> = available.collect();
    available.sort_by_key(|constant| constant.index);
    available
}

/// Converts the values. Metal ignores constants that a function does not have; one that the whole library does not have
/// is an error here.
fn values(
    library: &Library,
    name: &str,
    available: &[Available],
    constants: &Constants,
) -> Result<Retained<MTLFunctionConstantValues>> {
    let own = available.len();
    let mut all = available.to_vec();
    let mut given = constants.clone();
    let is_unknown = |key| !available.iter().any(|constant| is_meant(constant, key));
    if constants.iter().any(|(key, _)| is_unknown(key))
        && let Some(source) = library.source()
    {
        // The constants of a source that was checked when the program was built are known to be right: it is not parsed
        // again.
        let is_read = cfg!(debug_assertions) || !library.is_checked();
        match is_read.then(|| source.function_constants(&[])) {
            Some(Ok(others)) => all.extend(others.into_iter().filter(|other| is_other(other, available))),
            // Only Metal can read the source, and Metal ignores unknown constants.
            Some(Err(_)) | None => given = known(constants, available),
        }
    }
    let values = MTLFunctionConstantValues::new();
    for (position, value) in assign(name, &all, &given)? {
        if position >= own {
            continue;
        }
        let Some(ty) = data_type::by_name(&value.type_name()) else {
            return Err(Error::Internal(format!("a function constant of type {}", value.type_name())));
        };
        let mut bytes = Bytes(bytes(value));
        // SAFETY: the buffer is as large as the largest type, and Metal copies it. Unused indices are ignored.
        unsafe {
            let start = NonNull::from(&mut bytes).cast();
            values.setConstantValue_type_atIndex(start, ty, all[position].index as usize);
        }
    }
    Ok(values)
}

/// True if a constant is not one of the function's own.
fn is_other(constant: &Available, own: &[Available]) -> bool {
    own.iter().all(|own| own.index != constant.index)
}

/// The values of constants that a function has.
fn known(constants: &Constants, available: &[Available]) -> Constants {
    let mut known = Constants::new();
    for (key, value) in constants.iter().filter(|(key, _)| available.iter().any(|own| is_meant(own, key))) {
        match key {
            ConstantKey::Index(index) => known.set(*index, value.clone()),
            ConstantKey::Name(name) => known.set_named(name, value.clone()),
        };
    }
    known
}

/// Aligned for every type.
#[repr(align(32))]
struct Bytes(#[allow(dead_code, reason = "Metal reads it")] [u8; 32]);

/// A function with its reflection.
pub(crate) struct DescribedFunction {
    function: Function,
    reflection: Kernel,
}

impl DescribedFunction {
    /// Takes the front end's reflection. Metal reflects only pipeline states: one is created if there is no source that
    /// the front end can read. Metal caches compiled code, so the next pipeline state of the function is cheap.
    pub(crate) fn new(
        library: &Library,
        function: Function,
        name: &str,
        constants: &Constants,
    ) -> Result<DescribedFunction> {
        let described = library.source().map(|source| source.describe(name, constants));
        let reflection = match described {
            Some(Ok(Some(kernel))) => kernel,
            _ => pipeline::reflect(library.device(), &function, name, constants)?,
        };
        Ok(DescribedFunction { function, reflection })
    }

    pub(super) fn function(&self) -> &Function {
        &self.function
    }
}

impl backend::Function for DescribedFunction {
    fn reflection(&self) -> &Kernel {
        &self.reflection
    }
}
