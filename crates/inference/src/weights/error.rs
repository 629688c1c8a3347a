//! Errors in the file of a model.

use std::fmt;
use std::path::{Path, PathBuf};

/// An error in a model's file: the problem, its location, and a remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileError {
    kind: FileErrorKind,
    path: Option<PathBuf>,
    offset: Option<u64>,
    message: String,
}

/// Kind of a [`FileError`]: its cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The file could not be read.
    Io,
    /// It is not a model file.
    NotAModel,
    /// The file is valid, but uses something that is not supported.
    Unsupported,
    /// The file contradicts itself or its format, or is truncated.
    Damaged,
    /// A part of a model in several files is missing, or is the wrong one.
    WrongPart,
    /// The model lacks a requested key.
    MissingKey,
    /// The value of a key has another type or range than requested.
    WrongValue,
    /// The model lacks a requested tensor.
    MissingTensor,
}

impl FileError {
    pub(crate) fn new(kind: FileErrorKind, message: impl Into<String>) -> FileError {
        FileError { kind, path: None, offset: None, message: message.into() }
    }

    /// Sets the file, unless the error has one.
    pub(crate) fn of(mut self, path: Option<&Path>) -> FileError {
        self.path = self.path.or_else(|| path.map(Path::to_owned));
        self
    }

    /// Sets the offset in the file.
    pub(crate) fn at(mut self, offset: u64) -> FileError {
        self.offset = Some(offset);
        self
    }

    /// Prefixes the message with a context.
    pub(crate) fn within(mut self, context: &str) -> FileError {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// Kind of the error.
    pub fn kind(&self) -> FileErrorKind {
        self.kind
    }

    /// The file with the error.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Offset of the error in the file.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(offset) = self.offset {
            write!(f, "at byte {offset}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for FileError {}
