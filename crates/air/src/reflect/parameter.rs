//! A parameter of a kernel, as its node describes it.

use super::{Result, error, number};
use crate::ir::{Node, Operand};
use crate::metadata::{ATOMIC, FUNCTION_TABLE, UNUSED};
use msl::reflect::{Access, Argument, ArgumentKind, Builtin, FieldInfo, pointer_type};

/// The description of a parameter of a kernel.
pub(super) enum Described {
    Argument(Argument),
    Builtin(Builtin),
}

/// A parameter's node.
pub(super) struct Parameter<'m> {
    kernel: String,
    /// The position among the function's parameters, from 0.
    pub(super) position: u64,
    operands: Vec<Operand<'m>>,
}

/// Names of properties of a parameter, which are not its kind.
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
    UNUSED,
];

impl<'m> Parameter<'m> {
    pub(super) fn new(kernel: &str, node: Node<'m>) -> Result<Parameter<'m>> {
        let operands = node.operands();
        match operands.first() {
            Some(&Operand::Int(position)) => Ok(Parameter { kernel: kernel.into(), position, operands }),
            _ => Err(error(kernel, "an argument does not begin with its position")),
        }
    }

    pub(super) fn describe(&self) -> Result<Described> {
        let what = self.what().ok_or_else(|| error(&self.kernel, "an argument does not say what it is"))?;
        let kind = match what {
            "air.buffer" | "air.indirect_buffer" => match self.int("air.address_space") {
                Some(3) => ArgumentKind::ThreadgroupMemory,
                _ => ArgumentKind::Buffer,
            },
            FUNCTION_TABLE => ArgumentKind::VisibleFunctionTable,
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
        let element_size = self.int("air.arg_type_size").unwrap_or(0);
        // An array parameter (`constant long strides[3]`) has the size of all its elements there.
        let buffer_size = self.int("air.buffer_size");
        let is_reference = buffer_size.is_some_and(|size| size == element_size);
        let array_length = buffer_size
            .filter(|size| element_size > 0 && *size > element_size && size.is_multiple_of(element_size))
            .map(|size| size / element_size);
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
            element_size,
            element_align: self.int("air.arg_type_align_size").unwrap_or(0),
            is_reference,
            array_length,
            fields,
            function_constant: self.function_constant(),
            is_used: !self.has(UNUSED),
            kind,
            name,
        })
    }

    /// Its kind (`air.buffer`): the first name that is no property.
    pub(super) fn what(&self) -> Option<&str> {
        self.operands.iter().find_map(|operand| match operand {
            Operand::Text(text) if !PROPERTIES.contains(&text.as_str()) => Some(text.as_str()),
            _ => None,
        })
    }

    fn name(&self) -> Result<String> {
        let name = self.text_after("air.arg_name").map(str::to_owned);
        name.ok_or_else(|| error(&self.kernel, "an argument has no name"))
    }

    /// The index that it is bound at, and the number of indices.
    pub(super) fn location(&self) -> Option<(u64, u64)> {
        let at = self.value_of("air.location_index")?;
        match self.operands.get(at..at + 2)? {
            [Operand::Int(index), Operand::Int(count)] => Some((*index, *count)),
            _ => None,
        }
    }

    /// Bit 0: read, bit 1: written.
    pub(super) fn access_bits(&self) -> u8 {
        match self.access() {
            Access::Read => 1,
            Access::Write => 2,
            Access::ReadWrite => 3,
        }
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
            let (mut nested, mut elements) = (Vec::new(), None);
            if let [Operand::Text(_), Operand::Node(node), rest @ ..] = operands {
                // One level is enough for atomics, and metadata of others may nest as deep as they like.
                nested = flat_fields(&node.operands());
                elements = self.elements(&node.operands());
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
            let mut rest = rest;
            let is_array = ty == "metal::array";
            let mut ty = atomic(ty, &nested).unwrap_or_else(|| ty.clone());
            if let Some(elements) = elements.filter(|_| is_array) {
                ty = elements;
            }
            // A member of an argument buffer, described like an argument, or the id of a struct in it.
            let mut id = None;
            if let [Operand::Text(text), member, behind @ ..] = rest
                && text == "air.indirect_argument"
            {
                match member {
                    Operand::Int(number) => id = Some(*number),
                    Operand::Node(node) => {
                        if let Ok(member) = Parameter::new(&self.kernel, *node) {
                            id = member.location().map(|(id, _)| id);
                            ty = member.type_as_member(ty);
                        }
                    }
                    _ => {}
                }
                rest = behind;
            }
            fields.push(FieldInfo {
                name: name.clone(),
                ty: if *length == 0 { ty } else { array(&ty, *length) },
                offset: *offset,
                size: size.saturating_mul((*length).max(1)),
                id,
            });
            operands = rest;
        }
        Ok(fields)
    }

    /// `array<device float *, 4>`, for the struct of that name in an argument buffer.
    fn elements(&self, operands: &[Operand]) -> Option<String> {
        let [_, _, Operand::Int(length), Operand::Text(ty), Operand::Text(_), _, Operand::Node(member)] = operands
        else {
            return None;
        };
        let member = Parameter::new(&self.kernel, *member).ok()?;
        Some(format!("array<{}, {length}>", member.type_as_member(ty.clone())))
    }

    /// The type of the member of an argument buffer that this describes. Its name there is that of the pointee.
    fn type_as_member(&self, name: String) -> String {
        match self.what() {
            Some("air.buffer" | "air.indirect_buffer") => {
                match self.int("air.address_space").and_then(space_name) {
                    Some(space) => {
                        let is_reference = self.int("air.buffer_size").is_some_and(|size| size > 0);
                        pointer_type(&name, space, self.access(), is_reference)
                    }
                    None => name,
                }
            }
            Some("air.texture") => spelled(ArgumentKind::Texture, &name),
            _ => name,
        }
    }

    /// The position of a property's value among the operands. (An argument may have the name of a property.)
    fn value_of(&self, property: &str) -> Option<usize> {
        let is_property = |operand: &Operand| matches!(operand, Operand::Text(text) if text == property);
        let names = ["air.arg_name", "air.arg_type_name"];
        let is_value = |position: usize| {
            matches!(position.checked_sub(1).and_then(|before| self.operands.get(before)),
                Some(Operand::Text(text)) if names.contains(&text.as_str()))
        };
        (0..self.operands.len()).find(|&at| is_property(&self.operands[at]) && !is_value(at)).map(|at| at + 1)
    }

    pub(super) fn has(&self, property: &str) -> bool {
        self.value_of(property).is_some()
    }

    pub(super) fn int(&self, property: &str) -> Option<u64> {
        match self.operands.get(self.value_of(property)?)? {
            Operand::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn text_after(&self, property: &str) -> Option<&str> {
        match self.operands.get(self.value_of(property)?)? {
            Operand::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn node_after(&self, property: &str) -> Option<Node<'m>> {
        match self.operands.get(self.value_of(property)?)? {
            Operand::Node(node) => Some(*node),
            _ => None,
        }
    }
}

/// Fields of a struct without others in it; none where it is anything else.
fn flat_fields(operands: &[Operand]) -> Vec<FieldInfo> {
    let field = |operands: &[Operand]| match operands {
        [Operand::Int(offset), Operand::Int(size), Operand::Int(_), Operand::Text(ty), Operand::Text(name)] => {
            Some(FieldInfo { name: name.clone(), ty: ty.clone(), offset: *offset, size: *size, id: None })
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
