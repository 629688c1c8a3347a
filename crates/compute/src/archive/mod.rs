//! Compiled kernels that are kept: what `MTLBinaryArchive` is on a Mac.
//!
//! ```text
//! key: digest of the source, kernel, constants, compiler ─┐
//! target: for what machine ───────────────────────────────┴─ entry: reflection, artifact of a back end
//!                                                              │
//!                   ┌────────────────────┬─────────────────────┴──┐
//!       memory: for this process   folder: for this user    file: for others       (format: its bytes)
//! ```
//!
//! Drivers of GPUs keep what they compile in archives of their own: `driver` has their files in the same folder.
//!
//! **Invariant:** no archive is trusted. What is damaged, of another version, or for another machine is not found; a folder
//! removes what is damaged. What goes wrong with a folder (no space, no permission) is noted, and never an error: everything can
//! be compiled again.

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

pub use info::{ArchiveInfo, TargetInfo};

use crate::error::{Error, Result};
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

/// Compiled kernels, kept for the next time. A clone is the same archive.
///
/// Folders and archives in memory also have what drivers compiled, such as a `MTLBinaryArchive` for each of Metal's GPUs; a file
/// of [`serialize`](BinaryArchive::serialize) has artifacts only.
///
/// A [`ComputePipelineDescriptor`](crate::ComputePipelineDescriptor) lists the archives in which a pipeline state looks for its
/// code before it compiles, and which then keep what was compiled.
///
/// ```
/// # #[cfg(llvm)] {
/// use compute::{
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
/// # Ok::<(), compute::Error>(())
/// ```
///
/// An archive is machine code that is run. Hashes find what was damaged by accident; against those who mean harm there is only
/// that they cannot write to it. Open files from those whom you trust.
#[derive(Clone)]
pub struct BinaryArchive {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    problems: Problems,
    /// Archives of drivers.
    drivers: driver_archives::DriverArchives,
}

enum Store {
    Memory(MemoryStore),
    Folder(Folder),
    File(Portable),
    /// Nothing is kept; why.
    Nowhere(String),
}

/// What can be chosen about a folder of compiled kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FolderOptions {
    /// Bytes that all files take at most; those that were not used for the longest time are removed.
    pub size_limit: u64,
}

impl Default for FolderOptions {
    /// 512 MiB.
    fn default() -> FolderOptions {
        FolderOptions { size_limit: 512 << 20 }
    }
}

/// What is looked for.
pub(crate) struct Query<'a> {
    pub(crate) key: Key,
    pub(crate) kernel: &'a str,
    pub(crate) variant: &'a str,
    pub(crate) machine: &'a dyn TargetSelector,
}

impl Query<'_> {
    /// Which of several targets serves best: the very one, or else the one that makes the most of this machine.
    fn choose<'t>(&self, targets: impl Iterator<Item = &'t ArtifactTarget>) -> Option<usize> {
        let ranks = targets.enumerate().filter_map(|(at, target)| Some((self.machine.rank(target)?, at)));
        ranks.max().map(|(_, at)| at)
    }
}

impl BinaryArchive {
    /// An empty archive in memory.
    #[allow(clippy::new_without_default, reason = "there are several kinds, and none is the default")]
    pub fn new() -> BinaryArchive {
        BinaryArchive::with(Store::Memory(MemoryStore::default()))
    }

    /// A folder that several processes can share, at the same time. It is made when something is to be kept.
    pub fn folder(path: impl AsRef<Path>, options: FolderOptions) -> BinaryArchive {
        BinaryArchive::with(Store::Folder(Folder::new(path.as_ref().to_path_buf(), options)))
    }

    /// The folder of this user: `METALWORKS_CACHE`, or `metalworks/pipelines` where the system keeps caches. With
    /// `METALWORKS_CACHE=off` nothing is kept. `METALWORKS_CACHE_SIZE` limits its size: `512M`, the default.
    pub fn user_cache() -> Result<BinaryArchive> {
        Ok(match CacheLocation::of_user()? {
            CacheLocation::Folder(path, options) => BinaryArchive::folder(path, options),
            CacheLocation::Nowhere(why) => BinaryArchive::with(Store::Nowhere(why)),
        })
    }

    /// Opens one file that [`BinaryArchive::serialize`] wrote. Nothing is added to it.
    pub fn open(path: impl AsRef<Path>) -> Result<BinaryArchive> {
        Portable::open(path.as_ref()).map(Store::File).map(BinaryArchive::with)
    }

    fn with(store: Store) -> BinaryArchive {
        BinaryArchive {
            inner: Arc::new(Inner {
                store,
                problems: Problems::default(),
                drivers: driver_archives::DriverArchives::default(),
            }),
        }
    }

    pub(crate) fn find(&self, query: &Query) -> Option<Arc<ArchiveEntry>> {
        let Inner { store, problems, .. } = &*self.inner;
        let found = match store {
            Store::Memory(memory) => memory.find(query),
            Store::Folder(folder) => folder.find(query, problems),
            Store::File(file) => file.find(query, problems),
            Store::Nowhere(_) => None,
        };
        found.filter(|entry| entry.is_of(query.kernel, query.variant))
    }

    /// Keeps an entry, if this kind of archive takes new ones.
    pub(crate) fn add(&self, entry: &Arc<ArchiveEntry>) {
        let Inner { store, problems, .. } = &*self.inner;
        match store {
            Store::Memory(memory) => memory.add(entry.clone()),
            Store::Folder(folder) => folder.add(entry, problems),
            Store::File(_) | Store::Nowhere(_) => {}
        }
    }

    /// Whether it takes new entries.
    pub(crate) fn takes_entries(&self) -> bool {
        !matches!(self.inner.store, Store::File(_))
    }

    /// Writes all that is in it to one file, for [`BinaryArchive::open`]. The file is replaced as a whole or not at all. Entries
    /// of a folder that are damaged are left out.
    pub fn serialize(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let failed = |reason: String| Error::Write { path: path.display().to_string(), reason };
        let mut entries = self.entries();
        entries.sort_by(|a, b| (a.key, &a.artifact.target).cmp(&(b.key, &b.artifact.target)));
        let bytes = format::write(entries.iter().map(|entry| &**entry)).map_err(failed)?;
        file::write_named(path, &bytes).map_err(|error| failed(error.to_string()))
    }

    /// All entries that are whole.
    fn entries(&self) -> Vec<Arc<ArchiveEntry>> {
        match &self.inner.store {
            Store::Memory(memory) => memory.all(),
            Store::Folder(folder) => folder.all().into_iter().filter_map(|(_, entry)| entry).collect(),
            Store::File(file) => file.all(&self.inner.problems),
            Store::Nowhere(_) => Vec::new(),
        }
    }

    /// Writes what is not written yet. Artifacts are written when they are compiled; what a driver compiled is written here, when
    /// a cache has created all that was declared or is sealed, and when the archive is dropped. Problems go to
    /// [`problems`](BinaryArchive::problems).
    pub fn flush(&self) {
        self.inner.flush_drivers();
    }

    /// How many artifacts it has.
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

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that its entries take, in memory or on disk.
    pub fn size(&self) -> u64 {
        match &self.inner.store {
            Store::Memory(memory) => memory.all().iter().map(|entry| entry.code_size() as u64).sum(),
            Store::Folder(folder) => folder.files().iter().map(|file| file.bytes).sum(),
            Store::File(file) => file.items().map(|item| item.len).sum(),
            Store::Nowhere(_) => 0,
        }
    }

    /// Removes everything, and returns how many files or entries that were. One file cannot be cleared: remove it.
    pub fn clear(&self) -> usize {
        match &self.inner.store {
            Store::Memory(memory) => memory.clear(),
            Store::Folder(folder) => folder.clear(&self.inner.problems),
            Store::File(_) | Store::Nowhere(_) => 0,
        }
    }

    /// Where it is: a folder, or a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.inner.store {
            Store::Folder(folder) => Some(folder.root()),
            Store::File(file) => Some(file.path()),
            Store::Memory(_) | Store::Nowhere(_) => None,
        }
    }

    /// What went wrong with it so far while kernels were compiled without it: a folder that cannot be written, a file that is
    /// damaged. Each problem once, and no more than a few.
    pub fn problems(&self) -> Vec<String> {
        self.inner.problems.texts()
    }

    /// The machines for which it has this code, for messages.
    pub(crate) fn targets_of(&self, key: Key) -> Vec<ArtifactTarget> {
        match &self.inner.store {
            Store::Memory(memory) => memory.targets_of(key),
            Store::File(file) => {
                file.items().filter(|item| item.key == key).map(|item| item.target.clone()).collect()
            }
            // It has what was compiled on this machine.
            Store::Folder(_) | Store::Nowhere(_) => Vec::new(),
        }
    }

    /// What it is, for messages.
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
