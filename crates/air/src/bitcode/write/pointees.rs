//! The type that each pointer points to.
//!
//! Some pointers say it: a variable, an alloca, the result of a `getelementptr`, the parameter of an intrinsic whose
//! name has the type. The others (parameters, phis, selects, pointers in variables, casts) are chosen. Each gets, in
//! this order:
//!
//! 1. the type that the metadata of the kernel gives the argument, if that is a number or vector;
//! 2. the type that most of its accesses have, the first one of several;
//! 3. the type of most pointers that flow into it;
//! 4. the choice for a pointer that flows into it or out of it;
//! 5. bytes.
//!
//! A use that needs another type gets a cast, so that every choice gives a valid module. Pointers in structures, arrays
//! and vectors point to bytes.

use super::attributes::parameter_type;
use super::body::{Body, Op};
use super::codes::cast;
use super::input::{ConstantValue, Input, integer, signature};
use super::intrinsics;
use super::types::{Type, TypeId, Types};
use super::{Result, missing};
use rustc_hash::FxHashMap;

/// The types of a module's values in LLVM 14.
pub(super) struct Pointees {
    /// For each global: the type of the contents, or the function's type.
    pub(super) globals: Vec<TypeId>,
    /// For each body: the types of parameters, constants and instructions. Those of constants are not used.
    pub(super) locals: Vec<Vec<TypeId>>,
}

/// A pointer whose type is chosen.
#[derive(Default)]
struct Node {
    chosen: Option<TypeId>,
    accesses: Vec<TypeId>,
    incoming: Vec<TypeId>,
    links: Vec<usize>,
}

/// The pointee of a value.
enum Known {
    Type(TypeId),
    Node(usize),
    /// Null and its kin, which have any type.
    Any,
}

struct Analysis<'a> {
    input: &'a Input,
    types: &'a mut Types,
    bodies: &'a [Body<'a>],
    /// For each function with a body, its number among the globals.
    functions: &'a [usize],
    nodes: Vec<Node>,
    /// For each body and value of its own, the node of a pointer.
    locals: Vec<Vec<Option<usize>>>,
    /// For an alloca that holds one pointer, the node of that pointer.
    slots: FxHashMap<(usize, usize), usize>,
    /// For each global that is a function, the nodes of its parameters and result.
    signatures: Vec<(Vec<Option<usize>>, Option<usize>)>,
}

/// Analyses a module. `hints` are pointees of kernels' arguments, by function and parameter.
pub(super) fn analyse(
    input: &Input,
    types: &mut Types,
    bodies: &[Body],
    functions: &[usize],
    hints: &FxHashMap<(usize, usize), TypeId>,
) -> Result<Pointees> {
    let mut analysis = Analysis {
        input,
        types,
        bodies,
        functions,
        nodes: Vec::new(),
        locals: Vec::new(),
        slots: FxHashMap::default(),
        signatures: Vec::new(),
    };
    analysis.signatures(hints)?;
    for body in 0..bodies.len() {
        analysis.own_values(body)?;
    }
    for body in 0..bodies.len() {
        analysis.uses(body)?;
    }
    analysis.choose();
    analysis.result()
}

impl Analysis<'_> {
    fn node(&mut self, chosen: Option<TypeId>) -> usize {
        self.nodes.push(Node { chosen, ..Node::default() });
        self.nodes.len() - 1
    }

    fn signatures(&mut self, hints: &FxHashMap<(usize, usize), TypeId>) -> Result<()> {
        for (number, global) in self.input.globals.iter().enumerate() {
            if !global.is_function {
                self.signatures.push((Vec::new(), None));
                continue;
            }
            let (result, parameters, _) = signature(self.types, global.ty)?;
            let mut nodes = Vec::new();
            let mut pointers = 0;
            for (index, ty) in parameters.into_iter().enumerate() {
                if !self.types.is_pointer(ty) {
                    nodes.push(None);
                    continue;
                }
                /// The place of the list of attributes in the record of a function without its name.
                const ATTRIBUTES: usize = 4;
                let list = global.record.get(ATTRIBUTES).copied().unwrap_or(0);
                let said = match parameter_type(self.input, self.types, list, index) {
                    Some(ty) => Some(self.types.typed(ty)),
                    None if global.is_defined => hints.get(&(number, index)).copied(),
                    None => intrinsics::pointee(&global.name, pointers, self.types),
                };
                pointers += 1;
                nodes.push(Some(self.node(said)));
            }
            let result = self.types.is_pointer(result).then(|| self.node(None));
            self.signatures.push((nodes, result));
        }
        Ok(())
    }

    /// Makes the nodes of the values of a body.
    fn own_values(&mut self, at: usize) -> Result<()> {
        let body = &self.bodies[at];
        let mut nodes = self.signatures[self.functions[at]].0.clone();
        nodes.resize((body.first_instruction - body.first_parameter) as usize, None);
        for instruction in &body.instructions {
            let Some(ty) = instruction.ty else { continue };
            if self.types.pointer_space(ty).is_none() {
                nodes.push(None);
                continue;
            }
            let is_scalar = self.types.is_pointer(ty);
            let byte = self.types.integer(8);
            let node = match &instruction.op {
                Op::Alloca { element, .. } if self.types.is_pointer(*element) => {
                    let slot = self.node(None);
                    self.slots.insert((at, nodes.len()), slot);
                    // Its type follows from the slot.
                    None
                }
                Op::Alloca { element, .. } => {
                    let element = self.types.typed(*element);
                    Some(self.node(Some(element)))
                }
                Op::ElementPointer { element, .. } => {
                    let pointee = self.indexed(*element, &instruction.operands, Some(body))?;
                    Some(self.node(Some(pointee)))
                }
                Op::Load { .. } => match self.slot(at, instruction.operands[0]) {
                    Some(slot) => Some(slot),
                    None => Some(self.node(Some(byte))),
                },
                Op::Call { ty, .. } if is_scalar => match self.callee(instruction.operands[0], *ty) {
                    Some(function) => self.signatures[function].1,
                    None => Some(self.node(Some(byte))),
                },
                Op::Phi { .. } | Op::Select { .. } | Op::Freeze | Op::Cast { .. } if is_scalar => {
                    Some(self.node(None))
                }
                _ => Some(self.node(Some(byte))),
            };
            nodes.push(node);
        }
        self.locals.push(nodes);
        Ok(())
    }

    /// The function that is called, if the call has its type.
    fn callee(&self, value: u32, ty: TypeId) -> Option<usize> {
        let global = self.input.globals.get(value as usize)?;
        (global.is_function && global.ty == ty).then_some(value as usize)
    }

    /// The slot of an alloca.
    fn slot(&self, body: usize, value: u32) -> Option<usize> {
        let local = value.checked_sub(self.bodies[body].first_parameter)? as usize;
        self.slots.get(&(body, local)).copied()
    }

    /// The type that a `getelementptr` reaches, in LLVM 14.
    fn indexed(&mut self, element: TypeId, operands: &[u32], body: Option<&Body>) -> Result<TypeId> {
        indexed(self.types, self.input, element, operands, body)
    }

    /// The pointee of a value.
    fn known(&mut self, at: usize, value: u32) -> Result<Known> {
        let body = &self.bodies[at];
        if value >= body.first_parameter && !(body.first_constant..body.first_instruction).contains(&value) {
            let local = (value - body.first_parameter) as usize;
            // The address of a slot has no node: its type is not known yet, and nobody chooses by it.
            return Ok(self.locals[at].get(local).copied().flatten().map_or(Known::Any, Known::Node));
        }
        Ok(match natural_pointee(self.types, self.input, value, Some(body), None)? {
            Some(ty) => Known::Type(ty),
            None => Known::Any,
        })
    }

    fn access(&mut self, at: usize, pointer: u32, ty: TypeId) -> Result<()> {
        let ty = self.types.typed(ty);
        if let Known::Node(node) = self.known(at, pointer)? {
            self.nodes[node].accesses.push(ty);
        }
        Ok(())
    }

    /// A value flows into the pointer of a node.
    fn flow(&mut self, at: usize, value: u32, node: usize) -> Result<()> {
        match self.known(at, value)? {
            Known::Type(ty) => self.nodes[node].incoming.push(ty),
            Known::Node(from) => {
                match self.nodes[from].chosen {
                    Some(ty) => self.nodes[node].incoming.push(ty),
                    None => self.nodes[node].links.push(from),
                }
                self.nodes[from].links.push(node);
            }
            Known::Any => {}
        }
        Ok(())
    }

    fn uses(&mut self, at: usize) -> Result<()> {
        let bodies = self.bodies;
        let body = &bodies[at];
        let mut local = (body.first_instruction - body.first_parameter) as usize;
        for instruction in &body.instructions {
            let own = self.locals[at].get(local).copied().flatten().filter(|_| instruction.ty.is_some());
            local += usize::from(instruction.ty.is_some());
            let operands = &instruction.operands;
            match &instruction.op {
                Op::ElementPointer { element, .. } => self.access(at, operands[0], *element)?,
                Op::Load { ty, .. } => self.access(at, operands[0], *ty)?,
                Op::Store { .. } | Op::ReadModifyWrite { .. } | Op::CompareExchange { .. } => {
                    let ty = self.value_type(at, operands[1])?;
                    match self.slot(at, operands[0]) {
                        Some(slot) => self.flow(at, operands[1], slot)?,
                        None => self.access(at, operands[0], ty)?,
                    }
                }
                Op::Phi { .. } | Op::Freeze => {
                    if let Some(node) = own {
                        operands.iter().try_for_each(|operand| self.flow(at, *operand, node))?;
                    }
                }
                Op::Select { .. } => {
                    if let Some(node) = own {
                        operands[..2].iter().try_for_each(|operand| self.flow(at, *operand, node))?;
                    }
                }
                Op::Cast { opcode: cast::BITCAST | cast::ADDRSPACECAST, .. } => {
                    if let Some(node) = own {
                        self.flow(at, operands[0], node)?;
                    }
                }
                Op::Return => {
                    if let (Some(node), [value]) = (self.signatures[self.functions[at]].1, &operands[..]) {
                        self.flow(at, *value, node)?;
                    }
                }
                Op::Call { ty, .. } => {
                    let Some(function) = self.callee(operands[0], *ty) else { continue };
                    let parameters = self.signatures[function].0.clone();
                    // The name of one of LLVM's functions says nothing about the pointer: all take bytes.
                    let is_llvm = self.input.globals[function].name.starts_with(b"llvm.");
                    for (operand, parameter) in operands[1..].iter().zip(parameters) {
                        let Some(node) = parameter else { continue };
                        match (self.nodes[node].chosen, self.input.globals[function].is_defined) {
                            (Some(ty), false) if !is_llvm => self.access(at, *operand, ty)?,
                            (Some(_), false) => {}
                            _ => self.flow(at, *operand, node)?,
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The type of a value in LLVM 22.
    fn value_type(&self, at: usize, value: u32) -> Result<TypeId> {
        let body = &self.bodies[at];
        let (globals, value) = (&self.input.globals, value as usize);
        if let Some(local) = value.checked_sub(body.first_parameter as usize) {
            return body.local_types.get(local).copied().ok_or_else(|| missing("value"));
        }
        match value.checked_sub(globals.len()) {
            Some(constant) => self.input.constants.get(constant).map(|one| one.ty).ok_or_else(|| missing("value")),
            None => Ok(self.input.opaque_pointers[value]),
        }
    }

    fn choose(&mut self) {
        for node in &mut self.nodes {
            node.chosen = node.chosen.or_else(|| most_frequent(&node.accesses));
        }
        for node in &mut self.nodes {
            node.chosen = node.chosen.or_else(|| most_frequent(&node.incoming));
        }
        // From one to the next, until nothing changes; each round chooses one at least.
        let mut open: Vec<usize> =
            (0..self.nodes.len()).filter(|node| self.nodes[*node].chosen.is_none()).collect();
        loop {
            let before = open.len();
            open.retain(|node| {
                let links = &self.nodes[*node].links;
                let chosen = links.iter().find_map(|link| self.nodes[*link].chosen);
                self.nodes[*node].chosen = chosen;
                chosen.is_none()
            });
            if open.len() == before {
                break;
            }
        }
        let byte = self.types.integer(8);
        for node in open {
            self.nodes[node].chosen = Some(byte);
        }
    }

    /// The type of a pointer whose node has been chosen.
    fn pointer(&mut self, ty: TypeId, node: Option<usize>) -> TypeId {
        let (Some(space), Some(pointee)) =
            (self.types.pointer_space(ty), node.and_then(|node| self.nodes[node].chosen))
        else {
            return self.types.typed(ty);
        };
        let pointer = self.types.pointer(pointee, space);
        self.types.like(ty, pointer)
    }

    fn result(mut self) -> Result<Pointees> {
        let mut globals = Vec::new();
        for (number, global) in self.input.globals.iter().enumerate() {
            if !global.is_function {
                globals.push(variable(self.types, &global.name, global.ty));
                continue;
            }
            let (result, parameters, variadic) = signature(self.types, global.ty)?;
            let (nodes, result_node) = self.signatures[number].clone();
            let mut parameters: Vec<TypeId> =
                parameters.into_iter().zip(nodes).map(|(ty, node)| self.pointer(ty, node)).collect();
            if intrinsics::is_lifetime(&global.name) && parameters.len() == 1 {
                parameters.insert(0, self.types.integer(64));
            }
            let result = self.pointer(result, result_node);
            globals.push(self.types.intern(Type::Function { variadic, result, parameters }));
        }
        let mut locals = Vec::new();
        for at in 0..self.bodies.len() {
            let nodes = self.locals[at].clone();
            let mut types = Vec::new();
            for (local, ty) in self.bodies[at].local_types.iter().enumerate() {
                types.push(match self.slots.get(&(at, local)).copied() {
                    Some(slot) => {
                        let held = self.held(at, local)?;
                        let pointer = self.pointer(held, Some(slot));
                        self.types.pointer(pointer, 0)
                    }
                    None => self.pointer(*ty, nodes.get(local).copied().flatten()),
                });
            }
            locals.push(types);
        }
        Ok(Pointees { globals, locals })
    }

    /// The type of the pointer in an alloca, in LLVM 22.
    fn held(&self, at: usize, local: usize) -> Result<TypeId> {
        match self.bodies[at].result(local as u32).map(|instruction| &instruction.op) {
            Some(Op::Alloca { element, .. }) => Ok(*element),
            _ => Err(missing("alloca")),
        }
    }
}

/// The type that occurs most often; of several, the first.
fn most_frequent(types: &[TypeId]) -> Option<TypeId> {
    let mut counts: Vec<(TypeId, usize)> = Vec::new();
    for ty in types {
        match counts.iter_mut().find(|(other, _)| other == ty) {
            Some((_, count)) => *count += 1,
            None => counts.push((*ty, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.iter().find(|(_, count)| *count == most).map(|(ty, _)| *ty)
}

/// The type of a variable's contents. LLVM 14 wants the lists of constructors to name functions.
fn variable(types: &mut Types, name: &[u8], ty: TypeId) -> TypeId {
    let typed = types.typed(ty);
    if name != b"llvm.global_ctors" && name != b"llvm.global_dtors" {
        return typed;
    }
    let Type::Array(length, element) = *types.get(typed) else { return typed };
    let Type::Struct { packed, mut members } = types.get(element).clone() else { return typed };
    if members.len() > 1 {
        let result = types.intern(Type::Void);
        let function = types.intern(Type::Function { variadic: false, result, parameters: Vec::new() });
        members[1] = types.pointer(function, 0);
    }
    let element = types.intern(Type::Struct { packed, members });
    types.intern(Type::Array(length, element))
}

/// The type in LLVM 14 that a `getelementptr` from a pointer to `element` reaches.
pub(super) fn indexed(
    types: &mut Types,
    input: &Input,
    element: TypeId,
    operands: &[u32],
    body: Option<&Body>,
) -> Result<TypeId> {
    let mut ty = element;
    for index in operands.iter().skip(2) {
        let index = match types.is_struct(ty) {
            true => input.constant(*index, body).and_then(integer).ok_or("a member that is no constant")?,
            false => 0,
        };
        ty = types.part(ty, index).ok_or_else(|| missing("member"))?;
    }
    Ok(types.typed(ty))
}

/// The pointee of a global or constant in LLVM 14; none if it may have any. `globals` are their types, if they are
/// known already.
pub(super) fn natural_pointee(
    types: &mut Types,
    input: &Input,
    value: u32,
    body: Option<&Body>,
    globals: Option<&[TypeId]>,
) -> Result<Option<TypeId>> {
    if let Some(global) = input.globals.get(value as usize) {
        return Ok(match globals {
            Some(globals) => Some(globals[value as usize]),
            None if global.is_function => None,
            None => Some(variable(types, &global.name, global.ty)),
        });
    }
    let constant = input.constant(value, body).ok_or_else(|| missing("constant"))?.clone();
    match constant.value {
        ConstantValue::ElementPointer { element, operands, .. } => {
            indexed(types, input, element, &operands, body).map(Some)
        }
        ConstantValue::Cast(cast::ADDRSPACECAST | cast::BITCAST, operand) if types.is_pointer(constant.ty) => {
            natural_pointee(types, input, operand, body, globals)
        }
        _ => Ok(None),
    }
}
