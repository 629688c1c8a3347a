//! Every back end keeps to the same rules, on each device of this machine that can compile: the CPU, and a Mac's GPUs.
//!
//! The kernels do as little as they can: this is about memory, order, sizes and completion.
#![cfg(any(llvm, target_os = "macos"))]

mod completion;
mod dispatches;
mod memory;
mod order;
mod setup;
