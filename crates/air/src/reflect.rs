//! What a host must know to call the kernels of a module, read from its metadata: the same as `msl::reflect` says of
//! the source, as far as AIR carries it. It reads Apple's modules and ours (the module `metadata` describes the nodes).
//!
//! Apple's AIR carries no file and line, no type of a threadgroup variable, no default of a function constant and nothing
//! about whether one must be set: these are empty, 0, `None` and `true`. Ours carries them in lists of its own. A type is put
//! together from the element, the address space and the access (`const device float *`).

mod library;
#[cfg(test)]
mod tests;
mod threadgroup;

pub use library::{LibraryError, reflect_library};

use crate::metadata::read::{Global, Node, Operand, named};
use crate::metadata::{ATOMIC, ORIGIN_CONSTANTS, ORIGIN_KERNEL};
use crate::metallib::{Constant, data_type};
use inkwell::module::Module;
use msl::reflect::{
    Access, Argument, ArgumentKind, Builtin, FieldInfo, FunctionConstant, Kernel, OtherFunction, Reflection,
    pointer_type,
};
use std::ffi::CStr;
use std::fmt;

/// Why a module cannot be described: its metadata are not as they should be. The module's fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The function or list at fault.
    pub at: String,
    /// What is wrong with it.
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
    module: &Module,
    list: &CStr,
    read: fn(Node) -> Result<FunctionConstant>,
) -> Result<Vec<FunctionConstant>> {
    named(module, list).into_iter().map(read).collect()
}

/// The function constants that kernels use, as a library's public metadata list them; without those whose type they
/// cannot name.
pub fn library_constants(reflection: &Reflection) -> Vec<Constant<'static>> {
    let is_used = |constant: &&FunctionConstant| {
        reflection.kernels.iter().any(|kernel| kernel.function_constants.contains(&constant.index))
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

/// Where a kernel was written, if the module says so.
fn origin(module: &Module, function: Global) -> Result<(String, u32)> {
    for node in named(module, ORIGIN_KERNEL) {
        if let [Operand::Global(found), Operand::Text(file), Operand::Int(line), ..] = &node.operands()[..]
            && found.as_value_ref() == function.as_value_ref()
        {
            return Ok((file.clone(), number(*line, file, "the line")?));
        }
    }
    Ok((String::new(), 0))
}

/// The function of an entry point, and what comes after it.
fn entry(node: Node<'_>) -> Result<(Global<'_>, Vec<Operand<'_>>)> {
    let operands = node.operands();
    match operands.first() {
        Some(Operand::Global(function)) => Ok((*function, operands[1..].to_vec())),
        _ => Err(error("air.kernel", "an entry does not begin with a function")),
    }
}

fn kernel(module: &Module, node: Node, constants: &[FunctionConstant]) -> Result<Kernel> {
    let (function, operands) = entry(node)?;
    let name = function.name();
    let [_, Operand::Node(parameters), properties @ ..] = &operands[..] else {
        return Err(error(&name, "there is no list of arguments"));
    };
    let (mut arguments, mut builtins) = (Vec::new(), Vec::new());
    for parameter in parameters.operands() {
        let Operand::Node(parameter) = parameter else { return Err(error(&name, "an argument is no node")) };
        match Parameter::new(&name, parameter)?.describe()? {
            Described::Argument(argument) => arguments.push(argument),
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

/// What a parameter of a kernel turns out to be.
enum Described {
    Argument(Argument),
    Builtin(Builtin),
}

/// A parameter's node.
struct Parameter<'m> {
    kernel: String,
    operands: Vec<Operand<'m>>,
}

/// Names that describe a parameter, and are not what it is.
const PROPERTIES: [&str; 14] = [
    "air.function_constant",
    "air.buffer_size",
    "air.location_index",
    "air.read",
    "air.write",
    "air.read_write",
    "air.sample",
    "air.address_space",
    "air.struct_type_info",
    "air.arg_type_size",
    "air.arg_type_align_size",
    "air.arg_type_name",
    "air.arg_name",
    "air.arg_unused",
];

impl<'m> Parameter<'m> {
    fn new(kernel: &str, node: Node<'m>) -> Result<Parameter<'m>> {
        let operands = node.operands();
        match operands.first() {
            Some(Operand::Int(_)) => Ok(Parameter { kernel: kernel.into(), operands }),
            _ => Err(error(kernel, "an argument does not begin with its position")),
        }
    }

    fn describe(&self) -> Result<Described> {
        let what = self.what().ok_or_else(|| error(&self.kernel, "an argument does not say what it is"))?;
        let kind = match what {
            "air.buffer" | "air.indirect_buffer" => match self.int("air.address_space") {
                Some(3) => ArgumentKind::ThreadgroupMemory,
                _ => ArgumentKind::Buffer,
            },
            "air.texture" => ArgumentKind::Texture,
            "air.sampler" => ArgumentKind::Sampler,
            other if other.starts_with("air.") && self.int("air.location_index").is_none() => {
                return Ok(Described::Builtin(Builtin {
                    name: self.name()?,
                    attribute: other["air.".len()..].into(),
                    ty: self.text_after("air.arg_type_name").unwrap_or_default().into(),
                }));
            }
            _ => ArgumentKind::Other,
        };
        self.argument(kind).map(Described::Argument)
    }

    fn argument(&self, kind: ArgumentKind) -> Result<Argument> {
        let name = self.name()?;
        let index = self.int("air.location_index");
        let index = index.ok_or_else(|| error(&self.kernel, &format!("argument '{name}' has no index")))?;
        let access = self.access();
        let is_reference = self.has("air.buffer_size");
        let fields = self.node_after("air.struct_type_info").map(Node::operands);
        let fields = fields.map_or(Ok(Vec::new()), |fields| self.fields(&fields))?;
        let written = self.text_after("air.arg_type_name").unwrap_or_default();
        let (element_type, fields) = match atomic(written, &fields) {
            Some(element) => (element, Vec::new()),
            None => (spelled(kind, written), fields),
        };
        let space = match self.int("air.address_space") {
            Some(space) => space_name(space).ok_or_else(|| error(&self.kernel, "an address space is not known"))?,
            None => "",
        };
        let ty = match space {
            "" => element_type.clone(),
            _ => pointer_type(&element_type, space, access, is_reference),
        };
        Ok(Argument {
            index: number(index, &self.kernel, "an index")?,
            ty,
            address_space: space.into(),
            access,
            element_type,
            element_size: self.int("air.arg_type_size").unwrap_or(0),
            element_align: self.int("air.arg_type_align_size").unwrap_or(0),
            is_reference,
            fields,
            function_constant: self.function_constant(),
            kind,
            name,
        })
    }

    /// What it is: the first name that is no property.
    fn what(&self) -> Option<&str> {
        self.operands.iter().find_map(|operand| match operand {
            Operand::Text(text) if !PROPERTIES.contains(&text.as_str()) => Some(text.as_str()),
            _ => None,
        })
    }

    fn name(&self) -> Result<String> {
        let name = self.text_after("air.arg_name").map(str::to_owned);
        name.ok_or_else(|| error(&self.kernel, "an argument has no name"))
    }

    fn access(&self) -> Access {
        if self.has("air.read_write") {
            Access::ReadWrite
        } else if self.has("air.write") {
            Access::Write
        } else {
            Access::Read
        }
    }

    fn function_constant(&self) -> Option<String> {
        match &self.node_after("air.function_constant")?.operands()[..] {
            [_, _, Operand::Text(name), ..] => Some(name.clone()),
            _ => None,
        }
    }

    /// The fields of a struct: the offset, size and type of an element, the length of an array, and the name.
    fn fields(&self, mut operands: &[Operand]) -> Result<Vec<FieldInfo>> {
        let mut fields = Vec::new();
        while !operands.is_empty() {
            let mut nested = Vec::new();
            if let [Operand::Text(_), Operand::Node(node), rest @ ..] = operands {
                // One level is enough for atomics, and metadata of others may nest as deep as they like.
                nested = flat_fields(&node.operands());
                operands = rest;
            }
            let [
                Operand::Int(offset),
                Operand::Int(size),
                Operand::Int(length),
                Operand::Text(ty),
                Operand::Text(name),
                rest @ ..,
            ] = operands
            else {
                return Err(error(&self.kernel, "a field is not {offset, size, length, type, name}"));
            };
            let ty = atomic(ty, &nested).unwrap_or_else(|| ty.clone());
            fields.push(FieldInfo {
                name: name.clone(),
                ty: if *length == 0 { ty } else { array(&ty, *length) },
                offset: *offset,
                size: size.saturating_mul((*length).max(1)),
            });
            operands = rest;
        }
        Ok(fields)
    }

    /// Where the value of a property is. (Its name may also be the name of an argument.)
    fn position(&self, property: &str) -> Option<usize> {
        let is_property = |operand: &Operand| matches!(operand, Operand::Text(text) if text == property);
        let names = ["air.arg_name", "air.arg_type_name"];
        let is_value = |position: usize| {
            matches!(position.checked_sub(1).and_then(|before| self.operands.get(before)),
                Some(Operand::Text(text)) if names.contains(&text.as_str()))
        };
        (0..self.operands.len()).find(|&at| is_property(&self.operands[at]) && !is_value(at)).map(|at| at + 1)
    }

    fn has(&self, property: &str) -> bool {
        self.position(property).is_some()
    }

    fn int(&self, property: &str) -> Option<u64> {
        match self.operands.get(self.position(property)?)? {
            Operand::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn text_after(&self, property: &str) -> Option<&str> {
        match self.operands.get(self.position(property)?)? {
            Operand::Text(text) => Some(text),
            _ => None,
        }
    }

    fn node_after(&self, property: &str) -> Option<Node<'m>> {
        match self.operands.get(self.position(property)?)? {
            Operand::Node(node) => Some(*node),
            _ => None,
        }
    }
}

/// Fields of a struct without others in it; none where it is anything else.
fn flat_fields(operands: &[Operand]) -> Vec<FieldInfo> {
    let field = |operands: &[Operand]| match operands {
        [Operand::Int(offset), Operand::Int(size), Operand::Int(_), Operand::Text(ty), Operand::Text(name)] => {
            Some(FieldInfo { name: name.clone(), ty: ty.clone(), offset: *offset, size: *size })
        }
        _ => None,
    };
    operands.chunks(5).map(field).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// `atomic_uint`, for a struct that is one.
fn atomic(name: &str, fields: &[FieldInfo]) -> Option<String> {
    match fields {
        [field] if name == ATOMIC.0 && field.name == ATOMIC.1 => Some(format!("atomic_{}", field.ty)),
        _ => None,
    }
}

/// `float [3]`; of an array `float [4]`, `float [3][4]`.
fn array(element: &str, length: u64) -> String {
    match element.split_once(" [") {
        Some((scalar, inner)) => format!("{scalar} [{length}][{inner}"),
        None => format!("{element} [{length}]"),
    }
}

/// A type as one would write it in Metal: `texture2d<float, write>` is `texture2d<float, access::write>`.
fn spelled(kind: ArgumentKind, name: &str) -> String {
    if kind != ArgumentKind::Texture {
        return name.into();
    }
    if let Some(texture) = name.strip_suffix(", sample>") {
        return format!("{texture}>");
    }
    for access in ["read_write", "read", "write"] {
        if let Some(texture) = name.strip_suffix(&format!(", {access}>")) {
            return format!("{texture}, access::{access}>");
        }
    }
    name.into()
}

fn space_name(space: u64) -> Option<&'static str> {
    Some(match space {
        0 => "thread",
        1 => "device",
        2 => "constant",
        3 => "threadgroup",
        6 => "object_data",
        _ => return None,
    })
}

fn number(value: u64, at: &str, what: &str) -> Result<u32> {
    u32::try_from(value).map_err(|_| error(at, &format!("{what} is too large")))
}

fn error(at: &str, problem: &str) -> Error {
    Error { at: at.into(), problem: problem.into() }
}

/// What a parameter of a kernel's function is for.
pub(crate) struct Role {
    /// Which parameter, from 0.
    pub(crate) position: usize,
    /// `air.buffer`, `air.thread_position_in_grid`, …
    pub(crate) what: String,
    /// Where it is bound.
    pub(crate) index: Option<u64>,
    /// Where it points.
    pub(crate) address_space: Option<u64>,
}

/// The roles of the parameters of the first kernel of a module.
pub(crate) fn roles(module: &Module) -> Result<Vec<Role>> {
    let node = *named(module, c"air.kernel").first().ok_or_else(|| error("air.kernel", "there is no kernel"))?;
    let (function, operands) = entry(node)?;
    let name = function.name();
    let [_, Operand::Node(parameters), ..] = &operands[..] else {
        return Err(error(&name, "there is no list of arguments"));
    };
    let role = |operand: Operand| {
        let Operand::Node(node) = operand else { return Err(error(&name, "an argument is no node")) };
        let parameter = Parameter::new(&name, node)?;
        let what = parameter.what().ok_or_else(|| error(&name, "an argument does not say what it is"))?;
        let Some(Operand::Int(position)) = parameter.operands.first() else {
            return Err(error(&name, "an argument does not begin with its position"));
        };
        Ok(Role {
            position: *position as usize,
            what: what.to_owned(),
            index: parameter.int("air.location_index"),
            address_space: parameter.int("air.address_space"),
        })
    };
    parameters.operands().into_iter().map(role).collect()
}
