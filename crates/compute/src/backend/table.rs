//! What encoders record and back ends execute: a flat table of dispatches.
//!
//! ```text
//! dispatches   0 │ pipeline 0 │ grid │ bindings 0..3 │ memory 0..0 │
//!              1 │ pipeline 1 │ grid │ bindings 3..7 │ memory 0..1 │ waits
//! bindings     index 0: buffer 2 from byte 64 on │ index 1: bytes at block 0 │ …
//! bytes        │ what set_bytes was given, 64 bytes a block │ …
//! buffers, pipelines   each kept alive once, however often it is used
//! ```
//!
//! **Invariant:** all of it was validated, and nothing in it belongs to one back end.

use super::{Executable, Memory};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// All that one encoder recorded.
#[derive(Default)]
pub struct Table {
    pub(crate) dispatches: Vec<Dispatch>,
    pub(crate) bindings: Vec<Binding>,
    /// The index and size in bytes of threadgroup arguments.
    pub(crate) threadgroup_memory: Vec<(u8, u32)>,
    pub(crate) bytes: Vec<Block>,
    pub(crate) buffers: KeptAlive<Memory>,
    pub(crate) pipelines: KeptAlive<Executable>,
    /// How many releases of buffers there were when it was last known that none was of one of these.
    pub(crate) checked_releases: AtomicU64,
}

/// A kernel, what it is bound to, and its grid.
pub(crate) struct Dispatch {
    /// In [`Table::pipelines`].
    pub(crate) pipeline: u32,
    /// It begins when all before it have ended; otherwise it may overlap with the ones just before it.
    pub(crate) waits: bool,
    /// Where its bindings begin in [`Table::bindings`]; they end where those of the next dispatch begin.
    pub(crate) bindings: u32,
    /// The same for [`Table::threadgroup_memory`].
    pub(crate) threadgroup_memory: u32,
    pub(crate) threads_per_grid: [u32; 3],
    pub(crate) threads_per_threadgroup: [u32; 3],
}

/// What is bound to an argument.
pub(crate) struct Binding {
    pub(crate) index: u8,
    pub(crate) memory: ArgumentMemory,
}

/// Where an argument's memory is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentMemory {
    Buffer {
        /// In [`Table::buffers`].
        buffer: u32,
        offset: usize,
    },
    /// In [`Table::bytes`].
    Bytes {
        /// The first block.
        block: u32,
        len: u32,
    },
}

/// A piece of what `set_bytes` was given. Kernels only read it.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Block(pub(crate) [u8; BYTES_ALIGNMENT]);

/// The alignment of what `set_bytes` was given.
pub(crate) const BYTES_ALIGNMENT: usize = 64;

/// The bytes of blocks, which lie side by side.
pub(crate) fn block_bytes(blocks: &[Block]) -> &[u8] {
    // SAFETY: a block is an array of bytes, without padding.
    unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * BYTES_ALIGNMENT) }
}

/// The same, to be changed.
pub(crate) fn block_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
    // SAFETY: a block is an array of bytes, without padding.
    unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * BYTES_ALIGNMENT) }
}

impl Table {
    /// How many dispatches there are.
    pub fn len(&self) -> usize {
        self.dispatches.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.dispatches.is_empty()
    }

    /// The bytes as they were recorded, for [`Table::commands`].
    pub fn bytes(&self) -> &[Block] {
        &self.bytes
    }

    /// The pipeline of the dispatch with this number.
    pub fn executable(&self, number: usize) -> &Executable {
        self.pipeline(&self.dispatches[number])
    }

    pub(crate) fn pipeline(&self, dispatch: &Dispatch) -> &Executable {
        &self.pipelines.items[dispatch.pipeline as usize]
    }

    /// What the dispatch with this number is bound to.
    pub(crate) fn bindings_of(&self, number: usize) -> &[Binding] {
        let end = self.dispatches.get(number + 1).map_or(self.bindings.len(), |next| next.bindings as usize);
        &self.bindings[self.dispatches[number].bindings as usize..end]
    }

    /// The threadgroup arguments of the dispatch with this number.
    pub(crate) fn threadgroup_memory_of(&self, number: usize) -> &[(u8, u32)] {
        let all = &self.threadgroup_memory;
        let end = self.dispatches.get(number + 1).map_or(all.len(), |next| next.threadgroup_memory as usize);
        &all[self.dispatches[number].threadgroup_memory as usize..end]
    }

    /// Appends what `set_bytes` was given; the number of its first block.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> u32 {
        let block = self.bytes.len();
        for chunk in bytes.chunks(BYTES_ALIGNMENT) {
            let mut block = Block([0; BYTES_ALIGNMENT]);
            block.0[..chunk.len()].copy_from_slice(chunk);
            self.bytes.push(block);
        }
        block as u32
    }

    /// Whether its memory is little enough to be kept for another one.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.dispatches.capacity() <= 1 << 14 && self.bytes.capacity() <= 1 << 14
    }

    /// Forgets everything but the memory that it has.
    pub(crate) fn clear(&mut self) {
        self.dispatches.clear();
        self.bindings.clear();
        self.threadgroup_memory.clear();
        self.bytes.clear();
        self.buffers.clear();
        self.pipelines.clear();
    }
}

/// Objects that a table keeps alive, as a rule each once. It looks for one where an object with the same hash was put last
/// and not everywhere: that is cheaper than a reference count, and an object that is there twice does no harm.
pub(crate) struct KeptAlive<T> {
    pub(crate) items: Vec<Arc<T>>,
    recent: [u32; RECENT],
}

const RECENT: usize = 64;

impl<T> KeptAlive<T> {
    /// The position of an object, which is told from others by its address.
    #[inline]
    pub(crate) fn keep(&mut self, item: &Arc<T>) -> u32 {
        // Fibonacci hashing: the low bits of addresses are all alike.
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
