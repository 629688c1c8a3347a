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
//! use metalworks_compute::{CompileOptions, Device, FunctionConstantValues, Size};
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
//! # Ok::<(), metalworks_compute::Error>(())
//! ```
//!
//! [`PipelineCache`] keeps pipeline states by kernel and function constants, and creates many at once.
//!
//! There are three kinds of devices: the CPU ([`Device::cpu`]), for which kernels are compiled to machine code that runs
//! 32 threads, a simdgroup, at a time in vector registers; NVIDIA GPUs; and on a Mac its GPU, through Metal.
//! [`Device::system_default`] is the best of them, or the one that `METALWORKS_DEVICE` names. Back ends are equals
//! behind the traits of [`backend`].
//!
//! Validation: the encoder's methods check each call against Metal's rules and the kernel's reflection, and fail at
//! once. Mistakes that cannot corrupt memory are checked in debug builds and with `METALWORKS_VALIDATION=1` only.
//! Errors found during execution become the error of the command buffer.
//!
//! Encode a sequence that is executed again and again, such as a model's decode step, once and replay it:
//! [`CommandRecorder`].
//!
//! A kernel is native code without a sandbox: one that writes outside its buffers corrupts the process. An access to memory
//! that does not exist is an error of the command buffer (on Linux), and [`Device::cancel`] ends a kernel that does not.

mod archive;
pub mod backend;
mod buffer;
mod cache;
mod command;
mod device;
mod digest;
mod error;
pub mod files;
mod finding;
mod function_table;
mod functions;
mod kernel;
mod library;
pub mod log;
mod message;
mod pipeline;
mod program;
mod queue;
mod record;
mod settings;
mod size;
mod timing;
pub mod trace;
mod validate;

pub use abi::{ConstantKey, ConstantValue, Constants as FunctionConstantValues};
pub use archive::{ArchiveInfo, BinaryArchive, FolderOptions, TargetInfo};
pub use backend::registry::{CompileTarget, CpuOptions};
pub use backend::{
    Artifact, Capabilities, DeviceKind, LibraryOrigin, Limits, PipelineOrigin, Simdgroups, StorageMode,
};
pub use buffer::Buffer;
pub use cache::{
    ConstantBits, ConstantName, KernelConstants, LateMisses, PendingPipelines, PipelineCache, PipelineCacheStats,
    PipelineConfig, PipelineKey, PipelineProgress, PipelineResults,
};
pub use command::{CommandBuffer, CommandBufferDescriptor, CommandBufferStatus};
pub use device::Device;
pub use error::{ConstantsProblem, Error, Result};
pub use finding::{
    CodePlace, Finding, FindingKind, MemoryObject, MemorySpace, ShaderChecks, ShaderValidation, SourceLocation,
    ThreadPosition,
};
pub use function_table::{FunctionHandle, VisibleFunctionTable};
pub use functions::{LinkedFunctions, VisibleFunction};
pub use library::{Function, FunctionDescriptor, Library};
pub use message::{LogHandler, LogLevel, LogMessage};
pub use msl::reflect;
pub use pipeline::{ComputePipelineDescriptor, ComputePipelineState};
pub use program::{
    CompileOptions, DynamicLibrary, LibraryCompiler, LibraryType, MathFunctions, MathMode, PrecompiledLibrary,
};
pub use queue::CommandQueue;
pub use record::{BytesLocation, CommandRecorder, ComputeCommandEncoder, DispatchType, Patch, Recording};
pub use size::Size;
pub use timing::DispatchTiming;

/// Tests the examples of README.md.
#[cfg(all(doctest, llvm))]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
