//! A driver's own archive of compiled kernels: one file for each GPU and version of the system, in the folder of the user.
//!
//! ```text
//! folder / metal / apple-m2-pro_version-14-5-build-23f79 .metalar            what the driver wrote
//!                                                        .metalar.damaged    one that it refused, set aside
//!                / .metalworks-….tmp                                         one that is being written
//! ```
//!
//! What is in such a file is the driver's business, who writes it is ours: it opens a file when a kernel is first looked for,
//! takes up what was compiled, and writes all of it into a new file, which then takes the place of the old one. Processes
//! share it without locks: a file appears whole, and who writes last wins; what others compiled meanwhile is compiled again.
//!
//! **Invariant:** nothing here is an error: what goes wrong is noted, and kernels are compiled without an archive.

#[cfg(test)]
mod tests;

use super::driver_files::{EXTENSION, FOLDER, set_aside, slug};
use super::file::temporary_name;
use super::folder::{Folder, effective_user, is_trusted, remove, touch};
use super::problems::Problems;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The calls into a driver. An error is what it says.
pub trait Driver: Send + Sync + 'static {
    /// Its archive.
    type Archive: Send + Sync;
    /// What is added to it.
    type Item: Send;

    /// Opens a file; without one, an archive that is empty.
    fn open(&self, file: Option<&Path>) -> Result<Self::Archive, String>;
    /// Takes up something that was compiled.
    fn add(&self, archive: &Self::Archive, item: &Self::Item) -> Result<(), String>;
    /// Writes a file.
    fn serialize(&self, archive: &Self::Archive, file: &Path) -> Result<(), String>;
}

/// An archive of a driver, in a folder or in memory.
pub struct DriverArchive<D: Driver> {
    driver: D,
    /// The name of its file, without what it ends with.
    name: String,
    /// Opened when it is first needed; `None` where the driver has none.
    opened: OnceLock<Option<RwLock<D::Archive>>>,
    /// What was compiled since the last flush. Adding may take as long as compiling: it waits until nobody waits for it.
    pending: Mutex<Vec<D::Item>>,
    /// Something was added that is in no file.
    is_unwritten: AtomicBool,
}

impl<D: Driver> DriverArchive<D> {
    /// The archive for a GPU and a version of the system, both as they call themselves.
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

    /// Looks something up while nothing is added; `None` where there is no archive. Without a folder it is in memory.
    pub(super) fn look<T>(
        &self,
        folder: Option<&Folder>,
        problems: &Problems,
        look: impl FnOnce(&D::Archive) -> T,
    ) -> Option<T> {
        Some(look(&read(self.opened(folder, problems)?)))
    }

    /// Takes up what was compiled. In memory it is there at once, in a folder after the next flush.
    pub(super) fn add(&self, folder: Option<&Folder>, item: D::Item, problems: &Problems) {
        self.pending().push(item);
        if folder.is_none() {
            self.add_pending(folder, problems);
        }
    }

    /// Writes what was compiled since the last time, and what could not be written then.
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
                Err(problem) => problems.add(format!("the driver keeps a kernel in no archive: {problem}")),
            }
        }
    }

    fn opened(&self, folder: Option<&Folder>, problems: &Problems) -> Option<&RwLock<D::Archive>> {
        let opened = self.opened.get_or_init(|| {
            let old = folder.and_then(|folder| self.open(folder, problems));
            let archive = old.map_or_else(|| self.driver.open(None), Ok);
            let failed =
                |problem| problems.add(format!("the driver has no archive of compiled kernels: {problem}"));
            archive.map_err(failed).ok().map(RwLock::new)
        });
        opened.as_ref()
    }

    /// What an earlier process wrote, if that can be used.
    fn open(&self, folder: &Folder, problems: &Problems) -> Option<D::Archive> {
        let path = self.path(folder);
        let failed = |error: std::io::Error| {
            if error.kind() != ErrorKind::NotFound {
                problems.add(format!("cannot read '{}': {error}", path.display()));
            }
        };
        let file = File::open(&path).map_err(failed).ok()?;
        let metadata = file.metadata().map_err(failed).ok()?;
        if !is_trusted(metadata.uid(), effective_user()) {
            problems.add(format!("'{}' is not used: it belongs to another user", path.display()));
            return None;
        }
        // Nothing can be taken out of it, kernels of older programs included: it is begun anew before it fills the folder.
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
        // Nobody adds meanwhile.
        let archive = write(archive);
        let written = self.driver.serialize(&archive, &temporary);
        drop(archive);
        let bytes = written.and_then(|()| {
            let bytes = std::fs::metadata(&temporary).map_err(|error| error.to_string())?.len();
            match bytes {
                0 => Err("the driver wrote an empty file".into()),
                bytes if bytes > folder.limit() => {
                    Err(format!("{bytes} bytes are more than the folder may have ({})", folder.limit()))
                }
                bytes => std::fs::rename(&temporary, &path).map(|()| bytes).map_err(|error| error.to_string()),
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

/// What a driver may have left halfway is for it to notice.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
