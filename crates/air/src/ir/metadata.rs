//! Metadata: nodes, also those of a module that somebody else wrote, in which every operand may be anything.

use super::*;
use inkwell::llvm_sys::LLVMOpaqueMetadata;
use inkwell::llvm_sys::core::*;
use inkwell::module::Module;
use std::ffi::CStr;

/// A piece of metadata: a node, a string, or a value.
#[derive(Clone, Copy)]
pub(crate) struct Metadata<'m> {
    raw: NonNull<LLVMOpaqueMetadata>,
    context: ContextRef<'m>,
}

impl<'m> Metadata<'m> {
    /// # Safety
    ///
    /// `raw` is metadata of `context`.
    unsafe fn from_raw(raw: LLVMMetadataRef, context: ContextRef<'m>) -> Metadata<'m> {
        Metadata { raw: NonNull::new(raw).expect("LLVM returns metadata"), context }
    }

    /// A node with these operands; some may be missing.
    pub(crate) fn node(context: ContextRef<'m>, operands: &[Option<Metadata<'m>>]) -> Metadata<'m> {
        assert!(operands.iter().flatten().all(|operand| operand.context == context), "nodes of two contexts");
        let raw = |operand: &Option<Metadata>| operand.map_or(std::ptr::null_mut(), |operand| operand.raw.as_ptr());
        let mut raw: Vec<LLVMMetadataRef> = operands.iter().map(raw).collect();
        llvm!(Metadata::from_raw(LLVMMDNodeInContext2(context.raw(), raw.as_mut_ptr(), raw.len()), context))
    }

    /// A node unlike any other: its first operand is the node itself, then come these.
    pub(crate) fn distinct(context: ContextRef<'m>, operands: &[Metadata<'m>]) -> Metadata<'m> {
        let place = Metadata::node(context, &[]);
        let operands: Vec<_> = std::iter::once(place).chain(operands.iter().copied()).map(Some).collect();
        let node = Metadata::node(context, &operands);
        // It has an operand.
        llvm!(refer_to_itself(node.as_value()));
        node
    }

    pub(crate) fn string(context: ContextRef<'m>, text: &str) -> Metadata<'m> {
        let raw = llvm!(LLVMMDStringInContext2(context.raw(), text.as_ptr().cast(), text.len()));
        llvm!(Metadata::from_raw(raw, context))
    }

    /// Metadata that are the operand of a node, as a value.
    fn of(value: Value<'m>) -> Metadata<'m> {
        // Values of LLVM that are operands of nodes are metadata, constants or globals: each has metadata for it.
        llvm!(Metadata::from_raw(LLVMValueAsMetadata(value.raw()), value.ty().context()))
    }

    /// The same as an operand of LLVM's functions on values.
    pub(super) fn as_value(self) -> LLVMValueRef {
        llvm!(LLVMMetadataAsValue(self.context.raw(), self.raw.as_ptr()))
    }
}

/// A node of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Node<'m>(Value<'m>);

/// An operand of a node.
#[derive(Clone)]
pub(crate) enum Operand<'m> {
    /// An integer of up to 64 bits, without sign.
    Int(u64),
    /// A string.
    Text(String),
    /// Another node.
    Node(Node<'m>),
    /// A function or a global variable.
    Global(Value<'m>),
    /// Nothing, or something else.
    Other,
}

/// The nodes in a list of a module; none where there is no such list.
pub(crate) fn named<'m>(module: ModuleRef<'m>, name: &CStr) -> Vec<Node<'m>> {
    let count = llvm!(LLVMGetNamedMetadataNumOperands(module.raw(), name.as_ptr()));
    let mut values: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); count as usize];
    if count != 0 {
        // There is room for as many nodes as there are.
        llvm!(LLVMGetNamedMetadataOperands(module.raw(), name.as_ptr(), values.as_mut_ptr()));
    }
    values.into_iter().filter_map(|raw| Node::new(llvm!(Value::from_raw(raw))?)).collect()
}

/// Replaces operand `operand` of nodes in a list of a module: `replacement` says by what, or that a node stays.
///
/// LLVM may free a node that becomes equal to another one. So the module is borrowed for itself, and `replacement`
/// cannot keep a node.
pub(crate) fn replace_operands<E>(
    module: &mut Module,
    list: &CStr,
    operand: usize,
    mut replacement: impl for<'m> FnMut(ContextRef<'m>, Node<'m>) -> Result<Option<Metadata<'m>>, E>,
) -> Result<(), E> {
    let module = ModuleRef::of(module);
    // Nodes are looked up anew after each change.
    for index in 0..named(module, list).len() {
        let Some(&node) = named(module, list).get(index) else { break };
        if let Some(new) = replacement(module.context(), node)? {
            assert!(operand < node.count(), "operand {operand} of a node of {}", node.count());
            assert!(new.context == module.context(), "a node of another context");
            llvm!(LLVMReplaceMDNodeOperandWith(node.0.raw(), operand as u32, new.raw.as_ptr()));
        }
    }
    Ok(())
}

impl<'m> Node<'m> {
    fn new(value: Value<'m>) -> Option<Node<'m>> {
        (!llvm!(LLVMIsAMDNode(value.raw())).is_null()).then_some(Node(value))
    }

    /// The node as an operand of another one.
    pub(crate) fn metadata(self) -> Metadata<'m> {
        Metadata::of(self.0)
    }

    /// The operands, for another node.
    pub(crate) fn metadata_operands(self) -> Vec<Option<Metadata<'m>>> {
        self.values().into_iter().map(|value| value.map(Metadata::of)).collect()
    }

    pub(crate) fn operands(self) -> Vec<Operand<'m>> {
        self.values().into_iter().map(operand).collect()
    }

    fn count(self) -> usize {
        llvm!(LLVMGetMDNodeNumOperands(self.0.raw())) as usize
    }

    fn values(self) -> Vec<Option<Value<'m>>> {
        let mut values: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); self.count()];
        if !values.is_empty() {
            // There is room for as many operands as there are.
            llvm!(LLVMGetMDNodeOperands(self.0.raw(), values.as_mut_ptr()));
        }
        values.into_iter().map(|raw| llvm!(Value::from_raw(raw))).collect()
    }
}

fn operand(value: Option<Value>) -> Operand {
    let Some(value) = value else { return Operand::Other };
    if !llvm!(LLVMIsAMDString(value.raw())).is_null() {
        let mut length = 0;
        // The string has `length` bytes.
        let bytes = llvm!(LLVMGetMDString(value.raw(), &mut length));
        Operand::Text(llvm!(text(bytes, length as usize)))
    } else if let Some(node) = Node::new(value) {
        Operand::Node(node)
    } else if value.as_int().is_some() {
        Operand::Int(llvm!(LLVMConstIntGetZExtValue(value.raw())))
    } else if value.is_global() {
        Operand::Global(value)
    } else {
        Operand::Other
    }
}

/// Makes the first operand of a loop's node the node itself, which is how LLVM tells one loop from another.
///
/// # Safety
///
/// `node` is a node, as a value, with at least one operand.
unsafe fn refer_to_itself(node: LLVMValueRef) {
    // SAFETY: the caller's promise. LLVM frees no node that is an operand of itself.
    unsafe { LLVMReplaceMDNodeOperandWith(node, 0, LLVMValueAsMetadata(node)) }
}

/// Makes the first operand of a node, which is there for it, the node itself: a node for one loop alone.
pub(crate) fn mark_loop(node: inkwell::values::MetadataValue) {
    use inkwell::values::AsValueRef;
    assert!(node.get_node_size().is_some_and(|size| size > 0), "a node with an operand");
    // SAFETY: it is, and inkwell's lifetime says that it is alive.
    unsafe { refer_to_itself(node.as_value_ref()) }
}

impl<'m> Value<'m> {
    /// Attaches a node to an instruction, in the place of one of the same kind.
    pub(crate) fn attach(self, kind: &CStr, node: Metadata<'m>) {
        assert!(node.context == self.ty().context(), "a node of another context");
        assert!(!llvm!(LLVMIsAMDNode(node.as_value())).is_null(), "no node");
        self.set_metadata(kind, node.as_value());
    }

    /// True if a node of this kind is attached to an instruction.
    pub(crate) fn has_metadata(self, kind: &CStr) -> bool {
        assert!(self.is_instruction(), "no instruction: {}", self.text());
        let length = kind.count_bytes() as u32;
        let kind = llvm!(LLVMGetMDKindIDInContext(self.ty().context().raw(), kind.as_ptr(), length));
        !llvm!(LLVMGetMetadata(self.raw(), kind)).is_null()
    }

    /// True if something is stated about the loop that a branch closes, by the source or by [`Value::set_loop_hint`].
    pub(crate) fn has_loop_hint(self, hint: &str) -> bool {
        assert!(self.is_instruction(), "no instruction: {}", self.text());
        let (kind, length) = (c"llvm.loop", c"llvm.loop".count_bytes() as u32);
        let kind = llvm!(LLVMGetMDKindIDInContext(self.ty().context().raw(), kind.as_ptr(), length));
        let stated: Option<Value<'m>> = llvm!(Value::from_raw(LLVMGetMetadata(self.raw(), kind)));
        let hints = stated.and_then(Node::new).into_iter().flat_map(Node::operands);
        let first = |operand: Operand<'m>| match operand {
            Operand::Node(node) => node.operands().into_iter().next(),
            _ => None,
        };
        hints.filter_map(first).any(|operand| matches!(operand, Operand::Text(text) if text == hint))
    }

    fn set_metadata(self, kind: &CStr, node: LLVMValueRef) {
        assert!(self.is_instruction(), "no instruction: {}", self.text());
        let context = self.ty().context();
        let length = kind.count_bytes() as u32;
        let kind = llvm!(LLVMGetMDKindIDInContext(context.raw(), kind.as_ptr(), length));
        llvm!(LLVMSetMetadata(self.raw(), kind, node))
    }

    /// States something about the loop that a branch closes (`llvm.loop.unroll.full`), instead of all that was stated.
    pub(crate) fn set_loop_hint(self, hint: &str) {
        let context = self.ty().context();
        let hint = Metadata::node(context, &[Some(Metadata::string(context, hint))]);
        let place = Metadata::node(context, &[]);
        let node = Metadata::node(context, &[Some(place), Some(hint)]).as_value();
        // It has two operands.
        llvm!(refer_to_itself(node));
        self.set_metadata(c"llvm.loop", node);
    }

    /// Says that the memory which a load reads does not change while the function runs.
    pub(crate) fn set_invariant(self) {
        assert!(self.is(Opcode::LLVMLoad), "no load: {}", self.text());
        let context = self.ty().context();
        self.set_metadata(c"invariant.load", Metadata::node(context, &[]).as_value());
    }

    /// Copies all metadata of another instruction but its source line.
    pub(crate) fn copy_metadata(self, from: Value<'m>) {
        assert!(self.is_instruction() && from.is_instruction(), "no instruction: {}", self.text());
        let context = from.ty().context();
        assert!(self.ty().context() == context, "instructions of two contexts");
        let mut count = 0;
        // SAFETY: both are instructions of one context. The list has `count` entries, and is disposed of once.
        unsafe {
            let entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(from.raw(), &mut count);
            for index in 0..count as u32 {
                let metadata = LLVMValueMetadataEntriesGetMetadata(entries, index);
                let node = LLVMMetadataAsValue(context.raw(), metadata);
                LLVMSetMetadata(self.raw(), LLVMValueMetadataEntriesGetKind(entries, index), node);
            }
            LLVMDisposeValueMetadataEntries(entries);
        }
    }
}
