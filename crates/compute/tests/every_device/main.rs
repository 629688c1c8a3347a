//! Every back end keeps to the same rules, on each device of this machine that can compile: the CPU, and a Mac's GPUs.
//!
//! The kernels do as little as they can: this is about memory, order, sizes and completion.
#![cfg(any(llvm, target_os = "macos"))]

mod arguments;
mod completion;
mod dispatches;
mod memory;
mod order;
mod setup;

use compute::{Device, DeviceKind};

/// The devices of this machine. Others who include these tests have others.
fn devices() -> Vec<Device> {
    let devices = Device::all().expect("they are found");
    // On a Mac, the CPU can run kernels only where LLVM is there to compile them.
    devices.into_iter().filter(|device| cfg!(llvm) || device.kind() != DeviceKind::Cpu).collect()
}
