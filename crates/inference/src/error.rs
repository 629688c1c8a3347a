//! What can go wrong with a model.

use crate::weights::FileError;
use std::fmt;

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The file cannot be read, or lacks something. The file's fault.
    File(FileError),
    /// The model is nothing that can be run here: what it is, and what would do. The file's fault, or a limit of ours.
    Model(String),
    /// A call does not fit the model or what was done before. The caller's fault.
    Usage(String),
    /// The device refused. What it says.
    Device(compute::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(error) => error.fmt(f),
            Error::Model(problem) | Error::Usage(problem) => f.write_str(problem),
            Error::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        Error::File(error)
    }
}

impl From<compute::Error> for Error {
    fn from(error: compute::Error) -> Error {
        Error::Device(error)
    }
}
