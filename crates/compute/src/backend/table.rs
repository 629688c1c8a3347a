//! A flat table of dispatches, recorded by encoders and executed by back ends.
//!
//! ```text
//! dispatches   0 │ pipeline 0 │ grid │ bindings 0..3 │ memory 0..0 │
//!              1 │ pipeline 1 │ grid │ bindings 3..7 │ memory 0..1 │ waits
//! bindings     index 0: buffer 2 from byte 64 on │ index 1: bytes at block 0 │ …
//! bytes        │ the data of set_bytes, 64 bytes a block │ …
//! buffers, pipelines   kept alive, as a rule once each
//! ```
//!
//! **Invariant:** every entry was validated. Back-end state is behind traits.

use super::{Executable, Memory};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The recorded dispatches of one encoder.
#[derive(Default)]
pub struct Table {
    pub(crate) dispatches: Vec<Dispatch>,
    pub(crate) bindings: Vec<Binding>,
    /// The index and size in bytes of threadgroup arguments.
    pub(crate) threadgroup_memory: Vec<(u8, u32)>,
    pub(crate) bytes: Vec<Block>,
    pub(crate) buffers: KeptAlive<Memory>,
    pub(crate) pipelines: KeptAlive<Executable>,
    /// Count of released buffers when the buffers of this table were last checked for releases.
    pub(crate) checked_releases: AtomicU64,
}

/// A kernel with its bindings and its grid.
pub(crate) struct Dispatch {
    /// Index into [`Table::pipelines`].
    pub(crate) pipeline: u32,
    /// True if it begins after all dispatches before it; otherwise it may overlap those just before it.
    pub(crate) waits: bool,
    /// True if the program may rely on it: hazards are tracked for it, or it has put a barrier there.
    pub(crate) is_ordered: bool,
    /// Its first binding in [`Table::bindings`]; they end where those of the next dispatch begin.
    pub(crate) bindings: u32,
    /// The same for [`Table::threadgroup_memory`].
    pub(crate) threadgroup_memory: u32,
    pub(crate) threads_per_grid: [u32; 3],
    pub(crate) threads_per_threadgroup: [u32; 3],
}

/// The memory bound to an argument.
pub(crate) struct Binding {
    pub(crate) index: u8,
    pub(crate) memory: ArgumentMemory,
}

/// Memory of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentMemory {
    Buffer {
        /// Index into [`Table::buffers`].
        buffer: u32,
        offset: usize,
    },
    /// A range of [`Table::bytes`].
    Bytes {
        /// The first block.
        block: u32,
        len: u32,
    },
}

/// A block of `set_bytes` data. Kernels only read it.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Block(pub(crate) [u8; BYTES_ALIGNMENT]);

/// Alignment of `set_bytes` data.
pub(crate) const BYTES_ALIGNMENT: usize = 64;

/// The contiguous bytes of blocks.
pub(crate) fn block_bytes(blocks: &[Block]) -> &[u8] {
    // SAFETY: a block is an array of bytes, without padding.
    unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * BYTES_ALIGNMENT) }
}

/// The contiguous bytes of blocks, mutably.
pub(crate) fn block_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
    // SAFETY: a block is an array of bytes, without padding.
    unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * BYTES_ALIGNMENT) }
}

impl Table {
    /// Number of dispatches.
    pub fn len(&self) -> usize {
        self.dispatches.len()
    }

    /// True if there are no dispatches.
    pub fn is_empty(&self) -> bool {
        self.dispatches.is_empty()
    }

    /// The recorded bytes, for [`Table::commands`].
    pub fn bytes(&self) -> &[Block] {
        &self.bytes
    }

    /// The pipeline of a dispatch.
    pub fn executable(&self, number: usize) -> &Executable {
        self.pipeline(&self.dispatches[number])
    }

    pub(crate) fn pipeline(&self, dispatch: &Dispatch) -> &Executable {
        &self.pipelines.items[dispatch.pipeline as usize]
    }

    /// The bindings of a dispatch.
    pub(crate) fn bindings_of(&self, number: usize) -> &[Binding] {
        let end = self.dispatches.get(number + 1).map_or(self.bindings.len(), |next| next.bindings as usize);
        &self.bindings[self.dispatches[number].bindings as usize..end]
    }

    /// The threadgroup arguments of a dispatch.
    pub(crate) fn threadgroup_memory_of(&self, number: usize) -> &[(u8, u32)] {
        let all = &self.threadgroup_memory;
        let end = self.dispatches.get(number + 1).map_or(all.len(), |next| next.threadgroup_memory as usize);
        &all[self.dispatches[number].threadgroup_memory as usize..end]
    }

    /// Appends `set_bytes` data; returns the index of its first block.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> u32 {
        let block = self.bytes.len();
        for chunk in bytes.chunks(BYTES_ALIGNMENT) {
            let mut block = Block([0; BYTES_ALIGNMENT]);
            block.0[..chunk.len()].copy_from_slice(chunk);
            self.bytes.push(block);
        }
        block as u32
    }

    /// True if it is small enough to be reused.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.dispatches.capacity() <= 1 << 14 && self.bytes.capacity() <= 1 << 14
    }

    /// Clears the table and keeps its allocations.
    pub(crate) fn clear(&mut self) {
        self.dispatches.clear();
        self.bindings.clear();
        self.threadgroup_memory.clear();
        self.bytes.clear();
        self.buffers.clear();
        self.pipelines.clear();
    }
}

/// Objects that a table keeps alive, as a rule once each. It compares only with the last object of the same hash: that
/// is cheaper than a reference count, and duplicates do no harm.
pub(crate) struct KeptAlive<T> {
    pub(crate) items: Vec<Arc<T>>,
    recent: [u32; RECENT],
}

const RECENT: usize = 64;

impl<T> KeptAlive<T> {
    /// Returns the index of an object, identified by its address.
    #[inline]
    pub(crate) fn keep(&mut self, item: &Arc<T>) -> u32 {
        // Fibonacci hashing: the low bits of addresses are alike.
        let hash = ((Arc::as_ptr(item).addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % RECENT;
        let recent = self.recent[hash];
        if self.items.get(recent as usize).is_some_and(|known| Arc::ptr_eq(known, item)) {
            return recent;
        }
        self.items.push(item.clone());
        self.recent[hash] = self.items.len() as u32 - 1;
        self.recent[hash]
    }

    fn clear(&mut self) {
        self.items.clear();
    }
}

impl<T> Default for KeptAlive<T> {
    fn default() -> KeptAlive<T> {
        KeptAlive { items: Vec::new(), recent: [0; RECENT] }
    }
}
