//! Finds and runs clang.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Environment variable with the path of a clang, which overrides the search.
const VARIABLE: &str = "METALWORKS_CLANG";

/// Types as on Apple's CPUs on any machine; no headers but ours.
const FLAGS: &[&str] =
    &["--target=arm64-apple-macosx14.0", "-fsyntax-only", "-std=c++14", "-x", "c++", "-nostdinc", "-ffreestanding"];

const WARNINGS: &[&str] = &[
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    // Metal has no double: this is a literal without its `f`.
    "-Wdouble-promotion",
    "-Wshadow",
    "-Werror",
    // Attributes such as `[[buffer(0)]]` are Metal's: our front end checks them.
    "-Wno-unknown-attributes",
    // A shader need not use every constant of its includes.
    "-Wno-unused-const-variable",
];

/// clang 22, the version that this test was written with.
pub(crate) struct Clang(PathBuf);

impl Clang {
    /// Finds the clang that the environment names, or that of LLVM 22.
    ///
    /// # Panics
    ///
    /// If there is none: the test must not pass without clang.
    pub(crate) fn find() -> Clang {
        let named = std::env::var_os(VARIABLE).map(PathBuf::from);
        let of_llvm = std::env::var_os("LLVM_SYS_221_PREFIX").map(|prefix| Path::new(&prefix).join("bin/clang"));
        let candidates: Vec<PathBuf> = match named {
            Some(named) => vec![named],
            None => of_llvm.into_iter().chain(["/usr/lib/llvm-22/bin/clang".into(), "clang-22".into()]).collect(),
        };
        let found = candidates.iter().find(|candidate| is_version_22(candidate));
        Clang(found.cloned().unwrap_or_else(|| {
            panic!(
                "found no clang 22 at {candidates:?}: install it (Debian's package clang-22, or `make clang`), or set \
                 {VARIABLE} to its path"
            )
        }))
    }

    /// Returns clang's diagnostics of a text, or `None` if it accepts it.
    pub(crate) fn check(&self, text: &str) -> Option<String> {
        let mut command = Command::new(&self.0);
        command.args(FLAGS).args(WARNINGS).arg("-isystem").arg(folder()).arg("-");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        // clang reads all of its input before it writes, so writing first cannot deadlock.
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("clang reads it");
        let output = child.wait_with_output().expect("clang ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.success() {
            true if said.is_empty() => None,
            _ => Some(said),
        }
    }
}

fn is_version_22(clang: &Path) -> bool {
    let output = Command::new(clang).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("clang version 22."))
}

fn folder() -> OsString {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clang/include").into()
}

/// Returns the names and texts of the headers for clang.
pub(crate) fn headers() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder()).expect("the folder of headers");
    let mut headers: Vec<(String, String)> = entries
        .map(|entry| {
            let entry = entry.expect("a header");
            let text = std::fs::read_to_string(entry.path()).expect("headers are text");
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    headers.sort();
    headers
}

/// Calls `work` with each item on all cores. Returns the results in the order of the items.
pub(crate) fn in_parallel<T: Send, R: Send>(
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items = Mutex::new(items.enumerate().collect::<Vec<_>>());
    let results = Mutex::new(Vec::new());
    let next = || items.lock().expect("no thread panics under the lock").pop();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((index, item)) = next() {
                    let result = work(item);
                    results.lock().expect("no thread panics under the lock").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics under the lock");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
