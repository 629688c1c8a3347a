//! Nodes of a module that somebody else made: every operand may be anything.

use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMGetIntTypeWidth, LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands,
    LLVMGetMDString, LLVMGetNamedMetadataNumOperands, LLVMGetNamedMetadataOperands, LLVMGetValueName2,
    LLVMIsAConstantInt, LLVMIsAGlobalValue, LLVMIsAMDNode, LLVMIsAMDString, LLVMTypeOf, LLVMValueAsMetadata,
};
use inkwell::llvm_sys::prelude::{LLVMMetadataRef, LLVMValueRef};
use inkwell::module::Module;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr;

/// A node of a module.
#[derive(Clone, Copy)]
pub(crate) struct Node<'m> {
    value: LLVMValueRef,
    module: PhantomData<&'m ()>,
}

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
    Global(Global<'m>),
    /// Nothing, or something else.
    Other,
}

/// A function or a global variable.
#[derive(Clone, Copy)]
pub(crate) struct Global<'m> {
    value: LLVMValueRef,
    module: PhantomData<&'m ()>,
}

impl Global<'_> {
    /// Its name; empty where it has none.
    pub(crate) fn name(&self) -> String {
        let mut length = 0;
        // SAFETY: `value` belongs to a module that outlives `self`; the name has `length` bytes, and is copied.
        unsafe {
            let name = LLVMGetValueName2(self.value, &mut length);
            text(name.cast(), length)
        }
    }

    /// The value, which is alive as long as the module is.
    pub(crate) fn as_value_ref(&self) -> LLVMValueRef {
        self.value
    }
}

/// The nodes in a list of a module; none where there is no such list.
pub(crate) fn named<'m>(module: &'m Module<'_>, name: &CStr) -> Vec<Node<'m>> {
    // SAFETY: the module is alive, and the list has room for as many nodes as there are.
    let values = unsafe {
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), name.as_ptr());
        let mut values: Vec<LLVMValueRef> = vec![ptr::null_mut(); count as usize];
        if count != 0 {
            LLVMGetNamedMetadataOperands(module.as_mut_ptr(), name.as_ptr(), values.as_mut_ptr());
        }
        values
    };
    values.into_iter().filter_map(Node::new).collect()
}

impl<'m> Node<'m> {
    fn new(value: LLVMValueRef) -> Option<Node<'m>> {
        // SAFETY: LLVM's question takes any value but null.
        let is_node = !value.is_null() && unsafe { !LLVMIsAMDNode(value).is_null() };
        is_node.then_some(Node { value, module: PhantomData })
    }

    /// The node, which is alive as long as the module is.
    pub(crate) fn as_value_ref(self) -> LLVMValueRef {
        self.value
    }

    /// The node as metadata.
    pub(crate) fn as_metadata(self) -> LLVMMetadataRef {
        // SAFETY: `value` is a node.
        unsafe { LLVMValueAsMetadata(self.value) }
    }

    /// What it holds, to make another node of; null where there is nothing.
    pub(crate) fn raw_operands(self) -> Vec<LLVMMetadataRef> {
        let metadata = |value: LLVMValueRef| match value.is_null() {
            true => ptr::null_mut(),
            // SAFETY: the operand of a node is alive.
            false => unsafe { LLVMValueAsMetadata(value) },
        };
        self.values().into_iter().map(metadata).collect()
    }

    /// What it holds.
    pub(crate) fn operands(self) -> Vec<Operand<'m>> {
        self.values().into_iter().map(operand).collect()
    }

    fn values(self) -> Vec<LLVMValueRef> {
        // SAFETY: `value` is a node, and the list has room for as many operands as it has.
        unsafe {
            let count = LLVMGetMDNodeNumOperands(self.value);
            let mut values: Vec<LLVMValueRef> = vec![ptr::null_mut(); count as usize];
            if count != 0 {
                LLVMGetMDNodeOperands(self.value, values.as_mut_ptr());
            }
            values
        }
    }
}

fn operand<'m>(value: LLVMValueRef) -> Operand<'m> {
    if value.is_null() {
        return Operand::Other;
    }
    // SAFETY: `value` is alive and not null, which is all that the questions need; what follows a question is for
    // values of that class. An integer's type is an integer type.
    unsafe {
        if !LLVMIsAMDString(value).is_null() {
            let mut length = 0;
            let bytes = LLVMGetMDString(value, &mut length);
            Operand::Text(text(bytes.cast(), length as usize))
        } else if let Some(node) = Node::new(value) {
            Operand::Node(node)
        } else if !LLVMIsAConstantInt(value).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64 {
            Operand::Int(LLVMConstIntGetZExtValue(value))
        } else if !LLVMIsAGlobalValue(value).is_null() {
            Operand::Global(Global { value, module: PhantomData })
        } else {
            Operand::Other
        }
    }
}

/// A copy of `length` bytes; what is not UTF-8 is replaced.
///
/// # Safety
///
/// `bytes` is null, or points to `length` bytes.
unsafe fn text(bytes: *const u8, length: usize) -> String {
    if bytes.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
    String::from_utf8_lossy(bytes).into_owned()
}
