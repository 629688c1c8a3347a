//! The crates can be published: their manifests are complete, and their builds need no file outside of them.
//! `make crates` packages and builds them.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folders of all crates.
fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let mut crates: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()).collect();
    crates.retain(|path| path.join("Cargo.toml").is_file());
    crates.sort();
    assert!(crates.len() >= 7, "{crates:?}");
    crates
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => rust_files(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

/// True if a path, relative to `from` inside of a crate, leaves the crate.
fn leaves(from: &Path, path: &str) -> bool {
    let mut depth = from.components().count();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

#[test]
fn manifests_say_what_a_registry_shows() {
    for folder in crates() {
        let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let fields = ["description", "license", "repository", "rust-version", "readme", "keywords", "categories"];
        for field in fields {
            let is_set =
                |line: &str| line.starts_with(&format!("{field} =")) || line.starts_with(&format!("{field}."));
            assert!(text.lines().any(is_set), "no {field} in {}", folder.display());
        }
        let keywords = text.lines().find_map(|line| line.strip_prefix("keywords = ")).unwrap_or_default();
        assert!(keywords.split(',').count() <= 5, "a registry takes five keywords: {keywords}");
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(
                fs::read(folder.join(file)).is_ok_and(|text| !text.is_empty()),
                "{file} of {}",
                folder.display()
            );
        }
        let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(
            readme.contains("```rust") || readme.contains("```sh"),
            "no example in {}/README.md",
            folder.display()
        );
    }
}

#[test]
fn builds_need_no_file_of_another_crate() {
    let mut outside = Vec::new();
    for folder in crates() {
        let mut files = vec![folder.join("build.rs")];
        rust_files(&folder.join("src"), &mut files);
        rust_files(&folder.join("build"), &mut files);
        for file in files.iter().filter(|file| file.is_file()) {
            let text = fs::read_to_string(file).expect("sources are text");
            // Unit tests are not part of a build, and may read files of the whole repository.
            let inside = file.strip_prefix(&folder).expect("a file of the crate");
            let is_test =
                inside.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for included in ["include_str!(\"", "include_bytes!(\"", "include!(\""] {
                let names = code.split(included).skip(1).filter_map(|rest| rest.split('"').next());
                let from = inside.parent().unwrap_or(Path::new(""));
                let gone = names.filter(|name| !is_test && leaves(from, name));
                outside.extend(gone.map(|name| format!("{}: {name}", file.display())));
            }
        }
    }
    assert!(outside.is_empty(), "not in the packaged crate: {outside:#?}");
}

#[test]
fn paths_that_leave_are_found() {
    assert!(!leaves(Path::new("src/metal"), "../../README.md"));
    assert!(leaves(Path::new("src"), "../../framework/include/Block.h"));
    assert!(leaves(Path::new("src"), "/etc/passwd"));
}
