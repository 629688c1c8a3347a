//! A progress line on stderr, on terminals only.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::output;

/// Update interval.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line that is overwritten, and erased at the end.
pub(crate) struct Progress {
    shown: bool,
    last: Option<Instant>,
    rate: Rate,
}

impl Progress {
    pub(crate) fn new() -> Progress {
        Progress { shown: io::stderr().is_terminal() && !output::is_dumb(), last: None, rate: Rate::default() }
    }

    /// Shows progress in bytes. Write errors are ignored.
    pub(crate) fn show(&mut self, step: &str, done: u64, total: u64) {
        self.write(|| line(step, done, total, 1_000_000, "MB"));
    }

    /// Shows progress in bytes, with their rate and the remaining time.
    pub(crate) fn show_rate(&mut self, step: &str, done: u64, total: u64) {
        let rate = self.rate.note(Instant::now(), step, done);
        self.write(|| format!("{}{}", line(step, done, total, 1_000_000, "MB"), remaining(rate, done, total)));
    }

    /// Erases the line, so that a message can be written.
    pub(crate) fn clear(&mut self) {
        if self.last.take().is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }

    /// Shows progress in items.
    pub(crate) fn show_count(&mut self, step: &str, done: u64, total: u64, things: &str) {
        self.write(|| line(step, done, total, 1, things));
    }

    fn write(&mut self, line: impl FnOnce() -> String) {
        if self.shown && self.last.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.last = Some(Instant::now());
            // A line that is longer than the terminal is wide is cut: the rest in a second line would stay.
            let _ = write!(io::stderr().lock(), "\r\x1b[K\x1b[?7l{}\x1b[?7h", line());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Rate of the last seconds: of two windows, the older one counts until the newer one is long enough.
#[derive(Default)]
struct Rate {
    step: String,
    older: Option<(Instant, u64)>,
    newer: Option<(Instant, u64)>,
}

impl Rate {
    const WINDOW: Duration = Duration::from_secs(5);

    /// Bytes per second up to now, once there is something to tell.
    fn note(&mut self, now: Instant, step: &str, done: u64) -> Option<f64> {
        let (older, newer) = match (self.older, self.newer) {
            (Some(older), Some(newer)) if self.step == step && done >= newer.1 => (older, newer),
            _ => {
                self.step = step.to_owned();
                ((now, done), (now, done))
            }
        };
        let is_full = now.duration_since(newer.0) >= Rate::WINDOW;
        (self.older, self.newer) =
            if is_full { (Some(newer), Some((now, done))) } else { (Some(older), Some(newer)) };
        let seconds = now.duration_since(older.0).as_secs_f64();
        (seconds >= 1.0).then(|| (done - older.1) as f64 / seconds)
    }
}

/// `  8.5 MB/s, 0:12 left`; nothing before the rate is known.
fn remaining(rate: Option<f64>, done: u64, total: u64) -> String {
    match rate {
        None => String::new(),
        Some(rate) if rate < 1.0 => "  stalled".to_owned(),
        Some(rate) => {
            let seconds = (total.saturating_sub(done) as f64 / rate) as u64;
            let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            let left = match hours {
                0 => format!("{minutes}:{seconds:02}"),
                hours => format!("{hours}:{minutes:02}:{seconds:02}"),
            };
            format!("  {:.1} MB/s, {left} left", rate / 1e6)
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

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let (mut rate, start) = (Rate::default(), Instant::now());
        let mut at =
            |seconds: f64, done: u64| rate.note(start + Duration::from_secs_f64(seconds), "downloading", done);
        // A download that is resumed does not count what was there.
        assert_eq!(at(0.0, 1_000), None);
        assert_eq!(at(0.5, 2_000), None);
        assert_eq!(at(2.0, 5_000), Some(2_000.0));
        assert_eq!(at(5.0, 11_000), Some(2_000.0));
        assert_eq!(at(10.0, 11_000), Some(1_000.0));
        assert_eq!(at(15.0, 11_000), Some(0.0));
        // Begun again.
        assert_eq!(at(16.0, 10), None);
    }

    #[test]
    fn the_remaining_time_has_hours_if_needed() {
        assert_eq!(remaining(None, 0, 10), "");
        assert_eq!(remaining(Some(0.0), 0, 10), "  stalled");
        assert_eq!(remaining(Some(2e6), 0, 150_000_000), "  2.0 MB/s, 1:15 left");
        assert_eq!(remaining(Some(1e6), 0, 3_700_000_000), "  1.0 MB/s, 1:01:40 left");
    }
}
