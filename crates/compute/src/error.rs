//! What can go wrong, and whose fault it is.

use std::fmt;

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The Metal source has mistakes. The source's fault.
    Source {
        /// How many.
        errors: usize,
        /// All of them, with places and carets, as clang prints them.
        diagnostics: String,
    },
    /// A `.metallib` or a compiled kernel is damaged, or not for this device. The file's fault.
    Library(String),
    /// The library has no kernel of that name. The caller's fault.
    NoFunction {
        /// The name asked for.
        name: String,
        /// A name that is there and looks like it.
        similar: Option<String>,
    },
    /// A function constant is missing, unknown or of another type. The caller's fault.
    Constants {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// A kernel asks for something that this device cannot do, or not yet. A limit of ours.
    Unsupported {
        /// The kernel.
        kernel: String,
        /// What it is.
        what: String,
    },
    /// No archive has the code of a kernel, and it cannot or must not be compiled here. The caller's to mend: for CPUs,
    /// compile it into an archive before (`metalworks compile --target`), with the same version and for a machine like this
    /// one.
    ArchiveMiss {
        /// The kernel.
        kernel: String,
        /// Its function constants.
        constants: String,
        /// What was looked for, and where, and what to do.
        problem: String,
    },
    /// The API was used against its rules: what was done, and what to do instead. The caller's fault.
    Usage(String),
    /// There is no memory for this. The machine's limit.
    OutOfMemory {
        /// What for.
        what: String,
        /// How many bytes.
        bytes: u64,
    },
    /// A file could not be read.
    File {
        /// Which one.
        path: String,
        /// Why.
        reason: String,
    },
    /// A pipeline could not be created.
    Pipeline {
        /// The pipeline, as its key reads.
        pipeline: String,
        /// The kernel.
        kernel: String,
        /// Its function constants, for messages.
        constants: String,
        /// Why, and whose fault it is.
        cause: Box<Error>,
    },
    /// Some of many pipelines could not be created.
    Pipelines {
        /// How many were to be created.
        total: usize,
        /// What became of those that were not.
        failures: Vec<Error>,
    },
    /// A file could not be written.
    Write {
        /// Which one.
        path: String,
        /// Why.
        reason: String,
    },
    /// The operating system's driver of a device refused or failed, in its own words.
    Driver {
        /// What was to be done.
        what: String,
        /// Who says so, such as `MTLCommandBufferErrorDomain`.
        domain: String,
        /// Its number for it.
        code: i64,
        /// Why.
        description: String,
    },
    /// A mistake of ours.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Source { errors, diagnostics } => {
                let plural = if *errors == 1 { "" } else { "s" };
                write!(f, "{errors} error{plural} in the Metal source\n{}", diagnostics.trim_end())
            }
            Error::Library(problem) | Error::Usage(problem) => f.write_str(problem),
            Error::NoFunction { name, similar: None } => write!(f, "the library has no kernel '{name}'"),
            Error::NoFunction { name, similar: Some(similar) } => {
                write!(f, "the library has no kernel '{name}'; did you mean '{similar}'?")
            }
            Error::Constants { kernel, problem } => write!(f, "function constants of kernel '{kernel}': {problem}"),
            Error::Unsupported { kernel, what } => write!(f, "kernel '{kernel}': {what} is not supported"),
            Error::ArchiveMiss { kernel, constants, problem } => {
                let constants = if constants.is_empty() { "no constants" } else { constants };
                write!(f, "kernel '{kernel}' ({constants}): {problem}")
            }
            Error::OutOfMemory { what, bytes } => write!(f, "out of memory: {what} of {bytes} bytes"),
            Error::File { path, reason } => write!(f, "cannot read '{path}': {reason}"),
            Error::Pipeline { pipeline, kernel, constants, cause } => {
                let separator = if constants.is_empty() { "" } else { ", " };
                write!(f, "pipeline {pipeline} (kernel '{kernel}'{separator}{constants}): {cause}")
            }
            Error::Pipelines { total, failures } => {
                write!(f, "{} of {total} pipelines could not be created", failures.len())?;
                failures.iter().try_for_each(|failure| write!(f, "\n{failure}"))
            }
            Error::Write { path, reason } => write!(f, "cannot write '{path}': {reason}"),
            Error::Driver { what, domain, code, description } => {
                write!(f, "{what}: {} ({domain} {code})", description.trim_end())
            }
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// An error of the caller's.
pub(crate) fn usage<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Usage(problem.into()))
}
