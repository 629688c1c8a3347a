//! Findings as JSON.

use compute::{CodePlace, Finding, MemoryObject, MemorySpace, ThreadPosition};
use serde_json::{Value, json};

use super::message;

pub(super) fn render(findings: &[Finding]) -> Value {
    json!({ "findings": findings.iter().map(finding).collect::<Vec<_>>() })
}

fn finding(finding: &Finding) -> Value {
    let other = finding.other.as_ref().map(|(place, position)| {
        let kernel = finding.other_kernel.as_ref().unwrap_or(&finding.kernel);
        json!({ "kernel": kernel, "locations": locations(place), "thread": thread(position) })
    });
    json!({
        "id": finding.kind.id(),
        "message": message(finding),
        "kernel": finding.kernel,
        "locations": locations(&finding.place),
        "instruction": Some(&finding.place.instruction).filter(|text| !text.is_empty()),
        "thread": finding.kind.has_thread().then(|| thread(&finding.thread)),
        "object": finding.object.as_ref().map(object),
        "other": other,
        "suggestion": finding.suggestion,
        "count": finding.count,
    })
}

/// The location, then those of the calls around it.
fn locations(place: &CodePlace) -> Vec<Value> {
    let location = |location: &compute::SourceLocation| {
        json!({
            "file": location.file,
            "line": location.line,
            "column": location.column,
            "function": location.function,
        })
    };
    place.locations.iter().map(location).collect()
}

fn thread(position: &ThreadPosition) -> Value {
    json!({
        "threadgroup": position.threadgroup,
        "thread": position.thread,
        "simdgroup": position.simdgroup,
        "lane": position.lane,
    })
}

fn object(object: &MemoryObject) -> Value {
    let space = match object.space {
        MemorySpace::Device => "device",
        MemorySpace::Constant => "constant",
        MemorySpace::Threadgroup => "threadgroup",
        MemorySpace::Thread => "thread",
    };
    json!({
        "space": space,
        "name": Some(&object.name).filter(|name| !name.is_empty()),
        "index": object.index,
        "size": object.size,
        "offset": object.offset,
        "bytes": object.bytes,
    })
}
