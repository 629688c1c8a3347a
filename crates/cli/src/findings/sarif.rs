//! Findings as SARIF 2.1.0, which code hosts and editors show at the lines of a change.

use compute::{CodePlace, Finding, FindingKind, SourceLocation};
use serde_json::{Value, json};

use super::message;

pub(super) fn render(findings: &[Finding]) -> Value {
    let rule = |kind: &FindingKind| json!({ "id": kind.id(), "shortDescription": { "text": kind.description() } });
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
            "results": findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let calls = finding.place.locations.iter().skip(1).map(|call| related(call, "called here"));
    let other = finding.other.iter().flat_map(|(place, _)| place.locations.first());
    let other = other.map(|location| related(location, "the other access"));
    let mut text = format!("{} (kernel '{}')", message(finding), finding.kernel);
    if let Some(suggestion) = &finding.suggestion {
        text += &format!("; {suggestion}");
    }
    json!({
        "ruleId": finding.kind.id(),
        "level": "error",
        "message": { "text": text },
        "locations": primary(&finding.place),
        "relatedLocations": calls.chain(other).collect::<Vec<_>>(),
        "occurrenceCount": finding.count.max(1),
    })
}

fn primary(place: &CodePlace) -> Vec<Value> {
    place.locations.first().map(|location| json!({ "physicalLocation": physical(location) })).into_iter().collect()
}

fn related(location: &SourceLocation, message: &str) -> Value {
    json!({ "physicalLocation": physical(location), "message": { "text": message } })
}

fn physical(location: &SourceLocation) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&location.file) } });
    // Lines and columns of SARIF begin with 1.
    if location.line > 0 {
        physical["region"] = json!({ "startLine": location.line, "startColumn": location.column.max(1) });
    }
    physical
}

/// A path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
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
        assert_eq!(uri("a b/c.metal"), "a%20b/c.metal");
        assert_eq!(uri("/tmp/ü.metal"), "file:///tmp/%C3%BC.metal");
    }
}
