//! The archives of drivers, one for each device, behind the one that the user knows.

use super::driver::{Driver, DriverArchive};
use super::folder::Folder;
use super::problems::Problems;
use super::{BinaryArchive, Inner, Store};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// By the number that the system has for a device.
#[derive(Default)]
pub(super) struct DriverArchives(Mutex<Vec<(u64, Arc<dyn AnyDriverArchive>)>>);

/// The archive of any driver.
trait AnyDriverArchive: Any + Send + Sync {
    fn flush(&self, folder: &Folder, problems: &Problems);
}

impl<D: Driver> AnyDriverArchive for DriverArchive<D> {
    fn flush(&self, folder: &Folder, problems: &Problems) {
        DriverArchive::flush(self, folder, problems);
    }
}

impl BinaryArchive {
    /// Looks something up in what a driver keeps for a device; `None` where nothing is kept. `archive` makes the driver's
    /// archive when the device is met for the first time.
    pub fn look_in_driver<D: Driver, T>(
        &self,
        device: u64,
        archive: impl FnOnce() -> DriverArchive<D>,
        look: impl FnOnce(&D::Archive) -> T,
    ) -> Option<T> {
        let (folder, archive) = self.inner.driver_archive(device, archive)?;
        archive.look(folder, &self.inner.problems, look)
    }

    /// Has a driver keep what it compiled.
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

impl Inner {
    /// The archive of a device, and the folder that it is in.
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

    /// Writes what is not written yet.
    pub(super) fn flush_drivers(&self) {
        let Store::Folder(folder) = &self.store else { return };
        // Not under the lock: it takes its time.
        let archives = self.drivers.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        archives.iter().for_each(|(_, archive)| archive.flush(folder, &self.problems));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.flush_drivers();
    }
}
