//! Metal's archives, one for each GPU, behind the one that the user knows.

use super::folder::Folder;
use super::gpu::GpuArchive;
use super::{BinaryArchive, Inner, Store};
use crate::metal::{ArchiveDriver, CompiledDescriptor, Device, RawArchive};
use std::sync::{Arc, Mutex, PoisonError};

/// By the number that the system has for a GPU.
pub(super) type Gpus = Mutex<Vec<(u64, Arc<GpuArchive<ArchiveDriver>>)>>;

impl BinaryArchive {
    /// Looks something up in what Metal keeps for a GPU; `None` where nothing is kept.
    pub(crate) fn look_in_metal<T>(&self, device: &Arc<Device>, look: impl FnOnce(&RawArchive) -> T) -> Option<T> {
        let (folder, archive) = self.inner.gpu(device)?;
        archive.look(folder, &self.inner.problems, look)
    }

    /// Keeps what Metal compiled.
    pub(crate) fn add_to_metal(&self, device: &Arc<Device>, compiled: CompiledDescriptor) {
        if let Some((folder, archive)) = self.inner.gpu(device) {
            archive.add(folder, compiled, &self.inner.problems);
        }
    }
}

impl Inner {
    /// The archive of a GPU, and the folder that it is in.
    fn gpu(&self, device: &Arc<Device>) -> Option<(Option<&Folder>, Arc<GpuArchive<ArchiveDriver>>)> {
        let folder = match &self.store {
            Store::Memory(_) => None,
            Store::Folder(folder) => Some(folder),
            Store::File(_) | Store::Nowhere(_) => return None,
        };
        if !ArchiveDriver::is_used() {
            return None;
        }
        let number = device.registry_id();
        let mut gpus = self.gpus.lock().unwrap_or_else(PoisonError::into_inner);
        let known = gpus.iter().find(|(known, _)| *known == number).map(|(_, archive)| archive.clone());
        let archive = known.unwrap_or_else(|| {
            let driver = ArchiveDriver::new(device);
            let archive = Arc::new(GpuArchive::new(driver, device.name(), &ArchiveDriver::system()));
            gpus.push((number, archive.clone()));
            archive
        });
        Some((folder, archive))
    }

    /// Writes what is not written yet.
    pub(super) fn flush_gpus(&self) {
        let Store::Folder(folder) = &self.store else { return };
        // Not under the lock: it takes its time.
        let gpus = self.gpus.lock().unwrap_or_else(PoisonError::into_inner).clone();
        gpus.iter().for_each(|(_, archive)| archive.flush(folder, &self.problems));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.flush_gpus();
    }
}
