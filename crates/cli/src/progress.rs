//! A progress line on stderr, on terminals only.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Update interval.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line that is overwritten, and erased at the end.
pub(crate) struct Progress {
    shown: bool,
    last: Option<Instant>,
}

impl Progress {
    pub(crate) fn new() -> Progress {
        Progress { shown: io::stderr().is_terminal(), last: None }
    }

    /// Shows progress in bytes. Write errors are ignored.
    pub(crate) fn show(&mut self, step: &str, done: u64, total: u64) {
        self.write(|| line(step, done, total, 1_000_000, "MB"));
    }

    /// Shows progress in items.
    pub(crate) fn show_count(&mut self, step: &str, done: u64, total: u64, things: &str) {
        self.write(|| line(step, done, total, 1, things));
    }

    fn write(&mut self, line: impl FnOnce() -> String) {
        if self.shown && self.last.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.last = Some(Instant::now());
            let _ = write!(io::stderr().lock(), "\r\x1b[K{}", line());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.last.is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// `downloading  [#####               ]  25%  24 of 98 MB`
fn line(step: &str, done: u64, total: u64, unit: u64, units: &str) -> String {
    const WIDTH: u64 = 30;
    let done = done.min(total);
    let part = |of: u64| (u128::from(done) * u128::from(of) / u128::from(total.max(1))) as usize;
    let bar = format!("{}{}", "#".repeat(part(WIDTH)), " ".repeat(WIDTH as usize - part(WIDTH)));
    format!("{step:<12} [{bar}] {:>3}%  {} of {} {units}", part(100), done / unit, total / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_grows_with_progress() {
        let bar = |hashes: usize| format!("[{}{}]", "#".repeat(hashes), " ".repeat(30 - hashes));
        assert_eq!(
            line("checking", 25_000_000, 100_000_000, 1_000_000, "MB"),
            format!("checking     {}  25%  25 of 100 MB", bar(7))
        );
        assert_eq!(line("checking", 9, 3, 1_000_000, "MB"), format!("checking     {} 100%  0 of 0 MB", bar(30)));
        assert!(line("x", 0, 0, 1, "kernels").contains("  0%  0 of 0 kernels"));
    }
}
