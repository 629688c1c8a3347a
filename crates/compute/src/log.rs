//! What a library has to say without being asked: one line at a time.
//!
//! Such a line says that something works in another way than expected, a library that the system refuses and that is
//! compiled from its source instead. What fails is an error and never a line.

use std::fmt::{Arguments, Write as _};
use std::io::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

type LineHandler = Arc<dyn Fn(&str) + Send + Sync>;

static HANDLER: RwLock<Option<LineHandler>> = RwLock::new(None);

/// Gives the lines from now on to `handler`, on whatever thread they come up. Without it they go to stderr, with the name of
/// this project before them.
pub fn set_handler(handler: impl Fn(&str) + Send + Sync + 'static) {
    *HANDLER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handler));
}

/// Says something: `log::line(format_args!("…"))`. Line breaks in it become spaces.
pub fn line(message: Arguments<'_>) {
    let mut text = String::new();
    // Writing to a string fails only if a `Display` does: then what was written so far has to do.
    let _ = text.write_fmt(message);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Not under the lock: a handler may have something to say, too.
    let handler = HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone();
    match handler {
        Some(handler) => handler(&text),
        // Who has closed stderr does not want to know.
        None => drop(writeln!(std::io::stderr(), "metalworks: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn handlers_get_lines() {
        static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
        set_handler(|line| LINES.lock().unwrap().push(line.into()));
        line(format_args!("the first\nof {}", 2));
        assert!(LINES.lock().unwrap().contains(&"the first of 2".to_owned()));
    }
}
