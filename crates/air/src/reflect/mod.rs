//! The interface of the kernels of a module, read from its metadata: the same that `msl::reflect` finds in the source,
//! as far as AIR carries it. It reads Apple's modules and ours (the module `metadata` describes the nodes).
//!
//! Apple's AIR carries no file and line, no type of a threadgroup variable, no default of a function constant and
//! nothing about whether one must be set: these are empty, 0, `None` and `true`. Ours carries them in lists of its own.
//! A type is put together from the element, the address space and the access (`const device float *`).

mod library;
mod parameter;
mod section;
#[cfg(test)]
mod tests;
mod threadgroup;

pub use library::{LibraryError, reflect_library};
pub use section::{reflection_buffer, reflection_of_bitcode};

use crate::ir::{ModuleRef, Node, Operand, Value, named};
use crate::metadata::{ORIGIN_CONSTANTS, ORIGIN_KERNEL};
use crate::metallib::{Constant, data_type};
use inkwell::module::Module;
use msl::reflect::{Argument, FunctionConstant, Kernel, OtherFunction, Reflection};
use parameter::{Described, Parameter};
use std::ffi::CStr;
use std::fmt;

/// Reason that a module cannot be described: its metadata are not as they should be. The module's fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The function or list at fault.
    pub at: String,
    /// The problem with it.
    pub problem: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "metadata of '{}': {}", self.at, self.problem)
    }
}

impl std::error::Error for Error {}

type Result<T> = std::result::Result<T, Error>;

/// Describes `module`.
pub fn reflect(module: &Module) -> Result<Reflection> {
    let module = ModuleRef::of(module);
    let by_index = |a: &FunctionConstant, b: &FunctionConstant| (a.index, &a.name).cmp(&(b.index, &b.name));
    let mut used = function_constants(module, c"air.function_constants", function_constant)?;
    used.sort_by(by_index);
    let mut all = function_constants(module, ORIGIN_CONSTANTS, origin_constant)?;
    all.sort_by(by_index);
    let kernels = named(module, c"air.kernel")
        .into_iter()
        .map(|node| kernel(module, node, &used))
        .collect::<Result<Vec<Kernel>>>()?;
    let mut functions = Vec::new();
    for (list, stage) in [(c"air.vertex", "vertex"), (c"air.fragment", "fragment"), (c"air.visible", "other")] {
        for node in named(module, list) {
            let name = entry(node)?.0.name();
            functions.push(OtherFunction { name, stage: stage.into() });
        }
    }
    Ok(Reflection { kernels, functions, function_constants: if all.is_empty() { used } else { all } })
}

/// The function constants in a list of a module.
fn function_constants(
    module: ModuleRef,
    list: &CStr,
    read: fn(Node) -> Result<FunctionConstant>,
) -> Result<Vec<FunctionConstant>> {
    named(module, list).into_iter().map(read).collect()
}

/// The function constants that kernels use, as a library's public metadata list them; without those whose type they
/// cannot name.
pub fn library_constants(reflection: &Reflection) -> Vec<Constant<'static>> {
    // A module without a kernel lists the constants of its function.
    let is_used = |constant: &&FunctionConstant| {
        let kernels = &reflection.kernels;
        kernels.is_empty() || kernels.iter().any(|kernel| kernel.function_constants.contains(&constant.index))
    };
    let constant = |constant: &FunctionConstant| {
        Some(Constant {
            name: constant.name.clone().into(),
            data_type: data_type(&constant.ty)?,
            index: u16::try_from(constant.index).ok()?,
            is_active: true,
        })
    };
    reflection.function_constants.iter().filter(is_used).filter_map(constant).collect()
}

fn function_constant(node: Node) -> Result<FunctionConstant> {
    match &node.operands()[..] {
        [_, Operand::Text(ty), Operand::Text(name), Operand::Int(index), ..] => Ok(FunctionConstant {
            name: name.clone(),
            index: number(*index, name, "the index")?,
            ty: ty.clone(),
            default: None,
            required: true,
        }),
        _ => Err(error("air.function_constants", "an entry is not {global, type, name, index, …}")),
    }
}

/// A function constant in our own list.
fn origin_constant(node: Node) -> Result<FunctionConstant> {
    match &node.operands()[..] {
        [Operand::Text(name), Operand::Text(ty), Operand::Int(index), Operand::Int(required), rest @ ..] => {
            Ok(FunctionConstant {
                name: name.clone(),
                index: number(*index, name, "the index")?,
                ty: ty.clone(),
                default: match rest.first() {
                    Some(Operand::Text(default)) => Some(default.clone()),
                    _ => None,
                },
                required: *required != 0,
            })
        }
        _ => Err(error("metalworks.function_constants", "an entry is not {name, type, index, required, …}")),
    }
}

/// The file and line of a kernel, if the module has them.
fn origin(module: ModuleRef, function: Value) -> Result<(String, u32)> {
    for node in named(module, ORIGIN_KERNEL) {
        if let [Operand::Global(found), Operand::Text(file), Operand::Int(line), ..] = &node.operands()[..]
            && *found == function
        {
            return Ok((file.clone(), number(*line, file, "the line")?));
        }
    }
    Ok((String::new(), 0))
}

/// The function of an entry point, and the operands after it.
fn entry(node: Node) -> Result<(Value, Vec<Operand>)> {
    let operands = node.operands();
    match operands.first() {
        Some(Operand::Global(function)) => Ok((*function, operands[1..].to_vec())),
        _ => Err(error("air.kernel", "an entry does not begin with a function")),
    }
}

fn kernel<'m>(module: ModuleRef<'m>, node: Node<'m>, constants: &[FunctionConstant]) -> Result<Kernel> {
    let (function, operands) = entry(node)?;
    let name = function.name();
    let [_, Operand::Node(parameters), properties @ ..] = &operands[..] else {
        return Err(error(&name, "there is no list of arguments"));
    };
    let (mut arguments, mut builtins) = (Vec::new(), Vec::new());
    for parameter in parameters.operands() {
        let Operand::Node(parameter) = parameter else { return Err(error(&name, "an argument is no node")) };
        let parameter = Parameter::new(&name, parameter)?;
        match parameter.describe()? {
            Described::Argument(argument) => {
                let is_used = has_use(module, function, &parameter).unwrap_or(argument.is_used);
                arguments.push(Argument { is_used, ..argument });
            }
            Described::Builtin(builtin) => builtins.push(builtin),
        }
    }
    let (threadgroup_memory, static_threadgroup_memory) = threadgroup::memory(module, function);
    let (file, line) = origin(module, function)?;
    let mut function_constants: Vec<u32> = constants.iter().map(|constant| constant.index).collect();
    function_constants.dedup();
    Ok(Kernel {
        arguments,
        builtins,
        function_constants,
        threadgroup_memory,
        static_threadgroup_memory,
        max_total_threads_per_threadgroup: max_threads(&name, properties)?,
        file,
        line,
        name,
    })
}

/// True if code uses a parameter. The code decides, not the compiler's note about it; `None` if there is no code.
fn has_use(module: ModuleRef, function: Value, parameter: &Parameter) -> Option<bool> {
    let code = module.function(&function.name()).filter(|code| !code.is_declaration())?;
    let position = usize::try_from(parameter.position).ok()?;
    code.parameters().get(position).map(|parameter| parameter.has_use())
}

fn max_threads(kernel: &str, properties: &[Operand]) -> Result<Option<u32>> {
    for property in properties {
        let Operand::Node(property) = property else { continue };
        if let [Operand::Text(key), Operand::Int(value)] = &property.operands()[..]
            && key == "air.max_work_group_size"
        {
            return number(*value, kernel, "the number of threads").map(Some);
        }
    }
    Ok(None)
}

fn number(value: u64, at: &str, what: &str) -> Result<u32> {
    u32::try_from(value).map_err(|_| error(at, &format!("{what} is too large")))
}

fn error(at: &str, problem: &str) -> Error {
    Error { at: at.into(), problem: problem.into() }
}

/// The role of a parameter of a kernel's function.
pub(crate) struct Role {
    /// The position among the parameters, from 0.
    pub(crate) position: usize,
    /// `air.buffer`, `air.thread_position_in_grid`, …
    pub(crate) what: String,
    /// The index that it is bound at.
    pub(crate) index: Option<u64>,
    /// The address space that it points to.
    pub(crate) address_space: Option<u64>,
    /// The kernel declares that it only reads it.
    pub(crate) is_read_only: bool,
}

/// The roles of the parameters of the first kernel of a module.
pub(crate) fn roles(module: &Module) -> Result<Vec<Role>> {
    let node = *named(ModuleRef::of(module), c"air.kernel")
        .first()
        .ok_or_else(|| error("air.kernel", "there is no kernel"))?;
    let (function, operands) = entry(node)?;
    let name = function.name();
    let [_, Operand::Node(parameters), ..] = &operands[..] else {
        return Err(error(&name, "there is no list of arguments"));
    };
    let role = |operand: Operand| {
        let Operand::Node(node) = operand else { return Err(error(&name, "an argument is no node")) };
        let parameter = Parameter::new(&name, node)?;
        let what = parameter.what().ok_or_else(|| error(&name, "an argument does not say what it is"))?;
        Ok(Role {
            position: parameter.position as usize,
            what: what.to_owned(),
            index: parameter.int("air.location_index"),
            address_space: parameter.int("air.address_space"),
            is_read_only: parameter.access_bits() == 1,
        })
    };
    parameters.operands().into_iter().map(role).collect()
}
