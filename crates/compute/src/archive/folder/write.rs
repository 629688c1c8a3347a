//! Adding to a folder, and keeping it within its limit.

use super::{FileKind, Folder, Found, remove};
use crate::archive::artifact::ArchiveEntry;
use crate::archive::file::write_atomically;
use crate::archive::format;
use crate::archive::problems::Problems;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A temporary file that is older has no process that still writes it.
const ABANDONED_AFTER: Duration = Duration::from_secs(600);

/// Other processes write, too: what is there is counted anew after so many files.
const COUNT_AFTER: u32 = 64;

/// What is known about the size without looking.
#[derive(Default)]
pub(super) struct FolderSize {
    /// `None` before the first look.
    bytes: Option<u64>,
    /// Files written since then.
    written: u32,
}

impl Folder {
    /// Makes the folder that a file of ours is to be in.
    pub(in crate::archive) fn make(&self, path: &Path) -> io::Result<()> {
        // What is run from here is the user's own.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path.parent().unwrap_or(&self.root))
    }

    /// Keeps to the limit after `added` bytes more.
    pub(in crate::archive) fn bound(&self, added: u64, problems: &Problems) {
        // A thread that is at it already will do.
        let Ok(mut count) = self.count.try_lock() else { return };
        count.written += 1;
        count.bytes = count.bytes.map(|bytes| bytes + added);
        match count.bytes {
            Some(bytes) if bytes <= self.limit && count.written < COUNT_AFTER => {}
            _ => *count = FolderSize { bytes: Some(self.evict(problems)), written: 0 },
        }
    }

    /// Removes what was not used for the longest time, and what dead processes left; returns how many bytes are left.
    fn evict(&self, problems: &Problems) -> u64 {
        let now = SystemTime::now();
        let is_abandoned = |file: &Found| now.duration_since(file.used).is_ok_and(|age| age > ABANDONED_AFTER);
        let (unfinished, mut files): (Vec<Found>, Vec<Found>) =
            self.files().into_iter().partition(|file| file.is(FileKind::Temporary));
        for file in unfinished.iter().filter(|file| is_abandoned(file)) {
            remove(&file.path, problems);
        }
        // Those that are young do not count: entries that are of use would have to go for what will be gone soon.
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        if total > self.limit {
            // A little more than needed, so that the next file does not need it again.
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

    /// Forgets how much there is.
    pub(super) fn count_anew(&self) {
        *self.count.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = FolderSize::default();
    }

    pub(in crate::archive) fn add(&self, entry: &ArchiveEntry, problems: &Problems) {
        let bytes = match format::write([entry]) {
            Ok(bytes) => bytes,
            Err(problem) => return problems.add(format!("kernel '{}': {problem}", entry.reflection.name)),
        };
        // It would go at once.
        if bytes.len() as u64 > self.limit {
            return;
        }
        match self.write(&self.path(&entry.artifact.target, entry.key), &bytes) {
            Ok(()) => self.bound(bytes.len() as u64, problems),
            Err(error) => problems.add(format!("cannot write to '{}': {error}", self.root.display())),
        }
    }

    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // Another process may remove a folder that is empty just now.
        for last in [false, true] {
            self.make(path)?;
            match write_atomically(path, bytes, false) {
                Err(error) if error.kind() == ErrorKind::NotFound && !last => {}
                result => return result,
            }
        }
        Ok(())
    }
}
