//! Allowed dependencies between crates: the boundaries of ARCHITECTURE.md, checked with `Cargo.lock`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A crate and what must not be reachable from it: names, or beginnings of names that end in `*`.
const BOUNDARIES: [(&str, &[&str]); 3] = [
    (
        // The language depends on no back end: no code generator, no device, and none of our crates.
        "metalworks-msl",
        &["inkwell*", "llvm*", "cranelift*", "metal", "objc2*", "cudarc", "cuda*", "wgpu*", "metalworks-*"],
    ),
    // AIR depends on neither devices nor models, and devices do not depend on models.
    ("metalworks-air", &["metalworks-compute", "metalworks-inference", "metalworks-cli"]),
    ("metalworks-compute", &["metalworks-inference", "metalworks-cli"]),
];

/// The packages of a lock file and what each depends on directly.
fn packages(lock: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut packages = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let mut lines = package.lines().map(str::trim);
        let name = lines.find_map(|line| line.strip_prefix("name = \"")).expect("a package has a name");
        // A dependency is `"name",` or, where there are several versions, `"name version",`.
        let dependencies =
            lines.filter_map(|line| line.strip_prefix('"')).filter_map(|line| line.split(['"', ' ']).next());
        packages.entry(name.trim_end_matches('"')).or_insert_with(Vec::new).extend(dependencies);
    }
    packages
}

/// Everything that `from` depends on, directly or not. Dependencies of its tests count too.
fn reachable<'a>(packages: &BTreeMap<&'a str, Vec<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = packages.get(from).cloned().unwrap_or_default();
    while let Some(package) = open.pop() {
        if found.insert(package) {
            open.extend(packages.get(package).into_iter().flatten());
        }
    }
    found
}

fn matches(package: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => package.starts_with(beginning),
        None => package == pattern,
    }
}

#[test]
fn crates_keep_to_their_boundaries() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).expect("Cargo.lock is there");
    let packages = packages(&lock);
    for (name, forbidden) in BOUNDARIES {
        assert!(packages.contains_key(name), "{name} is not in Cargo.lock");
        let dependencies = reachable(&packages, name);
        assert!(
            dependencies.contains("serde"),
            "{name} without serde: is this test still reading Cargo.lock right?"
        );
        let broken: Vec<_> = dependencies
            .iter()
            .filter(|package| forbidden.iter().any(|pattern| matches(package, pattern)))
            .collect();
        assert!(broken.is_empty(), "{name} must not depend on {broken:?}");
    }
}

#[test]
fn dependencies_are_followed() {
    let lock = r#"
[[package]]
name = "a"
version = "1.0.0"
dependencies = [
 "b",
 "c 2.0.0",
]

[[package]]
name = "b"
version = "1.0.0"
dependencies = [
 "llvm-sys",
]

[[package]]
name = "c"
version = "2.0.0"
"#;
    let found = reachable(&packages(lock), "a");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["b", "c", "llvm-sys"]);
    assert!(matches("llvm-sys", "llvm*") && !matches("metal", "metalworks-*"));
}
