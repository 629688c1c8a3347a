//! Metal's compute API in Rust: the same names, the same shape, and kernels that run on any machine.
//!
//! ```text
//! Device ─┬─ Library ── Function ── ComputePipelineState ─┐
//!         ├─ Buffer ──────────────────────────────────────┼─ ComputeCommandEncoder ── CommandBuffer ─┐
//!         └─ CommandQueue ────────────────────────────────┴──────────────────────────────── commit ──┘
//! ```
//!
//! Today there is one kind of device, the processor ([`Device::cpu`]): kernels are compiled to machine code that runs 32
//! threads, a simdgroup, at a time in vector registers.
//!
//! Who checks what: the encoder's methods check each call against Metal's rules and the kernel's reflection, and fail at
//! once. What can only be known while executing is the error of the command buffer.
//!
//! A kernel is code, and nothing fences it in: one that writes outside of its buffers writes into the process.

mod buffer;
mod command;
#[cfg(feature = "compiler")]
mod compiler;
mod cpu;
mod device;
mod encoder;
mod error;
#[cfg(feature = "compiler")]
mod library;
mod pipeline;
mod queue;
mod recording;
mod size;
mod timing;
mod validate;

pub use abi::{ConstantKey, ConstantValue, Constants as FunctionConstantValues, Lanes, WaveKernel};
pub use buffer::Buffer;
pub use command::{CommandBuffer, CommandBufferStatus};
pub use device::{CpuOptions, Device};
pub use encoder::{ComputeCommandEncoder, DispatchType};
pub use error::{Error, Result};
#[cfg(feature = "compiler")]
pub use library::{CompileOptions, Function, Library, MathMode};
pub use msl::reflect;
pub use pipeline::{CompiledKernel, ComputePipelineDescriptor, ComputePipelineState};
pub use queue::CommandQueue;
pub use size::Size;
pub use timing::DispatchTiming;
