//! Reading bitcode from files.
//!
//! LLVM's reader survives most damage. Before it runs, `check` refuses bitcode that would make it take all memory, and
//! [`crate::guard`] is there for the rest.

mod bitstream;
mod check;
pub(crate) mod write;

use inkwell::context::Context;
use inkwell::llvm_sys::core::LLVMContextSetDiagnosticHandler;
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::ffi::c_void;

/// The module in `bitcode`, verified; the error is LLVM's message.
pub(crate) fn parse<'ctx>(context: &'ctx Context, bitcode: &[u8], name: &str) -> Result<Module<'ctx>, String> {
    check::check(bitcode)?;
    ignore_diagnostics(context);
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, &name.replace('\0', ""));
    let module = Module::parse_bitcode_from_buffer(&buffer, context).map_err(|error| first_line(&error))?;
    module.verify().map_err(|error| first_line(&error))?;
    Ok(module)
}

/// Without a handler, LLVM writes diagnostics to stderr, and ends the process at an error.
pub(crate) fn ignore_diagnostics(context: &Context) {
    // SAFETY: the context is alive, and the handler needs no data.
    unsafe { LLVMContextSetDiagnosticHandler(context.raw(), Some(ignore), std::ptr::null_mut()) };
}

extern "C" fn ignore(_: LLVMDiagnosticInfoRef, _: *mut c_void) {}

/// LLVM's messages go on with the instructions in question.
fn first_line(message: &impl ToString) -> String {
    message.to_string().lines().next().unwrap_or_default().trim().to_owned()
}
