//! Rules that every back end keeps, tested on each device of this machine that can compile: the CPU, and a Mac's GPUs.
//!
//! The kernels are minimal: the tests are about memory, order, sizes and completion.
#![cfg(any(llvm, metal))]

mod arguments;
mod completion;
mod dispatches;
mod memory;
mod order;
mod setup;

use metalworks_compute::{Device, DeviceKind};

/// The devices of this machine. Tests that include these files define their own.
fn devices() -> Vec<Device> {
    let devices = Device::all().expect("they are found");
    // On a Mac, the CPU can run kernels only if LLVM can compile them.
    devices.into_iter().filter(|device| cfg!(llvm) || device.kind() != DeviceKind::Cpu).collect()
}
