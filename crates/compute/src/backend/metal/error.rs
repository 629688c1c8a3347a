//! Conversion of `NSError`.

use crate::error::Error;
use objc2::msg_send;
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSArray, NSError, NSString};
use objc2_metal::{
    MTLCommandBufferEncoderInfo, MTLCommandBufferEncoderInfoErrorKey, MTLCommandBufferError,
    MTLCommandBufferErrorDomain, MTLCommandEncoderErrorState,
};

/// Converts an error, with its domain and code, which can be searched for.
pub(crate) fn driver_error(what: impl Into<String>, error: &NSError) -> Error {
    let mut description = error.localizedDescription().to_string();
    if let Some(reason) = error.localizedFailureReason() {
        let reason = reason.to_string();
        if !description.contains(&reason) {
            description = format!("{description} ({reason})");
        }
    }
    Error::Driver { what: what.into(), domain: error.domain().to_string(), code: error.code() as i64, description }
}

/// Describes the failure of a command buffer: its label, the encoder if Metal knows it, and the meaning of the code.
pub(crate) fn execution_error(label: Option<&str>, kernel: Option<&str>, error: &NSError) -> Error {
    let mut what = match label {
        Some(label) => format!("the command buffer '{label}' failed"),
        None => "a command buffer failed".into(),
    };
    if let Some(kernel) = kernel {
        what += &format!(" in '{kernel}'");
    } else if let Some(encoders) = encoders_at_fault(error) {
        what += &format!(" in the pass of {encoders}");
    }
    // SAFETY: the domain is a constant of the framework.
    let is_of_commands = *error.domain() == *unsafe { MTLCommandBufferErrorDomain };
    if let Some(meaning) = meaning(error.code()).filter(|_| is_of_commands) {
        what += &format!(": {meaning}");
    }
    driver_error(what, error)
}

/// The meaning of Metal's error codes.
fn meaning(code: isize) -> Option<&'static str> {
    Some(match MTLCommandBufferError(usize::try_from(code).ok()?) {
        MTLCommandBufferError::Timeout => "it took longer than the system allows",
        MTLCommandBufferError::PageFault => {
            "a kernel accessed memory outside its buffers (MTL_SHADER_VALIDATION=1 finds it)"
        }
        MTLCommandBufferError::AccessRevoked => {
            "the system blocked this process from the GPU after earlier failures"
        }
        MTLCommandBufferError::NotPermitted => "this process may not use the GPU",
        MTLCommandBufferError::OutOfMemory => "out of memory; use a smaller model or context",
        MTLCommandBufferError::InvalidResource => "a buffer no longer exists",
        MTLCommandBufferError::DeviceRemoved => "the GPU was removed; recreate all objects on another device",
        MTLCommandBufferError::StackOverflow => "the stack overflowed",
        _ => return None,
    })
}

/// Labels of the encoders that caused the error or, if unknown, of those affected. Metal reports them only if the
/// command buffer was created with extended errors (in validation).
fn encoders_at_fault(error: &NSError) -> Option<String> {
    // SAFETY: the key is a constant of the framework.
    let value = error.userInfo().objectForKey(unsafe { MTLCommandBufferEncoderInfoErrorKey })?;
    let infos = value.downcast::<NSArray>().ok()?;
    let infos: Vec<Retained<ProtocolObject<dyn MTLCommandBufferEncoderInfo>>> = infos
        .to_vec()
        .into_iter()
        // SAFETY: Metal documents the type of this array's elements.
        .map(|info| unsafe { Retained::cast_unchecked(info) })
        .collect();
    [MTLCommandEncoderErrorState::Faulted, MTLCommandEncoderErrorState::Affected].into_iter().find_map(|state| {
        let labels: Vec<String> = infos
            .iter()
            .filter(|info| info.errorState() == state)
            .filter_map(|info| {
                // SAFETY: it is a string, or nil for an unlabelled encoder, although the headers say otherwise.
                let label: Option<Retained<NSString>> = unsafe { msg_send![&**info, label] };
                Some(format!("'{}'", label?))
            })
            .collect();
        (!labels.is_empty()).then(|| labels.join(" and "))
    })
}
