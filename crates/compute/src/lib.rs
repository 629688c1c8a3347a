//! Metal's compute API in Rust: the same names, the same shape, and kernels that run on any machine.
//!
//! ```text
//! Device ─┬─ Library ── Function ── ComputePipelineState ─┐
//!         ├─ Buffer ──────────────────────────────────────┼─ ComputeCommandEncoder ── CommandBuffer ─┐
//!         └─ CommandQueue ────────────────────────────────┴──────────────────────────────── commit ──┘
//! ```
//!
//! ```
//! # #[cfg(llvm)] {
//! use compute::{CompileOptions, Device, FunctionConstantValues, Size};
//!
//! let source = "
//!     kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
//!         x[i] *= 2.0f;
//!     }";
//! let device = Device::system_default()?;
//! let library = device.new_library_with_source(source, &CompileOptions::default())?;
//! let function = library.new_function("twice", &FunctionConstantValues::new())?;
//! let pipeline = device.new_compute_pipeline_state(&function)?;
//!
//! let numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();
//! let buffer = device.new_buffer_with_bytes(bytemuck::cast_slice(&numbers))?;
//!
//! let command_buffer = device.new_command_queue().new_command_buffer();
//! let mut encoder = command_buffer.compute_command_encoder()?;
//! encoder.set_compute_pipeline_state(&pipeline)?;
//! encoder.set_buffer(0, &buffer, 0)?;
//! encoder.dispatch_threads(Size::linear(1000), Size::linear(256))?;
//! encoder.end_encoding()?;
//! command_buffer.commit()?;
//! command_buffer.wait_until_completed()?;
//!
//! assert_eq!(buffer.read::<f32>()[999], 1998.0);
//! # }
//! # Ok::<(), compute::Error>(())
//! ```
//!
//! [`PipelineCache`] keeps pipeline states by kernel and function constants, and creates many at once.
//!
//! There are two kinds of devices: the processor ([`Device::cpu`]), for which kernels are compiled to machine code that runs
//! 32 threads, a simdgroup, at a time in vector registers; and on a Mac its GPU, through Metal. [`Device::system_default`]
//! is the best of them, or the one that `METALWORKS_DEVICE` names.
//!
//! Who checks what: the encoder's methods check each call against Metal's rules and the kernel's reflection, and fail at
//! once; what cannot harm memory is checked in debug builds and with `METALWORKS_VALIDATION=1` only. What can only be
//! known while executing is the error of the command buffer.
//!
//! A sequence that is executed again and again, such as a model's for each token, is encoded once and replayed:
//! [`CommandRecorder`].
//!
//! A kernel is code, and nothing fences it in: one that writes outside of its buffers writes into the process.

mod archive;
mod arguments;
mod buffer;
mod cache;
mod capabilities;
mod command;
#[cfg(llvm)]
mod compiler;
mod cpu;
mod device;
mod devices;
mod encoder;
mod error;
mod library;
pub mod log;
#[cfg(target_os = "macos")]
mod metal;
mod pass;
mod pipeline;
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "for devices that execute by themselves"))]
mod profile;
mod queue;
mod recipe;
mod recording;
#[cfg(any(target_os = "macos", test))]
mod reported;
mod settings;
mod size;
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "for devices that execute by themselves"))]
mod submission;
mod timing;
mod validate;
mod work;

pub use abi::{ConstantKey, ConstantValue, Constants as FunctionConstantValues, Lanes, WaveKernel};
pub use archive::{ArchiveInfo, BinaryArchive, CompileTarget, FolderOptions, TargetInfo};
pub use buffer::{Buffer, StorageMode};
pub use cache::{
    ConstantBits, ConstantName, KernelConstants, LateMisses, PendingPipelines, PipelineCache, PipelineCacheStats,
    PipelineConfig, PipelineKey, PipelineProgress, PipelineResults,
};
pub use capabilities::{Capabilities, Limits};
pub use command::{CommandBuffer, CommandBufferDescriptor, CommandBufferStatus};
pub use device::{CpuOptions, Device};
pub use devices::DeviceKind;
pub use encoder::{ComputeCommandEncoder, DispatchType};
pub use error::{Error, Result};
pub use library::{CompileOptions, Function, FunctionDescriptor, Library, MathMode};
pub use msl::reflect;
pub use pipeline::{CompiledKernel, ComputePipelineDescriptor, ComputePipelineState, PipelineOrigin};
pub use queue::CommandQueue;
pub use recording::{BytesLocation, CommandRecorder, Patch, Recording};
pub use size::Size;
pub use timing::DispatchTiming;
