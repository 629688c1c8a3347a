//! Apple's GPUs as devices, through Metal.
//!
//! ```text
//! device, family ── which GPUs there are, and what they can do
//! pipeline ── MTLComputePipelineState
//! error ── NSError to our errors
//! ```
//!
//! **Invariant:** whatever touches Objective-C objects runs inside of an autorelease pool: threads of Rust have none.
//!
//! **Invariant:** no API is called here that macOS 14 lacks, unless the object was asked whether it has it.

mod device;
mod error;
mod family;
mod pipeline;

pub(crate) use device::Device;
pub(crate) use error::driver_error;
pub(crate) use pipeline::Pipeline;

// `MTLCreateSystemDefaultDevice` finds no device in a process that does not link it.
#[link(name = "CoreGraphics", kind = "framework")]
unsafe extern "C" {}
