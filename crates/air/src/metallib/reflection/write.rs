//! Writing, in the order of Apple's compiler: parts of a node, its table, the node; then the lists of the root.

use super::builder::{Builder, Offset, Slot};
use super::{DEFAULT_SPACE, FunctionReflection, ReflectedBuffer, ReflectedField, ReflectionNode, kind};

/// Slots of a table without those that have their default.
struct Slots(Vec<Slot>);

impl Slots {
    fn offset(&mut self, slot: u16, offset: Offset) {
        self.0.push(Slot::Offset(slot, offset));
    }

    fn always(&mut self, slot: u16, value: u32) {
        self.0.push(Slot::Uint(slot, value));
    }

    fn uint(&mut self, slot: u16, value: u32) {
        if value != 0 {
            self.always(slot, value);
        }
    }

    fn node(&mut self, slot: u16, node: Option<u32>) {
        self.0.extend(node.map(|node| Slot::Uint(slot, node)));
    }

    fn byte(&mut self, slot: u16, value: u8, default: u8) {
        if value != default {
            self.0.push(Slot::Byte(slot, value));
        }
    }
}

fn table(out: &mut Builder, fill: impl FnOnce(&mut Slots)) -> Offset {
    let mut slots = Slots(Vec::new());
    fill(&mut slots);
    out.table(&slots.0)
}

impl FunctionReflection<'_> {
    /// The FlatBuffer; `None` if it has nodes of unknown kinds, or is larger than a FlatBuffer can be.
    pub fn write(&self) -> Option<Vec<u8>> {
        let mut out = Builder::default();
        let nodes = self.nodes.iter().map(|node| write_node(&mut out, node)).collect::<Option<Vec<_>>>()?;
        let nodes = out.references(&nodes);
        let kernels = (!self.kernels.is_empty()).then(|| out.uints(&self.kernels));
        let constants = (!self.constants.is_empty()).then(|| out.uints(&self.constants));
        let threadgroup: Vec<Offset> =
            self.threadgroup.iter().map(|variable| threadgroup(&mut out, *variable)).collect();
        let threadgroup = (!threadgroup.is_empty()).then(|| out.references(&threadgroup));
        let mut root = vec![Slot::Uints(0, self.version), Slot::Offset(1, nodes)];
        for (slot, list) in [(4, kernels), (9, constants), (10, threadgroup)] {
            root.extend(list.map(|list| Slot::Offset(slot, list)));
        }
        let root = out.table(&root);
        out.finish(root, *b"AIRR")
    }
}

fn threadgroup(out: &mut Builder, (size, align): (u32, u32)) -> Offset {
    table(out, |slots| {
        slots.uint(0, size);
        slots.uint(1, align);
    })
}

fn write_node(out: &mut Builder, node: &ReflectionNode) -> Option<Offset> {
    let (kind, content) = match node {
        ReflectionNode::Kernel { name, arguments, max_threads } => {
            let (name, arguments) = (out.string(name), out.uints(arguments));
            let kernel = table(out, |slots| {
                slots.offset(0, name);
                slots.offset(2, arguments);
                slots.node(6, *max_threads);
            });
            (kind::KERNEL, kernel)
        }
        ReflectionNode::MaxThreads(threads) => (kind::MAX_THREADS, table(out, |slots| slots.uint(0, *threads))),
        ReflectionNode::Buffer(buffer) => (kind::BUFFER, write_buffer(out, buffer)),
        ReflectionNode::Builtin { number, is_conditional, type_name, name, is_unused } => {
            let (type_name, name) = (out.string(type_name), out.string(name));
            // Not in the order of generated code.
            let mut slots = Slots(Vec::new());
            slots.byte(0, (*is_conditional).into(), 0);
            slots.offset(1, type_name);
            slots.offset(2, name);
            slots.byte(3, (*is_unused).into(), 0);
            (kind::BUILTIN + u32::from(*number), out.table_in_order(&slots.0))
        }
        ReflectionNode::Constant { type_name, name, index, is_used } => {
            let (type_name, name) = (out.string(type_name), out.string(name));
            let constant = table(out, |slots| {
                slots.offset(0, type_name);
                slots.offset(1, name);
                slots.uint(2, *index);
                slots.byte(3, (*is_used).into(), 0);
            });
            (kind::CONSTANT, constant)
        }
        ReflectionNode::Struct(fields) => {
            let fields: Vec<Offset> = fields.iter().map(|field| write_field(out, field)).collect();
            let fields = out.references(&fields);
            (kind::STRUCT, table(out, |slots| slots.offset(0, fields)))
        }
        ReflectionNode::Other { .. } => return None,
    };
    Some(table(out, |slots| {
        slots.always(0, kind);
        slots.offset(1, content);
    }))
}

fn write_buffer(out: &mut Builder, buffer: &ReflectedBuffer) -> Offset {
    let (type_name, name) = (out.string(&buffer.type_name), out.string(&buffer.name));
    table(out, |slots| {
        slots.byte(0, buffer.is_conditional.into(), 0);
        slots.uint(1, buffer.buffer_size);
        slots.always(2, buffer.index);
        slots.always(3, buffer.count);
        slots.byte(4, buffer.access, 0);
        slots.byte(5, buffer.address_space, DEFAULT_SPACE);
        slots.node(6, buffer.struct_type);
        slots.uint(8, buffer.type_size);
        slots.uint(9, buffer.type_align);
        slots.offset(10, type_name);
        slots.offset(11, name);
        slots.byte(12, buffer.is_unused.into(), 0);
    })
}

fn write_field(out: &mut Builder, field: &ReflectedField) -> Offset {
    let (type_name, name) = (out.string(&field.type_name), out.string(&field.name));
    table(out, |slots| {
        slots.node(0, field.struct_type);
        slots.uint(1, field.offset);
        slots.uint(2, field.size);
        slots.uint(3, field.length);
        slots.offset(4, type_name);
        slots.offset(5, name);
    })
}
