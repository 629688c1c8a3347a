//! Every kernel of the shader library: written by the build, from the signatures in the shaders.
//!
//! `norm.metal` is the module `norm`; a kernel with the host name `rms_norm_f32` is the constant
//! `norm::RMS_NORM_F32`, its arguments are `norm::RmsNormArgs` and its function constants `norm::RmsNormConstants`.

use super::library::{Arguments, Bind, BufferSlice, Family, Kernel, KernelInfo, Shader};
use compute::{ComputeCommandEncoder, ConstantBits, ConstantName, KernelConstants, Result};
#[allow(unused_imports, reason = "a build without a compiler embeds no libraries")]
use compute::{LibraryCompiler, PrecompiledLibrary};

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
