//! Errors of Apple's frameworks, as ours.

use crate::error::Error;
use objc2_foundation::NSError;

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
