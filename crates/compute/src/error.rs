//! Errors. Each variant says whose fault it is: the source, a file, the caller, the machine, or ours.

use crate::finding::{Finding, FindingKind};
use std::fmt;

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The Metal source has errors. The source's fault.
    Source {
        /// Number of errors.
        errors: usize,
        /// The diagnostics with locations and carets, in clang's format.
        diagnostics: String,
    },
    /// A `.metallib` or a compiled kernel is damaged, or not for this device. The file's fault.
    Library(String),
    /// The library has no kernel of that name. The caller's fault.
    NoFunction {
        /// The requested name.
        name: String,
        /// A similar name that exists.
        similar: Option<String>,
    },
    /// A function constant is missing, unknown or of another type. The caller's fault.
    Constants {
        /// The kernel.
        kernel: String,
        /// The mistake.
        problem: ConstantsProblem,
    },
    /// A kernel uses a feature that this device does not support, or not yet. A limit of ours.
    Unsupported {
        /// The kernel.
        kernel: String,
        /// The unsupported feature.
        what: String,
    },
    /// A kernel's own variables are over the limit of a device. The kernel's fault.
    ThreadgroupMemory {
        /// The kernel.
        kernel: String,
        /// Bytes of its variables.
        bytes: usize,
        /// The most bytes that the device has.
        limit: usize,
    },
    /// No archive has the code of a kernel, and it cannot or must not be compiled here. For CPUs, compile it into an
    /// archive first (`metalworks compile --target`), with the same version and for a compatible machine.
    ArchiveMiss {
        /// The kernel.
        kernel: String,
        /// Its function constants.
        constants: String,
        /// The missing code, the archives searched, and the remedy.
        problem: String,
    },
    /// The API was used against its rules: the mistake, and the right use. The caller's fault.
    Usage(String),
    /// Memory allocation failed. The machine's limit.
    OutOfMemory {
        /// The object to allocate.
        what: String,
        /// Size in bytes.
        bytes: u64,
    },
    /// A file could not be read.
    File {
        /// Path of the file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A pipeline could not be created.
    Pipeline {
        /// The pipeline's key.
        pipeline: String,
        /// The kernel.
        kernel: String,
        /// Its function constants, for messages.
        constants: String,
        /// The underlying error.
        cause: Box<Error>,
    },
    /// Some of many pipelines could not be created.
    Pipelines {
        /// Number of requested pipelines.
        total: usize,
        /// One error per failed pipeline.
        failures: Vec<Error>,
    },
    /// A file could not be written.
    Write {
        /// Path of the file.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The driver of a device reported an error.
    Driver {
        /// The failed operation.
        what: String,
        /// The error domain, such as `MTLCommandBufferErrorDomain`.
        domain: String,
        /// The driver's error code.
        code: i64,
        /// The driver's description.
        description: String,
    },
    /// A kernel reported that it could not go on. The kernel's fault, or that of its input.
    Kernel {
        /// The kernel.
        kernel: String,
        /// The reason.
        what: String,
    },
    /// Shader validation found a mistake of a kernel. The kernel's fault, or that of its dispatch.
    Validation(Box<Finding>),
    /// A bug in this crate.
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
            Error::ThreadgroupMemory { kernel, bytes, limit } => {
                write!(f, "kernel '{kernel}': {} is not supported", over_limit(*bytes, *limit))
            }
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
            Error::Kernel { kernel, what } => write!(f, "kernel '{kernel}': {what}"),
            Error::Validation(finding) => finding.fmt(f),
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// A mistake in the values of function constants.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConstantsProblem {
    /// The kernel reads these, and they are not set; each as `'K' (index 0, uint)`.
    Unset(Vec<String>),
    /// A value does not fit, or is one of no constant: the mistake in words.
    Wrong(String),
}

impl fmt::Display for ConstantsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstantsProblem::Unset(constants) => {
                let plural = if constants.len() == 1 { "" } else { "s" };
                write!(f, "function constant{plural} not set: {}", constants.join(", "))
            }
            ConstantsProblem::Wrong(problem) => f.write_str(problem),
        }
    }
}

fn over_limit(bytes: usize, limit: usize) -> String {
    format!("{bytes} bytes of threadgroup memory (the limit is {limit})")
}

impl Error {
    /// The finding that shader validation has in its place, if a mistake of a kernel or of its arguments keeps it from
    /// running: a function constant that is not set, or threadgroup memory over the limit.
    pub fn finding(&self) -> Option<Finding> {
        match self {
            Error::Constants { kernel, problem: ConstantsProblem::Unset(constants) } => Some(Finding {
                suggestion: Some("set it, or ask is_function_constant_defined before it is read".into()),
                ..Finding::of_kernel(FindingKind::UnsetConstant, kernel, constants.join(", "))
            }),
            Error::ThreadgroupMemory { kernel, bytes, limit } => {
                Some(Finding::of_kernel(FindingKind::ThreadgroupMemoryLimit, kernel, over_limit(*bytes, *limit)))
            }
            _ => None,
        }
    }
}

/// Returns [`Error::Usage`].
pub(crate) fn usage<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Usage(problem.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_from_the_kind_of_an_error() {
        let kernel = || "k".to_owned();
        let unset = ConstantsProblem::Unset(vec!["'K' (index 0, uint)".into(), "'N' (index 1, uint)".into()]);
        let error = Error::Constants { kernel: kernel(), problem: unset };
        let text = "function constants of kernel 'k': function constants not set: 'K' (index 0, uint), 'N' (index 1, uint)";
        assert_eq!(error.to_string(), text);
        let finding = error.finding().expect("a finding");
        assert_eq!(finding.kind, FindingKind::UnsetConstant);
        assert_eq!(finding.detail, "'K' (index 0, uint), 'N' (index 1, uint)");
        // The words of another error, such as a constant's name, do not make it one.
        let problem = ConstantsProblem::Wrong("there is no function constant 'is not set: '".into());
        assert_eq!(Error::Constants { kernel: kernel(), problem }.finding(), None);

        let error = Error::ThreadgroupMemory { kernel: kernel(), bytes: 40000, limit: 32768 };
        let finding = error.finding().expect("a finding");
        assert_eq!(finding.kind, FindingKind::ThreadgroupMemoryLimit);
        assert_eq!(finding.detail, "40000 bytes of threadgroup memory (the limit is 32768)");
        let what = "an address of 16 bytes of threadgroup memory".into();
        assert_eq!(Error::Unsupported { kernel: kernel(), what }.finding(), None);
    }
}
