//! Metal 4's queue, allocator, command buffer, compute encoder and argument table.
//!
//! ```text
//! MTL4CommandAllocator ── MTL4CommandBuffer ── MTL4ComputeCommandEncoder ── MTL4ArgumentTable: addresses of buffers
//!                              └ commit: ── MTL4CommandQueue ── a command buffer of the older API, on one queue
//! ```
//!
//! All queues are one: their work runs one after the other. An address is that of the buffer it lies in.

pub(crate) mod arguments;
pub(crate) mod commands;
pub(crate) mod encoder;
pub(crate) mod queue;
