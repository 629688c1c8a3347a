//! Counts the source files that name a kernel or a format, and compares them with the recipes of ARCHITECTURE.md.
//!
//! Comments do not count: nothing breaks if one is missing.

use metalworks_inference::cases;
use metalworks_inference::formats::{CacheType, Format};
use metalworks_inference::metal::kernels;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Every source of the library, by its path in the package, without comments and tests. The benchmark is excluded: it
/// compares single kernels with loops in Rust, and has its own shader.
fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = BTreeMap::new();
    let mut folders = vec![root.join("src"), root.join("build")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the crate") {
            let path = entry.expect("an entry").path();
            if path.ends_with("src/bin") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "metal") {
                let text = fs::read_to_string(&path).expect("sources are text");
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
                let name = path.strip_prefix(root).expect("a path of the crate").display().to_string();
                sources.insert(name, lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    sources.retain(|name, _| !name.ends_with("tests.rs"));
    sources
}

/// Files that contain `word` as a whole word, in any case.
fn places(sources: &BTreeMap<String, String>, word: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = word.to_ascii_lowercase();
    let has = |text: &str| text.split(|c: char| !is_word(c)).any(|found| found.eq_ignore_ascii_case(&word));
    sources.iter().filter(|(_, text)| has(text)).map(|(name, _)| name.clone()).collect()
}

#[test]
fn a_format_is_defined_in_four_files() {
    let sources = sources();
    // llama.cpp's mixtures use single formats, names of models contain them, and matrices of folders become some of them.
    let users = ["src/synthetic/", "src/models/", "src/quantize/", "src/folders/", "src/weights/derived.rs"];
    let is_user = |name: &String| users.iter().any(|user| name.starts_with(user));
    for format in Format::QUANTIZED {
        let mut places = places(&sources, &format.to_string());
        places.retain(|name| !is_user(name));
        let definition = places.iter().find(|name| name.starts_with("src/formats/") && !name.ends_with("mod.rs"));
        let expected: BTreeSet<String> = [
            // Definition: scales, rounding, quantize, dequantize.
            definition.expect("a format has a definition").as_str(),
            // A line of `formats!`.
            "src/formats/mod.rs",
            // Decoder, and an entry in a list.
            "src/metal/include/quantize.metal",
            // All types of GGUF, including those that kernels do not support.
            "src/weights/types.rs",
        ]
        .map(str::to_owned)
        .into();
        let mut found = places.clone();
        // Q8_0 stands for all formats in one case, Q6_K has its own product.
        found.remove("src/metal/operations/lm_head.rs");
        found.remove("src/metal/include/gemv.metal");
        // Many vectors keep Q4_0 packed until it is stored.
        found.remove("src/metal/shaders/gemm.metal");
        // Two stand for all formats in the cases of experts.
        found.remove("src/metal/operations/gemv_experts.rs");
        // The KV cache has two of them, whose kernels and errors are others.
        if CacheType::ALL.iter().any(|ty| ty.keys() == format) {
            let users = ["formats/cache_type.rs", "cases/data.rs", "cases/output.rs", "selftest/compare.rs"];
            users.iter().for_each(|user| assert!(found.remove(&format!("src/{user}")), "{user} has no {format}"));
            found.remove("build/emit/select.rs");
        }
        assert_eq!(found, expected, "{format}");
    }
}

#[test]
fn an_operation_is_a_shader_and_a_file_of_its_own() {
    let sources = sources();
    let mut seen = 0;
    for operation in cases::all_operations() {
        let name = format!("name: \"{}\"", operation.name);
        let files: Vec<&String> =
            sources.iter().filter(|(_, text)| text.contains(&name)).map(|(name, _)| name).collect();
        let is_operation = |file: &&&String| file.starts_with("src/metal/operations/");
        assert_eq!(files.iter().filter(is_operation).count(), 1, "{name} is in {files:?}");
        seen += 1;
    }
    assert!(seen > 30, "{seen} operations");
    let is_elsewhere =
        |(file, _): &(&String, &String)| file.ends_with(".rs") && !file.starts_with("src/metal/operations/");
    // A single word, such as argmax, may also name other things.
    for kernel in kernels::ALL.iter().filter(|kernel| kernel.name.contains('_')) {
        let (literal, constant) = (format!("\"{}\"", kernel.name), format!("::{}", kernel.name.to_uppercase()));
        let names = |text: &str| text.contains(&literal) || text.contains(&constant);
        let others: Vec<&String> =
            sources.iter().filter(is_elsewhere).filter(|(_, text)| names(text)).map(|(file, _)| file).collect();
        assert!(others.is_empty(), "{} is named in {others:?}, too", kernel.name);
    }
}

#[test]
fn places_are_found() {
    let sources = sources();
    assert!(places(&sources, "STAGED").contains("src/metal/include/gemv.metal"));
    assert!(places(&sources, "q5_1").contains("src/formats/blocks_of_32.rs"), "upper and lower case are alike");
    assert_eq!(places(&sources, "no_such_word_anywhere"), BTreeSet::new());
}

/// Constants of shaders are defined once, in the shader.
#[test]
fn constants_of_shaders_are_not_repeated_in_rust() {
    let sources = sources();
    let mut seen = 0;
    let shaders = sources.iter().filter(|(name, _)| name.ends_with(".metal"));
    let constants: BTreeSet<&str> = shaders
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| line.trim().strip_prefix("constant constexpr uint "))
        .filter_map(|rest| rest.split([' ', '=']).next())
        .collect();
    for (name, text) in sources.iter().filter(|(name, _)| name.ends_with(".rs")) {
        for line in text.lines() {
            let Some((constant, value)) =
                line.split_once("const ").and_then(|(_, rest)| rest.split_once(": usize = "))
            else {
                continue;
            };
            seen += 1;
            let is_number = value.trim_end_matches(';').chars().all(|c| c.is_ascii_digit() || c == '_');
            assert!(!(is_number && constants.contains(constant)), "{name}: {line}");
        }
    }
    assert!(constants.contains("TILE_ROWS") && seen > 10, "{constants:?}");
}
