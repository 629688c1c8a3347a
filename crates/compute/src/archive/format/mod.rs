//! The binary format of an archive.
//!
//! ```text
//! magic 8 ── version u32 ── length of the index u32 ── SHA-256 of the index ── index ── entry, entry, …
//!
//! index:  count u32, then for each entry: key 32, SHA-256 32, length u64, the target's back end, machine and details,
//!         compiler, kernel, constants
//! entry:  variant, reflection (JSON), the artifact's bytes
//! ```
//!
//! Numbers are little-endian; texts and bytes are prefixed with their length (u32). Entries are contiguous, in the
//! order of the index, to the end of the file.
//!
//! **Invariant:** every byte is checked before use: magic and version by comparison, the index and each entry by hash,
//! the file size by the sum. Every length is compared with the available bytes before it is used.

use super::artifact::{ArchiveEntry, Artifact, ArtifactTarget};
use super::key::Key;
use crate::digest::{Digest, sha256};
use abi::encoding::Reader;
use std::fmt;

const MAGIC: &[u8; 8] = b"\x89MWARC\r\n";

/// Incremented with every change of the format.
const VERSION: u32 = 2;

pub(crate) const HEADER_SIZE: usize = 48;

/// Sanity limit for the index.
const MAX_INDEX: u64 = 64 << 20;

/// Sanity limit for an entry: code takes at most half of it.
pub(crate) const MAX_ENTRY: u64 = 128 << 20;

/// A problem with an archive file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// Not an archive.
    NoArchive,
    /// Another version of the format.
    Version(u32),
    /// Too short or too long.
    Length,
    /// Changed contents.
    Damaged(&'static str),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NoArchive => f.write_str("it is not an archive of compiled kernels"),
            Problem::Version(version) => {
                write!(f, "it has format version {version}; this program reads version {VERSION}")
            }
            Problem::Length => f.write_str("it is damaged: its length is wrong"),
            Problem::Damaged(what) => write!(f, "it is damaged: {what}"),
        }
    }
}

type Result<T> = std::result::Result<T, Problem>;

/// An entry of the index.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct IndexItem {
    pub(crate) key: Key,
    pub(crate) target: ArtifactTarget,
    pub(crate) compiler: String,
    pub(crate) kernel: String,
    pub(crate) constants: String,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    sha: Digest,
}

/// The file header.
pub(crate) struct Header {
    pub(crate) index_len: usize,
    sha: Digest,
}

impl Header {
    /// Parses the header of a file of `file_len` bytes.
    pub(crate) fn parse(bytes: &[u8], file_len: u64) -> Result<Header> {
        let mut reader = Reader(bytes);
        if reader.array() != Some(*MAGIC) {
            return Err(Problem::NoArchive);
        }
        match reader.u32().ok_or(Problem::Length)? {
            VERSION => {}
            version => return Err(Problem::Version(version)),
        }
        let index_len = reader.u32().ok_or(Problem::Length)?;
        let sha = reader.array().ok_or(Problem::Length)?;
        if u64::from(index_len) > MAX_INDEX.min(file_len.saturating_sub(HEADER_SIZE as u64)) {
            return Err(Problem::Length);
        }
        Ok(Header { index_len: index_len as usize, sha })
    }

    /// Parses the index, the bytes after the header.
    pub(crate) fn index(&self, bytes: &[u8], file_len: u64) -> Result<Vec<IndexItem>> {
        if bytes.len() != self.index_len || sha256(bytes) != self.sha {
            return Err(Problem::Damaged("the hash of its index does not match"));
        }
        let mut reader = Reader(bytes);
        let mut offset = (HEADER_SIZE + self.index_len) as u64;
        let count = reader.u32().ok_or(Problem::Damaged("its index is truncated"))?;
        let mut items = Vec::new();
        for _ in 0..count {
            let item = item(&mut reader, offset).ok_or(Problem::Damaged("its index is invalid"))?;
            // Sparse files: the file length alone does not prove that there is so much data.
            if item.len > MAX_ENTRY {
                return Err(Problem::Length);
            }
            offset += item.len;
            items.push(item);
        }
        match reader.0.is_empty() && offset == file_len {
            true => Ok(items),
            false => Err(Problem::Length),
        }
    }
}

fn item(reader: &mut Reader, offset: u64) -> Option<IndexItem> {
    Some(IndexItem {
        key: Key(reader.array()?),
        sha: reader.array()?,
        offset,
        len: reader.u64()?,
        target: ArtifactTarget { backend: reader.text()?, machine: reader.text()?, details: reader.text()? },
        compiler: reader.text()?,
        kernel: reader.text()?,
        constants: reader.text()?,
    })
}

impl IndexItem {
    /// Parses the entry from its bytes.
    pub(crate) fn entry(&self, bytes: &[u8]) -> Result<ArchiveEntry> {
        if sha256(bytes) != self.sha {
            return Err(Problem::Damaged("the hash of an entry does not match"));
        }
        let mut reader = Reader(bytes);
        let entry = self.read(&mut reader).ok_or(Problem::Damaged("an entry is invalid"))?;
        match reader.0.is_empty() {
            true => Ok(entry),
            false => Err(Problem::Damaged("an entry is too long")),
        }
    }

    fn read(&self, reader: &mut Reader) -> Option<ArchiveEntry> {
        let variant = reader.text()?;
        let reflection = serde_json::from_slice(reader.bytes()?).ok()?;
        let bytes = reader.bytes()?.to_vec();
        let artifact = Artifact { target: self.target.clone(), variant, bytes };
        Some(ArchiveEntry { key: self.key, constants: self.constants.clone(), reflection, artifact })
    }
}

/// Serializes an archive with these entries.
pub(crate) fn write<'a>(
    entries: impl IntoIterator<Item = &'a ArchiveEntry>,
) -> std::result::Result<Vec<u8>, String> {
    let (mut index, mut bodies, mut count) = (Vec::new(), Vec::new(), 0u32);
    for entry in entries {
        let body = body(entry)?;
        index.extend(entry.key.0);
        index.extend(sha256(&body));
        index.extend((body.len() as u64).to_le_bytes());
        let ArtifactTarget { backend, machine, details } = &entry.artifact.target;
        for text in [backend, machine, details, abi::COMPILER_FINGERPRINT, &entry.reflection.name, &entry.constants]
        {
            put(&mut index, text.as_bytes())?;
        }
        bodies.extend(body);
        count += 1;
    }
    index.splice(0..0, count.to_le_bytes());
    let mut bytes = Vec::with_capacity(HEADER_SIZE + index.len() + bodies.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(u32::try_from(index.len()).map_err(|_| "too many entries")?.to_le_bytes());
    bytes.extend(sha256(&index));
    bytes.extend(index);
    bytes.extend(bodies);
    Ok(bytes)
}

fn body(entry: &ArchiveEntry) -> std::result::Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    put(&mut bytes, entry.artifact.variant.as_bytes())?;
    put(&mut bytes, &serde_json::to_vec(&entry.reflection).map_err(|error| error.to_string())?)?;
    put(&mut bytes, &entry.artifact.bytes)?;
    Ok(bytes)
}

fn put(to: &mut Vec<u8>, bytes: &[u8]) -> std::result::Result<(), String> {
    let len = u32::try_from(bytes.len()).map_err(|_| "a part is larger than 4 GiB")?;
    to.extend(len.to_le_bytes());
    to.extend(bytes);
    Ok(())
}

#[cfg(test)]
mod tests;
