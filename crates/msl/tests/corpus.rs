//! Shaders that others wrote: every one is accepted, and the number of kernels does not drop.
//!
//! `scripts/corpus.sh` downloads them, `make corpus` does that and runs this test. It is ignored otherwise, because a
//! test that needs a download would pass or fail with the network.

use std::path::{Path, PathBuf};

/// One collection of shaders.
struct Corpus {
    /// Its directory in the corpus.
    name: &'static str,
    /// Folder of its shaders, below that.
    shaders: &'static str,
    /// Folders to search for includes, below that.
    include_dirs: &'static [&'static str],
    defines: &'static [(&'static str, &'static str)],
    /// Shaders that only others include.
    fragments: &'static [&'static str],
    /// Number of shaders that are accepted, and of their kernels.
    expected: (usize, usize),
}

const CORPORA: [Corpus; 2] = [
    Corpus { name: "candle", shaders: "", include_dirs: &[], defines: &[], fragments: &[], expected: (17, 1734) },
    Corpus {
        name: "ggml",
        shaders: "ggml-metal/kernels",
        include_dirs: &["", "ggml-metal"],
        defines: &[("GGML_METAL_HAS_BF16", "1")],
        fragments: &["fa_common.metal", "fa_vec_common.metal"],
        expected: (34, 1066),
    },
];

#[test]
#[ignore = "needs scripts/corpus.sh; run by make corpus"]
fn shaders_of_others_are_accepted() {
    let root = corpus_dir();
    let mut failures = Vec::new();
    for corpus in &CORPORA {
        let dir = root.join(corpus.name);
        let options = msl::Options {
            include_dirs: corpus.include_dirs.iter().map(|include| dir.join(include)).collect(),
            defines: corpus.defines.iter().map(|(name, value)| ((*name).into(), Some((*value).into()))).collect(),
            ..msl::Options::default()
        };
        let files = shaders(&dir.join(corpus.shaders), corpus.fragments);
        let (mut accepted, mut kernels) = (0, 0);
        for file in &files {
            let compilation = msl::compile_file(file, &options).unwrap_or_else(|error| panic!("{error}"));
            if compilation.has_errors() {
                let first: Vec<_> =
                    compilation.render_diagnostics(false).lines().take(4).map(str::to_owned).collect();
                failures.push(format!("{} errors, first:\n{}", compilation.error_count(), first.join("\n")));
            } else {
                accepted += 1;
                kernels += compilation.reflect().kernels.len();
            }
        }
        report(&format!("{}: {accepted} of {} files accepted, {kernels} kernels", corpus.name, files.len()));
        if accepted < corpus.expected.0 || kernels < corpus.expected.1 {
            let (files, all) = corpus.expected;
            failures.push(format!("{}: expected {files} files and {all} kernels or more", corpus.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Folder that `scripts/corpus.sh` fills; `METALWORKS_CORPUS` overrides it.
fn corpus_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = variable("METALWORKS_CORPUS")
        .or_else(|| Some(variable("METALWORKS_CACHE")?.join("corpus")))
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("metalworks/corpus")))
        .or_else(|| Some(variable("HOME")?.join(".cache/metalworks/corpus")))
        .expect("METALWORKS_CORPUS or HOME is set");
    assert!(dir.is_dir(), "{} is not there: run scripts/corpus.sh", dir.display());
    dir
}

/// The `.metal` files of a directory in the order of their names.
fn shaders(dir: &Path, fragments: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.retain(|file| !fragments.iter().any(|fragment| file.ends_with(fragment)));
    files.sort();
    files
}

#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
fn report(line: &str) {
    println!("{line}");
}
