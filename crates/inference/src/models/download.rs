//! Downloads of files: resumed where they broke off, at most as long as announced, and checked before they get their
//! name.
//!
//! Beside the bytes of an incomplete download (`.NAME.part`) is a note (`.NAME.note`) of the file that they are of. A
//! download goes on only if the server has the same file still.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::http::{self, Answer, Client, Failure, FailureKind, RemoteFile};
use super::watch::Watch;
use super::{
    ModelError, PullEvent, PullProgress, PullStep, checksum, hidden_sibling, lock, move_into_place, open_hidden,
    space,
};
use crate::gguf;

/// Attempts in a row without progress.
const ATTEMPTS: u32 = 5;
/// Bytes that are progress: fewer in an attempt, or in the time in which a server may be silent, lead to no end.
const PROGRESS: u64 = 1 << 16;
/// Longest pause that a server may ask for, in first pauses.
const LONGEST_PAUSE: u32 = 120;
const BUFFER: usize = 1 << 18;
/// Longest note: headers are shorter.
const MAX_NOTE: u64 = 1 << 16;

/// File to download.
pub(super) struct Download {
    pub(super) address: String,
    pub(super) path: PathBuf,
    /// Size and checksum that are known in advance.
    pub(super) pinned: Option<RemoteFile>,
}

/// Downloads the files that are not there, in order. Returns true if all were.
pub(super) fn all(
    client: &Client,
    downloads: &[Download],
    report: &mut dyn FnMut(PullEvent<'_>),
) -> Result<bool, ModelError> {
    let (mut pending, mut locks) = (Vec::new(), Vec::new());
    for download in downloads {
        let folder = download.path.parent().unwrap_or(&download.path);
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        // Look after locking: another process may just have finished it.
        locks.push(lock(&download.path)?);
        if !download.path.is_file() {
            pending.push(download);
        }
    }
    locked(client, &pending, report)?;
    Ok(pending.is_empty())
}

/// Downloads files that the caller has locked.
pub(super) fn locked(
    client: &Client,
    downloads: &[&Download],
    report: &mut dyn FnMut(PullEvent<'_>),
) -> Result<(), ModelError> {
    let mut pending = Vec::new();
    for &download in downloads {
        pending.push((download, describe(client, download)?));
    }
    let total = pending.iter().fold(0u64, |total, (_, remote)| total.saturating_add(remote.size));
    if let Some((first, _)) = pending.first() {
        let received: u64 = pending.iter().map(|(download, remote)| Part::resumable(download, remote)).sum();
        space::ensure(first.path.parent().unwrap_or(&first.path), total.saturating_sub(received))?;
    }
    let mut before = 0;
    for (download, remote) in &pending {
        let mut progress = |step, done| {
            report(PullEvent::Progress(PullProgress { step, done: before + done, total }));
        };
        one(client, download, remote, &mut progress)?;
        before += remote.size;
    }
    Ok(())
}

/// Asks for size and checksum, and compares them with those that are known.
fn describe(client: &Client, download: &Download) -> Result<RemoteFile, ModelError> {
    let mut attempt = 0;
    let remote = loop {
        match client.describe(&download.address) {
            Ok(remote) => break remote,
            // A host that cannot be reached at the beginning is most often a wrong name, or there is no network.
            Err(failure) if failure.kind == FailureKind::Transient => pause(client, &mut attempt, failure)?,
            Err(failure) => return Err(failure.into()),
        }
    };
    match &download.pinned {
        Some(pinned) if pinned.size != remote.size => Err(ModelError::failed(format!(
            "{}: the server has a file of {} bytes, not the one of {} that is wanted",
            download.address, remote.size, pinned.size
        ))),
        Some(pinned) => Ok(pinned.clone()),
        None => Ok(remote),
    }
}

fn one(
    client: &Client,
    download: &Download,
    remote: &RemoteFile,
    progress: &mut dyn FnMut(PullStep, u64),
) -> Result<(), ModelError> {
    let address = &download.address;
    let mut part = Part::open(download, remote, progress)?;
    let mut attempt = 0;
    while part.received < remote.size {
        let before = part.received;
        match receive(client, address, remote, &mut part, progress) {
            Ok(()) => {}
            Err(Stop::Retry(failure)) => {
                if part.received >= before.saturating_add(PROGRESS) {
                    attempt = 0;
                }
                pause(client, &mut attempt, failure)?;
            }
            Err(Stop::End(error)) => return Err(error),
        }
    }
    let wrong = match (&remote.sha256, part.sha256()) {
        (Some(expected), found) if *expected != found => {
            Some("its SHA-256 differs from the announced one".to_owned())
        }
        _ if is_gguf(&download.path) => gguf::check(&part.path).err().map(|error| error.to_string()),
        _ => None,
    };
    if let Some(wrong) = wrong {
        // Resuming would append to corrupt data.
        part.remove();
        return Err(ModelError::failed(format!("the download from {address} is corrupt: {wrong}; try again")));
    }
    move_into_place(&part.path, &download.path)?;
    let _ = fs::remove_file(&part.note);
    Ok(())
}

/// Reason for the end of an attempt.
enum Stop {
    Retry(Failure),
    End(ModelError),
}

/// One attempt to receive the rest of a file.
fn receive(
    client: &Client,
    address: &str,
    remote: &RemoteFile,
    part: &mut Part,
    progress: &mut dyn FnMut(PullStep, u64),
) -> Result<(), Stop> {
    let answer = client.get(address, part.received..remote.size, part.etag.as_deref()).map_err(|failure| {
        match failure.kind {
            FailureKind::Transient | FailureKind::Unreachable => Stop::Retry(failure),
            _ => Stop::End(failure.into()),
        }
    })?;
    if !continues(&answer, part, remote.size) {
        let is_whole = answer.status == 200;
        let restarted = part.restart(remote, strong_etag(&answer));
        restarted.map_err(|error| Stop::End(cannot_write(&part.path, &error)))?;
        if !is_whole {
            let failure =
                format!("cannot download {address}: the server does not send the part that was asked for");
            return Err(Stop::Retry(Failure::new(FailureKind::Transient, failure)));
        }
    }
    let mut reader = answer.reader();
    let mut buffer = vec![0; BUFFER];
    let (mut since, mut before) = (Instant::now(), part.received);
    while part.received < remote.size {
        if since.elapsed() > client.silence {
            if part.received < before.saturating_add(PROGRESS) {
                return Err(Stop::Retry(http::slow(address)));
            }
            (since, before) = (Instant::now(), part.received);
        }
        let read = match reader.read(&mut buffer) {
            Ok(0) => return Err(Stop::Retry(http::broken(address, &io::ErrorKind::UnexpectedEof.into()))),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if Watch::stopped(&error) => return Err(Stop::End(http::broken(address, &error).into())),
            Err(error) => return Err(Stop::Retry(http::broken(address, &error))),
        };
        if read as u64 > remote.size - part.received {
            return Err(too_long(address, remote, part));
        }
        part.append(&buffer[..read]).map_err(|error| Stop::End(cannot_write(&part.path, &error)))?;
        progress(PullStep::Downloading, part.received);
    }
    // The last read may have ended exactly at the announced size.
    match reader.read(&mut buffer) {
        Ok(1..) => Err(too_long(address, remote, part)),
        _ => Ok(()),
    }
}

fn too_long(address: &str, remote: &RemoteFile, part: &Part) -> Stop {
    part.remove();
    Stop::End(ModelError::failed(format!(
        "{address}: the server sends more than the {} bytes that it announced",
        remote.size
    )))
}

/// True if an answer has the bytes that follow those received.
fn continues(answer: &Answer, part: &Part, size: u64) -> bool {
    let range = answer.header("content-range").and_then(|range| range.strip_prefix("bytes "));
    let has_range = range.is_some_and(|range| {
        let (bytes, of) = range.split_once('/').unwrap_or((range, "*"));
        bytes.starts_with(&format!("{}-", part.received)) && (of == "*" || of.parse() == Ok(size))
    });
    let etag = strong_etag(answer);
    answer.status == 206 && has_range && (etag.is_none() || part.etag.is_none() || etag == part.etag)
}

/// The etag, if equal ones mean equal bytes.
fn strong_etag(answer: &Answer) -> Option<String> {
    answer.header("etag").filter(|etag| etag.starts_with('"')).map(str::to_owned)
}

/// Waits before the next attempt, or returns the failure after the last.
fn pause(client: &Client, attempt: &mut u32, failure: Failure) -> Result<(), ModelError> {
    *attempt += 1;
    if *attempt >= ATTEMPTS {
        return Err(failure.into());
    }
    let asked = failure.retry_after.map(|seconds| Duration::from_secs(seconds).min(client.pause * LONGEST_PAUSE));
    thread::sleep(asked.unwrap_or(client.pause * 2u32.pow(*attempt - 1)));
    Ok(())
}

fn is_gguf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gguf")
}

fn cannot_write(path: &Path, error: &io::Error) -> ModelError {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space and try again to resume",
        _ => "; set METALWORKS_MODELS to a folder that can be written",
    };
    ModelError::failed(format!("cannot write '{}': {error}{advice}", path.display()))
}

/// Removes an incomplete download. Returns true if there was one.
pub(super) fn forget(path: &Path) -> bool {
    let _ = fs::remove_file(hidden_sibling(path, "note"));
    fs::remove_file(hidden_sibling(path, "part")).is_ok()
}

/// Bytes received so far.
struct Part {
    path: PathBuf,
    note: PathBuf,
    file: File,
    hash: Sha256,
    received: u64,
    etag: Option<String>,
}

impl Part {
    /// Number of bytes that a download can go on from.
    fn resumable(download: &Download, remote: &RemoteFile) -> u64 {
        let part = fs::symlink_metadata(hidden_sibling(&download.path, "part"));
        let received = part.ok().filter(fs::Metadata::is_file).map_or(0, |metadata| metadata.len());
        match Note::read(&hidden_sibling(&download.path, "note")) {
            Some(note) if note.is_of(remote) && received <= remote.size => received,
            _ => 0,
        }
    }

    fn open(
        download: &Download,
        remote: &RemoteFile,
        progress: &mut dyn FnMut(PullStep, u64),
    ) -> Result<Part, ModelError> {
        let (path, note) = (hidden_sibling(&download.path, "part"), hidden_sibling(&download.path, "note"));
        let received = Part::resumable(download, remote);
        let open = || {
            let file = open_hidden(&path, true)?;
            file.set_len(received)?;
            Ok(file)
        };
        let mut file = open().map_err(|error: io::Error| cannot_write(&path, &error))?;
        let hash = checksum::of_reader(&mut file, &mut |done| progress(PullStep::Checking, done));
        let hash =
            hash.map_err(|error| ModelError::failed(format!("cannot read '{}': {error}", path.display())))?;
        let etag = match received {
            0 => None,
            _ => Note::read(&note).and_then(|note| note.etag),
        };
        Ok(Part { path, note, file, hash, received, etag })
    }

    /// Begins again with another file, or the first time.
    fn restart(&mut self, remote: &RemoteFile, etag: Option<String>) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.hash = Sha256::new();
        self.received = 0;
        let note = Note { size: remote.size, sha256: remote.sha256.clone(), etag };
        note.write(&self.note).map_err(|error| {
            io::Error::new(error.kind(), format!("its note '{}': {error}", self.note.display()))
        })?;
        self.etag = note.etag;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes);
        if written.is_err() {
            // A disk that became full may have taken a part of them.
            self.file.set_len(self.received)?;
        }
        written?;
        self.hash.update(bytes);
        self.received += bytes.len() as u64;
        Ok(())
    }

    fn sha256(&self) -> String {
        checksum::digits(self.hash.clone())
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.note);
    }
}

/// The file that the bytes of an incomplete download are of.
struct Note {
    size: u64,
    sha256: Option<String>,
    etag: Option<String>,
}

impl Note {
    fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = open_hidden(path, true)?;
        file.set_len(0)?;
        file.write_all(self.text().as_bytes())
    }

    fn text(&self) -> String {
        let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
        format!("{}\n{}\n{}\n", self.size, or_empty(&self.sha256), or_empty(&self.etag))
    }

    fn read(path: &Path) -> Option<Note> {
        let mut text = String::new();
        open_hidden(path, false).ok()?.take(MAX_NOTE).read_to_string(&mut text).ok()?;
        Note::parse(&text)
    }

    fn parse(text: &str) -> Option<Note> {
        let mut lines = text.lines();
        let size = lines.next()?.parse().ok()?;
        let [sha256, etag] =
            [lines.next()?, lines.next()?].map(|line| Some(line.to_owned()).filter(|line| !line.is_empty()));
        Some(Note { size, sha256, etag })
    }

    /// True if the server's file is the same, or the server can tell.
    fn is_of(&self, remote: &RemoteFile) -> bool {
        let same = match (&self.sha256, &remote.sha256) {
            (Some(a), Some(b)) => a == b,
            _ => self.etag.is_some(),
        };
        self.size == remote.size && same
    }
}
