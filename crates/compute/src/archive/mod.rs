//! Compiled kernels that are kept: what `MTLBinaryArchive` is on a Mac.
//!
//! ```text
//! Identity: library's digest, kernel, constants ── key ─┐
//! target: for what machine ─────────────────────────────┴─ entry: reflection, machine code
//!                                                            │
//!                                                         memory: while the process runs
//! ```

#![cfg_attr(not(feature = "compiler"), allow(dead_code, reason = "archives that are only read come next"))]

pub(crate) mod digest;
pub(crate) mod entry;
mod features;
pub(crate) mod key;
mod memory;
pub(crate) mod target;

use abi::Lanes;
use entry::Entry;
use key::Key;
use memory::Memory;
use std::fmt;
use std::sync::Arc;
pub use target::CompileTarget;
use target::{Host, Target};

/// Compiled kernels, kept for the next time. A clone is the same archive.
///
/// A [`ComputePipelineDescriptor`](crate::ComputePipelineDescriptor) lists the archives in which a pipeline state looks for its
/// code before it compiles, and which then keep what was compiled.
#[derive(Clone)]
pub struct BinaryArchive {
    store: Arc<Store>,
}

enum Store {
    Memory(Memory),
}

/// What is looked for.
pub(crate) struct Query<'a> {
    pub(crate) key: Key,
    pub(crate) kernel: &'a str,
    pub(crate) lanes: Lanes,
    pub(crate) host: &'a Host,
}

impl Query<'_> {
    /// Which of several targets serves best: the very one, or else the last that this machine can run.
    fn choose<'t>(&self, targets: impl Iterator<Item = &'t Target> + Clone) -> Option<usize> {
        let exact = targets.clone().position(|target| self.host.is_exactly(target));
        let compatible =
            || targets.enumerate().filter(|(_, target)| self.host.can_run(target)).map(|(at, _)| at).last();
        exact.or_else(compatible)
    }
}

impl BinaryArchive {
    /// An empty archive in memory.
    #[allow(clippy::new_without_default, reason = "there are several kinds, and none is the default")]
    pub fn new() -> BinaryArchive {
        BinaryArchive::with(Store::Memory(Memory::default()))
    }

    fn with(store: Store) -> BinaryArchive {
        BinaryArchive { store: Arc::new(store) }
    }

    pub(crate) fn find(&self, query: &Query) -> Option<Arc<Entry>> {
        let found = match &*self.store {
            Store::Memory(memory) => memory.find(query),
        };
        found.filter(|entry| entry.is_of(query.kernel, query.lanes))
    }

    /// Keeps an entry, if this kind of archive takes new ones.
    pub(crate) fn add(&self, entry: &Arc<Entry>) {
        match &*self.store {
            Store::Memory(memory) => memory.add(entry.clone()),
        }
    }

    /// How many pieces of code it has.
    pub fn len(&self) -> usize {
        match &*self.store {
            Store::Memory(memory) => memory.all().len(),
        }
    }

    /// Bytes of machine code that it has.
    pub fn size(&self) -> u64 {
        match &*self.store {
            Store::Memory(memory) => memory.all().iter().map(|entry| entry.code_size() as u64).sum(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything.
    pub fn clear(&self) {
        match &*self.store {
            Store::Memory(memory) => memory.clear(),
        }
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> String {
        match &*self.store {
            Store::Memory(_) => "an archive in memory".into(),
        }
    }
}

impl fmt::Debug for BinaryArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BinaryArchive").field(&self.describe()).finish()
    }
}
