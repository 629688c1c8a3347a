//! The objects that a pointer points into: followed back through address arithmetic, selects and phis to arguments or
//! variables. A pointer that was loaded is unknown.

use crate::ir::{Layout, ModuleRef, Opcode, Type, Value};
use crate::reflect::Role;
use abi::Object;
use rustc_hash::{FxHashMap, FxHashSet};

/// The roots of a module's pointers.
pub(super) struct Provenance<'m> {
    layout: Layout<'m>,
    arguments: FxHashMap<Value<'m>, Object>,
    /// Arguments that the kernel declares `const`.
    constant: FxHashSet<Value<'m>>,
}

/// A root, and the object that it is the start of.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Root<'m> {
    pub(super) base: Value<'m>,
    pub(super) object: Object,
}

const CONSTANT: u32 = 2;
const THREADGROUP: u32 = 3;

impl<'m> Provenance<'m> {
    pub(super) fn new(module: ModuleRef<'m>, kernel: &str, roles: &[Role]) -> Provenance<'m> {
        let parameters = module.function(kernel).map(Value::parameters).unwrap_or_default();
        let argument = |role: &Role| {
            let parameter = *parameters.get(role.position)?;
            let index = u32::try_from(role.index?).ok()?;
            let object = match role.address_space == Some(THREADGROUP.into()) {
                true => Object::ThreadgroupArgument(index),
                false => Object::Buffer(index),
            };
            // A function table has a layout of its own.
            let is_buffer = matches!(role.what.as_str(), "air.buffer" | "air.indirect_buffer");
            (is_buffer && parameter.ty().is_pointer()).then_some((parameter, object))
        };
        let constant = roles.iter().filter(|role| role.is_read_only);
        Provenance {
            layout: Layout::of(module),
            arguments: roles.iter().filter_map(argument).collect(),
            constant: constant.filter_map(|role| parameters.get(role.position)).copied().collect(),
        }
    }

    /// True for a pointer into an argument that the kernel declares `const`.
    pub(super) fn is_constant(&self, pointer: Value<'m>) -> bool {
        self.root(pointer).is_some_and(|root| self.constant.contains(&root.base))
    }

    /// The root of a pointer; none if it is not known, or one of several.
    pub(super) fn root(&self, pointer: Value<'m>) -> Option<Root<'m>> {
        let roots = self.roots(pointer)?;
        <[Root<'m>; 1]>::try_from(roots).ok().map(|[root]| root)
    }

    /// All roots of a pointer; none if one is not known.
    pub(super) fn roots(&self, pointer: Value<'m>) -> Option<Vec<Root<'m>>> {
        let (mut found, mut seen, mut pending) = (Vec::new(), FxHashSet::default(), vec![pointer]);
        while let Some(value) = pending.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.step(value) {
                Step::Root(root) if found.contains(&root) => {}
                Step::Root(root) => found.push(root),
                Step::From(operands) => pending.extend(operands),
                Step::Unknown => return None,
            }
        }
        Some(found)
    }

    /// The roots of a pointer that can be in one of several objects which threads share; empty for others.
    pub(super) fn shared_roots(&self, pointer: Value<'m>) -> Vec<Root<'m>> {
        let is_shared = |root: &Root<'m>| {
            let is_shared = matches!(
                root.object,
                Object::Buffer(_) | Object::ThreadgroupArgument(_) | Object::ThreadgroupVariable { .. }
            );
            is_shared && root.base.ty() == pointer.ty()
        };
        self.roots(pointer).filter(|roots| roots.len() > 1 && roots.iter().all(is_shared)).unwrap_or_default()
    }

    /// The root of a value that is one.
    pub(super) fn is_root(&self, value: Value<'m>) -> Option<Root<'m>> {
        match self.step(value) {
            Step::Root(root) => Some(root),
            Step::From(_) | Step::Unknown => None,
        }
    }

    fn step(&self, value: Value<'m>) -> Step<'m> {
        if let Some(object) = self.arguments.get(&value) {
            return Step::Root(Root { base: value, object: object.clone() });
        }
        if value.is_global_variable() {
            return self.variable(value);
        }
        if !(value.is_instruction() || value.is_constant_expression()) {
            return Step::Unknown;
        }
        match value.opcode() {
            Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMFreeze | Opcode::LLVMAddrSpaceCast => {
                Step::From(vec![value.operand(0)])
            }
            Opcode::LLVMSelect => Step::From(vec![value.operand(1), value.operand(2)]),
            Opcode::LLVMPHI => Step::From(value.incoming().into_iter().map(|(value, _)| value).collect()),
            Opcode::LLVMAlloca => {
                let count = value.operand(0).as_int().and_then(|count| u64::try_from(count).ok());
                let Some(count) = count else { return Step::Unknown };
                let size = content_size(&self.layout, value.allocated_type()) * count;
                Step::Root(Root { base: value, object: Object::Private { name: value.name(), size } })
            }
            _ => Step::Unknown,
        }
    }

    fn variable(&self, global: Value<'m>) -> Step<'m> {
        let (name, size) = (readable(&global.name()), self.layout.size(global.global_type()));
        let object = match global.ty().address_space() {
            THREADGROUP => Object::ThreadgroupVariable { name: global.name(), offset: 0, size },
            CONSTANT | 0 => Object::Constant { name, size },
            _ => return Step::Unknown,
        };
        Step::Root(Root { base: global, object })
    }
}

/// The bytes of a value: a vector of three elements is as large as one of four, and has three.
pub(super) fn content_size<'m>(layout: &Layout<'m>, ty: Type<'m>) -> u64 {
    if ty.is_vector() { layout.size(ty.element()) * ty.length() as u64 } else { layout.size(ty) }
}

enum Step<'m> {
    Root(Root<'m>),
    From(Vec<Value<'m>>),
    Unknown,
}

/// The name of a variable in the source, from that of its symbol: `kernel.tile` or `_ZZ6kernelE4tile`.
pub(crate) fn readable(symbol: &str) -> String {
    let mangled = symbol.strip_prefix("_Z").and_then(|rest| {
        // The part at the end that has its length before it.
        let part = |at: usize| {
            let digits = rest[at..].chars().take_while(char::is_ascii_digit).count();
            let length: usize = rest[at..at + digits].parse().ok()?;
            rest.get(at + digits..).filter(|name| name.len() == length && length > 0)
        };
        let starts = rest.char_indices().filter(|(_, c)| c.is_ascii_digit());
        starts.map(|(at, _)| at).find_map(part)
    });
    let plain = || symbol.rsplit('.').find(|part| part.parse::<u32>().is_err()).unwrap_or(symbol);
    mangled.unwrap_or_else(plain).to_owned()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn symbols_become_names() {
        for (symbol, name) in [
            ("tile", "tile"),
            ("kernel.tile", "tile"),
            ("kernel.tile.12", "tile"),
            ("_ZZ6kernelE4tile", "tile"),
            ("_ZZ1kE12partial_sums", "partial_sums"),
            ("_ZZ1kE3a1b", "a1b"),
        ] {
            assert_eq!(readable(symbol), name, "{symbol}");
        }
    }
}
