//! What every back end must do, on each device of this machine that can compile: the processor, and a Mac's GPUs.
//!
//! The kernels do as little as they can: this is about memory, order, sizes and completion.
#![cfg(any(llvm, target_os = "macos"))]

mod completion;
mod dispatches;
mod memory;
mod order;
mod setup;
