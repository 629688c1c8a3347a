//! Errors of loading and running a model.

use crate::weights::FileError;
use std::fmt;

/// Result of a fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of loading or running a model.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read, or lacks something. The file's fault.
    File(FileError),
    /// The model is not supported; the message says what is. The file's fault, or a limit of ours.
    Model(String),
    /// Invalid argument, or a call in the wrong state. The caller's fault.
    Usage(String),
    /// Error of the device.
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
