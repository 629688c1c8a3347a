//! Source lines of instructions, read from LLVM's debug metadata.

use super::*;
use inkwell::llvm_sys::core::{
    LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetMDString, LLVMMetadataAsValue,
};
use inkwell::llvm_sys::core::{LLVMIsAMDNode, LLVMIsAMDString, LLVMValueAsMetadata};
use inkwell::llvm_sys::debuginfo::*;

/// A position in the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) function: String,
}

/// More calls than are inlined into each other; LLVM's nodes cannot form a cycle.
const MOST_CALLS: usize = 256;

impl Value<'_> {
    /// The line of an instruction, then those of the calls that were inlined around it; none if it has no location.
    pub(crate) fn lines(self) -> Vec<Line> {
        assert!(self.is_instruction(), "no instruction: {}", self.text());
        let context = self.ty().context();
        let mut lines = Vec::new();
        let mut location = llvm!(LLVMInstructionGetDebugLoc(self.raw()));
        while !location.is_null() && lines.len() < MOST_CALLS {
            // A location has a scope, and the scope a file or none.
            let scope = llvm!(LLVMDILocationGetScope(location));
            lines.push(Line {
                file: file(scope),
                line: llvm!(LLVMDILocationGetLine(location)),
                column: llvm!(LLVMDILocationGetColumn(location)),
                function: function(scope, context),
            });
            location = llvm!(LLVMDILocationGetInlinedAt(location));
        }
        lines
    }
}

impl<'m> Value<'m> {
    /// Gives an instruction the line of another one of its function.
    pub(crate) fn copy_line(self, from: Value<'m>) {
        assert!(self.is_instruction() && from.is_instruction(), "no instruction: {}", self.text());
        assert!(self.block().function() == from.block().function(), "a line of another function");
        llvm!(LLVMInstructionSetDebugLoc(self.raw(), LLVMInstructionGetDebugLoc(from.raw())));
    }
}

fn file(scope: LLVMMetadataRef) -> String {
    let file = if scope.is_null() { scope } else { llvm!(LLVMDIScopeGetFile(scope)) };
    if file.is_null() {
        return String::new();
    }
    let mut length = 0;
    // The name has `length` bytes.
    let bytes = llvm!(LLVMDIFileGetFilename(file, &mut length));
    llvm!(text(bytes, length as usize))
}

/// The name of the function that a scope is in. Subprograms have it as their third operand, blocks their parent as the
/// second.
fn function(mut scope: LLVMMetadataRef, context: ContextRef) -> String {
    const SCOPE: usize = 1;
    const NAME: usize = 2;
    for _ in 0..MOST_CALLS {
        if scope.is_null() {
            break;
        }
        let is_subprogram =
            matches!(llvm!(LLVMGetMetadataKind(scope)), LLVMMetadataKind::LLVMDISubprogramMetadataKind);
        let Some(operand) = operand(scope, if is_subprogram { NAME } else { SCOPE }, context) else { break };
        if is_subprogram {
            if llvm!(LLVMIsAMDString(operand)).is_null() {
                break;
            }
            let mut length = 0;
            // The string has `length` bytes.
            let bytes = llvm!(LLVMGetMDString(operand, &mut length));
            return llvm!(text(bytes, length as usize));
        }
        if llvm!(LLVMIsAMDNode(operand)).is_null() {
            break;
        }
        scope = llvm!(LLVMValueAsMetadata(operand));
    }
    String::new()
}

/// An operand of a node; none if it is missing.
fn operand(node: LLVMMetadataRef, index: usize, context: ContextRef) -> Option<LLVMValueRef> {
    let node = llvm!(LLVMMetadataAsValue(context.raw(), node));
    let mut operands = vec![std::ptr::null_mut(); llvm!(LLVMGetMDNodeNumOperands(node)) as usize];
    if !operands.is_empty() {
        // There is room for as many operands as there are.
        llvm!(LLVMGetMDNodeOperands(node, operands.as_mut_ptr()));
    }
    operands.get(index).copied().filter(|operand| !operand.is_null())
}
