//! What a device can do, and how much of it there is.

use crate::buffer::max_buffer_length;
use crate::device::{Backend, Device, MAX_THREADGROUP_MEMORY, MAX_THREADS_PER_THREADGROUP};
use crate::size::Size;

/// What a device can do.
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
    /// The host and the device have the same memory: a shared buffer costs no copy.
    pub unified_memory: bool,
    /// The newest of Apple's GPU families that it is of: 7 is that of the M1. None where it is not Apple's.
    pub apple_family: Option<u32>,
    /// The kind of GPU, such as `Apple9 Metal3`, or of processor, to be read by people.
    pub family: String,
}

/// How much of everything a device has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The largest threadgroup along each dimension. Its volume is at most 1,024, too.
    pub max_threads_per_threadgroup: Size,
    /// Bytes of threadgroup memory that a threadgroup can have.
    pub max_threadgroup_memory_length: usize,
    /// The size in bytes of the largest buffer.
    pub max_buffer_length: usize,
    /// Bytes that all buffers together should stay below to keep the device fast, where it says so.
    pub recommended_max_working_set_size: Option<u64>,
}

impl Device {
    /// What it can do. Who chooses between kernels asks here, and nowhere for the name of a GPU.
    pub fn capabilities(&self) -> Capabilities {
        match self.backend() {
            Backend::Cpu(_) => Capabilities {
                simd_reductions: true,
                simdgroup_matrix: true,
                bfloat: true,
                nonuniform_threadgroups: true,
                unified_memory: true,
                apple_family: None,
                family: std::env::consts::ARCH.into(),
            },
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => device.capabilities().clone(),
        }
    }

    /// How much of everything it has.
    pub fn limits(&self) -> Limits {
        self.backend().limits()
    }

    /// Bytes of threadgroup memory that a threadgroup can have.
    pub fn max_threadgroup_memory_length(&self) -> usize {
        self.limits().max_threadgroup_memory_length
    }

    /// The largest threadgroup along each dimension. Its volume is at most 1,024, too.
    pub fn max_threads_per_threadgroup(&self) -> Size {
        self.limits().max_threads_per_threadgroup
    }

    /// The size in bytes of the largest buffer.
    pub fn max_buffer_length(&self) -> usize {
        self.limits().max_buffer_length
    }
}

impl Backend {
    pub(crate) fn limits(&self) -> Limits {
        match self {
            Backend::Cpu(_) => {
                let most = MAX_THREADS_PER_THREADGROUP;
                Limits {
                    max_threads_per_threadgroup: Size::new(most, most, most),
                    max_threadgroup_memory_length: MAX_THREADGROUP_MEMORY,
                    max_buffer_length: max_buffer_length(),
                    recommended_max_working_set_size: None,
                }
            }
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => device.limits().clone(),
        }
    }
}
