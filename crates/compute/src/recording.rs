//! What encoders record and back ends execute.

use crate::buffer::Buffer;
use crate::pipeline::ComputePipelineState;
use std::cell::UnsafeCell;

/// All that one encoder recorded.
pub(crate) struct Pass {
    /// Whether dispatches may overlap where no barrier is between them.
    pub(crate) concurrent: bool,
    pub(crate) commands: Vec<Command>,
    /// What `set_bytes` was given, each at a multiple of [`BYTES_ALIGNMENT`].
    pub(crate) bytes: Vec<Block>,
}

/// A piece of [`Pass::bytes`]. A kernel may write to its arguments, these included.
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) UnsafeCell<[u8; BYTES_ALIGNMENT]>);

/// The alignment of what `set_bytes` was given.
pub(crate) const BYTES_ALIGNMENT: usize = 64;

/// One step of a pass.
pub(crate) enum Command {
    Dispatch(Dispatch),
    /// What comes after it sees what came before it.
    Barrier,
}

/// A kernel, what it is bound to, and its grid. It was validated.
pub(crate) struct Dispatch {
    pub(crate) pipeline: ComputePipelineState,
    /// The buffers that the kernel uses.
    pub(crate) bindings: Vec<(u8, Binding)>,
    /// The index and size in bytes of each threadgroup argument.
    pub(crate) threadgroup_memory: Vec<(u8, u32)>,
    pub(crate) threads_per_grid: [u32; 3],
    pub(crate) threads_per_threadgroup: [u32; 3],
}

/// What is bound at an index.
#[derive(Clone)]
pub(crate) enum Binding {
    Buffer {
        buffer: Buffer,
        offset: usize,
    },
    /// Bytes of the pass.
    Bytes {
        /// The first block.
        block: usize,
        len: usize,
    },
}
