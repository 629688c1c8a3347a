//! Findings like the compiler's diagnostics: location, message, source line and caret, notes.

use compute::{CodePlace, Finding, SourceLocation, ThreadPosition};

use super::lines::SourceLines;
use super::message;

/// Renders all findings and their number. There may be more than `most`.
pub(super) fn render(findings: &[Finding], most: usize) -> String {
    let mut text = Text::default();
    for finding in findings {
        text.finding(finding);
    }
    text.text += &match findings.len() {
        0 => "no findings\n".into(),
        count if count >= most && most > 1 => {
            let more = most.saturating_mul(10);
            format!("{count} findings, the limit; --findings {more} shows more if there are any\n")
        }
        count => format!("{}\n", crate::output::count(count, "finding")),
    };
    text.text
}

#[derive(Default)]
struct Text {
    text: String,
    lines: SourceLines,
}

impl Text {
    fn finding(&mut self, finding: &Finding) {
        let message = format!("{} [{}]", message(finding), finding.kind.id());
        self.place(&finding.place, "error", &message);
        let times = match finding.count {
            0 | 1 => String::new(),
            count => format!("; {count} times in total"),
        };
        self.note(&match finding.kind.has_thread() {
            true => format!("in kernel '{}', {}{times}", finding.kernel, thread(&finding.thread)),
            false => format!("in kernel '{}'", finding.kernel),
        });
        if let Some((place, position)) = &finding.other {
            let kernel = finding.other_kernel.as_ref().map_or(String::new(), |name| format!("kernel '{name}', "));
            self.place(place, "note", &format!("the other access, by {kernel}{}", thread(position)));
        }
        if let Some(suggestion) = &finding.suggestion {
            self.note(suggestion);
        }
    }

    fn note(&mut self, message: &str) {
        self.text += &format!("note: {message}\n");
    }

    /// A message at a place, with the calls that lead there.
    fn place(&mut self, place: &CodePlace, severity: &str, message: &str) {
        let Some(location) = place.locations.first() else {
            let instruction = match place.instruction.as_str() {
                "" => String::new(),
                instruction => format!("    {instruction}\n"),
            };
            self.text += &format!("{severity}: {message}\n{instruction}");
            return;
        };
        self.line(location, severity, message);
        for calls in place.locations.windows(2) {
            let call = format!("in '{}', called here", calls[0].function);
            self.line(&calls[1], "note", &call);
        }
    }

    fn line(&mut self, location: &SourceLocation, severity: &str, message: &str) {
        let SourceLocation { file, line, column, .. } = location;
        self.text += &format!("{file}:{line}:{column}: {severity}: {message}\n");
        let Some(source) = self.lines.line(location) else { return };
        self.text += &format!("{source}\n");
        // The caret is below the character, and tabs stay tabs.
        let before = self.lines.before(location).unwrap_or_default();
        let indent: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        self.text += &format!("{indent}^\n");
    }
}

fn thread(position: &ThreadPosition) -> String {
    let ThreadPosition { threadgroup: [a, b, c], thread: [x, y, z], simdgroup, lane } = position;
    format!("threadgroup ({a}, {b}, {c}), thread ({x}, {y}, {z}) (simdgroup {simdgroup}, lane {lane})")
}
