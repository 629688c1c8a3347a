//! A kernel compiled to machine code.

use crate::call::{Dispatch, Simdgroup, Threadgroup};
use crate::site::Site;

/// The arrangement of a simdgroup's threads in the threadgroup: code is compiled for one of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lanes {
    /// All 32 lanes exist and lie side by side along x: lane `i` is at `first.x + i`. True of every simdgroup when the
    /// threadgroup's width is a multiple of 32.
    Row,
    /// Anything else: some lanes do not exist, or the simdgroup spans several rows. Right for every simdgroup, and
    /// slower.
    Any,
}

/// Runs simdgroups of one threadgroup: `count` of them, one after the other, beginning with the one given. A kernel
/// with a barrier is called for one simdgroup at a time. When `count` is not 1 the code for [`Lanes::Row`] finds the
/// positions of the later ones itself; code for [`Lanes::Any`] takes an array of `count` structures.
pub type Entry = unsafe extern "C" fn(*const Dispatch, *const Threadgroup, *const Simdgroup, count: u32);

/// A kernel compiled for a CPU: a relocatable ELF object with one function of the type [`Entry`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaveKernel {
    /// The kernel's name.
    pub name: String,
    /// The symbol of its function in the object.
    pub symbol: String,
    /// The object file. It has no undefined symbol.
    pub object: Vec<u8>,
    /// The simdgroups that it was compiled for.
    pub lanes: Lanes,
    /// True if it waits at threadgroup barriers.
    pub has_barrier: bool,
    /// Bytes of threadgroup memory for the kernel's own variables, at the start of [`Threadgroup::memory`].
    pub static_threadgroup_memory: u32,
    /// Bytes of stack that it needs at most, apart from small spills: its threads' private arrays.
    pub private_memory: u64,
    /// True if floating-point units should flush denormal numbers to zero while it runs.
    pub flush_denormals: bool,
    /// The messages of the failures that a thread can report in [`Threadgroup::failure`].
    pub failures: Vec<String>,
    /// The places that code for shader validation refers to; empty for other code.
    pub sites: Vec<Site>,
}
