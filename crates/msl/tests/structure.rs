//! The structure of the sources: dependencies between modules, folders of the checker, sizes of files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Areas of the checker. Everything in `check` but its `mod.rs` lies in one of them.
const AREAS: [&str; 12] = [
    "calls",
    "classes",
    "conversions",
    "declarations",
    "expressions",
    "initialization",
    "kernels",
    "names",
    "state",
    "statements",
    "tables",
    "templates",
];

/// Longest file of the checker, in lines.
const MOST_LINES: usize = 400;

/// A module may use these modules of the crate, besides itself.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("source", &[]),
    ("diagnostics", &["source"]),
    ("types", &["source"]),
    ("lex", &["diagnostics", "source"]),
    ("vocabulary", &[]),
    ("preprocess", &["diagnostics", "lex", "source", "stdlib", "vocabulary"]),
    ("walk", &["program", "types"]),
    ("evaluate", &["program", "source", "types"]),
    ("check::tables", &["parse", "preprocess", "program", "source", "types"]),
    ("check::state", &["check::tables", "diagnostics", "program", "source", "types", "vocabulary"]),
];

/// A source file without its tests.
struct Source {
    path: PathBuf,
    /// Path of its module: `check::calls::overload`.
    module: String,
    text: String,
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut open = vec![source_folder()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = module_of(path.strip_prefix(source_folder()).expect("inside the folder"));
                let text = fs::read_to_string(&path).expect("a source file");
                if !module.split("::").any(|part| part == "tests") {
                    found.push(Source { path, module, text: without_tests(&text).to_string() });
                }
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The module in a file: `check/calls/mod.rs` holds `check::calls`.
fn module_of(file: &Path) -> String {
    let name = file.with_extension("");
    let parts: Vec<&str> = name.iter().map(|part| part.to_str().expect("UTF-8")).collect();
    match parts.split_last() {
        Some((&"mod", folders)) => folders.join("::"),
        _ => parts.join("::"),
    }
}

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

/// Text without comments and without the content of string literals.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut in_string = false;
    for line in text.lines() {
        let mut rest = line;
        while !rest.is_empty() {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            match (in_string, rest.as_bytes()[0]) {
                (true, b'\\') => rest = rest.get(1..).unwrap_or_default(),
                (true, b'"') => in_string = false,
                (true, _) => {}
                (false, _) if rest.starts_with("//") => break,
                (false, _) if rest.starts_with("'\"'") || rest.starts_with("b'\"'") => {
                    rest = &rest[rest.find('"').unwrap_or(0) + 1..];
                    continue;
                }
                (false, b'"') => in_string = true,
                (false, _) => code.push_str(&rest[..length]),
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        code.push('\n');
    }
    code
}

/// Identifiers, `::` and other characters.
fn tokens(code: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Paths that start with `crate` or `super`, resolved from `module`, with groups in braces expanded.
fn used_paths(module: &str, text: &str) -> BTreeSet<String> {
    let code = code(text);
    let tokens = tokens(&code);
    let mut used = BTreeSet::new();
    let mut at = 0;
    while at < tokens.len() {
        // `pub(in crate::check)` uses nothing.
        let is_inner = at > 0 && matches!(tokens[at - 1], "::" | "in");
        let starts_path = matches!(tokens[at], "crate" | "super") && !is_inner;
        let is_path = starts_path && tokens.get(at + 1) == Some(&"::");
        if is_path { at = read_path(&tokens, at, &module_parts(module), &mut used) } else { at += 1 }
    }
    used
}

fn module_parts(module: &str) -> Vec<String> {
    module.split("::").filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// Reads a path or a group of paths from `at`; returns the position behind it.
fn read_path(tokens: &[&str], mut at: usize, prefix: &[String], used: &mut BTreeSet<String>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    let before = at;
                    at = read_path(tokens, at, &path, used);
                    // An alias: `FxHashMap as HashMap`.
                    while tokens.get(at).is_some_and(|token| !matches!(*token, "," | "}")) {
                        at += 1;
                    }
                    at += usize::from(tokens.get(at) == Some(&","));
                    assert!(at > before, "no progress in a group of paths");
                }
                return at + 1;
            }
            Some(&"crate") => path.clear(),
            Some(&"super") => drop(path.pop()),
            Some(&"self") => {}
            Some(part) => path.push((*part).to_string()),
            None => return at,
        }
        at += 1;
        if tokens.get(at) != Some(&"::") {
            used.insert(path.join("::"));
            return at;
        }
        at += 1;
    }
}

/// True if `path` is the module or something in it.
fn is_in(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn checker_files() -> Vec<Source> {
    sources().into_iter().filter(|source| is_in(&source.module, "check")).collect()
}

#[test]
fn finds_paths() {
    let text = r#"
        use crate::check::{Checker, tables::{self, Tables}};
        use super::overload::{Candidate as Chosen, CallSite}; // not super::comments
        pub(in crate::check) fn f(text: &str) -> crate::types::Ty { g("crate::strings", '"', super::h()) }
    "#;
    let found = used_paths("check::calls::deduce", text);
    let expected = [
        "check::Checker",
        "check::calls::h",
        "check::calls::overload::CallSite",
        "check::calls::overload::Candidate",
        "check::tables",
        "check::tables::Tables",
        "types::Ty",
    ];
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn finds_dependencies_that_exist() {
    let edges = [
        ("check::conversions::apply", "evaluate"),
        ("reflect::specialize", "evaluate"),
        ("check::state::function", "check::tables"),
        ("check::calls::overload", "check::Checker"),
        ("parse::expressions", "lex"),
    ];
    let sources = sources();
    for (from, to) in edges {
        let source = sources.iter().find(|source| source.module == from);
        let source = source.unwrap_or_else(|| panic!("there is no module {from}"));
        let used = used_paths(from, &source.text);
        assert!(used.iter().any(|path| is_in(path, to)), "{from} uses {to}, but only {used:?} was found");
    }
}

#[test]
fn modules_keep_to_their_dependencies() {
    let sources = sources();
    for (module, allowed) in ALLOWED {
        let files: Vec<&Source> = sources.iter().filter(|source| is_in(&source.module, module)).collect();
        assert!(!files.is_empty(), "there is no module {module}");
        for source in files {
            for path in used_paths(&source.module, &source.text) {
                let is_allowed = is_in(&path, module) || allowed.iter().any(|allowed| is_in(&path, allowed));
                assert!(is_allowed, "{} uses {path}: {module} may use {allowed:?} only", source.path.display());
            }
        }
    }
}

#[test]
fn files_of_the_checker_lie_in_areas() {
    let mut areas = BTreeSet::new();
    for source in checker_files() {
        let parts = module_parts(&source.module);
        let is_top = parts == ["check"];
        let in_area = matches!(&parts[..], [_, area] | [_, area, _] if AREAS.contains(&area.as_str()));
        assert!(is_top || in_area, "{} lies in no area", source.path.display());
        areas.extend(parts.get(1).cloned());
    }
    assert_eq!(areas, AREAS.iter().map(ToString::to_string).collect(), "the areas of the checker");
}

#[test]
fn areas_draw_their_parts() {
    for area in AREAS {
        let path = source_folder().join("check").join(area).join("mod.rs");
        let text = fs::read_to_string(&path).expect("an area has a mod.rs");
        let header: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        assert!(header.contains(&"//! ```text"), "the header of {} draws nothing", path.display());
        let parts = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        for part in parts {
            let is_drawn = header.iter().any(|line| tokens(line).contains(&part));
            let is_type = header.iter().any(|line| line.to_lowercase().contains(part));
            assert!(is_drawn || is_type, "the header of {} does not name '{part}'", path.display());
        }
    }
}

#[test]
fn files_of_the_checker_are_short() {
    for source in checker_files() {
        let lines = source.text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines, more than {MOST_LINES}", source.path.display());
    }
}

/// The parts of the state do not know the whole.
#[test]
fn parts_do_not_name_the_checker() {
    for source in checker_files() {
        if is_in(&source.module, "check::tables") || is_in(&source.module, "check::state") {
            let code = code(&source.text);
            assert!(!tokens(&code).contains(&"Checker"), "{} names the checker", source.path.display());
        }
    }
}

/// The fields of each part are private, so that the compiler keeps the split.
#[test]
fn parts_keep_their_fields() {
    let parts = [
        ("check::tables", "Tables"),
        ("check::tables::scopes", "Scopes"),
        ("check::state::diagnostics", "Diagnostics"),
        ("check::state::function", "FunctionState"),
        ("check::state::position", "Position"),
    ];
    let sources = checker_files();
    for (module, name) in parts {
        let source = sources.iter().find(|source| source.module == module).expect("the module of a part");
        let fields = fields_of(&source.text, name);
        assert!(!fields.is_empty(), "{name} is not in {module}");
        for field in fields {
            assert!(!field.starts_with("pub"), "a field of {name} is public: {field}");
        }
    }
    let checker = sources.iter().find(|source| source.module == "check").expect("check/mod.rs");
    assert_eq!(
        fields_of(&checker.text, "Checker"),
        ["tables: Tables<'a>,", "function: FunctionState,", "position: Position,", "diagnostics: Diagnostics,"],
        "the parts of the checker"
    );
}

/// The lines that declare the fields of a struct.
fn fields_of<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let is_start = |line: &&str| tokens(line).windows(2).any(|pair| pair == ["struct", name]);
    let mut lines = text.lines().skip_while(|line| !is_start(line));
    lines.next();
    let fields = lines.take_while(|line| *line != "}").map(str::trim);
    fields.filter(|line| !line.starts_with("//") && !line.starts_with('#')).collect()
}

/// A comment is a statement about the code, and fits the width of the page.
#[test]
fn comments_are_statements() {
    const QUESTIONS: [&str; 6] = ["What", "Who", "Which", "Where", "How", "Whether"];
    const WIDTH: usize = 120;
    let mut open = vec![source_folder(), source_folder().with_file_name("tests")];
    let mut read = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        read += 1;
        let text = fs::read_to_string(&path).expect("a source file");
        let mut before = "";
        for (index, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            let Some(words) = comment.strip_prefix("//") else {
                before = "";
                continue;
            };
            let place = format!("{}:{}", path.display(), index + 1);
            assert!(line.chars().count() <= WIDTH, "{place} is wider than {WIDTH}: {line}");
            let first = words.trim_start_matches(['/', '!', ' ']).split(' ').next().unwrap_or_default();
            // A sentence may go on at the start of a line.
            let begins = before.is_empty() || before.ends_with(['.', ':', '/', '!']);
            assert!(!begins || !QUESTIONS.contains(&first), "{place} begins with '{first}': {line}");
            before = comment.trim_end();
        }
    }
    assert!(read > 150, "only {read} files were read");
}
