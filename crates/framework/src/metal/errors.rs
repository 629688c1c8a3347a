//! Errors of `compute` as NSError.

use crate::foundation::array::Items;
use crate::foundation::error;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string::{Exported, constants};
use crate::runtime::{Id, Strong};
use compute::Error;

constants! {
    MTLLibraryErrorDomain = "MTLLibraryErrorDomain";
    MTLCommandBufferErrorDomain = "MTLCommandBufferErrorDomain";
    MTLCommandBufferEncoderInfoErrorKey = "MTLCommandBufferEncoderInfoErrorKey";
    MTLBinaryArchiveDomain = "MTLBinaryArchiveDomain";
    MTLCaptureErrorDomain = "MTLCaptureErrorDomain";
    MTLCounterErrorDomain = "MTLCounterErrorDomain";
    MTLCommonCounterTimestamp = "Timestamp";
    MTLCommonCounterSetTimestamp = "timestamp";
    // Pipeline states that cannot be made have errors of the compiler.
    AGXMetalCompilerErrorDomain = "AGXMetalG13X";
}

/// Codes of `MTLLibraryErrorDomain`.
const UNSUPPORTED: isize = 1;
const INTERNAL: isize = 2;
const COMPILE_FAILURE: isize = 3;
const FUNCTION_NOT_FOUND: isize = 5;
const FILE_NOT_FOUND: isize = 6;

/// An error about a library or one of its functions.
pub(crate) fn of_library(problem: &Error) -> Strong {
    let (code, text) = match problem {
        Error::Source { diagnostics, .. } => (COMPILE_FAILURE, diagnostics.trim_end().to_owned()),
        Error::Unsupported { .. } | Error::ThreadgroupMemory { .. } => (UNSUPPORTED, problem.to_string()),
        // As Metal begins it, with what is wrong.
        Error::Library(problem) => (UNSUPPORTED, format!("Invalid library file ({problem})")),
        Error::NoFunction { .. } => (FUNCTION_NOT_FOUND, problem.to_string()),
        Error::File { .. } => (FILE_NOT_FOUND, format!("library not found: {problem}")),
        Error::Constants { .. } | Error::Usage(_) => (COMPILE_FAILURE, problem.to_string()),
        _ => (INTERNAL, problem.to_string()),
    };
    error::new(MTLLibraryErrorDomain.id(), code, &text)
}

/// The error of a program without a default library.
pub(crate) fn no_default_library() -> Strong {
    error::new(
        MTLLibraryErrorDomain.id(),
        FILE_NOT_FOUND,
        "no default library was found: there is no default.metallib",
    )
}

/// An error about a pipeline state. Metal's code for one that is not in the archives is that of a compiler's failure.
pub(crate) fn of_pipeline(problem: &Error) -> Strong {
    let is_unsupported = matches!(problem, Error::Unsupported { .. } | Error::ThreadgroupMemory { .. });
    let code = if is_unsupported { UNSUPPORTED } else { COMPILE_FAILURE };
    error::new(AGXMetalCompilerErrorDomain.id(), code, &problem.to_string())
}

/// An error of a domain, with Metal's code 1 for what is not supported or not valid.
pub(crate) fn refused(domain: &Exported, text: &str) -> Strong {
    error::new(domain.id(), 1, text)
}

/// Codes of `MTLBinaryArchiveDomain`.
pub(crate) enum ArchiveError {
    InvalidFile = 1,
    CompilationFailure = 3,
    InternalError = 4,
}

/// An error about a binary archive.
pub(crate) fn of_archive(code: ArchiveError, text: &str) -> Strong {
    error::new(MTLBinaryArchiveDomain.id(), code as isize, text)
}

/// Codes of `MTLCommandBufferErrorDomain`.
pub(crate) fn of_commands(problem: &Error) -> (isize, String) {
    const INTERNAL: isize = 1;
    const PAGE_FAULT: isize = 3;
    const OUT_OF_MEMORY: isize = 8;
    const STACK_OVERFLOW: isize = 12;
    let code = match problem {
        Error::OutOfMemory { .. } => OUT_OF_MEMORY,
        // The CPU back end tells these apart by their texts only.
        Error::Kernel { what, .. } if what.starts_with("call stack of") => STACK_OVERFLOW,
        Error::Kernel { what, .. } if is_bad_access(what) => PAGE_FAULT,
        _ => INTERNAL,
    };
    (code, problem.to_string())
}

fn is_bad_access(what: &str) -> bool {
    ["a read at", "a write at", "an access at"].iter().any(|start| what.starts_with(start))
}

/// An encoder of a command buffer that failed.
pub(crate) struct EncoderInfo {
    pub(crate) label: Strong,
}

class! {
    ENCODER_INFO = "MTLCommandBufferEncoderInfo": NS_OBJECT, new EncoderInfo, ["MTLCommandBufferEncoderInfo"]
    methods {
        - "label" (this) -> Id { this.label.id() }
        - "debugSignposts" (_this) -> Id { Items::strong(Vec::new()).autorelease() }
        - "errorState" (_this) -> isize { 2 }
    }
}
