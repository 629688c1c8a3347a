//! What can be wrong with the file of a model.

use std::fmt;
use std::path::{Path, PathBuf};

/// Says what is wrong, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileError {
    kind: FileErrorKind,
    path: Option<PathBuf>,
    offset: Option<u64>,
    message: String,
}

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileErrorKind {
    /// The file could not be read.
    Io,
    /// It is no file of this kind at all.
    NotAModel,
    /// The file is right, and what it has is not supported.
    Unsupported,
    /// The file contradicts itself or its format, or is not whole.
    Damaged,
    /// A part of a model in several files is not there, or not the right one.
    WrongPart,
    /// The model lacks a key that was asked for.
    MissingKey,
    /// The value of a key is not what was asked for.
    WrongValue,
    /// The model lacks a tensor that was asked for.
    MissingTensor,
}

impl FileError {
    pub(crate) fn new(kind: FileErrorKind, message: impl Into<String>) -> FileError {
        FileError { kind, path: None, offset: None, message: message.into() }
    }

    /// The error, with the file that it is about, unless it has one.
    pub(crate) fn of(mut self, path: Option<&Path>) -> FileError {
        self.path = self.path.or_else(|| path.map(Path::to_owned));
        self
    }

    /// The error, with its place in the file.
    pub(crate) fn at(mut self, offset: u64) -> FileError {
        self.offset = Some(offset);
        self
    }

    /// The error, with what it happened in before it.
    pub(crate) fn within(mut self, context: &str) -> FileError {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// Whose fault it is.
    pub fn kind(&self) -> FileErrorKind {
        self.kind
    }

    /// The file that it is about.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Where in the file it was found.
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
