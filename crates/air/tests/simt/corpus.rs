//! Kernels of others, and those of the tests of `compute`.

use super::{kernel, root};
use abi::Threadgroups;
use metalworks_air::MathMode;
use metalworks_air::simt::Error;
use std::path::{Path, PathBuf};

/// The kernels of a folder that are not supported, and the number of the others. `step` is 1 to take all.
fn compile_all(dir: &Path, options: &msl::Options, fragments: &[&str], step: usize) -> (usize, Vec<String>) {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.retain(|file| !fragments.iter().any(|fragment| file.ends_with(fragment)));
    files.sort();
    let (mut compiled, mut refused, mut failures) = (0, Vec::new(), Vec::new());
    for file in files {
        let compilation = msl::compile_file(&file, options).unwrap_or_else(|error| panic!("{error}"));
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        let names: Vec<String> = compilation.program.kernels().map(|entry| entry.name.to_string()).collect();
        for (index, name) in names.iter().enumerate().filter(|(index, _)| index % step == 0) {
            let threadgroups = if index % 2 == 0 { Threadgroups::Whole } else { Threadgroups::Any };
            match kernel(&compilation, name, threadgroups, MathMode::Safe) {
                Ok(_) => compiled += 1,
                Err(Error::Unsupported(what)) => refused.push(format!("{}: {name}: {what}", file.display())),
                Err(error) => failures.push(format!("{}: {name}: {error}", file.display())),
            }
        }
    }
    assert!(failures.is_empty(), "{} of {compiled}:\n{}", failures.len(), failures.join("\n"));
    (compiled, refused)
}

/// The kernels by which `compute` tests the language.
#[test]
fn kernels_of_the_language_compile() {
    let folder = root().join("crates/compute/tests/kernels");
    // Some have lambdas.
    let options = msl::Options { std: msl::LanguageVersion::new(3, 2), ..msl::Options::default() };
    let (compiled, refused) = compile_all(&folder, &options, &[], 1);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(compiled >= 50, "{compiled} kernels");
}

#[test]
#[ignore = "needs scripts/corpus.sh; run by scripts/ptxas.sh"]
fn kernels_of_others_compile() {
    let root = PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus"));
    let step = std::env::var("METALWORKS_STEP").ok().and_then(|step| step.parse().ok()).unwrap_or(1);
    let ggml = root.join("ggml");
    let with_headers = msl::Options {
        include_dirs: vec![ggml.clone(), ggml.join("ggml-metal")],
        defines: vec![("GGML_METAL_HAS_BF16".into(), Some("1".into()))],
        ..msl::Options::default()
    };
    let (candle, refused) = compile_all(&root.join("candle"), &msl::Options::default(), &[], step);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let fragments = ["fa_common.metal", "fa_vec_common.metal"];
    let (ggml, refused) = compile_all(&ggml.join("ggml-metal/kernels"), &with_headers, &fragments, step);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(candle >= 1734 / step && ggml >= 1066 / step, "candle {candle}, ggml {ggml}");
}
