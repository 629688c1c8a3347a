//! Adding to a folder, and keeping it within its limit.

use super::{FileKind, Folder, Found, remove};
use crate::archive::artifact::ArchiveEntry;
use crate::archive::format;
use crate::archive::problems::Problems;
use crate::files::replace_private;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Age after which a temporary file has no writer any more.
const ABANDONED_AFTER: Duration = Duration::from_secs(600);

/// Other processes write, too: recount after this many files.
const COUNT_AFTER: u32 = 64;

/// Size of the folder, as far as known without a scan.
#[derive(Default)]
pub(super) struct FolderSize {
    /// `None` before the first scan.
    bytes: Option<u64>,
    /// Files written since the last scan.
    written: u32,
}

impl Folder {
    /// Creates the parent folder of a file.
    pub(in crate::archive) fn make(&self, path: &Path) -> io::Result<()> {
        // Only the user may write code that is run from here.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap_or(&self.root))
    }

    /// Enforces the size limit after `added` more bytes.
    pub(in crate::archive) fn bound(&self, added: u64, problems: &Problems) {
        // One thread at a time is enough.
        let Ok(mut count) = self.count.try_lock() else { return };
        count.written += 1;
        count.bytes = count.bytes.map(|bytes| bytes + added);
        match count.bytes {
            Some(bytes) if bytes <= self.limit && count.written < COUNT_AFTER => {}
            _ => *count = FolderSize { bytes: Some(self.evict(problems)), written: 0 },
        }
    }

    /// Removes the least recently used files, and files left by dead processes; returns the remaining bytes.
    fn evict(&self, problems: &Problems) -> u64 {
        let now = SystemTime::now();
        let is_abandoned = |file: &Found| now.duration_since(file.used).is_ok_and(|age| age > ABANDONED_AFTER);
        let (unfinished, mut files): (Vec<Found>, Vec<Found>) =
            self.files().into_iter().partition(|file| file.is(FileKind::Temporary));
        for file in unfinished.iter().filter(|file| is_abandoned(file)) {
            remove(&file.path, problems);
        }
        // Young temporary files do not count: useful entries would be evicted for files that vanish soon.
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        if total > self.limit {
            // Free a little more, so that the next file does not evict again.
            let enough = self.limit / 10 * 9;
            files.sort_by_key(|file| file.used);
            for file in files {
                if total <= enough {
                    break;
                }
                if remove(&file.path, problems) {
                    total -= file.bytes;
                }
            }
        }
        total
    }

    /// Drops the cached size.
    pub(super) fn count_anew(&self) {
        *self.count.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = FolderSize::default();
    }

    pub(in crate::archive) fn add(&self, entry: &ArchiveEntry, problems: &Problems) {
        let bytes = match format::write([entry]) {
            Ok(bytes) => bytes,
            Err(problem) => return problems.add(format!("kernel '{}': {problem}", entry.reflection.name)),
        };
        // It would be evicted at once.
        if bytes.len() as u64 > self.limit {
            return;
        }
        match self.write(&self.path(&entry.artifact.target, entry.key), &bytes) {
            Ok(()) => self.bound(bytes.len() as u64, problems),
            Err(error) => problems.add(format!("cannot write to '{}': {error}", self.root.display())),
        }
    }

    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // Another process may just have removed the empty folder.
        for last in [false, true] {
            self.make(path)?;
            match replace_private(path, bytes) {
                Err(error) if error.kind() == ErrorKind::NotFound && !last => {}
                result => return result,
            }
        }
        Ok(())
    }
}
