//! Errors of Apple's frameworks, as ours.

use crate::error::Error;
use objc2::msg_send;
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSArray, NSError, NSString};
use objc2_metal::{
    MTLCommandBufferEncoderInfo, MTLCommandBufferEncoderInfoErrorKey, MTLCommandBufferError,
    MTLCommandBufferErrorDomain, MTLCommandEncoderErrorState,
};

/// What `error` says about `what`, in full: domain and number are what one searches for.
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

/// Why a command buffer failed: which, where as far as Metal says, and what that means.
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
    // SAFETY: the domain is a constant of the framework's.
    let is_of_commands = *error.domain() == *unsafe { MTLCommandBufferErrorDomain };
    if let Some(meaning) = meaning(error.code()).filter(|_| is_of_commands) {
        what += &format!(", {meaning}");
    }
    driver_error(what, error)
}

/// What Metal's numbers mean for who reads the message.
fn meaning(code: isize) -> Option<&'static str> {
    Some(match MTLCommandBufferError(usize::try_from(code).ok()?) {
        MTLCommandBufferError::Timeout => "which took longer than the system allows",
        MTLCommandBufferError::PageFault => {
            "by reading or writing outside of its buffers (MTL_SHADER_VALIDATION=1 says where)"
        }
        MTLCommandBufferError::AccessRevoked => {
            "as the system lets this process no longer use the GPU, after other failures"
        }
        MTLCommandBufferError::NotPermitted => "as the system does not let this process use the GPU",
        MTLCommandBufferError::OutOfMemory => "for want of memory: use a smaller model or context",
        MTLCommandBufferError::InvalidResource => "for a buffer that is gone",
        MTLCommandBufferError::DeviceRemoved => "as the GPU was removed: make everything anew on another device",
        MTLCommandBufferError::StackOverflow => "for want of stack",
        _ => return None,
    })
}

/// The labels of the encoders that caused the error or, if that is not known, of those that it befell. Metal tells where the
/// command buffer was made to (in validation).
fn encoders_at_fault(error: &NSError) -> Option<String> {
    // SAFETY: the key is a constant of the framework's.
    let value = error.userInfo().objectForKey(unsafe { MTLCommandBufferEncoderInfoErrorKey })?;
    let infos = value.downcast::<NSArray>().ok()?;
    let infos: Vec<Retained<ProtocolObject<dyn MTLCommandBufferEncoderInfo>>> = infos
        .to_vec()
        .into_iter()
        // SAFETY: this is what Metal documents to be in this array.
        .map(|info| unsafe { Retained::cast_unchecked(info) })
        .collect();
    [MTLCommandEncoderErrorState::Faulted, MTLCommandEncoderErrorState::Affected].into_iter().find_map(|state| {
        let labels: Vec<String> = infos
            .iter()
            .filter(|info| info.errorState() == state)
            .filter_map(|info| {
                // SAFETY: it is a string, and nil where the encoder has none, whatever the headers say.
                let label: Option<Retained<NSString>> = unsafe { msg_send![&**info, label] };
                Some(format!("'{}'", label?))
            })
            .collect();
        (!labels.is_empty()).then(|| labels.join(" and "))
    })
}
