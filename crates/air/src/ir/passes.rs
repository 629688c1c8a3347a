//! Operations that free parts of a module: LLVM's passes, linking, deletions. They take the module for themselves, so
//! that no handle to it exists.

use super::*;
use inkwell::llvm_sys::core::{LLVMDeleteFunction, LLVMDeleteGlobal};
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
};
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use std::ffi::{CStr, CString};

/// Runs passes over a module, for no machine in particular.
pub(crate) fn run(module: &mut Module, passes: &str) -> Result<(), String> {
    run_for(module, passes, None)
}

/// Runs passes over a module that know the machine it is for.
pub(crate) fn run_for(module: &mut Module, passes: &str, machine: Option<&TargetMachine>) -> Result<(), String> {
    let text = CString::new(passes).map_err(|error| error.to_string())?;
    let machine = machine.map_or(std::ptr::null_mut(), TargetMachine::as_mut_ptr);
    // SAFETY: the module and the machine are alive while the passes run, and there may be no machine. The options and
    // the message are disposed of once.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module.as_mut_ptr(), text.as_ptr(), machine, options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let raw = LLVMGetErrorMessage(error);
        let message = CStr::from_ptr(raw).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(raw);
        Err(message)
    }
}

/// Removes the lines of instructions, and all that describes the source.
pub(crate) fn strip_debug_info(module: &mut Module) {
    // SAFETY: the module is alive, and no handle to its metadata exists.
    unsafe { inkwell::llvm_sys::debuginfo::LLVMStripModuleDebugInfo(module.as_mut_ptr()) };
}

/// Moves the contents of `part` into a module of the same context.
pub(crate) fn link<'ctx>(module: &mut Module<'ctx>, part: Module<'ctx>) -> Result<(), String> {
    module.link_in_module(part).map_err(|error| error.to_string())
}

/// Deletes the declarations that nothing uses and `is_meant` says.
pub(crate) fn delete_declarations(module: &mut Module, is_meant: impl for<'m> Fn(Value<'m>) -> bool) {
    let is_unused = |function: &Value| function.is_declaration() && !function.has_use() && is_meant(*function);
    let unused: Vec<LLVMValueRef> =
        ModuleRef::of(module).functions().into_iter().filter(is_unused).map(Value::raw).collect();
    for function in unused {
        // SAFETY: nothing uses it, and no handle to it is left. Each is listed once.
        unsafe { LLVMDeleteFunction(function) };
    }
}

/// Deletes the variable of this name, which nothing may use, if there is one.
pub(crate) fn delete_global(module: &mut Module, name: &CStr) {
    let Some(global) = ModuleRef::of(module).global(name) else { return };
    assert!(!global.has_use(), "still used: {}", global.text());
    // SAFETY: nothing uses it, and no handle to it is left after this.
    unsafe { LLVMDeleteGlobal(global.raw()) };
}

/// Adds the variables that `is_meant` says to one of LLVM's lists of globals (`llvm.compiler.used`).
pub(crate) fn extend_list(module: &mut Module, name: &CStr, is_meant: impl for<'m> Fn(Value<'m>) -> bool) {
    let module = ModuleRef::of(module);
    let old = module.global(name);
    let mut elements = old.and_then(Value::initializer).map(Value::operands).unwrap_or_default();
    elements.extend(module.globals().into_iter().filter(|global| is_meant(*global)));
    if elements.is_empty() {
        return;
    }
    if let Some(old) = old {
        assert!(!old.has_use(), "still used: {}", old.text());
        // SAFETY: nothing uses it, and no handle to it is used after this: its elements are globals, or constants,
        // which belong to the context.
        unsafe { LLVMDeleteGlobal(old.raw()) };
    }
    // An array of pointers, as LLVM expects it.
    let pointer = Type::pointer(module.context());
    let elements: Vec<Value> = elements.into_iter().map(|element| element.in_address_space_of(pointer)).collect();
    module.add_global(name, pointer.constant_array(&elements)).make_list();
}
