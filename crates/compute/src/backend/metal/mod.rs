//! Apple's GPUs as devices, through Metal.
//!
//! ```text
//! device, family ── which GPUs there are, and what they can do
//! buffer ────────── MTLBuffer over our memory, or with its own
//! library ───────── MTLLibrary ── function: MTLFunction, with its constants          data_type: their types
//! pipeline ──────── MTLComputePipelineState ── reflection: what Metal says about its arguments
//! archive ───────── MTLBinaryArchive
//! queue ─────────── work to the GPU, completion back ── encode: passes to encoders   clock: Metal's times
//!                    │                               └─ capture: traces for Xcode    error: NSError to our errors
//!                    └ profile: a command buffer for each dispatch
//! recording ─────── replays, which are encoded anew
//! held ──────────── Objective-C objects that end inside of a pool
//! ```
//!
//! **Invariant:** whatever touches Objective-C objects runs inside of an autorelease pool: threads of Rust have none.
//!
//! **Invariant:** no API is called here that macOS 14 lacks, unless the object was asked whether it has it.

mod archive;
mod buffer;
mod capture;
mod clock;
mod data_type;
mod device;
mod encode;
mod error;
mod family;
mod function;
mod held;
mod library;
mod pipeline;
mod profile;
mod queue;
mod recording;
mod reflection;

pub(crate) use device::devices;

// `MTLCreateSystemDefaultDevice` finds no device in a process that does not link it.
#[link(name = "CoreGraphics", kind = "framework")]
unsafe extern "C" {}
