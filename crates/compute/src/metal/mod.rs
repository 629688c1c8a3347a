//! Apple's GPUs as devices, through Metal.
//!
//! ```text
//! device, family ── which GPUs there are, and what they can do
//! buffer ────────── MTLBuffer over our memory, or with its own
//! pipeline ──────── MTLComputePipelineState
//! queue ─────────── work to the GPU, completion back ── encode: passes to encoders   clock: Metal's times
//!                    │                               └─ capture: traces for Xcode    error: NSError to our errors
//!                    └ profile: a command buffer for each dispatch
//! held ──────────── Objective-C objects that end inside of a pool
//! ```
//!
//! **Invariant:** whatever touches Objective-C objects runs inside of an autorelease pool: threads of Rust have none.
//!
//! **Invariant:** no API is called here that macOS 14 lacks, unless the object was asked whether it has it.

mod buffer;
mod capture;
mod clock;
mod device;
mod encode;
mod error;
mod family;
mod held;
mod pipeline;
mod profile;
mod queue;

pub(crate) use buffer::Buffer;
pub(crate) use device::Device;
pub(crate) use error::driver_error;
pub(crate) use pipeline::Pipeline;
pub(crate) use queue::Queue;

// `MTLCreateSystemDefaultDevice` finds no device in a process that does not link it.
#[link(name = "CoreGraphics", kind = "framework")]
unsafe extern "C" {}
