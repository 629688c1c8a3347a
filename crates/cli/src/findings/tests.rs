use super::*;
use compute::{CodePlace, FindingKind, SourceLocation, ThreadPosition};
use serde_json::Value;
use std::path::Path;

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
    assert_eq!(text::render(&[race()], 100), expected);
    assert_eq!(text::render(&[], 100), "no findings\n");
}

#[test]
fn libraries_without_lines_show_the_instruction() {
    let place = CodePlace { instruction: "%4 = load float, ptr %3".into(), ..CodePlace::default() };
    let finding = Finding { place, other: None, suggestion: None, count: 1, ..race() };
    let text = text::render(&[finding], 100);
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
    let sarif = sarif::render(&[race()], Path::new("/"));
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(result["relatedLocations"][1]["physicalLocation"]["region"]["startLine"], 11);
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    assert!(rules.iter().any(|rule| rule["id"] == "race"));
}

/// Checks what the schema of SARIF 2.1.0 requires of a log, and what code hosts require beyond it.
fn check_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().is_some_and(|schema| schema.starts_with("https://")));
    for run in log["runs"].as_array().expect("runs") {
        let driver = &run["tool"]["driver"];
        assert!(driver["name"].is_string());
        let rules: Vec<&str> = driver["rules"]
            .as_array()
            .expect("rules")
            .iter()
            .inspect(|rule| check_message(&rule["shortDescription"]))
            .map(|rule| rule["id"].as_str().expect("an id"))
            .collect();
        assert!((1..rules.len()).all(|at| !rules[at..].contains(&rules[at - 1])), "{rules:?} are not distinct");
        assert!(matches!(run["columnKind"].as_str(), Some("unicodeCodePoints" | "utf16CodeUnits")));
        for result in run["results"].as_array().expect("results") {
            check_result(result, &rules);
        }
    }
}

fn check_result(result: &Value, rules: &[&str]) {
    let rule = result["ruleId"].as_str().expect("a rule");
    assert!(rules.contains(&rule), "{rule} is not listed");
    assert!(matches!(result["level"].as_str(), Some("none" | "note" | "warning" | "error")));
    check_message(&result["message"]);
    assert!(result["occurrenceCount"].as_u64().is_some_and(|count| count >= 1));
    let locations = result["locations"].as_array().expect("locations");
    assert_eq!(locations.len(), 1, "{rule}");
    for location in locations {
        check_location(location);
        assert!(location["logicalLocations"][0]["name"].as_str().is_some_and(|name| !name.is_empty()));
    }
    let related = result["relatedLocations"].as_array().expect("related locations");
    for (at, location) in related.iter().enumerate() {
        check_location(location);
        check_message(&location["message"]);
        assert!(!related[at + 1..].contains(location), "{rule}: {location} twice");
    }
}

fn check_message(message: &Value) {
    assert!(message["text"].as_str().is_some_and(|text| !text.is_empty()), "{message}");
}

fn check_location(location: &Value) {
    let Some(physical) = location.get("physicalLocation") else { return };
    let uri = physical["artifactLocation"]["uri"].as_str().expect("a URI");
    assert!(!uri.is_empty() && !uri.starts_with('/') && !uri.contains([':', ' ', '\\']), "{uri} is not relative");
    if let Some(region) = physical.get("region") {
        for number in ["startLine", "startColumn"] {
            assert!(region[number].as_u64().is_some_and(|number| number >= 1), "{number} of {region}");
        }
    }
}

/// Every kind, at a line, at an unknown one, and in a library without lines.
#[test]
fn sarif_of_every_kind_follows_the_schema() {
    let mut findings = Vec::new();
    for kind in FindingKind::ALL {
        let other_kernel = (kind == FindingKind::RaceBetweenDispatches).then(|| "fill".to_owned());
        let of_kernel = Finding::of_kernel(kind, "sum", "a detail".into());
        let at_unknown_line = CodePlace { locations: vec![location(0, "sum")], ..CodePlace::default() };
        let instruction = CodePlace { instruction: "%4 = load float, ptr %3".into(), ..CodePlace::default() };
        let in_folder = SourceLocation { file: "/project/kernels/sum.metal".into(), ..location(3, "sum") };
        let in_folder = CodePlace { locations: vec![in_folder], ..CodePlace::default() };
        findings.push(Finding { kind, other_kernel, ..race() });
        findings
            .extend([at_unknown_line, instruction, in_folder].map(|place| Finding { place, ..of_kernel.clone() }));
        findings.push(Finding { count: 0, detail: String::new(), ..of_kernel });
    }
    let sarif = sarif::render(&findings, Path::new("/project"));
    check_sarif(&sarif);
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), findings.len());
    let said = |text: &str| results.iter().filter(|result| result.to_string().contains(text)).count();
    assert_eq!(said("the other access, by kernel 'fill'"), 1);
    assert_eq!(said("at '%4 = load float, ptr %3'"), FindingKind::ALL.len());
    assert_eq!(said("\"uri\":\"kernels/sum.metal\""), FindingKind::ALL.len());
    check_sarif(&sarif::render(&[], Path::new("/project")));
}

/// Two calls of a macro are at one place.
#[test]
fn sarif_has_a_place_once() {
    let place =
        CodePlace { locations: vec![location(3, "add"), location(12, "a"), location(12, "b")], ..race().place };
    check_sarif(&sarif::render(&[Finding { place, ..race() }], Path::new("/")));
}

/// Columns count bytes in debug information, and code points in SARIF.
#[test]
fn sarif_counts_code_points() {
    let file = std::env::temp_dir().join(format!("metalworks-columns-{}.metal", std::process::id()));
    std::fs::write(&file, "/* größer */ y[i] = 1;\n").expect("room for a file");
    let at = SourceLocation { file: file.display().to_string(), line: 1, column: 16, function: "k".into() };
    let place = CodePlace { locations: vec![at], ..CodePlace::default() };
    let sarif = sarif::render(&[Finding { place, ..race() }], file.parent().expect("a folder"));
    std::fs::remove_file(&file).expect("it is there");
    check_sarif(&sarif);
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startColumn"], 14);
}
