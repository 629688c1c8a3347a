//! A back end in another crate needs only the public traits: everything above them works on it unchanged.
//!
//! ```text
//! toy/              the back end
//! other files here  tests of it
//! ../every_device   the tests that all back ends pass, here on the toy
//! ```
#![cfg(llvm)]

// The tests of `inference` use the toy, too, under this name.
extern crate metalworks_compute as compute;

mod faults;
mod fixture;
mod hazards;
mod limits;
mod pipelines;
mod programs;
mod recordings;
mod toy;
mod transfers;

#[path = "../every_device/arguments.rs"]
mod every_device_arguments;
#[path = "../every_device/completion.rs"]
mod every_device_completion;
#[path = "../every_device/dispatches.rs"]
mod every_device_dispatches;
#[path = "../every_device/memory.rs"]
mod every_device_memory;
#[path = "../every_device/order.rs"]
mod every_device_order;
#[path = "../every_device/setup.rs"]
mod setup;

/// The devices for the tests of `every_device`.
fn devices() -> Vec<metalworks_compute::Device> {
    vec![fixture::toy().device().clone()]
}
