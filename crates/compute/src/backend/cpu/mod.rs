//! The CPU of this machine as a device: machine code that runs 32 threads, a simdgroup, at a time in vector registers.
//!
//! ```text
//! device ─── threads, limits                         target, features, amx: code that this CPU can run
//! buffer ─── pages of the process                    arena: huge ones for weights
//! library ── AIR to machine code (compiler)          artifacts: WaveKernel as bytes
//! pipeline ─ loaded code (code/: loader, relocate)
//! queue ──── work, step by step ── run/program: the prepared dispatches of a table, run/grid: one
//! recording ─ programs for replays     └ run/execute: threadgroups ── run/pool: threads, work sharing
//!                                         ├ run/shape: threads to lanes
//!                                         ├ run/fibers: simdgroups that wait at barriers
//!                                         └ run/denormals: the CPU's floating-point mode
//! ```

#[cfg(any(llvm, target_arch = "x86_64"))]
mod amx;
#[cfg(target_os = "linux")]
mod arena;
mod buffer;
mod code;
#[cfg(llvm)]
mod compiler;
mod device;
mod features;
mod library;
mod pipeline;
mod queue;
mod recording;
mod run;
mod target;

pub use device::CpuOptions;
pub(crate) use device::Device;
pub(crate) use library::compile_for;
pub(crate) use target::parse_target;
