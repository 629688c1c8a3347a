//! Statistics of an archive.

use super::driver_files::driver_target;
use super::folder::{FileKind, Found};
use super::{BinaryArchive, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

/// Statistics of an archive; every entry was read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ArchiveInfo {
    /// The folder or file.
    pub path: Option<PathBuf>,
    /// The reason why nothing is archived, if so.
    pub off: Option<String>,
    /// Undamaged entries. A driver's archive file, for one GPU, counts as one.
    pub entries: usize,
    /// Bytes of all files, or of all entries in memory.
    pub bytes: u64,
    /// Limit for these bytes.
    pub size_limit: Option<u64>,
    /// Last use of the least recently used entry.
    pub oldest: Option<SystemTime>,
    /// Entries that are damaged or of another format version, and files that a driver refused.
    pub damaged: usize,
    /// Files that are being written, or were left by a process that died.
    pub unfinished: usize,
    /// Targets of the code.
    pub targets: Vec<TargetInfo>,
}

/// The code for one target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetInfo {
    /// The target: `cpu x86_64 znver4`, `metal apple-m2-pro version-14-5-build-23f79`.
    pub target: String,
    /// Number of entries.
    pub entries: usize,
    /// Bytes of machine code.
    pub code_bytes: u64,
}

impl BinaryArchive {
    /// Reads all entries and collects statistics.
    pub fn info(&self) -> ArchiveInfo {
        let mut info =
            ArchiveInfo { path: self.path().map(PathBuf::from), bytes: self.size(), ..ArchiveInfo::default() };
        let mut gpus = Vec::new();
        let entries = match &self.inner.store {
            Store::Folder(folder) => {
                info.size_limit = Some(folder.limit());
                let files = folder.files();
                let count = |kind| files.iter().filter(|file| file.is(kind)).count();
                info.unfinished = count(FileKind::Temporary);
                let entries = folder.all();
                let is_kept = |file: &&Found| matches!(file.kind, FileKind::Entry | FileKind::Driver);
                info.oldest = files.iter().filter(is_kept).map(|file| file.used).min();
                info.damaged =
                    entries.iter().filter(|(_, entry)| entry.is_none()).count() + count(FileKind::SetAside);
                let gpu = files.iter().filter(|file| file.is(FileKind::Driver));
                gpus.extend(gpu.map(|file| (driver_target(&file.path), file.bytes)));
                entries.into_iter().filter_map(|(_, entry)| entry).collect()
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
        info.entries = entries.len() + gpus.len();
        let mut targets: BTreeMap<String, (usize, u64)> = BTreeMap::new();
        for entry in entries {
            let (count, bytes) = targets.entry(entry.artifact.target.name()).or_default();
            *count += 1;
            *bytes += entry.code_size() as u64;
        }
        targets.extend(gpus.into_iter().map(|(target, bytes)| (target, (1, bytes))));
        let target = |(target, (entries, code_bytes))| TargetInfo { target, entries, code_bytes };
        info.targets = targets.into_iter().map(target).collect();
        info
    }
}
