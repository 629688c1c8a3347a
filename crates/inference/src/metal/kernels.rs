//! All kernels of the shader library. The build writes this module from the signatures in the shaders.
//!
//! `norm.metal` is the module `norm`; a kernel with the host name `rms_norm_f32` is the constant
//! `norm::RMS_NORM_F32`, its arguments are `norm::RmsNormArgs` and its function constants `norm::RmsNormConstants`;
//! `norm::RmsNorm::select` chooses a kernel by its types. Constants of the shaders have their names:
//! `tiles::TILE_ROWS`.

use super::library::{ArgumentInfo, Arguments, Bind, BufferSlice, Family, Kernel, KernelInfo, Shader};
use crate::formats::{Activation, CacheType, Format};
use compute::{ComputeCommandEncoder, ConstantBits, ConstantName, KernelConstants, Result};
#[allow(unused_imports, reason = "a build without a compiler embeds no libraries")]
use compute::{LibraryCompiler, PrecompiledLibrary};

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
