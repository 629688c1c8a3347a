//! Progress of the measurements, on a terminal.

use std::io::{IsTerminal, Write};

/// One line on stderr, which is erased again; nothing if stderr is not a terminal.
pub(crate) struct Progress {
    is_terminal: bool,
    done: usize,
    total: usize,
}

impl Progress {
    pub(crate) fn new(total: usize) -> Progress {
        Progress { is_terminal: std::io::stderr().is_terminal(), done: 0, total }
    }

    pub(crate) fn next(&mut self, name: &str) {
        self.done += 1;
        self.show(&format!("{}/{} {name}", self.done, self.total));
    }

    pub(crate) fn show(&self, text: &str) {
        self.write(&format!("\r\x1b[K{text}"));
    }

    pub(crate) fn hide(&self) {
        self.write("\r\x1b[K");
    }

    fn write(&self, text: &str) {
        if self.is_terminal {
            let mut stderr = std::io::stderr().lock();
            // A closed terminal does not stop the measurements.
            let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
        }
    }
}
