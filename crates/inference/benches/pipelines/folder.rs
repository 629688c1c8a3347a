//! An archive on disk that is gone afterwards.

use compute::{BinaryArchive, FolderOptions};
use std::path::PathBuf;

/// A folder of its own in the system's folder for such things.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("metalworks-bench-{name}-{}", std::process::id())))
    }

    /// Opened anew, it knows nothing but what is on disk.
    pub(crate) fn archive(&self) -> BinaryArchive {
        BinaryArchive::folder(&self.0, FolderOptions::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
