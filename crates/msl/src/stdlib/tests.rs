//! The list of headers and the folder of headers agree.

use super::*;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_file_is_a_header() {
    fn visit(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in folder.read_dir().expect("the folder is there") {
            let entry = entry.expect("it can be listed");
            let name = format!("{prefix}{}", entry.file_name().to_str().expect("names are ASCII"));
            match entry.path().is_dir() {
                true => visit(&entry.path(), &format!("{name}/"), found),
                false => _ = found.insert(name),
            }
        }
    }
    let mut found = BTreeSet::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/stdlib/include"), "", &mut found);
    assert_eq!(found, header_names().map(str::to_owned).collect());
}

#[test]
fn includes_lead_to_headers() {
    for (name, text) in HEADERS {
        for line in text.lines().filter_map(|line| line.strip_prefix("#include <")) {
            let included = line.trim_end().trim_end_matches('>');
            assert!(header(included).is_some(), "<{name}> includes <{included}>");
        }
    }
}

#[test]
fn headers_are_read_once() {
    for (name, text) in HEADERS.iter().filter(|(name, _)| *name != "__metal_math_functions") {
        assert!(text.contains("\n#pragma once\n"), "<{name}> has no #pragma once");
    }
}
