//! Conventions of the whole workspace: modules, unit tests, names and comments. CONTRIBUTING.md says why.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// All files below `folder` with one of these extensions, by their path in the workspace.
fn files(folder: &str, extensions: &[&str]) -> Vec<(String, String)> {
    let (root, mut found, mut folders) = (root(), Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace") {
            let path = entry.expect("an entry").path();
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if extensions.contains(&extension) {
                let name = path.strip_prefix(&root).expect("a path of the workspace").display().to_string();
                found.push((name, fs::read_to_string(&path).expect("sources are text")));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no files in {folder}");
    found
}

fn rust() -> Vec<(String, String)> {
    files("crates", &["rs"])
}

#[test]
fn a_module_with_parts_is_a_folder_with_mod_rs() {
    let problems: Vec<String> = rust()
        .into_iter()
        .map(|(name, _)| name)
        // Cargo wants the build script where it is.
        .filter(|name| !name.ends_with("/build.rs"))
        .filter(|name| root().join(name.trim_end_matches(".rs")).is_dir())
        .collect();
    assert!(problems.is_empty(), "move these to the mod.rs (or main.rs) of their folder: {problems:#?}");
}

#[test]
fn unit_tests_end_a_file_or_are_a_file_of_their_folder() {
    let mut problems = Vec::new();
    for (name, text) in rust().iter().filter(|(name, _)| name.contains("/src/")) {
        let is_folder = name.ends_with("/mod.rs") || name.ends_with("/lib.rs") || name.ends_with("/main.rs");
        if is_folder && text.contains("mod tests {") {
            problems.push(format!("{name}: its tests belong into tests.rs beside it"));
        }
        if !is_folder && text.contains("\nmod tests;") {
            problems.push(format!("{name}: its tests belong at its end"));
        }
        let after = text.split_once("\nmod tests {\n").map_or("", |(_, after)| after);
        if after.split_once("\n}\n").is_some_and(|(_, rest)| !rest.trim().is_empty()) {
            problems.push(format!("{name}: something follows its tests"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// A comment states something; one that begins with a question word leaves the reader to find out of what.
#[test]
fn comments_do_not_begin_with_a_question_word() {
    let words = ["What", "Who", "Whose", "Which", "Whether", "Where", "How", "Why"];
    let mut problems = Vec::new();
    for (name, text) in rust().into_iter().chain(files("crates/inference/src/metal", &["metal"])) {
        let mut inside = false;
        for (line, text) in text.lines().enumerate() {
            let comment = text.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']));
            let Some(comment) = comment else {
                inside = false;
                continue;
            };
            let first = comment.split_whitespace().next().unwrap_or_default();
            // A question is fine, and so is a line in the middle of a sentence.
            let is_question = comment.find(['.', '?']).is_some_and(|end| comment[end..].starts_with('?'));
            if !inside && words.contains(&first) && !is_question {
                problems.push(format!("{name}:{}:{comment}", line + 1));
            }
            inside = !comment.trim().is_empty() && !comment.trim_end().ends_with(['.', ':']);
        }
    }
    assert!(problems.is_empty(), "{} comments: {problems:#?}", problems.len());
}

/// Words that mean different things in different places name at most one type of the workspace.
#[test]
fn general_words_name_one_type_at_most() {
    let words = ["Bound", "Entry", "Grid", "Item", "Kind", "Place", "Position", "Source", "Target", "Worker"];
    let mut types: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, text) in &rust() {
        for line in text.lines().map(str::trim_start) {
            let line = line.trim_start_matches("pub ");
            let line =
                line.split_once(") ").filter(|(start, _)| start.starts_with("pub(")).map_or(line, |(_, rest)| rest);
            let declared = ["struct ", "enum ", "trait ", "union "].iter().find_map(|kind| line.strip_prefix(kind));
            let declared = declared.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
            if let Some(word) = words.iter().find(|word| Some(**word) == declared) {
                types.entry(word).or_default().push(name.clone());
            }
        }
    }
    assert!(types.contains_key("Target"), "the parser finds declarations: {types:?}");
    types.retain(|_, places| places.len() > 1);
    assert!(types.is_empty(), "give these names of their own: {types:#?}");
}

/// The field has words for these.
#[test]
fn the_words_of_the_field_are_used() {
    let wrong = [
        ("foretell", "predict"),
        ("foretold", "predicted"),
        ("the processor", "the CPU"),
        ("Have a model answer", "Run a model"),
        ("harms nobody", "is caught"),
        ("made of it.", "state"),
    ];
    let mut problems = Vec::new();
    let mut texts = files("crates", &["rs", "metal"]);
    texts.extend(files("docs", &["md"]));
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Makefile"] {
        texts.push((name.into(), fs::read_to_string(root().join(name)).expect("a document")));
    }
    texts.retain(|(name, _)| !name.ends_with("tests/conventions.rs"));
    for (name, text) in &texts {
        for (line, text) in text.lines().enumerate() {
            for (word, better) in wrong.iter().filter(|(word, _)| text.contains(word)) {
                problems.push(format!("{name}:{}: '{word}': {better}", line + 1));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}
