//! Architecture rules. The modules of the crate are layered, and a module uses only those below it. Back ends do not
//! use each other, and only the registry names them.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// All modules of the crate, from bottom to top.
const ORDER: [&str; 25] = [
    "finding",
    "message",
    "error",
    "files",
    "size",
    "log",
    "timing",
    "trace",
    "digest",
    "settings",
    "kernel",
    "program",
    "archive",
    "backend",
    "device",
    "buffer",
    "library",
    "functions",
    "pipeline",
    "function_table",
    "cache",
    "validate",
    "record",
    "queue",
    "command",
];

const BACKENDS: [&str; 3] = ["cpu", "cuda", "metal"];

/// Files that may name back ends, besides their own.
const REGISTRIES: [&str; 2] = ["backend/mod.rs", "backend/registry.rs"];

/// Files that every back end has, so that knowing one is knowing them all.
const BACKEND_FILES: [&str; 6] =
    ["device.rs", "buffer.rs", "library.rs", "pipeline.rs", "queue.rs", "recording.rs"];

/// A Rust token, as far as paths need it.
#[derive(Clone, PartialEq, Debug)]
enum Token {
    Name(String),
    /// Without quotes.
    Text(String),
    /// `::`
    Separator,
    Other(char),
}

/// Tokenizes a text, without comments; each token has its line.
fn tokens(text: &str) -> Vec<(usize, Token)> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while at < chars.len() {
        let rest = &chars[at..];
        let (len, token) = match rest {
            ['/', '/', ..] => (rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()), None),
            ['/', '*', ..] => (block_comment(rest), None),
            [':', ':', ..] => (2, Some(Token::Separator)),
            ['"', ..] => string(rest, 0),
            ['r', '"', ..] | ['r', '#', '"' | '#', ..] => string(rest, 1),
            ['b' | 'c', '"', ..] => string(rest, 1),
            ['b' | 'c', 'r', '"' | '#', ..] => string(rest, 2),
            ['\'', '\\', ..] => (3 + rest[3..].iter().position(|c| *c == '\'').unwrap_or(0) + 1, None),
            ['\'', _, '\'', ..] => (3, None),
            // A lifetime is not a path.
            ['\'', ..] => (1 + rest[1..].iter().take_while(|c| is_name(**c)).count(), None),
            [first, ..] if is_name(*first) => {
                let len = rest.iter().take_while(|c| is_name(**c)).count();
                (len, Some(Token::Name(rest[..len].iter().collect())))
            }
            [first, ..] if first.is_whitespace() => (1, None),
            [first, ..] => (1, Some(Token::Other(*first))),
            [] => break,
        };
        found.extend(token.map(|token| (line, token)));
        line += rest[..len].iter().filter(|c| **c == '\n').count();
        at += len;
    }
    found
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of a comment, which may be nested.
fn block_comment(rest: &[char]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while at < rest.len() && depth > 0 {
        match rest[at..] {
            ['/', '*', ..] => (at, depth) = (at + 2, depth + 1),
            ['*', '/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

/// A string literal after a prefix of letters.
fn string(rest: &[char], prefix: usize) -> (usize, Option<Token>) {
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    let is_raw = rest[..prefix].contains(&'r');
    let start = prefix + hashes + 1;
    let mut at = start;
    while at < rest.len() {
        match rest[at] {
            '\\' if !is_raw => at += 2,
            '"' if rest[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes => break,
            _ => at += 1,
        }
    }
    (at + 1 + hashes, Some(Token::Text(rest[start..at].iter().collect())))
}

fn is(token: Option<&(usize, Token)>, name: &str) -> bool {
    matches!(token, Some((_, Token::Name(found))) if found == name)
}

fn is_sign(token: Option<&(usize, Token)>, sign: char) -> bool {
    matches!(token, Some((_, Token::Other(found))) if *found == sign)
}

/// Tokens without test-only items, and the names of test-only modules in files.
fn without_tests(all: &[(usize, Token)]) -> (Vec<(usize, Token)>, Vec<String>) {
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < all.len() {
        let end = if is_sign(all.get(at), '#') { attribute(all, at) } else { None };
        let names: Vec<&str> = all[at..end.unwrap_or(at)].iter().filter_map(|(_, token)| name(token)).collect();
        if names.first() == Some(&"cfg") && names.contains(&"test") && !names.contains(&"not") {
            let end = end.unwrap_or(at);
            let item = end + item(&all[end..]);
            let declared = all[end..item].iter().position(|(_, token)| name(token) == Some("mod"));
            if let Some(found) = declared.and_then(|position| name(&all[end + position + 1].1)) {
                modules.push(found.to_owned());
            }
            at = item;
        } else {
            let end = end.unwrap_or(at + 1);
            kept.extend_from_slice(&all[at..end]);
            at = end;
        }
    }
    (kept, modules)
}

fn name(token: &Token) -> Option<&str> {
    match token {
        Token::Name(name) => Some(name),
        Token::Text(_) | Token::Separator | Token::Other(_) => None,
    }
}

/// End of the attribute that begins at `at`.
fn attribute(all: &[(usize, Token)], at: usize) -> Option<usize> {
    let open = if is_sign(all.get(at + 1), '!') { at + 2 } else { at + 1 };
    if !is_sign(all.get(open), '[') {
        return None;
    }
    let mut depth = 0;
    for (position, (_, token)) in all.iter().enumerate().skip(open) {
        match token {
            Token::Other('[') => depth += 1,
            Token::Other(']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(position + 1);
        }
    }
    None
}

/// Number of tokens of an item: up to its semicolon, or to the end of its braces.
fn item(all: &[(usize, Token)]) -> usize {
    let (mut depth, mut is_use) = (0, false);
    for (position, (_, token)) in all.iter().enumerate() {
        match token {
            Token::Name(name) if depth == 0 => is_use |= name == "use",
            Token::Other('{' | '(' | '[') => depth += 1,
            Token::Other('}') if depth == 1 && !is_use => return position + 1,
            Token::Other('}' | ')' | ']') => depth -= 1,
            Token::Other(';') if depth == 0 => return position + 1,
            _ => {}
        }
        if depth < 0 {
            return position;
        }
    }
    all.len()
}

/// A path in a file, relative to the crate root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Named {
    line: usize,
    path: Vec<String>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "crate::{}", self.path.join("::"))
    }
}

/// All paths in a file that begin with `crate`, `self` or `super`.
fn paths(tokens: &[(usize, Token)], module: &[String]) -> Vec<Named> {
    let (mut found, mut depth, mut inline) = (Vec::new(), 0, Vec::<(usize, String)>::new());
    for (at, (_, token)) in tokens.iter().enumerate() {
        match token {
            Token::Other('{') => {
                depth += 1;
                let (before, named) = (at.checked_sub(2).and_then(|at| tokens.get(at)), at.checked_sub(1));
                if let (true, Some(named)) = (is(before, "mod"), named.and_then(|at| name(&tokens[at].1))) {
                    inline.push((depth, named.to_owned()));
                }
            }
            Token::Other('}') => {
                inline.retain(|(own, _)| *own < depth);
                depth -= 1;
            }
            Token::Name(first) if ["crate", "self", "super"].contains(&first.as_str()) => {
                let is_start = at == 0 || tokens[at - 1].1 != Token::Separator;
                if is_start && tokens.get(at + 1).is_some_and(|(_, token)| *token == Token::Separator) {
                    let mut here = module.to_vec();
                    here.extend(inline.iter().map(|(_, name)| name.clone()));
                    expand(tokens, at, if first == "crate" { &[] } else { &here }, &mut found);
                }
            }
            _ => {}
        }
    }
    found
}

/// Expands a path or a `use` tree at `at`, after `prefix`; returns its end.
fn expand(tokens: &[(usize, Token)], mut at: usize, prefix: &[String], found: &mut Vec<Named>) -> usize {
    let mut path = prefix.to_vec();
    let mut line = tokens[at].0;
    loop {
        match tokens.get(at) {
            Some((_, Token::Name(name))) => {
                line = tokens[at].0;
                match name.as_str() {
                    "crate" | "self" => {}
                    "super" => drop(path.pop()),
                    name => path.push(name.to_owned()),
                }
                at += 1;
            }
            Some((_, Token::Other('{'))) => {
                at += 1;
                while at < tokens.len() && !is_sign(tokens.get(at), '}') {
                    at = expand(tokens, at, &path, found);
                    while at < tokens.len() && !is_sign(tokens.get(at), ',') && !is_sign(tokens.get(at), '}') {
                        at += 1;
                    }
                    at += usize::from(is_sign(tokens.get(at), ','));
                }
                return at + 1;
            }
            Some((_, Token::Other('*'))) => {
                path.push("*".into());
                at += 1;
            }
            _ => {}
        }
        match tokens.get(at) {
            // Types follow `::<`.
            Some((_, Token::Separator)) if !is_sign(tokens.get(at + 1), '<') => at += 1,
            _ => break,
        }
    }
    found.push(Named { line, path });
    at
}

/// A source file without test-only items.
struct File {
    /// Path in the folder `src`, with slashes.
    name: String,
    module: Vec<String>,
    tokens: Vec<(usize, Token)>,
}

impl File {
    fn top(&self) -> Option<&str> {
        self.module.first().map(String::as_str)
    }

    fn is_of(&self, backend: &str) -> bool {
        self.name.starts_with(&format!("backend/{backend}/"))
    }

    fn place(&self, line: usize) -> String {
        format!("crates/compute/src/{}:{line}", self.name)
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for item in std::fs::read_dir(folder).expect("a folder") {
        let path = item.expect("it is read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The module path of a file: `backend/cpu/mod.rs` is `backend`, `cpu`.
fn module_of(name: &str) -> Vec<String> {
    let mut module: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

/// All source files except tests.
fn files() -> Vec<File> {
    let mut paths = Vec::new();
    collect(&source(), &mut paths);
    paths.sort();
    let (mut files, mut tests) = (Vec::new(), BTreeSet::new());
    for path in paths {
        let name = path.strip_prefix(source()).expect("it is in there").display().to_string().replace('\\', "/");
        let (tokens, test_modules) = without_tests(&tokens(&std::fs::read_to_string(&path).expect("a file")));
        let module = module_of(&name);
        tests.extend(test_modules.into_iter().map(|test| [module.clone(), vec![test]].concat()));
        files.push(File { name, module, tokens });
    }
    let is_test = |file: &File| {
        let is_named_so = file.module.iter().any(|part| part == "tests");
        is_named_so || tests.iter().any(|test| file.module.starts_with(test))
    };
    files.retain(|file| !is_test(file));
    files
}

fn none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    let files = files();
    let root = files.iter().find(|file| file.name == "lib.rs").expect("a root");
    let declared: BTreeSet<&str> = root
        .tokens
        .windows(3)
        .filter(|tokens| is(tokens.first(), "mod") && is_sign(tokens.get(2), ';'))
        .filter_map(|tokens| name(&tokens[1].1))
        .collect();
    assert_eq!(declared, BTreeSet::from(ORDER), "the modules of lib.rs, and those of the order in this test");
    let tops: BTreeSet<&str> = files.iter().filter_map(File::top).collect();
    assert_eq!(tops, BTreeSet::from(ORDER), "the files, and the order");
}

#[test]
fn no_module_uses_one_above_it() {
    let place = |module: &str| ORDER.iter().position(|known| *known == module);
    let mut problems = Vec::new();
    for file in files() {
        // The root is above all.
        let Some(own) = file.top() else { continue };
        for named in paths(&file.tokens, &file.module) {
            let Some(other) = named.path.first() else { continue };
            match (place(own), place(other)) {
                (Some(from), Some(to)) if to <= from => {}
                (_, Some(_)) => {
                    problems.push(format!("{}: {own} → {other} goes up: {named}", file.place(named.line)))
                }
                (_, None) => problems.push(format!(
                    "{}: {own} → the root: {named} is no module; name it by the module that has it",
                    file.place(named.line)
                )),
            }
        }
    }
    none(&problems);
}

#[test]
fn only_the_registry_names_back_ends() {
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| !REGISTRIES.contains(&file.name.as_str())) {
        for backend in BACKENDS.into_iter().filter(|backend| !file.is_of(backend)) {
            let own = file.module.join("::");
            for named in paths(&file.tokens, &file.module) {
                if named.path.starts_with(&["backend".to_owned(), backend.to_owned()]) {
                    problems.push(format!("{}: {own} → {backend}: {named}", file.place(named.line)));
                }
            }
            // Also by an imported name.
            for tokens in file.tokens.windows(2).filter(|tokens| tokens[1].1 == Token::Separator) {
                if is(tokens.first(), backend) {
                    problems.push(format!("{}: {own} → {backend}: {backend}::…", file.place(tokens[0].0)));
                }
            }
        }
    }
    problems.dedup();
    none(&problems);
}

#[test]
fn back_ends_have_the_same_files() {
    let mut problems = Vec::new();
    for backend in BACKENDS {
        for file in BACKEND_FILES {
            if !source().join("backend").join(backend).join(file).is_file() {
                problems.push(format!("crates/compute/src/backend/{backend} has no {file}"));
            }
        }
    }
    none(&problems);
}

/// A module with parts is `x/mod.rs`, and its unit tests are `x/tests.rs`: no `x.rs` stands beside a folder `x`.
#[test]
fn modules_with_parts_are_folders() {
    let mut paths = Vec::new();
    collect(&source(), &mut paths);
    let problems: Vec<String> = paths
        .iter()
        .filter(|path| path.with_extension("").is_dir())
        .map(|path| format!("{} stands beside a folder of its name", path.display()))
        .collect();
    none(&problems);
}

/// All other code is the same on every system, except the location of the user's cache; only registries ask for Metal.
#[test]
fn only_metal_code_names_macos() {
    let may_name_it = |file: &File| file.is_of("metal") || file.name == "archive/location.rs";
    let is_registry = |file: &File| REGISTRIES.contains(&file.name.as_str());
    let mut problems = Vec::new();
    for file in &files() {
        for tokens in file.tokens.windows(3) {
            let names_it = is(tokens.first(), "target_os") && tokens[2].1 == Token::Text("macos".into());
            if names_it && !may_name_it(file) {
                problems.push(format!("{}: target_os = \"macos\"", file.place(tokens[0].0)));
            }
            let is_condition = is(tokens.first(), "cfg") || is(tokens.first(), "not");
            if is_condition && is(tokens.get(2), "metal") && !is_registry(file) {
                problems.push(format!("{}: cfg(metal)", file.place(tokens[0].0)));
            }
        }
    }
    none(&problems);
}

/// A dependency that only some files may use.
struct Boundary {
    /// Names that follow each other in code that uses it.
    names: &'static [&'static str],
    /// A file, or a folder that ends with a slash.
    users: &'static str,
    rule: &'static str,
}

const BOUNDARIES: [Boundary; 4] = [
    Boundary {
        names: &["air", "wave"],
        users: "backend/cpu/compiler.rs",
        rule: "only the CPU compiler calls air::wave",
    },
    Boundary {
        names: &["supportsFamily"],
        users: "backend/metal/family.rs",
        rule: "GPU families become capabilities in one file",
    },
    Boundary { names: &["objc2"], users: "backend/metal/", rule: "only the Metal back end calls Objective-C" },
    Boundary { names: &["objc2_metal"], users: "backend/metal/", rule: "only the Metal back end calls Metal" },
];

#[test]
fn boundaries_are_kept() {
    let mut problems = Vec::new();
    for Boundary { names, users, rule } in BOUNDARIES {
        let mut uses = 0;
        for file in files() {
            let tokens: Vec<&(usize, Token)> =
                file.tokens.iter().filter(|(_, token)| *token != Token::Separator).collect();
            for window in tokens.windows(names.len()) {
                if names.iter().zip(window).all(|(name, token)| is(Some(token), name)) {
                    uses += 1;
                    if !file.name.starts_with(users) {
                        problems.push(format!("{}: {rule}", file.place(window[0].0)));
                    }
                }
            }
        }
        assert!(uses > 0, "{names:?} is not found: is this rule still needed?");
    }
    none(&problems);
}

/// Execution needs compiled kernels only.
#[test]
fn execution_does_not_use_the_compiler() {
    let mut problems = Vec::new();
    for file in files().iter().filter(|file| file.name.starts_with("backend/cpu/run/")) {
        for named in paths(&file.tokens, &file.module) {
            let text = named.path.join("::");
            if text.starts_with("program") || text.starts_with("backend::cpu::compiler") {
                problems.push(format!("{}: {named}", file.place(named.line)));
            }
        }
    }
    none(&problems);
}

/// Guards against tests that pass because they find nothing.
#[test]
fn known_edges_are_found() {
    let files = files();
    let mut edges = BTreeSet::new();
    for file in &files {
        for named in paths(&file.tokens, &file.module) {
            if let (Some(own), Some(other)) = (file.top(), named.path.first()) {
                edges.insert((own.to_owned(), other.clone()));
            }
        }
    }
    for (from, to) in [
        ("archive", "digest"),
        ("backend", "archive"),
        ("backend", "program"),
        ("buffer", "backend"),
        ("cache", "pipeline"),
        ("command", "queue"),
        ("command", "validate"),
        ("device", "backend"),
        ("library", "device"),
        ("pipeline", "library"),
        ("queue", "device"),
        ("record", "validate"),
        ("validate", "kernel"),
    ] {
        assert!(edges.contains(&(from.to_owned(), to.to_owned())), "{from} → {to} is not found");
    }
    let names = |name: &str| files.iter().any(|file| file.name == name);
    assert!(names("backend/cpu/run/pool.rs") && names("validate/grid.rs") && files.len() > 80);
    assert!(!names("queue/tests.rs") && !names("archive/format/tests.rs") && !names("archive/scratch.rs"));
    let registry = files.iter().find(|file| file.name == "backend/registry.rs").expect("it is there");
    let named = paths(&registry.tokens, &registry.module);
    assert!(named.iter().any(|named| named.path == ["backend", "cpu"]), "{named:?}");
    let location = files.iter().find(|file| file.name == "archive/location.rs").expect("it is there");
    assert!(location.tokens.iter().any(|(_, token)| *token == Token::Text("macos".into())));
    assert!(registry.tokens.windows(3).any(|tokens| is(tokens.first(), "cfg") && is(tokens.get(2), "metal")));
}

#[test]
fn paths_are_found_in_all_forms() {
    let text = r##"
//! crate::comment
use crate::error::{Error, Result};
/* crate::comment /* crate::nested */ crate::comment */
use crate::{
    log,
    program::{self, air::{self, Air}, metallib::*},
};
pub(crate) fn f<'a>(x: &'a str) -> crate::size::Size {
    let _ = ("crate::text", r#"crate::raw "quoted""#, b"crate::bytes", 'c', '\'', '"', '\u{41}');
    /// crate::comment
    super::device::named::<crate::digest::Digest>(self.x)
}
mod inline {
    use super::super::buffer;
}
#[cfg(test)]
use crate::test_only::{a, b};
#[cfg(all(test, llvm))]
mod scratch;
#[cfg(not(test))]
use self::own::Thing;
#[cfg(test)]
mod tests {
    use crate::test_only;
}
fn last() { super::super::archive::find() }
"##;
    let (kept, modules) = without_tests(&tokens(text));
    assert_eq!(modules, ["scratch", "tests"]);
    let module = ["backend".to_owned(), "pages".to_owned()];
    let found: Vec<(usize, String)> =
        paths(&kept, &module).iter().map(|named| (named.line, named.path.join("::"))).collect();
    let expected = [
        (3, "error::Error"),
        (3, "error::Result"),
        (6, "log"),
        (7, "program"),
        (7, "program::air"),
        (7, "program::air::Air"),
        (7, "program::metallib::*"),
        (9, "size::Size"),
        (12, "backend::device::named"),
        (12, "digest::Digest"),
        (15, "backend::buffer"),
        (22, "backend::pages::own::Thing"),
        (27, "archive::find"),
    ];
    assert_eq!(found, expected.map(|(line, path)| (line, path.to_owned())));
}
