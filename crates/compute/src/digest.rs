//! SHA-256 over parts that are kept apart.

use sha2::Digest as _;

/// A SHA-256.
pub(crate) type Digest = [u8; 32];

/// Hashes parts, each with its length before it: no two lists of parts run together to the same bytes.
pub(crate) struct Hasher(sha2::Sha256);

impl Hasher {
    /// `what` is hashed: one kind of thing never has the digest of another.
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
/// The digest of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    sha2::Sha256::digest(bytes).into()
}

/// The digits of a digest, in lower case.
pub(crate) fn hex(digest: &[u8]) -> String {
    use std::fmt::Write;
    digest.iter().fold(String::with_capacity(2 * digest.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
