//! Messages of kernels: `os_log` of `<metal_logging>`.

use crate::finding::{SourceLocation, ThreadPosition};
use std::fmt;
use std::sync::Arc;

/// Takes messages.
pub type LogHandler = Arc<dyn Fn(&LogMessage) + Send + Sync>;

/// The level of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum LogLevel {
    /// `log_debug`
    Debug,
    /// `log_info`
    Info,
    /// `log`
    Notice,
    /// `log_error`
    Error,
    /// `log_fault`
    Fault,
}

impl LogLevel {
    /// The level of a number of Metal's `os_log_type`.
    pub(crate) fn of(number: u32) -> LogLevel {
        match number {
            1 => LogLevel::Info,
            2 => LogLevel::Debug,
            16 => LogLevel::Error,
            17 => LogLevel::Fault,
            _ => LogLevel::Notice,
        }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Notice => "log",
            LogLevel::Error => "error",
            LogLevel::Fault => "fault",
        }
    }
}

/// A message of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogMessage {
    /// Its level.
    pub level: LogLevel,
    /// The subsystem of its `os_log`.
    pub subsystem: String,
    /// The category of its `os_log`.
    pub category: String,
    /// The formatted text.
    pub text: String,
    /// The kernel.
    pub kernel: String,
    /// The place of the call, if it is known.
    pub location: Option<SourceLocation>,
    /// The thread.
    pub thread: ThreadPosition,
}

/// One line: `a.metal:7:5: info: x is 3 (com.example: tiles; threadgroup (0, 0, 0), thread (3, 0, 0))`.
impl fmt::Display for LogMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(SourceLocation { file, line, column, .. }) = &self.location {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        write!(f, "{}: {} (", self.level.name(), self.text)?;
        if !self.subsystem.is_empty() || !self.category.is_empty() {
            write!(f, "{}: {}; ", self.subsystem, self.category)?;
        }
        let ThreadPosition { threadgroup: [a, b, c], thread: [x, y, z], .. } = self.thread;
        write!(f, "threadgroup ({a}, {b}, {c}), thread ({x}, {y}, {z}))")
    }
}
