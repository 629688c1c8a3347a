//! Recorded results, as text.
//!
//! ```text
//! metalworks self-test results, version 1
//! check gemv_q4_0_f32 inputs=89abcdef M=1 N=37 K=96
//! y f32 37 c02e10a2a0000000 3f800000bf000000…
//! ```
//!
//! A check has a line for each output: name, type, number of numbers, the bits of [`Expected::mix`], and the bits of
//! the samples. All bits are in hexadecimal digits, so that nothing is rounded.

use super::expected::Expected;
use crate::cases::{Case, Number};
use std::fmt::{self, Write as _};

const HEAD: &str = "metalworks self-test results, version 1";

/// Samples per output. More would make the file larger; the mix covers the numbers that they miss.
const SAMPLES: usize = 48;

/// Recorded outputs of one check.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedCheck {
    /// Name of the case.
    pub name: String,
    /// Its sizes.
    pub shape: String,
    /// Digest of its inputs.
    pub inputs: u32,
    /// Its outputs.
    pub outputs: Vec<Expected>,
}

/// Recorded outputs of many checks.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Record {
    /// Checks, in the order of the operations.
    pub checks: Vec<RecordedCheck>,
}

/// Error in a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordError {
    line: usize,
    problem: &'static str,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the recorded results: {}", self.line, self.problem)
    }
}

impl std::error::Error for RecordError {}

impl Record {
    /// Maximum number of samples per output.
    pub const SAMPLES: usize = SAMPLES;

    /// Recorded outputs of a case.
    pub fn find(&self, case: &Case) -> Option<&RecordedCheck> {
        let (name, shape) = (case.name(), case.shape.to_string());
        self.checks.iter().find(|check| check.name == name && check.shape == shape)
    }

    /// Parses the text of [`Record::to_text`].
    pub fn parse(text: &str) -> Result<Record, RecordError> {
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        if lines.next().is_none_or(|(_, head)| head != HEAD) {
            return Err(RecordError {
                line: 1,
                problem: "it does not begin with the version that this program reads",
            });
        }
        let mut record = Record::default();
        for (line, text) in lines {
            let error = |problem| RecordError { line, problem };
            match text.strip_prefix("check ") {
                Some(head) => record.checks.push(check(head).ok_or(error("no check with its inputs and sizes"))?),
                None => {
                    let check = record.checks.last_mut().ok_or(error("a result before any check"))?;
                    check.outputs.push(output(text).ok_or(error("no result, or one that is cut off"))?);
                }
            }
        }
        Ok(record)
    }

    /// The record as text.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for check in &self.checks {
            let _ = writeln!(text, "check {} inputs={:08x} {}", check.name, check.inputs, check.shape);
            for output in &check.outputs {
                let (name, number, count, mix) = (&output.name, output.number, output.count, output.mix.to_bits());
                let _ = write!(text, "{name} {number} {count} {mix:016x} ");
                for sample in &output.samples {
                    let _ = write!(text, "{sample:0width$x}", width = 2 * number.size());
                }
                text.push('\n');
            }
        }
        text
    }
}

/// `gemv_q4_0_f32 inputs=89abcdef M=1 N=37 K=96`
fn check(text: &str) -> Option<RecordedCheck> {
    let (name, rest) = text.split_once(" inputs=")?;
    let (inputs, shape) = rest.split_once(' ')?;
    let inputs = u32::from_str_radix(inputs, 16).ok()?;
    Some(RecordedCheck { name: name.into(), shape: shape.into(), inputs, outputs: Vec::new() })
}

/// `y f32 37 c02e10a2a0000000 3f800000bf000000…`
fn output(text: &str) -> Option<Expected> {
    let parts: Vec<&str> = text.split(' ').collect();
    let [name, number, count, mix, samples] = parts[..] else { return None };
    let number = [Number::F32, Number::F16, Number::U32].into_iter().find(|known| known.to_string() == number)?;
    let (count, digits) = (count.parse::<usize>().ok()?, 2 * number.size());
    let mix = f64::from_bits(u64::from_str_radix(mix, 16).ok()?);
    let whole = samples.len() == digits * count.min(SAMPLES) && samples.is_ascii();
    if !whole || name.is_empty() {
        return None;
    }
    let samples =
        (0..samples.len()).step_by(digits).map(|at| u32::from_str_radix(&samples[at..at + digits], 16).ok());
    Some(Expected { name: name.into(), number, count, samples: samples.collect::<Option<_>>()?, mix })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "metalworks self-test results, version 1\n\
        check add_f16 inputs=00c0ffee M=1 N=2\n\
        y f16 2 4008000000000000 3c00c000\n\
        check argmax inputs=00000001 M=1 N=9\n\
        tokens u32 1 401c000000000000 00000007\n";

    #[test]
    fn text_is_read_and_written() {
        let record = Record::parse(TEXT).unwrap();
        assert_eq!(record.to_text(), TEXT);
        assert_eq!(
            (record.checks[0].outputs[0].mix, &record.checks[0].outputs[0].samples[..]),
            (3.0, &[0x3c00, 0xc000][..])
        );
        assert_eq!(record.checks[1].shape, "M=1 N=9");
    }

    #[test]
    fn errors_name_the_damaged_line() {
        for (from, to, told) in [
            ("version 1", "version 2", "line 1 of the recorded results: it does not begin with the version"),
            (
                "check add_f16 inputs=00c0ffee M=1 N=2\n",
                "",
                "line 2 of the recorded results: a result before any check",
            ),
            ("inputs=00c0ffee", "inputs=coffee", "line 2 of the recorded results: no check"),
            ("3c00c000", "3c00c0", "line 3 of the recorded results: no result, or one that is cut off"),
            ("f16 2", "f16 -2", "line 3 of the recorded results: no result"),
            ("u32 1", "i64 1", "line 5 of the recorded results: no result"),
            ("00000007", "0000000é", "line 5 of the recorded results: no result"),
        ] {
            let damaged = TEXT.replace(from, to);
            let error = Record::parse(&damaged).expect_err(to).to_string();
            assert!(error.starts_with(told), "{error}");
        }
        assert!(Record::parse("").is_err());
    }
}
