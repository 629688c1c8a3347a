//! NVIDIA's GPUs as devices, through the CUDA driver.
//!
//! ```text
//! driver ──── functions of libcuda.so.1, loaded at run time      context: the driver's objects and their owners
//! device ──── GPUs, limits                                       target: code that a GPU can run
//! buffer ──── memory of the device ── transfers: copies to and from the host, through pinned memory
//! library ─── AIR to PTX (compiler)                              artifacts: SimtKernel as bytes
//! pipeline ── PTX, compiled by the driver
//! queue ───── work to a stream, completion back ── encode: steps and dispatches
//!              │                                    ├ launch: a dispatch as entry, parameters, grid and block
//!              │                                    └ graph: a table as nodes and edges
//!              └ profile: times of dispatches
//! recording ─ graphs for replays, whose patched bytes are updated
//! ```
//!
//! **Invariant:** launch and graph call no driver, so that they are tested on any machine.

mod buffer;
#[cfg(llvm)]
mod compiler;
mod context;
mod device;
mod driver;
mod encode;
mod graph;
mod launch;
mod library;
mod pipeline;
mod profile;
mod queue;
mod recording;
mod target;
#[cfg(all(test, llvm))]
mod tests;
mod transfers;

pub(crate) use device::{devices, why_none};
pub(crate) use library::compile_for;
pub(crate) use target::parse_target;
