//! Diagnostics as data, for editors.

use super::render::{Backtrace, short_backtrace, skipped_message};
use super::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};
use serde_json::{Map, Value, json};

/// An array with one object for each diagnostic: `id`, `severity`, `message`, `file`, `line`, `column`, `end_line`,
/// `end_column`, `ranges`, `suggestion` and `notes`. Places are those that [`super::render`] prints; the end is the
/// position after the last character. Without a place, `file` and the numbers are null.
pub fn to_json(diagnostics: &[Diagnostic], sources: &SourceMap) -> Value {
    diagnostics.iter().map(|diagnostic| object(diagnostic, sources)).collect()
}

fn object(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let severity = match diagnostic.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let mut object = place(diagnostic.span.map(|span| sources.outermost(span)), sources);
    let ranges = diagnostic.ranges.iter();
    let ranges: Vec<Value> = ranges.map(|&range| place(Some(sources.outermost(range)), sources).into()).collect();
    let mut notes = macro_notes(diagnostic.span, sources);
    for note in &diagnostic.notes {
        let span = note.span.map(|span| sources.outermost(span));
        notes.push(note_object(&note.message, span, sources));
        notes.extend(macro_notes(note.span, sources));
    }
    object.insert("id".into(), json!(diagnostic.id));
    object.insert("severity".into(), json!(severity));
    object.insert("message".into(), json!(diagnostic.message));
    object.insert("ranges".into(), Value::Array(ranges));
    object.insert("suggestion".into(), json!(diagnostic.suggestion));
    object.insert("notes".into(), Value::Array(notes));
    object.into()
}

fn note_object(message: &str, span: Option<Span>, sources: &SourceMap) -> Value {
    let mut object = place(span, sources);
    object.insert("message".into(), json!(message));
    object.into()
}

/// A note for each macro that `span` came through.
fn macro_notes(span: Option<Span>, sources: &SourceMap) -> Vec<Value> {
    let Some(span) = span else { return Vec::new() };
    let Backtrace { levels, skipped } = short_backtrace(sources, span);
    let mut notes = Vec::new();
    for (i, (name, span)) in levels.into_iter().enumerate() {
        if let Some((_, count)) = skipped.filter(|&(after, _)| after == i) {
            notes.push(note_object(&skipped_message(count), None, sources));
        }
        notes.push(note_object(&format!("expanded from macro '{name}'"), Some(span), sources));
    }
    notes
}

/// File, line and column of both ends of `span`.
fn place(span: Option<Span>, sources: &SourceMap) -> Map<String, Value> {
    let start = span.map(|span| sources.presumed(span));
    let end = span.map(|span| sources.presumed(span.after()));
    let mut object = Map::new();
    object.insert("file".into(), json!(start.map(|start| start.file)));
    object.insert("line".into(), json!(start.map(|start| start.line)));
    object.insert("column".into(), json!(start.map(|start| start.column)));
    object.insert("end_line".into(), json!(end.map(|end| end.line)));
    object.insert("end_column".into(), json!(end.map(|end| end.column)));
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::{Options, preprocess};

    #[test]
    fn places_are_those_that_are_printed() {
        let mut sources = SourceMap::new();
        let text = "#define BAD 08\nint x = BAD;\n";
        let main = sources.add_file("a.metal", None, text, None, false);
        let mut diagnostics = Vec::new();
        preprocess(&mut sources, main, &Options::default(), &mut diagnostics);
        diagnostics.push(Diagnostic { span: None, ..diagnostics[0].clone().suggest("7") });
        let value = to_json(&diagnostics, &sources);
        assert_eq!(
            value[0],
            json!({
                "id": "invalid-number", "severity": "error", "message": "invalid digit '8' in octal constant",
                "file": "a.metal", "line": 2, "column": 9, "end_line": 2, "end_column": 12,
                "ranges": [], "suggestion": null,
                "notes": [{
                    "message": "expanded from macro 'BAD'",
                    "file": "a.metal", "line": 1, "column": 14, "end_line": 1, "end_column": 15,
                }],
            })
        );
        assert_eq!(value[1]["file"], Value::Null);
        assert_eq!(value[1]["end_line"], Value::Null);
        assert_eq!(value[1]["suggestion"], "7");
    }
}
