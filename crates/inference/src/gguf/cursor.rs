//! Reading a file front to back, never past its end.

use crate::weights::{FileError, FileErrorKind};

/// Keys and names of tensors have at most this many bytes, says the specification of keys.
const LONGEST_NAME: u64 = 65_535;

/// A place in the bytes of a file.
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

    /// Bytes that are left.
    pub(super) fn left(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    /// An error about what was read last, or is to be read next.
    pub(super) fn error(&self, offset: u64, message: impl Into<String>) -> FileError {
        FileError::new(FileErrorKind::Damaged, message).at(offset)
    }

    /// The next bytes, which are `what`.
    pub(super) fn take(&mut self, len: u64, what: &str) -> Result<&'a [u8], FileError> {
        if len > self.left() {
            let left = self.left();
            return Err(self.error(
                self.offset(),
                format!(
                    "{what} needs {len} bytes, and the file ends after {left}: it is damaged or not whole; get it again"
                ),
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

    /// A number of things of which each takes some bytes at least: more than the file has room for are none.
    pub(super) fn count(&mut self, each: u64, what: &str) -> Result<usize, FileError> {
        let offset = self.offset();
        let count = self.u64(what)?;
        let room = self.left() / each;
        if count > room {
            let message = format!("{what} is {count}, and the rest of the file has room for {room} at most");
            return Err(self.error(offset, message + ": it is damaged or not whole; get it again"));
        }
        Ok(count as usize)
    }

    /// A text after its length.
    pub(super) fn string(&mut self, what: &str) -> Result<&'a [u8], FileError> {
        let len = self.u64(what)?;
        self.take(len, what)
    }

    /// The name of a thing.
    pub(super) fn name(&mut self, what: &str) -> Result<&'a str, FileError> {
        let offset = self.offset();
        let name = self.string(what)?;
        if name.len() as u64 > LONGEST_NAME {
            return Err(self.error(offset, format!("{what} has {} bytes: more than {LONGEST_NAME}", name.len())));
        }
        std::str::from_utf8(name).map_err(|_| self.error(offset, format!("{what} is not UTF-8")))
    }
}
