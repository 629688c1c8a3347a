//! An append-only hash table, read without a lock.
//!
//! A bucket is a linked list of [`OnceLock`]s, each empty or set for good. So readers never wait, and entries stay in
//! place as long as the table lives: references to them need no counting.
//!
//! Why not a map behind a swapped pointer? Its readers must register, and its entries need reference counts. The number
//! of buckets is fixed; a hundred thousand pipelines would make lists of four hundred.

use super::attempt::Attempts;
use super::constants::KernelConstants;
use super::key::{PipelineKey, Wanted};
use crate::pipeline::ComputePipelineState;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

const BUCKETS: usize = 256;

/// Entries by key.
pub(super) struct PipelineTable {
    buckets: Box<[Link]>,
}

type Link = OnceLock<Box<CachedPipeline>>;

/// A requested pipeline.
pub(super) struct CachedPipeline {
    pub(super) key: PipelineKey,
    /// Set once it is created.
    pub(super) pipeline: OnceLock<ComputePipelineState>,
    pub(super) attempts: Attempts,
    /// True if its late miss was reported.
    pub(super) told: AtomicBool,
    next: Link,
}

impl PipelineTable {
    pub(super) fn new() -> PipelineTable {
        PipelineTable { buckets: (0..BUCKETS).map(|_| Link::new()).collect() }
    }

    #[inline]
    fn bucket(&self, hash: u64) -> &Link {
        &self.buckets[(hash ^ hash >> 32) as usize % BUCKETS]
    }

    /// The entry of a lookup, if there is one.
    #[inline]
    pub(super) fn find<C: KernelConstants>(&self, hash: u64, wanted: &Wanted<'_, C>) -> Option<&CachedPipeline> {
        let mut link = self.bucket(hash);
        while let Some(entry) = link.get() {
            if entry.key.hash_value() == hash && wanted.is(&entry.key) {
                return Some(entry);
            }
            link = &entry.next;
        }
        None
    }

    /// The entry of a key, if there is one.
    #[inline]
    pub(super) fn find_key(&self, key: &PipelineKey) -> Option<&CachedPipeline> {
        let mut link = self.bucket(key.hash_value());
        while let Some(entry) = link.get() {
            if entry.key == *key {
                return Some(entry);
            }
            link = &entry.next;
        }
        None
    }

    /// The entry of a key, added if missing.
    pub(super) fn entry(&self, key: &PipelineKey) -> &CachedPipeline {
        let mut link = self.bucket(key.hash_value());
        loop {
            // If several threads reach the end at once, one adds its entry, and the others see it.
            let entry = link.get_or_init(|| Box::new(CachedPipeline::new(key.clone())));
            if entry.key == *key {
                return entry;
            }
            link = &entry.next;
        }
    }

    /// All entries, in no particular order.
    pub(super) fn entries(&self) -> impl Iterator<Item = &CachedPipeline> {
        let firsts = self.buckets.iter().filter_map(Link::get);
        firsts.flat_map(|first| std::iter::successors(Some(&**first), |entry| entry.next.get().map(|next| &**next)))
    }
}

impl CachedPipeline {
    fn new(key: PipelineKey) -> CachedPipeline {
        CachedPipeline {
            key,
            pipeline: OnceLock::new(),
            attempts: Attempts::default(),
            told: AtomicBool::new(false),
            next: Link::new(),
        }
    }
}
