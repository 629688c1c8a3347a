//! An archive that is one file: written at once, then only read.

use super::Query;
use super::artifact::ArchiveEntry;
use super::format::{HEADER_SIZE, Header, IndexItem};
use super::key::Key;
use super::problems::Problems;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open file. Its index is in memory; entries are read and checked when they are asked for. The file is read, not mapped:
/// one that others shorten is damaged, and nothing worse.
pub(super) struct Portable {
    path: PathBuf,
    file: File,
    items: BTreeMap<Key, Vec<IndexItem>>,
}

impl Portable {
    pub(super) fn open(path: &Path) -> Result<Portable> {
        let failed =
            |error: std::io::Error| Error::File { path: path.display().to_string(), reason: error.to_string() };
        let file = File::open(path).map_err(failed)?;
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
        // The index says how long it is, and was compared with the length of the file.
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

    /// All entries that are not damaged.
    pub(super) fn all(&self, problems: &Problems) -> Vec<Arc<ArchiveEntry>> {
        self.items().filter_map(|item| self.entry(item, problems)).collect()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// The index of a file; the inner error is what is wrong with it.
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

/// Writes the file that a user named: a device or a pipe is written to, not replaced; what a link points to is replaced, and
/// not the link.
pub(super) fn write_named(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => File::options().write(true).open(path)?.write_all(bytes),
        Ok(_) => write_atomically(&path.canonicalize()?, bytes, true),
        Err(_) => write_atomically(path, bytes, true),
    }
}

/// Writes a file so that at any time there is the old one or the new one, whole, under its name. `durable` waits for the disk:
/// without it a machine that loses its power can leave a damaged file.
pub(super) fn write_atomically(path: &Path, bytes: &[u8], durable: bool) -> std::io::Result<()> {
    let temporary = path.with_file_name(temporary_name());
    let written = (|| {
        let mut file = File::options().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        if durable {
            file.sync_all()?;
        }
        std::fs::rename(&temporary, path)
    })();
    match written {
        Ok(()) if durable => {
            // The new name is on the disk when the folder is.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            File::open(folder)?.sync_all()
        }
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = std::fs::remove_file(&temporary);
            Err(error)
        }
    }
}

const TEMPORARY: &str = ".metalworks-";

/// A name that no other thread or process has.
pub(super) fn temporary_name() -> String {
    use std::hash::{BuildHasher, RandomState};
    // Processes in different containers can have the same number and share a folder.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{TEMPORARY}{}-{random:016x}.tmp", std::process::id())
}

/// Whether a file is one that a process left behind, or still writes.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY) && name.ends_with(".tmp")
}
