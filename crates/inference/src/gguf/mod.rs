//! GGUF, the file format of llama.cpp for language models.
//!
//! ```text
//! file, or parts of one ── header: cursor, value, metadata ── Gguf: Metadata, Weights
//! Builder: keys, tensors ── writer ── file
//! ```
//!
//! Folders of Hugging Face and MLX open as the same type ([`Container`]).
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
mod experts;
mod header;
mod metadata;
mod split;
mod value;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::folders;
use crate::weights::{self, FileError, TensorInfo, WeightFile, Weights};

pub(crate) use split::PartName;

pub use metadata::{FromValue, Metadata, Mismatch};
pub use value::{Array, Strings, Value, ValueType};
pub use writer::Builder;

/// Checks that a file, which may be one part of a model, has a valid header and all its tensor data.
#[cfg(feature = "hub")]
pub(crate) fn check(path: &Path) -> Result<(), FileError> {
    let file = WeightFile::open(path)?;
    header::read(file.bytes(), 0).map(drop).map_err(|error| error.of(Some(path)))
}

/// Form in which a model is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// One or more GGUF files.
    Gguf,
    /// A folder of Hugging Face: `config.json` and safetensors files.
    HuggingFace,
    /// A folder of MLX: the same with quantized matrices.
    Mlx,
}

/// Model in one or more GGUF files, or in a folder, whose keys and tensors have the names of GGUF then.
pub struct Gguf {
    version: u32,
    metadata: Metadata,
    weights: Weights,
    container: Container,
    folder: Option<PathBuf>,
    quantization: Option<String>,
    notes: Vec<String>,
}

impl Gguf {
    /// Opens a file, or a folder of Hugging Face or MLX. If a file is one part of a split model, opens the other parts too.
    ///
    /// The files must not be truncated while in use: reading a tensor past their new end is an error
    /// ([`Weights::read`]), but using its mapped bytes kills the process (`SIGBUS`).
    pub fn open(path: impl AsRef<Path>) -> Result<Gguf, FileError> {
        match path.as_ref() {
            path if path.is_dir() => folders::open(path, false),
            path => Gguf::open_file(path, false),
        }
    }

    /// Opens a file or a folder to write it as a GGUF file: the rows of query and key heads are in the order of GGUF files,
    /// not in that of a folder, and matrices that such files have as one are not taken apart.
    pub fn open_to_convert(path: impl AsRef<Path>) -> Result<Gguf, FileError> {
        match path.as_ref() {
            path if path.is_dir() => folders::open(path, true),
            path => Gguf::open_file(path, true),
        }
    }

    fn open_file(path: &Path, convert: bool) -> Result<Gguf, FileError> {
        let file = WeightFile::open(path)?;
        let header = header::read(file.bytes(), 0).map_err(|error| error.of(Some(path)))?;
        split::open(path, file, header, convert)
    }

    /// Reads a file from memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Gguf, FileError> {
        let header = header::read(&bytes, 0)?;
        split::reject_part(&header.metadata)?;
        Gguf::new(header.version, header.metadata, vec![WeightFile::from_bytes(bytes)], header.tensors, false)
    }

    fn new(
        version: u32,
        metadata: Metadata,
        mut files: Vec<WeightFile>,
        tensors: Vec<TensorInfo>,
        convert: bool,
    ) -> Result<Gguf, FileError> {
        let path = files.first().and_then(WeightFile::path).map(Path::to_owned);
        let of_path = |error: FileError| error.of(path.as_deref());
        let mut tensors = experts::join(&mut files, tensors).map_err(of_path)?;
        if !convert {
            tensors = weights::unfuse(&mut files, tensors, &|key| metadata.count(key)).map_err(of_path)?;
        }
        let weights = Weights::new(files, tensors)?;
        let (container, notes) = (Container::Gguf, Vec::new());
        Ok(Gguf { version, metadata, weights, container, folder: None, quantization: None, notes })
    }

    /// The model of a folder. `notes` are for people.
    pub(crate) fn from_folder(
        folder: &Path,
        container: Container,
        quantization: Option<String>,
        notes: Vec<String>,
        metadata: Metadata,
        weights: Weights,
    ) -> Gguf {
        Gguf { version: 0, metadata, weights, container, folder: Some(folder.to_owned()), quantization, notes }
    }

    /// GGUF version of the file; 0 for a folder.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Form in which the model is stored.
    pub fn container(&self) -> Container {
        self.container
    }

    /// Quantization of a folder, for people.
    pub fn quantization(&self) -> Option<&str> {
        self.quantization.as_deref()
    }

    /// Remarks on a folder, for people: conversions at load, missing parts.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Path of the file, the first one of a split model, or of the folder. `None` for a file read from memory.
    pub fn path(&self) -> Option<&Path> {
        if let Some(folder) = &self.folder {
            return Some(folder);
        }
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
