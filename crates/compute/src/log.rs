//! Log lines of the library.
//!
//! A line reports that something works differently than expected, such as a precompiled library that the system refuses
//! and that is compiled from source instead. Failures are errors, not log lines.

use std::fmt::{Arguments, Write as _};
use std::io::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

type LineHandler = Arc<dyn Fn(&str) + Send + Sync>;

static HANDLER: RwLock<Option<LineHandler>> = RwLock::new(None);

/// Sends all lines from now on to `handler`, on the thread that logs. Without a handler they go to stderr, prefixed
/// with the name of this project.
pub fn set_handler(handler: impl Fn(&str) + Send + Sync + 'static) {
    *HANDLER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handler));
}

/// Logs a line: `log::line(format_args!("…"))`. Line breaks become spaces, other control characters are replaced.
pub fn line(message: Arguments<'_>) {
    let mut text = String::new();
    // Writing to a string fails only if a `Display` does; keep the part written so far.
    let _ = text.write_fmt(message);
    // Names of files and kernels may have characters that control a terminal.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    // Not under the lock: a handler may log, too.
    let handler = HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone();
    match handler {
        Some(handler) => handler(&text),
        // A closed stderr loses the line.
        None => drop(writeln!(std::io::stderr(), "metalworks: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn handlers_receive_lines() {
        static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
        set_handler(|line| LINES.lock().unwrap().push(line.into()));
        line(format_args!("the first\nof {}", 2));
        assert!(LINES.lock().unwrap().contains(&"the first of 2".to_owned()));
    }
}
