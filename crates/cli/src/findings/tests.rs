use super::*;
use compute::{CodePlace, FindingKind, SourceLocation, ThreadPosition};

fn location(line: u32, function: &str) -> SourceLocation {
    SourceLocation { file: "no such file.metal".into(), line, column: 9, function: function.into() }
}

/// A race in a function that the kernel calls.
fn race() -> Finding {
    Finding {
        kind: FindingKind::Race,
        kernel: "sum".into(),
        place: CodePlace { locations: vec![location(3, "add"), location(12, "sum")], ..CodePlace::default() },
        thread: ThreadPosition { threadgroup: [1, 0, 0], thread: [33, 0, 0], simdgroup: 1, lane: 1 },
        object: None,
        other: Some((
            CodePlace { locations: vec![location(11, "sum")], ..CodePlace::default() },
            ThreadPosition { threadgroup: [1, 0, 0], ..ThreadPosition::default() },
        )),
        other_kernel: None,
        detail: "4 bytes of 'tile'".into(),
        suggestion: Some("put a barrier between them".into()),
        count: 31,
    }
}

#[test]
fn text_has_both_places_and_the_calls() {
    let expected = "\
no such file.metal:3:9: error: data race in a threadgroup: 4 bytes of 'tile' [race]
no such file.metal:12:9: note: in 'add', called here
note: in kernel 'sum', threadgroup (1, 0, 0), thread (33, 0, 0) (simdgroup 1, lane 1); 31 times in total
no such file.metal:11:9: note: the other access, by threadgroup (1, 0, 0), thread (0, 0, 0) (simdgroup 0, lane 0)
note: put a barrier between them
1 finding
";
    assert_eq!(text::render(&[race()]), expected);
    assert_eq!(text::render(&[]), "no findings\n");
}

#[test]
fn libraries_without_lines_show_the_instruction() {
    let place = CodePlace { instruction: "%4 = load float, ptr %3".into(), ..CodePlace::default() };
    let finding = Finding { place, other: None, suggestion: None, count: 1, ..race() };
    let text = text::render(&[finding]);
    assert!(
        text.starts_with("error: data race in a threadgroup: 4 bytes of 'tile' [race]\n    %4 = load"),
        "{text}"
    );
}

#[test]
fn json_and_sarif_have_the_same_findings() {
    let json = json::render(&[race()]);
    assert_eq!(json["findings"][0]["id"], "race");
    assert_eq!(json["findings"][0]["locations"][1]["line"], 12);
    assert_eq!(json["findings"][0]["other"]["locations"][0]["line"], 11);
    let sarif = sarif::render(&[race()]);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(result["relatedLocations"][1]["physicalLocation"]["region"]["startLine"], 11);
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    assert!(rules.iter().any(|rule| rule["id"] == "race"));
}
