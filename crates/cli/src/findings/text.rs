//! Findings like the compiler's diagnostics: location, message, source line and caret, notes.

use std::collections::HashMap;

use compute::{CodePlace, Finding, ThreadPosition};

use super::message;

/// Renders all findings and their number.
pub(super) fn render(findings: &[Finding]) -> String {
    let mut text = Text::default();
    for finding in findings {
        text.finding(finding);
    }
    text.text += &match findings.len() {
        0 => "no findings\n".into(),
        count => format!("{}\n", crate::output::count(count, "finding")),
    };
    text.text
}

#[derive(Default)]
struct Text {
    text: String,
    /// The lines of files that were read; none for one that could not be.
    files: HashMap<String, Vec<String>>,
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
        self.line(&location.file, location.line, location.column, severity, message);
        for calls in place.locations.windows(2) {
            let call = format!("in '{}', called here", calls[0].function);
            self.line(&calls[1].file, calls[1].line, calls[1].column, "note", &call);
        }
    }

    fn line(&mut self, file: &str, line: u32, column: u32, severity: &str, message: &str) {
        self.text += &format!("{file}:{line}:{column}: {severity}: {message}\n");
        let source = self.files.entry(file.into()).or_insert_with(|| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        let Some(source) = (line as usize).checked_sub(1).and_then(|line| source.get(line)) else { return };
        self.text += &format!("{source}\n");
        // The caret is below the character: columns count bytes, and tabs stay tabs.
        let before = source.get(..(column as usize).saturating_sub(1)).unwrap_or_default();
        let indent: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        self.text += &format!("{indent}^\n");
    }
}

fn thread(position: &ThreadPosition) -> String {
    let ThreadPosition { threadgroup: [a, b, c], thread: [x, y, z], simdgroup, lane } = position;
    format!("threadgroup ({a}, {b}, {c}), thread ({x}, {y}, {z}) (simdgroup {simdgroup}, lane {lane})")
}
