//! Everything that never changes about a device.

use crate::size::Size;
use std::fmt;

/// Everything that never changes about a device.
#[derive(Clone, PartialEq, Debug)]
pub struct Properties {
    /// Its back end.
    pub kind: DeviceKind,
    /// The name by which [`crate::Device::named`] finds it: `cpu`, `metal:0`.
    pub id: String,
    /// The name that people know it by.
    pub name: String,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// How much of everything it has.
    pub limits: Limits,
    /// Tells its memory and pipelines from those of other devices: [`super::new_domain`].
    pub domain: u32,
}

/// The back end of a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceKind {
    /// The CPU of this machine.
    Cpu,
    /// A GPU, through Apple's Metal.
    Metal,
    /// A back end from outside of this crate, by its name.
    Other(&'static str),
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Metal => "metal",
            DeviceKind::Other(name) => name,
        })
    }
}

/// Capabilities of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// `simd_sum`, `simd_max` and their kin.
    pub simd_reductions: bool,
    /// `simdgroup_matrix` and its products.
    pub simdgroup_matrix: bool,
    /// The type `bfloat`.
    pub bfloat: bool,
    /// Grids that are no multiple of their threadgroups, `dispatch_threads`.
    pub nonuniform_threadgroups: bool,
    /// The host and the device have the same memory: a shared buffer costs no copy, and [`crate::Buffer::contents`] is there.
    pub unified_memory: bool,
    /// The newest of Apple's GPU families that it is of: 7 is that of the M1. None where it is not Apple's.
    pub apple_family: Option<u32>,
    /// The kind of GPU, such as `Apple9 Metal3`, or of CPU, to be read by people.
    pub family: String,
}

/// How much of everything a device has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The largest threadgroup along each dimension. Its volume is limited by the pipeline, too.
    pub max_threads_per_threadgroup: Size,
    /// Bytes of threadgroup memory that a threadgroup can have.
    pub max_threadgroup_memory_length: usize,
    /// The size in bytes of the largest buffer.
    pub max_buffer_length: usize,
    /// Bytes that all buffers together should stay below to keep the device fast, where it says so.
    pub recommended_max_working_set_size: Option<u64>,
}
