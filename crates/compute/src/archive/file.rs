//! An archive in one file, written at once and then read-only.

use super::Query;
use super::artifact::ArchiveEntry;
use super::format::{HEADER_SIZE, Header, IndexItem};
use super::key::Key;
use super::problems::Problems;
use super::trust::open_file;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open file with its index in memory; entries are read and checked on demand. The file is read, not mapped:
/// truncation by others makes it damaged instead of crashing the process.
pub(super) struct Portable {
    path: PathBuf,
    file: File,
    items: BTreeMap<Key, Vec<IndexItem>>,
}

impl Portable {
    pub(super) fn open(path: &Path) -> Result<Portable> {
        let failed =
            |error: std::io::Error| Error::File { path: path.display().to_string(), reason: error.to_string() };
        let file = open_file(path).map_err(failed)?;
        let items = read_index(&file).map_err(failed)?;
        let items = items.map_err(|problem| Error::Library(format!("'{}': {problem}", path.display())))?;
        let mut by_key: BTreeMap<Key, Vec<IndexItem>> = BTreeMap::new();
        for item in items {
            by_key.entry(item.key).or_default().push(item);
        }
        Ok(Portable { path: path.to_path_buf(), file, items: by_key })
    }

    pub(super) fn find(&self, query: &Query, problems: &Problems) -> Option<Arc<ArchiveEntry>> {
        let candidates = self.items.get(&query.key)?;
        let best = query.choose(candidates.iter().map(|item| &item.target))?;
        self.entry(&candidates[best], problems)
    }

    /// Reads an entry.
    fn entry(&self, item: &IndexItem, problems: &Problems) -> Option<Arc<ArchiveEntry>> {
        // The length comes from the index, which was checked against the file size.
        let mut bytes = vec![0; item.len as usize];
        let problem = match self.file.read_exact_at(&mut bytes, item.offset) {
            Ok(()) => match item.entry(&bytes) {
                Ok(entry) => return Some(Arc::new(entry)),
                Err(problem) => problem.to_string(),
            },
            Err(error) => error.to_string(),
        };
        problems.add(format!("'{}': kernel '{}': {problem}", self.path.display(), item.kernel));
        None
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &IndexItem> {
        self.items.values().flatten()
    }

    /// All undamaged entries.
    pub(super) fn all(&self, problems: &Problems) -> Vec<Arc<ArchiveEntry>> {
        self.items().filter_map(|item| self.entry(item, problems)).collect()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads the index of a file; the inner error is a format problem.
fn read_index(file: &File) -> std::io::Result<std::result::Result<Vec<IndexItem>, super::format::Problem>> {
    let len = file.metadata()?.len();
    let mut header = [0; HEADER_SIZE];
    let there = HEADER_SIZE.min(usize::try_from(len).unwrap_or(HEADER_SIZE));
    file.read_exact_at(&mut header[..there], 0)?;
    let header = match Header::parse(&header[..there], len) {
        Ok(header) => header,
        Err(problem) => return Ok(Err(problem)),
    };
    let mut index = vec![0; header.index_len];
    file.read_exact_at(&mut index, HEADER_SIZE as u64)?;
    Ok(header.index(&index, len))
}
