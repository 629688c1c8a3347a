//! Apple's GPUs as devices, through Metal.
//!
//! ```text
//! device, family ── the GPUs and their capabilities
//! buffer ────────── MTLBuffer over our memory, or with its own
//! library ───────── MTLLibrary ── function: MTLFunction, with its constants          data_type: their types
//! function_table ── MTLVisibleFunctionTable: functions that kernels call
//! pipeline ──────── MTLComputePipelineState ── reflection: Metal's reflection of its arguments
//! archive ───────── MTLBinaryArchive
//! queue ─────────── work to the GPU, completion back ── encode: tables to encoders   clock: Metal's times
//!                    │                               └─ capture: traces for Xcode    error: NSError to our errors
//!                    └ profile: a command buffer for each dispatch
//! recording ─────── replays, encoded again each time
//! held ──────────── Objective-C objects that are released inside an autorelease pool
//! ```
//!
//! **Invariant:** code that uses Objective-C objects runs inside an autorelease pool: Rust threads have none.
//!
//! **Invariant:** an API newer than macOS 14 is called only after checking that the object responds to it.

mod archive;
mod buffer;
mod capture;
mod clock;
mod data_type;
mod device;
mod dynamic_library;
mod encode;
mod error;
mod family;
mod function;
mod function_table;
mod held;
mod library;
mod pipeline;
mod profile;
mod queue;
mod recording;
mod reflection;

pub(crate) use device::devices;

// `MTLCreateSystemDefaultDevice` finds no device in a process that does not link CoreGraphics.
#[cfg(target_os = "macos")]
#[link(name = "CoreGraphics", kind = "framework")]
unsafe extern "C" {}
