//! Output streams, colours, and exit status.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::interrupt;

/// The outcome of a run. With several files, the greatest one counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Outcome {
    /// Everything was accepted.
    Fine,
    /// The input is wrong, as diagnostics explain.
    Refused,
    /// It could not be tried: no such file, not UTF-8, a folder.
    NotTried,
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// `--format json`, which other commands and programs have for `--json`.
#[derive(Args)]
pub(crate) struct FormatFlag {
    #[arg(long, value_name = "FORMAT", hide = true)]
    format: Option<ResultFormat>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ResultFormat {
    Text,
    Json,
}

impl FormatFlag {
    /// True if JSON is wanted, by this flag or by `--json`.
    pub(crate) fn is_json(&self, json: bool) -> bool {
        json || self.format == Some(ResultFormat::Json)
    }
}

/// Choice of coloured diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always, also into a pipe
    Always,
    /// Never
    Never,
}

impl Color {
    /// True if output to stderr is coloured.
    pub(crate) fn on_stderr(self) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stderr().is_terminal() && !refuses_color(),
        }
    }
}

/// True if text on stdout may have colours and styles.
pub(crate) fn styles_stdout() -> bool {
    io::stdout().is_terminal() && !refuses_color()
}

fn refuses_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || is_dumb()
}

/// True if the terminal understands no control sequences, as those of some editors.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb")
}

/// Writes a result to stdout. All results go through here.
pub(crate) fn result(text: &str) -> io::Result<()> {
    match io::stdout().is_terminal() {
        true => styled(&printable(text)),
        false => styled(text),
    }
}

/// Writes a result whose control characters are our own, such as those of styles.
pub(crate) fn styled(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes a text of clap.
pub(crate) fn help(text: &clap::builder::StyledStr) -> io::Result<Outcome> {
    match styles_stdout() {
        true => styled(&text.ansi().to_string())?,
        false => styled(&text.to_string())?,
    }
    Ok(Outcome::Fine)
}

/// True for characters that control a terminal or reorder its text.
fn controls(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// Text of files without the characters that control a terminal: they are escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    escape_controls(text, |c, printable| printable.extend(c.escape_default()))
}

/// The same JSON without these characters. They are in strings only, and all have four digits at most.
fn printable_json(json: &str) -> Cow<'_, str> {
    escape_controls(json, |c, printable| *printable += &format!("\\u{:04x}", u32::from(c)))
}

fn escape_controls(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        if controls(c) {
            escape(c, &mut printable);
        } else {
            printable.push(c);
        }
    }
    Cow::Owned(printable)
}

/// Writes JSON as a result, indented, with a final newline.
pub(crate) fn json_result(value: &impl serde::Serialize) -> io::Result<()> {
    json(&serde_json::to_string_pretty(value)?)
}

/// Writes JSON as a result in one line.
pub(crate) fn json_line(value: &impl serde::Serialize) -> io::Result<()> {
    json(&serde_json::to_string(value)?)
}

fn json(text: &str) -> io::Result<()> {
    let text = match io::stdout().is_terminal() {
        true => printable_json(text),
        false => Cow::Borrowed(text),
    };
    styled(&format!("{text}\n"))
}

/// Writes to stderr. Texts of files and messages of kernels go through here.
pub(crate) fn diagnostics(text: &str) -> io::Result<()> {
    styled_diagnostics(&printable(text))
}

/// Writes the compiler's diagnostics to stderr: it has escaped control characters, and adds those of colours.
pub(crate) fn styled_diagnostics(text: &str) -> io::Result<()> {
    io::stderr().lock().write_all(text.as_bytes())
}

/// Writes an error that has no location in a shader.
pub(crate) fn error(message: &str) -> io::Result<()> {
    diagnostics(&format!("metalworks: error: {message}\n"))
}

/// Writes a warning about a successful run.
pub(crate) fn warning(message: &str) -> io::Result<()> {
    diagnostics(&format!("metalworks: warning: {message}\n"))
}

/// Writes a remark about a run that goes on.
pub(crate) fn note(message: &str) -> io::Result<()> {
    diagnostics(&format!("metalworks: note: {message}\n"))
}

/// `1 kernel`, `2 kernels`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// `800 bytes`, `1.5 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10) as usize;
    match unit {
        0 => format!("{bytes} bytes"),
        unit => {
            let unit = unit.min(units.len());
            format!("{:.1} {}", bytes as f64 / (1u64 << (10 * unit)) as f64, units[unit - 1])
        }
    }
}

/// `850 ns`, `12.3 µs`, `4.56 ms`, `1.20 s`.
pub(crate) fn time(nanoseconds: u64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    match units.iter().find(|(unit, _)| nanoseconds as f64 >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", nanoseconds as f64 / unit),
        None => format!("{nanoseconds} ns"),
    }
}

/// The exit status of a run. A closed stdout, as by `head`, is not a failure.
pub(crate) fn exit_code(outcome: io::Result<Outcome>) -> ExitCode {
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(1),
        Ok(Outcome::NotTried) => ExitCode::from(2),
        Ok(Outcome::Interrupted) => ExitCode::from(interrupt::EXIT_STATUS),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            // If stderr cannot be written either, the exit status must do.
            let _ = error(&format!("cannot write: {failure}"));
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1536, "1.5 KiB"),
            (512 << 20, "512.0 MiB"),
            (3 << 40, "3.0 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn times_have_units() {
        for (nanoseconds, text) in
            [(0, "0 ns"), (999, "999 ns"), (1000, "1.00 µs"), (12_345_678, "12.35 ms"), (90_000_000_000, "90.00 s")]
        {
            assert_eq!(time(nanoseconds), text);
        }
    }

    #[test]
    fn control_characters_of_files_are_escaped() {
        assert_eq!(printable("two\n\tlines, é"), "two\n\tlines, é");
        assert_eq!(
            printable("\x1b]0;title\x07 \u{9b}2J\r\u{202e}\x7f"),
            "\\u{1b}]0;title\\u{7} \\u{9b}2J\\r\\u{202e}\\u{7f}"
        );
    }

    #[test]
    fn json_without_control_characters_is_the_same_json() {
        let value = serde_json::json!({ "\u{9b}2J": "\x1b\u{7f}\u{202e}é\n\u{1f600}" });
        let text = serde_json::to_string_pretty(&value).expect("it is JSON");
        let printable = printable_json(&text);
        assert_eq!(printable, "{\n  \"\\u009b2J\": \"\\u001b\\u007f\\u202eé\\n\u{1f600}\"\n}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printable).expect("it is JSON"), value);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(0, "kernel"), "0 kernels");
        assert_eq!(count(1, "kernel"), "1 kernel");
        assert_eq!(count(2, "kernel"), "2 kernels");
    }

    #[test]
    fn not_tried_outweighs_refused() {
        assert!(Outcome::Fine < Outcome::Refused && Outcome::Refused < Outcome::NotTried);
    }
}
