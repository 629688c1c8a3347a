//! The drivers' archives, one per device, behind the archive that users see.

use super::driver::{Driver, DriverArchive};
use super::folder::Folder;
use super::problems::Problems;
use super::{ArchiveInner, BinaryArchive, Store};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// By the system's ID of the device.
#[derive(Default)]
pub(super) struct DriverArchives(Mutex<Vec<(u64, Arc<dyn AnyDriverArchive>)>>);

/// Archive of any driver.
trait AnyDriverArchive: Any + Send + Sync {
    fn flush(&self, folder: &Folder, problems: &Problems);
}

impl<D: Driver> AnyDriverArchive for DriverArchive<D> {
    fn flush(&self, folder: &Folder, problems: &Problems) {
        DriverArchive::flush(self, folder, problems);
    }
}

impl BinaryArchive {
    /// Looks up an object in a driver's archive for a device; `None` if nothing is archived. `archive` creates the
    /// driver's archive on first use of the device.
    pub fn look_in_driver<D: Driver, T>(
        &self,
        device: u64,
        archive: impl FnOnce() -> DriverArchive<D>,
        look: impl FnOnce(&D::Archive) -> T,
    ) -> Option<T> {
        let (folder, archive) = self.inner.driver_archive(device, archive)?;
        archive.look(folder, &self.inner.problems, look)
    }

    /// Adds a compiled object to a driver's archive.
    pub fn add_to_driver<D: Driver>(
        &self,
        device: u64,
        archive: impl FnOnce() -> DriverArchive<D>,
        compiled: D::Item,
    ) {
        if let Some((folder, archive)) = self.inner.driver_archive(device, archive) {
            archive.add(folder, compiled, &self.inner.problems);
        }
    }
}

impl ArchiveInner {
    /// The archive of a device, and its folder.
    fn driver_archive<D: Driver>(
        &self,
        device: u64,
        new: impl FnOnce() -> DriverArchive<D>,
    ) -> Option<(Option<&Folder>, Arc<DriverArchive<D>>)> {
        let folder = match &self.store {
            Store::Memory(_) => None,
            Store::Folder(folder) => Some(folder),
            Store::File(_) | Store::Nowhere(_) => return None,
        };
        let mut archives = self.drivers.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = archives.iter().find(|(known, _)| *known == device).map(|(_, archive)| archive.clone());
        let archive = known.unwrap_or_else(|| {
            let archive: Arc<dyn AnyDriverArchive> = Arc::new(new());
            archives.push((device, archive.clone()));
            archive
        });
        let archive: Arc<dyn Any + Send + Sync> = archive;
        Some((folder, archive.downcast().ok()?))
    }

    /// Writes pending objects.
    pub(super) fn flush_drivers(&self) {
        let Store::Folder(folder) = &self.store else { return };
        // Not under the lock: writing is slow.
        let archives = self.drivers.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        archives.iter().for_each(|(_, archive)| archive.flush(folder, &self.problems));
    }
}

impl Drop for ArchiveInner {
    fn drop(&mut self) {
        self.flush_drivers();
    }
}
