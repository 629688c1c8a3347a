//! Temporary archive on disk.

use compute::{BinaryArchive, FolderOptions};
use std::path::PathBuf;

/// Folder of an archive in the system's temporary folder, removed on drop.
pub(crate) struct ArchiveFolder(PathBuf);

impl ArchiveFolder {
    pub(crate) fn new(name: &str) -> ArchiveFolder {
        ArchiveFolder(std::env::temp_dir().join(format!("metalworks-bench-{name}-{}", std::process::id())))
    }

    /// Opens the archive anew: it reads everything from disk.
    pub(crate) fn archive(&self) -> BinaryArchive {
        BinaryArchive::folder(&self.0, FolderOptions::default())
    }
}

impl Drop for ArchiveFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
