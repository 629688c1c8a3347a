//! Errors of `metalworks exec`.

/// An error, by its exit status.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Error {
    /// The shader has errors: its diagnostics.
    Shader(String),
    /// An argument or flag is wrong.
    Refused(String),
    /// A file could not be read or written, or memory is exhausted.
    NotTried(String),
    /// A mistake of the kernel or of an argument that keeps it from running, and the finding in its place if shaders are
    /// validated.
    Mistake(String, Box<compute::Finding>),
    /// Shader validation stopped the kernel.
    Found(Box<compute::Finding>),
    /// The user stopped the kernel.
    Interrupted(String),
}

impl Error {
    /// Prefixes an error with its subject.
    pub(crate) fn within(self, what: &str) -> Error {
        match self {
            Error::Shader(diagnostics) => Error::Shader(diagnostics),
            Error::Refused(problem) => Error::Refused(format!("{what}: {problem}")),
            Error::NotTried(problem) => Error::NotTried(format!("{what}: {problem}")),
            Error::Mistake(problem, finding) => Error::Mistake(format!("{what}: {problem}"), finding),
            Error::Found(finding) => Error::Found(finding),
            Error::Interrupted(problem) => Error::Interrupted(format!("{what}: {problem}")),
        }
    }
}

impl From<compute::Error> for Error {
    fn from(error: compute::Error) -> Error {
        use compute::Error as Compute;
        if let Some(finding) = error.finding() {
            return Error::Mistake(error.to_string(), Box::new(finding));
        }
        match error {
            Compute::Source { errors, diagnostics } => {
                let summary = msl::diagnostics::render::summary(errors, 0).unwrap_or_default();
                Error::Shader(format!("{}\n{}\n", diagnostics.trim_end(), summary.trim_end()))
            }
            Compute::Library(_)
            | Compute::NoFunction { .. }
            | Compute::Constants { .. }
            | Compute::Unsupported { .. }
            | Compute::ThreadgroupMemory { .. }
            | Compute::ArchiveMiss { .. }
            | Compute::Kernel { .. }
            | Compute::Usage(_) => Error::Refused(error.to_string()),
            Compute::Validation(finding) => Error::Found(finding),
            Compute::Pipeline { cause, pipeline, .. } => Error::from(*cause).within(&pipeline),
            Compute::Pipelines { .. } => Error::Refused(error.to_string()),
            Compute::OutOfMemory { .. }
            | Compute::File { .. }
            | Compute::Write { .. }
            | Compute::Driver { .. }
            | Compute::Internal(_) => Error::NotTried(error.to_string()),
            // Kinds of errors that later versions of the crate add.
            _ => Error::NotTried(error.to_string()),
        }
    }
}
