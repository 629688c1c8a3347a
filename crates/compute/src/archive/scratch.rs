//! Temporary folders for tests.

use super::FolderOptions;
use super::folder::Folder;
use std::path::PathBuf;

/// A folder of a test, removed when it is dropped. It is not created yet.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    /// Names must be unique to a test, since tests run in parallel.
    pub(super) fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("metalworks-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Scratch(path)
    }

    pub(super) fn folder(&self, size_limit: u64) -> Folder {
        Folder::new(self.0.clone(), FolderOptions { size_limit })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
