//! Running LLVM's passes by name.

use crate::ir::ModuleRef;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
};
use std::ffi::{CStr, CString};

/// Runs passes over a module, for no machine in particular.
pub(crate) fn run(module: ModuleRef, passes: &str) -> Result<(), String> {
    run_for(module, passes, std::ptr::null_mut())
}

/// Runs passes over a module that know the machine it is for.
pub(crate) fn run_for(module: ModuleRef, passes: &str, machine: LLVMTargetMachineRef) -> Result<(), String> {
    let text = CString::new(passes).map_err(|error| error.to_string())?;
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module.0, text.as_ptr(), machine, options);
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
