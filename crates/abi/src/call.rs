//! The arguments of a compiled kernel. The code generator reads these structures by offset: their layout is part of
//! every compiled object, so a change here must change [`VERSION`].

use std::cell::Cell;
use std::ffi::c_char;

/// Goes up with every change of the structures below.
pub const VERSION: u32 = 5;

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
    /// Bytes of each threadgroup argument. Only code for shader validation reads it.
    pub threadgroup_sizes: [u32; ARGUMENT_SLOTS],
    /// Bytes from the address bound at each buffer index to the end of the buffer. Only code for shader validation
    /// reads it.
    pub buffer_sizes: [u64; ARGUMENT_SLOTS],
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
    /// The runtime of shader validation; null for other code.
    pub checks: *const Checks,
    /// Takes a message of `os_log`.
    pub log: LogFunction,
    /// For the runtime's function above.
    pub log_context: *const u8,
}

/// Takes a message of the lanes of a mask, with the number of their simdgroup: level, subsystem, category, format, the
/// number of its place, an index into [`crate::WaveKernel::sites`], and the words of its arguments, 32 lanes of each.
pub type LogFunction = unsafe extern "C" fn(
    threadgroup: *const Threadgroup,
    simdgroup: u32,
    mask: u32,
    level: u32,
    subsystem: *const c_char,
    category: *const c_char,
    format: *const c_char,
    site: u32,
    words: *const [u32; LANES],
    count: u32,
);

/// The functions that code for shader validation calls. Each is given this structure, the simdgroup, and the number of
/// a place, an index into [`crate::WaveKernel::sites`]. Lanes are bits, lane 0 the lowest.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Checks {
    /// An access by the lanes of a mask. The address of a lane is `base + lane * stride`, or, if `lanes` is not null,
    /// the one there; those of a place whose object is one of several are followed by the starts of the objects that
    /// they are meant for. `values` is null or has a hash of the value that each lane writes. Returns the lanes that may make
    /// it; a lane outside of the mask may.
    pub access: unsafe extern "C" fn(
        *const Checks,
        *const Simdgroup,
        site: u32,
        mask: u32,
        base: u64,
        stride: i64,
        lanes: *const u64,
        values: *const u64,
    ) -> u32,
    /// The load or store of a simdgroup matrix: the addresses of the 32 lanes' first elements, then of their second
    /// ones. Returns 1 if it may be made, else 0.
    pub matrix: unsafe extern "C" fn(*const Checks, *const Simdgroup, site: u32, *const u64) -> u32,
    /// A check failed in the lanes of a mask; `values` is null or has a number for each lane.
    pub failed: unsafe extern "C" fn(*const Checks, *const Simdgroup, site: u32, mask: u32, values: *const u64),
    /// The lanes of a mask reach a barrier.
    pub barrier: unsafe extern "C" fn(*const Checks, *const Simdgroup, site: u32, mask: u32),
    /// Memory for reads that must not be made, filled with zeros, [`SCRATCH`] bytes.
    pub zeros: *const u8,
    /// Memory for writes that must not be made, [`SCRATCH`] bytes.
    pub dump: *mut u8,
    /// Iterations of loops that are left.
    pub steps: Cell<u64>,
}

/// Bytes of [`Checks::zeros`] and [`Checks::dump`]: the most that one instruction accesses.
pub const SCRATCH: usize = 64 << 10;

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
