//! Tensors in files: the interface between readers of any file format and the loader.
//!
//! ```text
//! gguf ────┐
//!          ├── Weights: files in memory, and tensors by name ── Device::new_buffer_with_file(path, range)
//! folders ─┘
//! ```
//!
//! A tensor is a range of bytes of a file, or derived from such ranges. Nothing is read before it is used.

mod derived;
mod error;
mod fused;
mod order;
#[cfg(test)]
mod tests;
mod types;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::formats::Format;

pub(crate) use derived::{Derived, NumberMap, Part, ScaleType, StoredRows, Values, affine_format};
pub use error::{FileError, FileErrorKind};
pub(crate) use fused::unfuse;
pub(crate) use order::{HeadOrder, RowOrder};
pub use types::TensorType;

/// A tensor and its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorInfo {
    /// Its name in the file.
    pub name: String,
    /// Its size in each dimension, that of a row first, as in GGUF; empty for a single number.
    pub dimensions: Vec<u64>,
    /// Type of its numbers.
    pub kind: TensorType,
    /// Index of its file in [`Weights::files`].
    pub file: usize,
    /// Its bytes in the file.
    pub range: Range<u64>,
}

impl TensorInfo {
    /// Number of elements. Readers check that the number does not overflow.
    pub fn elements(&self) -> u64 {
        self.dimensions.iter().product()
    }

    /// Numbers in a row.
    pub fn columns(&self) -> u64 {
        self.dimensions.first().copied().unwrap_or(1)
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Its format, if kernels support it.
    pub fn format(&self) -> Result<Format, FileError> {
        self.kind.format().ok_or_else(|| {
            let kinds = Format::in_gguf().map(Format::tensor_type);
            let runs: Vec<&str> = kinds.map(TensorType::name).collect();
            FileError::new(
                FileErrorKind::Unsupported,
                format!(
                    "tensor '{}' is {}, which no kernel reads; take a model in one of {}",
                    self.name,
                    self.kind,
                    runs.join(", ")
                ),
            )
        })
    }

    /// `576×49152`.
    pub fn shape(&self) -> String {
        let dimensions: Vec<String> = self.dimensions.iter().map(u64::to_string).collect();
        if dimensions.is_empty() { "1".into() } else { dimensions.join("×") }
    }
}

/// Contents of a file.
pub struct WeightFile {
    path: Option<PathBuf>,
    bytes: Bytes,
}

enum Bytes {
    Mapped {
        map: memmap2::Mmap,
        file: File,
    },
    Owned(Vec<u8>),
    /// Tensors by the start of their ranges, and the end of the last one.
    Derived(BTreeMap<u64, Derived>, u64),
}

impl WeightFile {
    /// Maps a file into memory. The file must not be truncated while its [`bytes`](WeightFile::bytes) are in use: reading
    /// missing pages kills the process. [`Weights::read`] returns an error then.
    pub fn open(path: &Path) -> Result<WeightFile, FileError> {
        let failed = |error: std::io::Error| {
            let message = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => format!("cannot be read: {error}"),
            };
            FileError::new(FileErrorKind::Io, message).of(Some(path))
        };
        // Opening a pipe without a writer would wait for one.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(FileError::new(FileErrorKind::Io, "is not a file").of(Some(path)));
        }
        let bytes = match metadata.len() {
            // An empty file cannot be mapped.
            0 => Bytes::Owned(Vec::new()),
            // SAFETY: the mapping is private and only read; the documentation of this function requires that the file
            // keeps its size.
            _ => Bytes::Mapped { map: unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?, file },
        };
        Ok(WeightFile { path: Some(path.to_owned()), bytes })
    }

    /// A file in memory only.
    pub fn from_bytes(bytes: Vec<u8>) -> WeightFile {
        WeightFile { path: None, bytes: Bytes::Owned(bytes) }
    }

    /// Tensors that are derived from others of the same [`Weights`], with their sizes in bytes, and their ranges.
    pub(crate) fn derived(tensors: Vec<(Derived, u64)>) -> (WeightFile, Vec<Range<u64>>) {
        let (mut by_start, mut ranges, mut end) = (BTreeMap::new(), Vec::new(), 0);
        for (tensor, size) in tensors {
            ranges.push(end..end + size);
            by_start.insert(end, tensor);
            end += size.max(1);
        }
        (WeightFile { path: None, bytes: Bytes::Derived(by_start, end) }, ranges)
    }

    /// Size of all tensors.
    fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::Derived(_, end) => *end,
            _ => self.bytes().len() as u64,
        }
    }

    /// Path of the file; `None` if it is in memory only.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// All bytes that it stores.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped { map, .. } => map,
            Bytes::Owned(bytes) => bytes,
            Bytes::Derived(..) => &[],
        }
    }
}

/// All tensors of a model, in one or several files.
pub struct Weights {
    files: Vec<WeightFile>,
    tensors: Vec<TensorInfo>,
    by_name: HashMap<String, usize>,
}

impl Weights {
    /// Collects the tensors of files. Every range must be within its file, and names must be unique.
    pub fn new(files: Vec<WeightFile>, tensors: Vec<TensorInfo>) -> Result<Weights, FileError> {
        let mut by_name = HashMap::with_capacity(tensors.len());
        for (index, tensor) in tensors.iter().enumerate() {
            let file = files.get(tensor.file);
            let problem = match file {
                Some(file) if tensor.range.start > tensor.range.end || tensor.range.end > file.len() => {
                    "is not within its file"
                }
                Some(_) if by_name.insert(tensor.name.clone(), index).is_some() => "is there twice",
                Some(_) => continue,
                None => "is in no file",
            };
            let error = FileError::new(FileErrorKind::Damaged, format!("tensor '{}' {problem}", tensor.name));
            return Err(error.of(file.and_then(WeightFile::path)));
        }
        Ok(Weights { files, tensors, by_name })
    }

    /// Files of the tensors.
    pub fn files(&self) -> &[WeightFile] {
        &self.files
    }

    /// All tensors, in the order of the files.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    /// Looks up a tensor by name.
    pub fn find(&self, name: &str) -> Option<&TensorInfo> {
        self.by_name.get(name).map(|&index| &self.tensors[index])
    }

    /// The tensor of this name, or an error.
    pub fn tensor(&self, name: &str) -> Result<&TensorInfo, FileError> {
        self.find(name).ok_or_else(|| {
            let count = self.tensors.len();
            FileError::new(FileErrorKind::MissingTensor, format!("there is no tensor '{name}' among its {count}"))
                .of(self.files.first().and_then(WeightFile::path))
        })
    }

    /// Bytes of one of these tensors. Those of a derived tensor are computed once and kept; [`read`](Weights::read) does
    /// not keep them.
    ///
    /// # Panics
    ///
    /// If the tensor belongs to other weights, or is derived from a file that was truncated after it was opened.
    pub fn data(&self, tensor: &TensorInfo) -> &[u8] {
        if let Some((derived, start)) = self.derived(tensor.file, tensor.range.start) {
            let bytes = derived.made.get_or_init(|| {
                let mut bytes = Vec::new();
                let read = derived.read(self, &tensor.name, 0..derived.size(), &mut bytes);
                read.unwrap_or_else(|error| panic!("{error}"));
                bytes
            });
            return &bytes[start..start + tensor.size() as usize];
        }
        &self.files[tensor.file].bytes()[tensor.range.start as usize..tensor.range.end as usize]
    }

    /// Reads a range of a tensor's bytes, through `buffer` if they are in a file. A file that was truncated after it was
    /// opened is an error.
    ///
    /// # Panics
    ///
    /// If the tensor belongs to other weights, or the range is not within it.
    pub fn read<'b>(
        &'b self,
        tensor: &TensorInfo,
        range: Range<usize>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], FileError> {
        assert!(range.start <= range.end && range.end as u64 <= tensor.size(), "the range is within the tensor");
        if let Some((derived, start)) = self.derived(tensor.file, tensor.range.start) {
            buffer.clear();
            derived.read(self, &tensor.name, start + range.start..start + range.end, buffer)?;
            return Ok(buffer);
        }
        if let Bytes::Owned(_) = self.files[tensor.file].bytes {
            return Ok(&self.data(tensor)[range]);
        }
        let start = tensor.range.start;
        self.fill(tensor.file, start + range.start as u64..start + range.end as u64, &tensor.name, buffer)?;
        Ok(buffer)
    }

    /// The derived tensor at a place of a file, and the offset in it.
    fn derived(&self, file: usize, place: u64) -> Option<(&Derived, usize)> {
        match &self.files[file].bytes {
            Bytes::Derived(tensors, _) => {
                let (start, derived) = tensors.range(..=place).next_back()?;
                Some((derived, (place - start) as usize))
            }
            _ => None,
        }
    }

    /// Reads a range of a file for the tensor `name`.
    fn fill(&self, file: usize, range: Range<u64>, name: &str, buffer: &mut Vec<u8>) -> Result<(), FileError> {
        if let Some((derived, start)) = self.derived(file, range.start) {
            buffer.clear();
            return derived.read(self, name, start..start + (range.end - range.start) as usize, buffer);
        }
        let WeightFile { bytes: Bytes::Mapped { file, .. }, path } = &self.files[file] else {
            buffer.clear();
            buffer.extend_from_slice(&self.files[file].bytes()[range.start as usize..range.end as usize]);
            return Ok(());
        };
        buffer.resize((range.end - range.start) as usize, 0);
        let read = file.read_exact_at(buffer, range.start);
        read.map_err(|error| {
            let message = match error.kind() {
                std::io::ErrorKind::UnexpectedEof => {
                    format!("was truncated while it was read: tensor '{name}' is not there any more")
                }
                _ => format!("tensor '{name}' cannot be read: {error}"),
            };
            FileError::new(FileErrorKind::Io, message).of(path.as_deref())
        })
    }

    /// Releases the memory of a mapped tensor, after the caller has copied it. Reading it again reads the file again.
    pub fn forget(&self, tensor: &TensorInfo) {
        #[cfg(unix)]
        if let Some(WeightFile { bytes: Bytes::Mapped { map, .. }, .. }) = self.files.get(tensor.file) {
            let (start, len) = (tensor.range.start as usize, tensor.size() as usize);
            // SAFETY: the mapping is of a file and only read, so its pages come back with the same bytes.
            let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, len) };
        }
    }

    /// Path of a tensor's file, for mapping a part of it; `None` if it is in memory only.
    pub fn path(&self, tensor: &TensorInfo) -> Option<&Path> {
        self.files.get(tensor.file).and_then(WeightFile::path)
    }
}

/// Adds a file of derived tensors, if there are any. Their ranges are their sizes until here, and their file is open.
pub(crate) fn place_derived(
    files: &mut Vec<WeightFile>,
    tensors: &mut Vec<TensorInfo>,
    derived: Vec<(TensorInfo, Derived)>,
) {
    if derived.is_empty() {
        return;
    }
    let (infos, derived): (Vec<TensorInfo>, Vec<Derived>) = derived.into_iter().unzip();
    let sizes = infos.iter().map(TensorInfo::size);
    let (file, ranges) = WeightFile::derived(derived.into_iter().zip(sizes).collect());
    let placed = infos.into_iter().zip(ranges).map(|(info, range)| TensorInfo { file: files.len(), range, ..info });
    tensors.extend(placed);
    files.push(file);
}

impl fmt::Debug for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Weights({} tensors in {} files)", self.tensors.len(), self.files.len())
    }
}
