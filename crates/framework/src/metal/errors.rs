//! Errors of `compute` as NSError.

use crate::foundation::error;
use crate::foundation::string::{Exported, constants};
use crate::runtime::Strong;
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
        Error::NoFunction { .. } => (FUNCTION_NOT_FOUND, problem.to_string()),
        Error::File { .. } => (FILE_NOT_FOUND, problem.to_string()),
        Error::Constants { .. } | Error::Usage(_) => (COMPILE_FAILURE, problem.to_string()),
        _ => (INTERNAL, problem.to_string()),
    };
    error::new(MTLLibraryErrorDomain.id(), code, &text)
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

/// Codes of `MTLCommandBufferErrorDomain`.
pub(crate) fn of_commands(problem: &Error) -> (isize, String) {
    const OUT_OF_MEMORY: isize = 8;
    let code = if matches!(problem, Error::OutOfMemory { .. }) { OUT_OF_MEMORY } else { 1 };
    (code, problem.to_string())
}
