//! Folding: what was decided by values goes away.

use super::arrays;
use super::error::Error;
use crate::ir::{Builder, IntPredicate, ModuleRef, Opcode, Type, Value};
use crate::passes;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use std::ffi::CStr;

/// Enough that branches on constants are gone, and no more: what is left is for the code generator to optimize.
const SIMPLIFY: &str = "function(sroa,early-cse,sccp,simplifycfg,adce)";

/// Takes dead branches away in code that reads the constants themselves.
pub(super) fn simplify(module: ModuleRef) -> Result<(), Error> {
    run_passes(module, &format!("always-inline,{SIMPLIFY}"))
}

/// Evaluates the static initializer, which leaves its results in the variables that it sets.
pub(super) fn evaluate_initializer(module: ModuleRef) -> Result<(), Error> {
    run_passes(module, "globalopt")?;
    match initializer(module) {
        None => Ok(()),
        Some(_) => Err(Error::Unsupported("a static initializer that LLVM cannot evaluate".into())),
    }
}

/// Takes away what nothing needs any more.
pub(super) fn clean(module: ModuleRef) -> Result<(), Error> {
    delete(module, c"llvm.global_ctors");
    run_passes(module, &format!("{SIMPLIFY},globalopt,{SIMPLIFY}"))?;
    while arrays::drop_unread(module) {
        run_passes(module, "function(adce)")?;
    }
    delete(module, c"llvm.compiler.used");
    run_passes(module, "globaldce")
}

/// Lists the variables in threadgroup memory as used, so that LLVM neither splits nor shrinks them: they are the kernel's
/// interface, and LLVM thinks of one thread only.
pub(super) fn keep_threadgroup_memory(module: ModuleRef) {
    const THREADGROUP: u32 = 3;
    const LIST: &CStr = c"llvm.compiler.used";
    let list = unsafe { LLVMGetNamedGlobal(module.0, LIST.as_ptr()) };
    let old = (!list.is_null()).then(|| Value(list).initializer()).flatten();
    let mut used: Vec<LLVMValueRef> =
        old.map(Value::operands).unwrap_or_default().iter().map(|one| one.0).collect();
    let pointer = Type::pointer(module.context());
    let globals = module.globals().into_iter().filter(|global| global.ty().address_space() == THREADGROUP);
    used.extend(globals.map(|global| unsafe { LLVMConstAddrSpaceCast(global.0, pointer.0) }));
    if used.is_empty() {
        return;
    }
    delete(module, LIST);
    // SAFETY: the list is made as LLVM expects it: an array of pointers, appending, in the section of metadata.
    unsafe {
        let array = LLVMConstArray2(pointer.0, used.as_mut_ptr(), used.len() as u64);
        let list = LLVMAddGlobal(module.0, LLVMTypeOf(array), LIST.as_ptr());
        LLVMSetInitializer(list, array);
        LLVMSetLinkage(list, LLVMLinkage::LLVMAppendingLinkage);
        LLVMSetSection(list, c"llvm.metadata".as_ptr());
    }
}

fn delete(module: ModuleRef, list: &CStr) {
    unsafe {
        let global = LLVMGetNamedGlobal(module.0, list.as_ptr());
        if !global.is_null() {
            LLVMDeleteGlobal(global);
        }
    }
}

/// The function that runs before the kernel does.
pub(super) fn initializer(module: ModuleRef) -> Option<Value> {
    let list = unsafe { LLVMGetNamedGlobal(module.0, c"llvm.global_ctors".as_ptr()) };
    let entries = (!list.is_null()).then(|| Value(list).initializer()).flatten()?;
    // An entry is {priority, function, data}; an empty list may be a zero without operands.
    let entry = (entries.operand_count() > 0).then(|| entries.operand(0))?;
    (entry.operand_count() > 1).then(|| entry.operand(1))
}

/// `air.normalize_function_constant_predicate`: any value but zero is one.
pub(super) fn normalize_predicates(module: ModuleRef) {
    let builder = Builder::new(module);
    for function in functions_with_prefix(module, "air.normalize_function_constant_predicate") {
        for call in calls(function) {
            let [value] = call.arguments()[..] else { continue };
            if value.ty() != call.ty() || !value.ty().is_int() {
                continue;
            }
            builder.before(call);
            let is_set = builder.icmp(IntPredicate::LLVMIntNE, value, value.ty().zero());
            call.replace_all_uses_with(builder.zext(is_set, call.ty()));
            call.erase();
        }
    }
}

/// The declarations whose name is this or goes on with a type.
pub(super) fn functions_with_prefix(module: ModuleRef, prefix: &str) -> Vec<Value> {
    let is_meant = |function: &Value| {
        let name = function.name();
        let rest = name.strip_prefix(prefix);
        function.is_declaration() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    module.functions().into_iter().filter(is_meant).collect()
}

/// The calls of a function.
pub(super) fn calls(function: Value) -> Vec<Value> {
    let is_call = |user: &Value| {
        user.is_instruction() && user.opcode() == Opcode::LLVMCall && user.callee() == Some(function)
    };
    function.users().into_iter().filter(is_call).collect()
}

fn run_passes(module: ModuleRef, passes: &str) -> Result<(), Error> {
    passes::run(module, passes).map_err(Error::Internal)
}
