//! Immutable properties of a device.

use crate::size::Size;
use std::fmt;

/// Immutable properties of a device.
#[derive(Clone, PartialEq, Debug)]
pub struct Properties {
    /// The kind of back end.
    pub kind: DeviceKind,
    /// The ID that [`crate::Device::named`] accepts: `cpu`, `cuda:0`, `metal:0`.
    pub id: String,
    /// The product name.
    pub name: String,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// Its limits.
    pub limits: Limits,
    /// Identifies its memory and pipelines: [`super::new_domain`].
    pub domain: u32,
}

/// The kind of back end of a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceKind {
    /// The CPU of this machine.
    Cpu,
    /// A GPU, through NVIDIA's driver.
    Cuda,
    /// A GPU, through Apple's Metal.
    Metal,
    /// A back end from another crate, by its name.
    Other(&'static str),
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Metal => "metal",
            DeviceKind::Other(name) => name,
        })
    }
}

/// Capabilities of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// `simd_sum`, `simd_max` and the other reductions.
    pub simd_reductions: bool,
    /// `simdgroup_matrix` and its products.
    pub simdgroup_matrix: bool,
    /// The type `bfloat`.
    pub bfloat: bool,
    /// `dispatch_threads`: grids that are not a multiple of their threadgroups.
    pub nonuniform_threadgroups: bool,
    /// The host and the device share memory: a shared buffer needs no copy, and [`crate::Buffer::contents`] exists.
    pub unified_memory: bool,
    /// The newest Apple GPU family that it supports, 7 for the M1; `None` for other GPUs.
    pub apple_family: Option<u32>,
    /// The number of cores or multiprocessors, if the device reports it.
    pub compute_units: Option<usize>,
    /// The family of the GPU or CPU for display, such as `Apple9 Metal3` or `sm_90a`.
    pub family: String,
}

/// Limits of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Largest threadgroup along each dimension. The pipeline limits its volume, too.
    pub max_threads_per_threadgroup: Size,
    /// Largest threadgroup memory of a threadgroup, in bytes.
    pub max_threadgroup_memory_length: usize,
    /// Largest buffer, in bytes.
    pub max_buffer_length: usize,
    /// Recommended limit for all buffers together, in bytes, if the device reports one.
    pub recommended_max_working_set_size: Option<u64>,
}
