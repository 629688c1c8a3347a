//! The arguments of a compiled kernel. The code generator reads these structures by offset: their layout is part of
//! every compiled object, so a change here must change [`VERSION`].

use std::cell::Cell;

/// Goes up with every change of the structures below.
pub const VERSION: u32 = 2;

/// Threads in a simdgroup.
pub const LANES: usize = 32;

/// Buffer and threadgroup-memory indices go from 0 to 30, as in Metal.
pub const ARGUMENT_SLOTS: usize = 31;

/// Data that all threadgroups of a dispatch share.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The address bound at each buffer index; null where nothing is bound.
    pub buffers: [*mut u8; ARGUMENT_SLOTS],
    /// The start of the memory of each threadgroup argument, in bytes from [`Threadgroup::memory`]. The first bytes
    /// belong to the kernel's own threadgroup variables ([`crate::WaveKernel::static_threadgroup_memory`]).
    pub threadgroup_offsets: [u32; ARGUMENT_SLOTS],
    /// Threads in the grid.
    pub threads_per_grid: [u32; 3],
    /// Threadgroups in the grid, a partial one at an edge counted as one.
    pub threadgroups_per_grid: [u32; 3],
    /// The size in the dispatch. A threadgroup at the edge can be smaller.
    pub threads_per_threadgroup: [u32; 3],
}

/// Data that all simdgroups of a threadgroup share.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Threadgroup {
    /// The threadgroup memory; aligned to 64 bytes. Null when there is none.
    pub memory: *mut u8,
    /// Waits for the other simdgroups of the threadgroup; given the simdgroup's own structure. All memory written
    /// before it by any of them is seen after it.
    pub barrier: unsafe extern "C" fn(*const Simdgroup),
    /// The position of the threadgroup in the grid.
    pub position: [u32; 3],
    /// The size of this threadgroup, smaller than the dispatch's at an edge of a grid that it does not divide.
    pub size: [u32; 3],
    /// The number of its simdgroups.
    pub simdgroups: u32,
    /// 0 until a thread fails, then the number of the failure, from 1, in [`crate::WaveKernel::failures`]. The thread
    /// ends there. Only the simdgroups of this threadgroup write it, one at a time.
    pub failure: Cell<u32>,
}

/// One simdgroup.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
pub struct Simdgroup {
    /// Each lane's position in the threadgroup. Only code for [`crate::Lanes::Any`] reads it.
    pub positions: [[u32; LANES]; 3],
    /// The position in the threadgroup of lane 0. Code for [`crate::Lanes::Row`] reads it.
    pub first: [u32; 3],
    /// A bit for each lane that exists. Only code for [`crate::Lanes::Any`] reads it.
    pub active: u32,
    /// The number of this simdgroup in its threadgroup.
    pub index: u32,
    /// For the runtime's barrier.
    pub fiber: *mut u8,
}
