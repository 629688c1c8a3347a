//! Bounds-checked sequential reader.

use crate::weights::{FileError, FileErrorKind};

/// Cause and advice for errors about a file that ends too early.
pub(super) const TRUNCATED: &str = "the file is truncated or corrupt; download it again";

/// Longest key or tensor name in bytes: the specification's limit for keys.
const MAX_NAME_LEN: u64 = 65_535;

/// Read position in the bytes of a file.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    pub(super) fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Number of unread bytes.
    pub(super) fn remaining(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    /// Returns an error about the bytes at `offset`.
    pub(super) fn error(&self, offset: u64, message: impl Into<String>) -> FileError {
        FileError::new(FileErrorKind::Damaged, message).at(offset)
    }

    /// Reads the next `len` bytes. `what` names them in errors.
    pub(super) fn take(&mut self, len: u64, what: &str) -> Result<&'a [u8], FileError> {
        let remaining = self.remaining();
        if len > remaining {
            return Err(self.error(
                self.offset(),
                format!("{what} needs {len} bytes, but the file ends after {remaining}: {TRUNCATED}"),
            ));
        }
        let taken = &self.bytes[self.at..][..len as usize];
        self.at += len as usize;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], FileError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, what)?);
        Ok(array)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, FileError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, FileError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads the number of items that follow, each at least `min_size` bytes long. Rejects more than the file can hold.
    pub(super) fn count(&mut self, min_size: u64, what: &str) -> Result<usize, FileError> {
        let offset = self.offset();
        let count = self.u64(what)?;
        let room = self.remaining() / min_size;
        if count > room {
            let message = format!("{what} is {count}, but the rest of the file has room for at most {room}");
            return Err(self.error(offset, format!("{message}: {TRUNCATED}")));
        }
        Ok(count as usize)
    }

    /// Reads a string: its length, then its bytes.
    pub(super) fn string(&mut self, what: &str) -> Result<&'a [u8], FileError> {
        let len = self.u64(what)?;
        self.take(len, what)
    }

    /// Reads a key or a tensor name.
    pub(super) fn name(&mut self, what: &str) -> Result<&'a str, FileError> {
        let offset = self.offset();
        let name = self.string(what)?;
        if name.len() as u64 > MAX_NAME_LEN {
            return Err(self.error(offset, format!("{what} has {} bytes: more than {MAX_NAME_LEN}", name.len())));
        }
        std::str::from_utf8(name).map_err(|_| self.error(offset, format!("{what} is not UTF-8")))
    }
}
