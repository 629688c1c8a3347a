//! What is in an archive.

use super::{BinaryArchive, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

/// What is in an archive; every entry was looked at.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ArchiveInfo {
    /// The folder or file.
    pub path: Option<PathBuf>,
    /// Why nothing is kept, where that is so.
    pub off: Option<String>,
    /// Entries that are whole.
    pub entries: usize,
    /// Bytes that all files take, or all entries in memory.
    pub bytes: u64,
    /// The most that they may take.
    pub size_limit: Option<u64>,
    /// When the entry was used that was not used for the longest time.
    pub oldest: Option<SystemTime>,
    /// Entries that are damaged or of another version of the format.
    pub damaged: usize,
    /// Files that are being written, or were when a process died.
    pub unfinished: usize,
    /// The machines that there is code for.
    pub targets: Vec<TargetInfo>,
}

/// The code for one machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetInfo {
    /// The machine: `cpu x86_64 znver4`.
    pub target: String,
    /// Entries.
    pub entries: usize,
    /// Bytes of machine code.
    pub code_bytes: u64,
}

impl BinaryArchive {
    /// Looks at everything in it.
    pub fn info(&self) -> ArchiveInfo {
        let mut info =
            ArchiveInfo { path: self.path().map(PathBuf::from), bytes: self.size(), ..ArchiveInfo::default() };
        let entries = match &self.inner.store {
            Store::Folder(folder) => {
                info.size_limit = Some(folder.limit());
                info.unfinished = folder.files().iter().filter(|file| file.is_temporary).count();
                let files = folder.all();
                info.oldest = files.iter().map(|(file, _)| file.used).min();
                info.damaged = files.iter().filter(|(_, entry)| entry.is_none()).count();
                files.into_iter().filter_map(|(_, entry)| entry).collect()
            }
            Store::File(file) => {
                let entries = self.entries();
                info.damaged = file.items().count() - entries.len();
                entries
            }
            Store::Memory(_) => self.entries(),
            Store::Nowhere(why) => {
                info.off = Some(why.clone());
                Vec::new()
            }
        };
        info.entries = entries.len();
        let mut targets: BTreeMap<String, (usize, u64)> = BTreeMap::new();
        for entry in entries {
            let (count, bytes) = targets.entry(entry.target.name()).or_default();
            *count += 1;
            *bytes += entry.code_size() as u64;
        }
        let target = |(target, (entries, code_bytes))| TargetInfo { target, entries, code_bytes };
        info.targets = targets.into_iter().map(target).collect();
        info
    }
}
