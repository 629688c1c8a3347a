//! A folder of compiled kernels that processes share.
//!
//! ```text
//! folder / target: 16 digits / key: 64 digits .mwarchive      an archive with one entry
//!                            / .metalworks-….tmp              being written, or left by a process that died
//!        / metal / …                                          GPU drivers' archives, see the module `driver`
//! ```
//!
//! There are no locks: a file appears whole, by renaming, and an open file stays readable. A damaged file affects only
//! its own kernel: it is removed and compiled again. Over the size limit, the least recently used files are removed;
//! the modification time records the last use.

#[cfg(test)]
mod tests;
mod write;

use super::artifact::{ArchiveEntry, ArtifactTarget};
use super::driver_files::{self, DriverFile, driver_file};
use super::format::{HEADER_SIZE, Header, IndexItem, MAX_ENTRY, Problem};
use super::key::Key;
use super::problems::Problems;
use super::trust::{Distrust, open_trusted};
use super::{FolderOptions, Query};
use crate::digest::{Hasher, hex};
use crate::files::is_temporary;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const EXTENSION: &str = "mwarchive";

/// Precision of the recorded time of last use.
const TOUCH_AFTER: Duration = Duration::from_secs(60);

pub(super) struct Folder {
    root: PathBuf,
    limit: u64,
    /// Cached size.
    count: std::sync::Mutex<write::FolderSize>,
}

/// A file in the folder.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) used: SystemTime,
    pub(super) kind: FileKind,
}

/// A kind of file in the folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FileKind {
    /// A compiled kernel.
    Entry,
    /// Being written, or left by a process that died.
    Temporary,
    /// A driver's archive.
    Driver,
    /// A file that the driver refused.
    SetAside,
}

impl Found {
    pub(super) fn is(&self, kind: FileKind) -> bool {
        self.kind == kind
    }
}

impl Folder {
    pub(super) fn new(root: PathBuf, options: FolderOptions) -> Folder {
        Folder { root, limit: options.size_limit, count: Default::default() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    fn path(&self, target: &ArtifactTarget, key: Key) -> PathBuf {
        let name = Path::new(&hex(&key.0)).with_extension(EXTENSION);
        let ArtifactTarget { backend, machine, details } = target;
        let mut hasher = Hasher::new("target");
        [backend, machine, details].into_iter().for_each(|text| hasher.text(text));
        self.root.join(hex(&hasher.finish()[..8])).join(name)
    }

    /// With a compiler, finds code for the compiler's own target only; without one, any code that runs here.
    pub(super) fn find(&self, query: &Query, problems: &Problems) -> Option<Arc<ArchiveEntry>> {
        if let Some(target) = query.machine.exact() {
            let entry = self.read(&self.path(target, query.key), problems)?;
            return (entry.artifact.target == *target && entry.key == query.key).then_some(entry);
        }
        let name = Path::new(&hex(&query.key.0)).with_extension(EXTENSION);
        let folders = self.targets().unwrap_or_default();
        let entries: Vec<Arc<ArchiveEntry>> =
            folders.iter().filter_map(|folder| self.read(&folder.join(&name), problems)).collect();
        let best = query.choose(entries.iter().map(|entry| &entry.artifact.target))?;
        (entries[best].key == query.key).then(|| entries[best].clone())
    }

    /// Reads the entry of a file; a damaged file is removed.
    fn read(&self, path: &Path, problems: &Problems) -> Option<Arc<ArchiveEntry>> {
        let failed = |error: io::Error| {
            if error.kind() != ErrorKind::NotFound {
                problems.add(format!("cannot read '{}': {error}", path.display()));
            }
        };
        let mut file = match open_trusted(path).map_err(failed).ok()? {
            Ok(file) => file,
            Err(why) => {
                problems.add(format!("'{}' is not used: {why}", path.display()));
                return None;
            }
        };
        match parse(&mut file).map_err(failed).ok()? {
            Ok(entry) => {
                touch(&file);
                Some(Arc::new(entry))
            }
            Err(_) => {
                remove(path, problems);
                None
            }
        }
    }

    /// Removes all our files, and only those; returns their number.
    pub(super) fn clear(&self, problems: &Problems) -> usize {
        let removed = self.files().iter().filter(|file| remove(&file.path, problems)).count();
        for folder in self.targets().unwrap_or_default().into_iter().chain([self.root.join(driver_files::FOLDER)]) {
            // Fails if others have added files.
            let _ = std::fs::remove_dir(folder);
        }
        self.count_anew();
        removed
    }

    /// Folders of the targets.
    fn targets(&self) -> io::Result<Vec<PathBuf>> {
        let mut folders = Vec::new();
        for item in std::fs::read_dir(&self.root)? {
            let item = item?;
            // Not a link: files behind it are not ours to read or remove.
            let is_folder = item.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && item.file_name().to_str().is_some_and(|name| is_hex(name, 16)) {
                folders.push(item.path());
            }
        }
        folders.sort();
        Ok(folders)
    }

    /// All our files. Files that vanish meanwhile are skipped.
    pub(super) fn files(&self) -> Vec<Found> {
        let mut files = Vec::new();
        for folder in self.targets().unwrap_or_default() {
            let is_entry = |name: &str| name.strip_suffix(".mwarchive").is_some_and(|key| is_hex(key, 64));
            add_files(&folder, |name| is_entry(name).then_some(FileKind::Entry), &mut files);
        }
        let driver = |name: &str| match driver_file(name)? {
            DriverFile::Archive => Some(FileKind::Driver),
            DriverFile::SetAside => Some(FileKind::SetAside),
        };
        add_files(&self.root.join(driver_files::FOLDER), driver, &mut files);
        files
    }

    /// Reads every entry; damaged ones are `None`, and stay. Files that vanish meanwhile are skipped.
    pub(super) fn all(&self) -> Vec<(Found, Option<Arc<ArchiveEntry>>)> {
        let files = self.files().into_iter().filter(|file| file.is(FileKind::Entry));
        let with_entry = |file: Found| match open_trusted(&file.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            opened => {
                let parsed = |opened: Result<File, Distrust>| opened.ok().map(|mut opened| parse(&mut opened));
                let entry = opened.ok().and_then(parsed).and_then(Result::ok).and_then(Result::ok);
                Some((file, entry.map(Arc::new)))
            }
        };
        files.filter_map(with_entry).collect()
    }
}

/// Adds the files of one kind in a folder, and temporary files.
fn add_files(folder: &Path, kind: impl Fn(&str) -> Option<FileKind>, files: &mut Vec<Found>) {
    let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    let Some(items) = is_folder.then(|| std::fs::read_dir(folder).ok()).flatten() else { return };
    for item in items.flatten() {
        let name = item.file_name();
        let Some(name) = name.to_str() else { continue };
        let temporary = || is_temporary(name).then_some(FileKind::Temporary);
        let (Some(kind), Ok(metadata)) = (kind(name).or_else(temporary), item.metadata()) else { continue };
        if metadata.is_file() {
            files.push(Found {
                path: item.path(),
                bytes: metadata.len(),
                used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                kind,
            });
        }
    }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Removes a file; returns true if it is gone, by us or others.
pub(super) fn remove(path: &Path, problems: &Problems) -> bool {
    match std::fs::remove_file(path) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => {
            problems.add(format!("cannot remove '{}': {error}", path.display()));
            false
        }
    }
}

/// Records that a file was used; ignored in a read-only folder.
pub(super) fn touch(file: &File) {
    let now = SystemTime::now();
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    if modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > TOUCH_AFTER)) {
        let _ = file.set_modified(now);
    }
}

/// Reads the single entry of a file; the inner error is a format problem.
fn parse(file: &mut File) -> io::Result<Result<ArchiveEntry, Problem>> {
    let len = file.metadata()?.len();
    if len > MAX_ENTRY {
        return Ok(Err(Problem::Length));
    }
    let mut bytes = Vec::with_capacity(len as usize);
    file.take(MAX_ENTRY).read_to_end(&mut bytes)?;
    Ok(parse_bytes(&bytes))
}

fn parse_bytes(bytes: &[u8]) -> Result<ArchiveEntry, Problem> {
    let len = bytes.len() as u64;
    let header = Header::parse(bytes, len)?;
    let items: Vec<IndexItem> = header.index(&bytes[HEADER_SIZE..HEADER_SIZE + header.index_len], len)?;
    let [item] = &items[..] else { return Err(Problem::Length) };
    item.entry(&bytes[item.offset as usize..])
}
