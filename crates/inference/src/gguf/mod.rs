//! GGUF, the files that language models come in.
//!
//! ```text
//! file, or parts of one ── header: cursor, value, metadata ── Gguf: Metadata, Weights
//! Builder: keys, tensors ── writer ── file
//! ```
//!
//! Files are mapped into memory, and tensors stay where they are. What a file says is checked before it is believed: a
//! file that is damaged, cut off or made to do harm is an error that says what is wrong, where, and what to do.
//!
//! ```
//! # let bytes = inference::gguf::Builder::new().key("llama.block_count", 2u32).to_bytes(|_, _| Ok(()))?;
//! # let model = inference::gguf::Gguf::from_bytes(bytes)?;
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

/// Reads the head of a file, which may be one part of a model, to see whether it is whole.
pub(crate) fn check(path: &Path) -> Result<(), FileError> {
    let file = WeightFile::open(path)?;
    header::read(file.bytes(), 0).map(drop).map_err(|error| error.of(Some(path)))
}

/// A model in a GGUF file, or in several.
pub struct Gguf {
    version: u32,
    metadata: Metadata,
    weights: Weights,
}

impl Gguf {
    /// Opens a file, and the other parts of the model where it is one of several.
    ///
    /// The files must not be shortened while they are in use: reading what is gone kills the process.
    pub fn open(path: impl AsRef<Path>) -> Result<Gguf, FileError> {
        let path = path.as_ref();
        let file = WeightFile::open(path)?;
        let header = header::read(file.bytes(), 0).map_err(|error| error.of(Some(path)))?;
        split::open(path, file, header)
    }

    /// Takes a file that is in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Gguf, FileError> {
        let header = header::read(&bytes, 0)?;
        split::refuse_part(&header.metadata)?;
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

    /// The version of GGUF that the file is in.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Where it is; none if it is in memory alone. Of several files it is the first.
    pub fn path(&self) -> Option<&Path> {
        self.weights.files().first().and_then(WeightFile::path)
    }

    /// All keys with their values.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// All tensors.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The value of a key. Integers of any width become the one that is asked for, if they fit.
    pub fn get<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<T, FileError> {
        self.metadata.get(key).map_err(|error| error.of(self.path()))
    }

    /// The value of a key, or none if it is not there. That it is of another type is an error all the same.
    pub fn get_optional<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<Option<T>, FileError> {
        self.metadata.get_optional(key).map_err(|error| error.of(self.path()))
    }

    /// Which kind of model it is, such as `llama`: keys that describe the model begin with it.
    pub fn architecture(&self) -> Result<&str, FileError> {
        self.get("general.architecture")
    }

    /// How many numbers all tensors have.
    pub fn parameters(&self) -> u64 {
        self.weights.tensors().iter().fold(0, |sum: u64, tensor| sum.saturating_add(tensor.elements()))
    }
}

impl fmt::Debug for Gguf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gguf(version {}, {} keys, {:?})", self.version, self.metadata.len(), self.weights)
    }
}
