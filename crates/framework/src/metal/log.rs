//! Log states: handlers for messages of shaders.

use super::device::Device;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::block::{Block, Kept};
use crate::runtime::{Fields, Id, Object, Strong};
use std::ffi::c_void;

/// The request for a log state.
#[derive(Clone)]
pub(crate) struct LogFields {
    level: isize,
    size: isize,
}

impl Default for LogFields {
    fn default() -> LogFields {
        LogFields { level: 0, size: 1024 }
    }
}

class! {
    LOG_STATE_DESCRIPTOR = "MTLLogStateDescriptor": NS_OBJECT, default Fields<LogFields>, ["NSCopying"]
    properties {
        "level" "setLevel:" level: isize,
        "bufferSize" "setBufferSize:" size: isize,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Strong::new(Fields::new(this.lock().clone())).into_id() }
    }
}

/// A log state. Messages of kernels do not reach it yet: its handlers are only kept.
pub(crate) struct LogState {
    device: Strong,
    handlers: Fields<Vec<Kept>>,
}

pub(crate) fn create(device: Object<Device>, here: &str, descriptor: &LogFields) -> Option<Strong> {
    const LEAST: isize = 1024;
    forbid!(here, descriptor.size < LEAST, None, "bufferSize({}) must be >= {LEAST}.", descriptor.size);
    Some(Strong::new(LogState { device: device.strong(), handlers: Fields::default() }))
}

class! {
    LOG_STATE = "MTLDebugLogState": NS_OBJECT, new LogState, ["MTLLogState"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "addLogHandler:" (this, block: Block) { this.handlers.lock().extend(Kept::new(block)) }
    }
}
