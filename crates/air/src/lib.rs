//! AIR, the LLVM dialect that Apple's Metal compiler writes.
//!
//! * [`lower()`] turns a checked program of the crate `msl` into AIR, one module for each kernel.
//! * [`metallib`] reads and writes the container in which Metal keeps compiled functions.
//! * [`specialize()`] sets the function constants of a kernel; [`specialize_kernel`] does both for one of a source.
//! * [`simt`] turns a specialized kernel into PTX for NVIDIA GPUs, [`wave`] into machine code for CPUs.
//! * [`instrument`] inserts the checks of shader validation into a kernel for a CPU.
//! * [`reflect`] reads from a module what the host must know about its kernel.
//!
//! On macOS the crate is empty without its feature `cpu`: there Metal compiles, and no build needs LLVM.

#![cfg_attr(not(llvm), allow(rustdoc::broken_intra_doc_links, reason = "there is nothing to link to"))]
#![cfg(llvm)]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod bfloats;
mod bitcode;
mod bytes;
mod calls;
mod cases;
mod compile;
mod expand;
mod guard;
pub mod instrument;
mod ir;
mod log;
pub mod lower;
mod metadata;
pub mod metallib;
mod object;
mod optimize;
pub mod reflect;
pub mod simt;
pub mod specialize;
mod thread;
pub mod wave;

/// For tests that make machine code.
#[doc(hidden)]
pub use inkwell;

pub use compile::{
    Compiled, bitcode_text, compile, compile_dynamic, compile_export, compile_intersection, compile_kernel,
    compile_visible, exports,
};
pub use lower::{AirVersion, Error, MathMode, ProgramSource, lower};
pub use object::{is_object, read_object, write_object};
pub use specialize::{
    Specialized, Visible, export, specialize, specialize_kernel, specialize_visible, undefined_symbols,
    visible_function,
};

/// The version of LLVM: `22.1.2`.
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}

/// Tests the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
