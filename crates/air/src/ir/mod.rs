//! A thin layer over LLVM's C API for code that rewrites modules: types, values and blocks that are copied freely, and
//! a builder that takes scalars and vectors alike. (inkwell's typed values suit code that knows its types, as the
//! lowering does. Here they would be in the way.)
//!
//! # Contract
//!
//! Safe code cannot cause undefined behaviour through this module. LLVM checks nothing in a release build, so the layer
//! does, and panics where a check fails:
//!
//! * **Lifetime.** A handle (`Type<'m>`, `Value<'m>`, `Block<'m>`, `Node<'m>`, …) begins at a `&'m Module` of inkwell,
//!   so that it outlives neither its module nor its context.
//! * **Nothing is freed while a handle exists.** Passes, the linker and deletions take `&mut Module` (`passes`), for
//!   which all handles must be gone. An instruction can be erased in between: [`Rewrite::erase`] takes it out of its
//!   block, and frees it only when the `Rewrite`, from which all handles of that time are borrowed, is dropped. The
//!   alternative, an `unsafe fn erase`, would put the burden of proof on each caller; keeping the instructions of one
//!   pass costs a vector of pointers.
//! * **Kind.** A function that LLVM defines for some kinds of values or types first checks the kind, and indices their
//!   range. The builder checks the types of its operands, and that they belong to its module or are constants of its
//!   context.
//! * **No null.** A handle is never null; a function that may find nothing returns an `Option`.
//!
//! Two duties are left to the callers, because nothing can check them. The types that an intrinsic is overloaded on are
//! of the class that LLVM declares it for (a vector for `llvm.vector.reduce.add`): names are literals of this crate,
//! with types of the right class beside them. And inkwell's own methods that free parts of a module (`link_in_module`,
//! `run_passes`, `erase_from_basic_block`) are not called where a handle exists: `passes` wraps those that are needed.
//!
//! Code that is merely wrong (a use before its definition, a block without an end) is no concern of this layer: the
//! verifier finds it before anything else sees the module.

/// Calls a function of LLVM's C API.
///
/// # Safety argument, for all calls
///
/// Each handle that is passed is alive by its lifetime and not null by its type. If the function is defined for some
/// kinds of values or types only, the caller of the macro has checked the kind in the lines before; so has it checked
/// each index. Enumerations that LLVM returns are those of `llvm-sys` for the same version.
macro_rules! llvm {
    ($call:expr) => {
        // SAFETY: the argument above; a use of the macro with another need says so beside it.
        unsafe { $call }
    };
}

mod address;
mod attributes;
mod builder;
mod constants;
mod functions;
mod instructions;
mod layout;
mod lines;
mod metadata;
mod module;
pub(crate) mod passes;
mod rewrite;
#[cfg(test)]
mod tests;
mod types;
mod values;

pub(crate) use address::Address;
pub(crate) use builder::Builder;
pub(crate) use layout::Layout;
pub(crate) use lines::Line;
pub(crate) use metadata::{Metadata, Node, Operand, mark_loop, named, replace_operands};
pub(crate) use module::{ContextRef, ModuleRef};
pub(crate) use rewrite::Rewrite;

use inkwell::llvm_sys::prelude::*;
pub(crate) use inkwell::llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as AtomicOp, LLVMIntPredicate as IntPredicate,
    LLVMOpcode as Opcode, LLVMRealPredicate as RealPredicate, LLVMTypeKind as TypeKind,
};
use inkwell::llvm_sys::{LLVMBasicBlock, LLVMType, LLVMValue};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A type of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Type<'m> {
    raw: NonNull<LLVMType>,
    module: PhantomData<&'m ()>,
}

/// A value of LLVM: a constant, an argument, an instruction, a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Value<'m> {
    raw: NonNull<LLVMValue>,
    module: PhantomData<&'m ()>,
}

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Block<'m> {
    raw: NonNull<LLVMBasicBlock>,
    module: PhantomData<&'m ()>,
}

/// Gives a handle its conversions from and to LLVM's pointers, for this module only.
macro_rules! handle {
    ($name:ident, $raw:ty) => {
        impl<'m> $name<'m> {
            /// Wraps what LLVM returned, if it is something.
            ///
            /// # Safety
            ///
            /// The pointer is null, or it points to an object of LLVM that is alive for `'m`.
            unsafe fn from_raw(raw: $raw) -> Option<$name<'m>> {
                Some($name { raw: NonNull::new(raw)?, module: PhantomData })
            }

            /// The pointer, for LLVM's functions.
            fn raw(self) -> $raw {
                self.raw.as_ptr()
            }
        }
    };
}

handle!(Type, LLVMTypeRef);
handle!(Value, LLVMValueRef);
handle!(Block, LLVMBasicBlockRef);

/// A copy of text that LLVM holds; other bytes than UTF-8 are replaced.
///
/// # Safety
///
/// `bytes` is null, or points to `length` bytes.
unsafe fn text(bytes: *const std::ffi::c_char, length: usize) -> String {
    if bytes.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// A copy of a message that LLVM made for the caller, which is freed.
///
/// # Safety
///
/// `raw` is a string that LLVM allocated, and nobody uses it afterwards.
unsafe fn message(raw: *mut std::ffi::c_char) -> String {
    // SAFETY: the caller's promise; LLVM's messages end with a zero.
    unsafe {
        let text = std::ffi::CStr::from_ptr(raw).to_string_lossy().into_owned();
        inkwell::llvm_sys::core::LLVMDisposeMessage(raw);
        text
    }
}
