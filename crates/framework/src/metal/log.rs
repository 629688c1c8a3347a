//! Log states: handlers for messages of kernels. That of a command buffer takes its messages, or else that of its queue.

use super::device::Device;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::block::{Block, Kept};
use crate::runtime::{Fields, Id, Object, Strong, pool};
use compute::{LogLevel, LogMessage};
use std::ffi::c_void;
use std::io::Write;
use std::sync::Arc;

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

/// A log state.
pub(crate) struct LogState {
    device: Strong,
    /// The lowest `MTLLogLevel` of messages that it takes.
    level: isize,
    handlers: Fields<Vec<Arc<Kept>>>,
}

pub(crate) fn create(device: Object<Device>, here: &str, descriptor: &LogFields) -> Option<Strong> {
    const LEAST: isize = 1024;
    forbid!(here, descriptor.size < LEAST, None, "bufferSize({}) must be >= {LEAST}.", descriptor.size);
    Some(Strong::new(LogState { device: device.strong(), level: descriptor.level, handlers: Fields::default() }))
}

impl LogState {
    /// Calls the handlers; without any, the message goes to stderr, as a Mac logs it.
    fn take(&self, message: &LogMessage) {
        let level = level(message.level);
        if level < self.level {
            return;
        }
        // Not under the lock: a handler may add another one.
        let handlers = self.handlers.lock().clone();
        if handlers.is_empty() {
            // A closed stderr loses the message.
            let _ = writeln!(std::io::stderr(), "{message}");
        }
        let [subsystem, category, text] =
            [&message.subsystem, &message.category, &message.text].map(|text| string::new(text));
        for handler in handlers {
            // SAFETY: the method takes blocks with these parameters.
            unsafe { handler.call4::<_, _, _, _, ()>(subsystem.id(), category.id(), level, text.id()) }
        }
    }
}

/// `MTLLogLevel`
fn level(level: LogLevel) -> isize {
    match level {
        LogLevel::Debug => 1,
        LogLevel::Info => 2,
        LogLevel::Notice => 3,
        LogLevel::Error => 4,
        LogLevel::Fault => 5,
    }
}

/// Gives messages of work to a log state, if there is one.
pub(crate) fn attach(state: &Strong, work: &compute::CommandBuffer) -> compute::Result<()> {
    if state.cast::<LogState>().is_none() {
        return Ok(());
    }
    let state = state.clone();
    work.set_log_handler(move |message| {
        if let Some(state) = state.cast::<LogState>() {
            pool::with(|| state.take(message));
        }
    })
}

class! {
    LOG_STATE = "MTLDebugLogState": NS_OBJECT, new LogState, ["MTLLogState"]
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "addLogHandler:" (this, block: Block) { this.handlers.lock().extend(Kept::new(block).map(Arc::new)) }
    }
}
