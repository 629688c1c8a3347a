//! Archives of compiled kernels, as `MTLBinaryArchive` on a Mac.
//!
//! ```text
//! key: digest of the source, kernel, constants, compiler ─┐
//! target: machine ────────────────────────────────────────┴─ entry: reflection, artifact of a back end
//!                                                              │
//!                   ┌────────────────────┬─────────────────────┴──┐
//!       memory: for this process   folder: for this user    file: for other machines     (format: its bytes)
//! ```
//!
//! GPU drivers have their own archives: `driver` keeps their files in the same folder.
//!
//! **Invariant:** no archive is trusted. Entries that are damaged, of another version, or for another machine are not
//! found; a folder removes damaged ones. Problems with a folder (no space, no permission) are recorded, not returned as
//! errors: everything can be compiled again.

pub(crate) mod artifact;
pub(crate) mod driver;
mod driver_archives;
mod driver_files;
mod file;
mod folder;
mod format;
mod info;
pub(crate) mod key;
mod location;
mod memory;
mod problems;
#[cfg(test)]
mod scratch;
mod trust;

pub use info::{ArchiveInfo, TargetInfo};

use crate::error::{Error, Result};
use crate::files;
use artifact::{ArchiveEntry, ArtifactTarget, TargetSelector};
use file::Portable;
use folder::{FileKind, Folder};
use key::Key;
use location::CacheLocation;
use memory::MemoryStore;
use problems::Problems;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// An archive of compiled kernels. A clone is the same archive.
///
/// Folders and archives in memory also have code compiled by drivers, such as an `MTLBinaryArchive` per GPU; a file
/// written by [`serialize`](BinaryArchive::serialize) has artifacts only.
///
/// A [`ComputePipelineDescriptor`](crate::ComputePipelineDescriptor) lists the archives that a pipeline state searches
/// before compiling, and that compiled code is added to.
///
/// ```
/// # #[cfg(llvm)] {
/// use metalworks_compute::{
///     BinaryArchive, CompileOptions, ComputePipelineDescriptor, Device, FunctionConstantValues, FunctionDescriptor,
///     PipelineOrigin,
/// };
///
/// let device = Device::system_default()?;
/// let source = "kernel void one(device float *x [[buffer(0)]]) { *x = 1.0f; }";
/// let library = device.new_library_with_checked_source(source, &CompileOptions::default());
/// let constants = FunctionConstantValues::new();
/// let function = FunctionDescriptor { library: &library, name: "one", constants: &constants };
/// // In a program: BinaryArchive::user_cache()?
/// let archive = BinaryArchive::new();
/// let descriptor = ComputePipelineDescriptor { binary_archives: vec![archive], ..Default::default() };
///
/// let first = device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)?;
/// let second = device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)?;
/// assert_eq!([first.origin(), second.origin()], [PipelineOrigin::Compiled, PipelineOrigin::Archive]);
/// # }
/// # Ok::<(), metalworks_compute::Error>(())
/// ```
///
/// An archive contains machine code that is run. Hashes detect accidental damage, not tampering: open only files from
/// people you trust.
#[derive(Clone)]
pub struct BinaryArchive {
    inner: Arc<ArchiveInner>,
}

struct ArchiveInner {
    store: Store,
    problems: Problems,
    /// Archives of drivers.
    drivers: driver_archives::DriverArchives,
}

enum Store {
    Memory(MemoryStore),
    Folder(Folder),
    File(Portable),
    /// No archive, with the reason.
    Nowhere(String),
}

/// Options of a folder of compiled kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FolderOptions {
    /// Limit for the size of all files in bytes; the least recently used ones are removed.
    pub size_limit: u64,
}

impl Default for FolderOptions {
    /// 512 MiB.
    fn default() -> FolderOptions {
        FolderOptions { size_limit: 512 << 20 }
    }
}

/// A lookup.
pub(crate) struct Query<'a> {
    pub(crate) key: Key,
    pub(crate) kernel: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) machine: &'a dyn TargetSelector,
}

impl Query<'_> {
    /// Chooses the best of several targets: the exact one, or else the one with the most features of this machine.
    fn choose<'t>(&self, targets: impl Iterator<Item = &'t ArtifactTarget>) -> Option<usize> {
        let ranks = targets.enumerate().filter_map(|(at, target)| Some((self.machine.rank(target)?, at)));
        ranks.max().map(|(_, at)| at)
    }
}

impl BinaryArchive {
    /// Creates an empty archive in memory.
    #[allow(clippy::new_without_default, reason = "there are several kinds, none of them the default")]
    pub fn new() -> BinaryArchive {
        BinaryArchive::with(Store::Memory(MemoryStore::default()))
    }

    /// A folder that several processes can share at the same time. It is created when the first entry is added.
    pub fn folder(path: impl AsRef<Path>, options: FolderOptions) -> BinaryArchive {
        BinaryArchive::with(Store::Folder(Folder::new(path.as_ref().to_path_buf(), options)))
    }

    /// The folder of this user: `METALWORKS_CACHE`, or `metalworks/pipelines` in the system's folder of caches.
    /// `METALWORKS_CACHE=off` turns it off. `METALWORKS_CACHE_SIZE` limits its size, `512M` by default.
    pub fn user_cache() -> Result<BinaryArchive> {
        Ok(match CacheLocation::of_user()? {
            CacheLocation::Folder(path, options) => BinaryArchive::folder(path, options),
            CacheLocation::Nowhere(why) => BinaryArchive::with(Store::Nowhere(why)),
        })
    }

    /// Opens a file written by [`BinaryArchive::serialize`], read-only.
    pub fn open(path: impl AsRef<Path>) -> Result<BinaryArchive> {
        Portable::open(path.as_ref()).map(Store::File).map(BinaryArchive::with)
    }

    fn with(store: Store) -> BinaryArchive {
        BinaryArchive {
            inner: Arc::new(ArchiveInner {
                store,
                problems: Problems::default(),
                drivers: driver_archives::DriverArchives::default(),
            }),
        }
    }

    pub(crate) fn find(&self, query: &Query) -> Option<Arc<ArchiveEntry>> {
        let ArchiveInner { store, problems, .. } = &*self.inner;
        let found = match store {
            Store::Memory(memory) => memory.find(query),
            Store::Folder(folder) => folder.find(query, problems),
            Store::File(file) => file.find(query, problems),
            Store::Nowhere(_) => None,
        };
        found.filter(|entry| entry.is_of(query.kernel, query.variant))
    }

    /// Adds an entry, if this kind of archive accepts new ones.
    pub(crate) fn add(&self, entry: &Arc<ArchiveEntry>) {
        let ArchiveInner { store, problems, .. } = &*self.inner;
        match store {
            Store::Memory(memory) => memory.add(entry.clone()),
            Store::Folder(folder) => folder.add(entry, problems),
            Store::File(_) | Store::Nowhere(_) => {}
        }
    }

    /// True if it accepts new entries.
    pub(crate) fn takes_entries(&self) -> bool {
        !matches!(self.inner.store, Store::File(_))
    }

    /// Writes all entries to one file, for [`BinaryArchive::open`]. The file is replaced atomically. Damaged entries of
    /// a folder are left out.
    pub fn serialize(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let failed = |reason: String| Error::Write { path: path.display().to_string(), reason };
        let mut entries = self.entries();
        entries.sort_by(|a, b| (a.key, &a.artifact.target).cmp(&(b.key, &b.artifact.target)));
        let bytes = format::write(entries.iter().map(|entry| &**entry)).map_err(failed)?;
        files::replace_with(path, &bytes).map_err(|error| failed(error.to_string()))
    }

    /// All undamaged entries.
    fn entries(&self) -> Vec<Arc<ArchiveEntry>> {
        match &self.inner.store {
            Store::Memory(memory) => memory.all(),
            Store::Folder(folder) => folder.all().into_iter().filter_map(|(_, entry)| entry).collect(),
            Store::File(file) => file.all(&self.inner.problems),
            Store::Nowhere(_) => Vec::new(),
        }
    }

    /// Writes pending code. Artifacts are written when they are compiled; a driver's code is written here, when a cache
    /// has created all declared pipelines or is sealed, and when the archive is dropped. Problems go to
    /// [`problems`](BinaryArchive::problems).
    pub fn flush(&self) {
        self.inner.flush_drivers();
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match &self.inner.store {
            Store::Memory(memory) => memory.all().len(),
            Store::Folder(folder) => {
                folder.files().iter().filter(|file| matches!(file.kind, FileKind::Entry | FileKind::Driver)).count()
            }
            Store::File(file) => file.items().count(),
            Store::Nowhere(_) => 0,
        }
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of its entries in bytes, in memory or on disk.
    pub fn size(&self) -> u64 {
        match &self.inner.store {
            Store::Memory(memory) => memory.all().iter().map(|entry| entry.code_size() as u64).sum(),
            Store::Folder(folder) => folder.files().iter().map(|file| file.bytes).sum(),
            Store::File(file) => file.items().map(|item| item.len).sum(),
            Store::Nowhere(_) => 0,
        }
    }

    /// Removes all entries, and returns the number of removed files or entries. A single-file archive cannot be
    /// cleared: delete the file.
    pub fn clear(&self) -> usize {
        match &self.inner.store {
            Store::Memory(memory) => memory.clear(),
            Store::Folder(folder) => folder.clear(&self.inner.problems),
            Store::File(_) | Store::Nowhere(_) => 0,
        }
    }

    /// The folder or file.
    pub fn path(&self) -> Option<&Path> {
        match &self.inner.store {
            Store::Folder(folder) => Some(folder.root()),
            Store::File(file) => Some(file.path()),
            Store::Memory(_) | Store::Nowhere(_) => None,
        }
    }

    /// Recorded problems, such as a folder that cannot be written or a damaged file, because of which kernels were
    /// compiled without the archive. Each problem once, and only the first few.
    pub fn problems(&self) -> Vec<String> {
        self.inner.problems.texts()
    }

    /// Targets for which it has this code, for messages.
    pub(crate) fn targets_of(&self, key: Key) -> Vec<ArtifactTarget> {
        match &self.inner.store {
            Store::Memory(memory) => memory.targets_of(key),
            Store::File(file) => {
                file.items().filter(|item| item.key == key).map(|item| item.target.clone()).collect()
            }
            // Not scanned for a message: a folder's code is usually for this machine.
            Store::Folder(_) | Store::Nowhere(_) => Vec::new(),
        }
    }

    /// The archive's name in messages.
    pub(crate) fn describe(&self) -> String {
        let name = match &self.inner.store {
            Store::Memory(_) => "an archive in memory".into(),
            Store::Folder(folder) => format!("'{}'", folder.root().display()),
            Store::File(file) if file.items().any(|item| item.compiler == abi::COMPILER_FINGERPRINT) => {
                format!("'{}'", file.path().display())
            }
            Store::File(file) => format!("'{}', by another version of the compiler", file.path().display()),
            Store::Nowhere(why) => format!("no cache, since {why}"),
        };
        match self.problems().first() {
            Some(problem) => format!("{name}: {problem}"),
            None => name,
        }
    }
}

impl fmt::Debug for BinaryArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BinaryArchive").field(&self.describe()).finish()
    }
}
