//! GGUF, the file format of llama.cpp for language models.
//!
//! ```text
//! file, or parts of one ── header: cursor, value, metadata ── Gguf: Metadata, Weights
//! Builder: keys, tensors ── writer ── file
//! ```
//!
//! Files are memory-mapped, and tensors are ranges of the mapping. The contents of a file are untrusted: a corrupt,
//! truncated or malicious file is an error that says what is wrong, where, and what to do.
//!
//! ```
//! # let bytes = metalworks_inference::gguf::Builder::new().key("llama.block_count", 2u32).to_bytes(|_, _| Ok(()))?;
//! # let model = metalworks_inference::gguf::Gguf::from_bytes(bytes)?;
//! // let model = Gguf::open("model.gguf")?;
//! let layers: usize = model.get("llama.block_count")?;
//! assert_eq!(model.get::<u8>("llama.block_count")?, 2);
//! let error = model.get::<bool>("llama.block_count").unwrap_err().to_string();
//! assert_eq!(error, "key 'llama.block_count': expected bool, found u32");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cursor;
mod header;
mod metadata;
mod split;
mod value;
mod writer;

use std::fmt;
use std::path::Path;

use crate::weights::{FileError, TensorInfo, WeightFile, Weights};

pub(crate) use split::PartName;

pub use metadata::{FromValue, Metadata, Mismatch};
pub use value::{Array, Strings, Value, ValueType};
pub use writer::Builder;

/// Checks that a file, which may be one part of a model, has a valid header and all its tensor data.
pub(crate) fn check(path: &Path) -> Result<(), FileError> {
    let file = WeightFile::open(path)?;
    header::read(file.bytes(), 0).map(drop).map_err(|error| error.of(Some(path)))
}

/// Model in one or more GGUF files.
pub struct Gguf {
    version: u32,
    metadata: Metadata,
    weights: Weights,
}

impl Gguf {
    /// Opens a file. If it is one part of a split model, opens the other parts too.
    ///
    /// The files must not be truncated while in use: reading a tensor past their new end is an error
    /// ([`Weights::read`]), but using its mapped bytes kills the process (`SIGBUS`).
    pub fn open(path: impl AsRef<Path>) -> Result<Gguf, FileError> {
        let path = path.as_ref();
        let file = WeightFile::open(path)?;
        let header = header::read(file.bytes(), 0).map_err(|error| error.of(Some(path)))?;
        split::open(path, file, header)
    }

    /// Reads a file from memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Gguf, FileError> {
        let header = header::read(&bytes, 0)?;
        split::reject_part(&header.metadata)?;
        Gguf::new(header.version, header.metadata, vec![WeightFile::from_bytes(bytes)], header.tensors)
    }

    fn new(
        version: u32,
        metadata: Metadata,
        files: Vec<WeightFile>,
        tensors: Vec<TensorInfo>,
    ) -> Result<Gguf, FileError> {
        Ok(Gguf { version, metadata, weights: Weights::new(files, tensors)? })
    }

    /// GGUF version of the file.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Path of the file, the first one of a split model. `None` for a file read from memory.
    pub fn path(&self) -> Option<&Path> {
        self.weights.files().first().and_then(WeightFile::path)
    }

    /// Metadata of the model.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Tensors of the model.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns the value of a key as `T`. An integer of any width converts if its value fits.
    pub fn get<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<T, FileError> {
        self.metadata.get(key).map_err(|error| error.of(self.path()))
    }

    /// Returns the value of a key as `T`, or `None` if there is no such key. A value of another type is an error.
    pub fn get_optional<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<Option<T>, FileError> {
        self.metadata.get_optional(key).map_err(|error| error.of(self.path()))
    }

    /// Architecture of the model, such as `llama`. Keys that describe the model have it as prefix.
    pub fn architecture(&self) -> Result<&str, FileError> {
        self.get("general.architecture")
    }

    /// Number of parameters: elements of all tensors.
    pub fn parameters(&self) -> u64 {
        self.weights.tensors().iter().fold(0, |sum: u64, tensor| sum.saturating_add(tensor.elements()))
    }
}

impl fmt::Debug for Gguf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gguf(version {}, {} keys, {:?})", self.version, self.metadata.len(), self.weights)
    }
}
