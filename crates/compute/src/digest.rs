//! SHA-256 over length-prefixed parts.

use sha2::Digest as _;

/// A SHA-256 digest.
pub(crate) type Digest = [u8; 32];

/// Hashes parts, each prefixed with its length: lists that differ only in the boundaries of their parts hash
/// differently.
pub(crate) struct Hasher(sha2::Sha256);

impl Hasher {
    /// Hashes `what` first, so that different kinds of things have different digests.
    pub(crate) fn new(what: &str) -> Hasher {
        let mut hasher = Hasher(sha2::Sha256::new());
        hasher.text(what);
        hasher
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub(crate) fn finish(self) -> Digest {
        self.0.finalize().into()
    }
}
/// SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    sha2::Sha256::digest(bytes).into()
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(digest: &[u8]) -> String {
    use std::fmt::Write;
    digest.iter().fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
