//! An archive in memory.

use super::Query;
use super::artifact::{ArchiveEntry, ArtifactTarget};
use super::key::Key;
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock, RwLockReadGuard};

/// Entries by key, for different targets.
#[derive(Default)]
pub(super) struct MemoryStore {
    entries: RwLock<BTreeMap<Key, Vec<Arc<ArchiveEntry>>>>,
}

impl MemoryStore {
    pub(super) fn find(&self, query: &Query) -> Option<Arc<ArchiveEntry>> {
        let entries = self.read();
        let candidates = entries.get(&query.key)?;
        let best = query.choose(candidates.iter().map(|entry| &entry.artifact.target))?;
        Some(candidates[best].clone())
    }

    pub(super) fn add(&self, entry: Arc<ArchiveEntry>) {
        let mut entries = self.entries.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        let others = entries.entry(entry.key).or_default();
        others.retain(|other| other.artifact.target != entry.artifact.target);
        others.push(entry);
    }

    /// Removes all entries; returns their number.
    pub(super) fn clear(&self) -> usize {
        let entries = std::mem::take(&mut *self.entries.write().unwrap_or_else(|poisoned| poisoned.into_inner()));
        entries.values().map(Vec::len).sum()
    }

    pub(super) fn targets_of(&self, key: Key) -> Vec<ArtifactTarget> {
        self.read().get(&key).into_iter().flatten().map(|entry| entry.artifact.target.clone()).collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<ArchiveEntry>> {
        self.read().values().flatten().cloned().collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Key, Vec<Arc<ArchiveEntry>>>> {
        self.entries.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
