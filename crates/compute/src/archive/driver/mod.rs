//! A driver's own archive of compiled kernels: one file per GPU and system version, in the user's folder.
//!
//! ```text
//! folder / metal / apple-m2-pro_version-14-5-build-23f79 .metalar            written by the driver
//!                                                        .metalar.damaged    refused by the driver, set aside
//!                / .metalworks-….tmp                                         being written
//! ```
//!
//! The driver defines the contents of the file; this module decides when to open and write it. A file is opened at the
//! first lookup. New code is added to the archive in memory, which is then written to a new file that replaces the old
//! one. Processes share it without locks: a file appears whole, and the last writer wins; code that others added
//! meanwhile is compiled again.
//!
//! **Invariant:** problems are recorded, not returned as errors: kernels are then compiled without an archive.

#[cfg(test)]
mod tests;

use super::driver_files::{EXTENSION, FOLDER, set_aside, slug};
use super::folder::{Folder, remove, touch};
use super::problems::Problems;
use super::trust::{is_private_folder, open_trusted};
use crate::files::temporary_name;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Calls into a driver. Errors are the driver's messages.
pub trait Driver: Send + Sync + 'static {
    /// Its archive.
    type Archive: Send + Sync;
    /// A compiled object to add.
    type Item: Send;

    /// Opens a file, or creates an empty archive.
    fn open(&self, file: Option<&Path>) -> Result<Self::Archive, String>;
    /// Adds a compiled object.
    fn add(&self, archive: &Self::Archive, item: &Self::Item) -> Result<(), String>;
    /// Writes a file.
    fn serialize(&self, archive: &Self::Archive, file: &Path) -> Result<(), String>;
}

/// A driver's archive, in a folder or in memory.
pub struct DriverArchive<D: Driver> {
    driver: D,
    /// File name without extension.
    name: String,
    /// Opened on first use; `None` if the driver has no archives.
    opened: OnceLock<Option<RwLock<D::Archive>>>,
    /// Objects compiled since the last flush. Adding may take as long as compiling, so it is deferred until no thread
    /// waits.
    pending: Mutex<Vec<D::Item>>,
    /// True if the archive has objects that are in no file.
    is_unwritten: AtomicBool,
}

impl<D: Driver> DriverArchive<D> {
    /// The archive of a GPU and a system version, by the names that they report.
    pub fn new(driver: D, gpu: &str, system: &str) -> DriverArchive<D> {
        let name = format!("{}_{}", slug(gpu), slug(system));
        DriverArchive {
            driver,
            name,
            opened: OnceLock::new(),
            pending: Mutex::default(),
            is_unwritten: AtomicBool::new(false),
        }
    }

    /// Looks up an object while none is added; `None` if there is no archive. Without a folder it is in memory.
    pub(super) fn look<T>(
        &self,
        folder: Option<&Folder>,
        problems: &Problems,
        look: impl FnOnce(&D::Archive) -> T,
    ) -> Option<T> {
        Some(look(&read(self.opened(folder, problems)?)))
    }

    /// Adds a compiled object. In memory it is available at once, in a folder after the next flush.
    pub(super) fn add(&self, folder: Option<&Folder>, item: D::Item, problems: &Problems) {
        self.pending().push(item);
        if folder.is_none() {
            self.add_pending(folder, problems);
        }
    }

    /// Writes objects added since the last flush, and those that could not be written then.
    pub(super) fn flush(&self, folder: &Folder, problems: &Problems) {
        self.add_pending(Some(folder), problems);
        if self.is_unwritten.swap(false, Ordering::AcqRel)
            && let Err(problem) = self.write(folder, problems)
        {
            self.is_unwritten.store(true, Ordering::Release);
            problems.add(format!("cannot write '{}': {problem}", self.path(folder).display()));
        }
    }

    fn add_pending(&self, folder: Option<&Folder>, problems: &Problems) {
        let items = std::mem::take(&mut *self.pending());
        if items.is_empty() {
            return;
        }
        let Some(archive) = self.opened(folder, problems) else { return };
        let archive = write(archive);
        for item in items {
            match self.driver.add(&archive, &item) {
                Ok(()) => self.is_unwritten.store(true, Ordering::Release),
                Err(problem) => problems.add(format!("the driver cannot archive a kernel: {problem}")),
            }
        }
    }

    fn opened(&self, folder: Option<&Folder>, problems: &Problems) -> Option<&RwLock<D::Archive>> {
        let opened = self.opened.get_or_init(|| {
            let old = folder.and_then(|folder| self.open(folder, problems));
            let archive = old.map_or_else(|| self.driver.open(None), Ok);
            let failed = |problem| problems.add(format!("the driver cannot create an archive: {problem}"));
            archive.map_err(failed).ok().map(RwLock::new)
        });
        opened.as_ref()
    }

    /// Opens the file of an earlier process, if it is usable.
    fn open(&self, folder: &Folder, problems: &Problems) -> Option<D::Archive> {
        let path = self.path(folder);
        let failed = |error: std::io::Error| {
            if error.kind() != ErrorKind::NotFound {
                problems.add(format!("cannot read '{}': {error}", path.display()));
            }
        };
        let file = match open_trusted(&path).map_err(failed).ok()? {
            // The driver opens the file again, by its name.
            Ok(_) if !is_private_folder(path.parent()?) => {
                problems.add(format!("'{}' is not used: others can write to its folder", path.display()));
                return None;
            }
            Ok(file) => file,
            Err(why) => {
                problems.add(format!("'{}' is not used: {why}", path.display()));
                return None;
            }
        };
        let metadata = file.metadata().map_err(failed).ok()?;
        // A driver's archive cannot shrink, not even by kernels of older programs: start over before it fills the
        // folder.
        if metadata.len() > folder.limit() / 2 {
            return None;
        }
        match self.driver.open(Some(&path)) {
            Ok(archive) => {
                touch(&file);
                Some(archive)
            }
            Err(problem) => {
                problems.add(format!("'{}' is set aside: {problem}", path.display()));
                if std::fs::rename(&path, set_aside(&path)).is_err() {
                    remove(&path, problems);
                }
                None
            }
        }
    }

    fn write(&self, folder: &Folder, problems: &Problems) -> Result<(), String> {
        let Some(archive) = self.opened(Some(folder), problems) else { return Ok(()) };
        let path = self.path(folder);
        folder.make(&path).map_err(|error| error.to_string())?;
        let temporary = path.with_file_name(temporary_name());
        // The lock keeps others from adding meanwhile.
        let archive = write(archive);
        let written = self.driver.serialize(&archive, &temporary);
        drop(archive);
        let bytes = written.and_then(|()| {
            let bytes = std::fs::metadata(&temporary).map_err(|error| error.to_string())?.len();
            match bytes {
                0 => Err("the driver wrote an empty file".into()),
                bytes if bytes > folder.limit() => {
                    Err(format!("{bytes} bytes exceed the folder's limit ({})", folder.limit()))
                }
                bytes => {
                    // The driver made it with the user's umask, which may let others write.
                    let private = std::fs::Permissions::from_mode(0o600);
                    let named = std::fs::set_permissions(&temporary, private)
                        .and_then(|()| std::fs::rename(&temporary, &path));
                    named.map(|()| bytes).map_err(|error| error.to_string())
                }
            }
        });
        match bytes {
            Ok(bytes) => {
                folder.bound(bytes, problems);
                Ok(())
            }
            Err(problem) => {
                let _ = std::fs::remove_file(&temporary);
                Err(problem)
            }
        }
    }

    fn path(&self, folder: &Folder) -> PathBuf {
        folder.root().join(FOLDER).join(format!("{}{EXTENSION}", self.name))
    }

    fn pending(&self) -> MutexGuard<'_, Vec<D::Item>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver detects its own inconsistent state after a panic.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
