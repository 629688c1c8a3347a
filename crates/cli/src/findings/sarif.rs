//! Findings as SARIF 2.1.0, which code hosts and editors show at the lines of a change.

use std::path::Path;

use compute::{Finding, FindingKind, SourceLocation};
use serde_json::{Value, json};

use super::lines::SourceLines;
use super::message;

/// Paths in `folder`, the current one, become relative: code hosts know no other folder.
pub(super) fn render(findings: &[Finding], folder: &Path) -> Value {
    let rule = |kind: &FindingKind| json!({ "id": kind.id(), "shortDescription": { "text": kind.description() } });
    let mut writer = Writer { lines: SourceLines::default(), folder };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "metalworks",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": FindingKind::ALL.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(|finding| writer.result(finding)).collect::<Vec<_>>(),
        }],
    })
}

struct Writer<'a> {
    lines: SourceLines,
    folder: &'a Path,
}

impl Writer<'_> {
    fn result(&mut self, finding: &Finding) -> Value {
        let mut location = json!({ "logicalLocations": [{ "name": finding.kernel, "kind": "function" }] });
        if let Some(first) = finding.place.locations.first() {
            location["physicalLocation"] = self.physical(first);
        }
        json!({
            "ruleId": finding.kind.id(),
            "level": "error",
            "message": { "text": text(finding) },
            "locations": [location],
            "relatedLocations": self.related(finding),
            "occurrenceCount": finding.count.max(1),
        })
    }

    /// The calls around the place, and the other access of a race. The schema forbids equal ones, which a macro with two
    /// calls gives.
    fn related(&mut self, finding: &Finding) -> Vec<Value> {
        let calls = finding.place.locations.iter().skip(1).map(|call| (call, "called here".to_owned()));
        let other = finding.other.iter().flat_map(|(place, _)| place.locations.first());
        let other = other.map(|location| match &finding.other_kernel {
            Some(kernel) => (location, format!("the other access, by kernel '{kernel}'")),
            None => (location, "the other access".to_owned()),
        });
        let mut related: Vec<Value> = Vec::new();
        for (location, message) in calls.chain(other) {
            let location = json!({ "physicalLocation": self.physical(location), "message": { "text": message } });
            if !related.contains(&location) {
                related.push(location);
            }
        }
        related
    }

    fn physical(&mut self, location: &SourceLocation) -> Value {
        let mut physical = json!({ "artifactLocation": { "uri": uri(&location.file, self.folder) } });
        // Lines and columns of SARIF begin with 1, and columns count code points.
        if location.line > 0 {
            let column = match self.lines.before(location) {
                Some(before) => before.chars().count() + 1,
                None => (location.column as usize).max(1),
            };
            physical["region"] = json!({ "startLine": location.line, "startColumn": column });
        }
        physical
    }
}

fn text(finding: &Finding) -> String {
    let mut text = format!("{} (kernel '{}')", message(finding), finding.kernel);
    if finding.place.locations.is_empty() && !finding.place.instruction.is_empty() {
        text += &format!(" at '{}'", finding.place.instruction);
    }
    if let Some(suggestion) = &finding.suggestion {
        text += &format!("; {suggestion}");
    }
    text
}

/// A path as a URI reference, relative if it is in the folder.
fn uri(path: &str, folder: &Path) -> String {
    let relative = Path::new(path).strip_prefix(folder).ok().and_then(Path::to_str);
    let path = relative.unwrap_or(path);
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(byte.into()),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    if path.starts_with('/') { format!("file://{uri}") } else { uri }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        let folder = Path::new("/home/project");
        assert_eq!(uri("a b/c.metal", folder), "a%20b/c.metal");
        assert_eq!(uri("/home/project/kernels/a.metal", folder), "kernels/a.metal");
        assert_eq!(uri("/home/projects/a.metal", folder), "file:///home/projects/a.metal");
        assert_eq!(uri("/tmp/ü.metal", folder), "file:///tmp/%C3%BC.metal");
    }
}
