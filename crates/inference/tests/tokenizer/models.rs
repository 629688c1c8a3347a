//! Vocabularies of real models, in downloaded files: `make tokenizer`.

#![allow(clippy::print_stdout, reason = "results of comparisons")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use metalworks_inference::gguf::Gguf;
use metalworks_inference::tokenizer::{Tokenizer, Vocabulary};
use serde_json::Value;

use crate::data::{PLAIN, SPECIAL, texts};

fn corpus() -> PathBuf {
    let folder = std::env::var_os("METALWORKS_TOKENIZER_CORPUS");
    folder.expect("METALWORKS_TOKENIZER_CORPUS is set: run `make tokenizer`").into()
}

fn tokenizer(path: &Path) -> Tokenizer {
    let file = Gguf::open(path).unwrap();
    Tokenizer::new(&Vocabulary::from_metadata(file.metadata()).unwrap()).unwrap()
}

fn manifest() -> Value {
    let path = corpus().join("manifest.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
#[ignore = "needs the model SmolLM2: make tokenizer"]
fn smollm2_encodes_like_llama_cpp_and_tokenizers() {
    let reference: Value = serde_json::from_str(include_str!("../data/tokenizer/smollm2.json")).unwrap();
    let tokenizer = tokenizer(Path::new(manifest()["smollm2"].as_str().unwrap()));
    for (name, options) in [("parse_special", SPECIAL), ("plain", PLAIN)] {
        let ids: Vec<Vec<u32>> = serde_json::from_value(reference["ids"][name].clone()).unwrap();
        assert_eq!(ids.len(), texts().len());
        for (text, expected) in texts().iter().zip(ids) {
            assert_eq!(tokenizer.encode(text, options), expected, "{name}: {text:?}");
        }
    }
}

/// Texts of several megabytes, with vocabularies of both tokenizer models.
#[test]
#[ignore = "needs vocabularies and references: make tokenizer"]
fn encodes_large_texts_like_llama_cpp_and_tokenizers() {
    let folder = corpus();
    let manifest = manifest();
    let mut made: Option<(String, Tokenizer)> = None;
    let mut wrong = Vec::new();
    println!(
        "{:32} {:16} {:10} {:>8} {:>8} {:>10} {:>10}",
        "vocabulary", "text", "by", "tokens", "differ", "theirs", "ours"
    );
    for entry in manifest["entries"].as_array().unwrap() {
        let string = |key: &str| entry[key].as_str().unwrap().to_owned();
        let (model, text_name, by) = (string("model"), string("text"), string("by"));
        if made.as_ref().is_none_or(|(name, _)| *name != model) {
            let start = cpu_time();
            made = Some((model.clone(), tokenizer(Path::new(&model))));
            println!("loaded in {:.1} ms", (cpu_time() - start).as_secs_f64() * 1e3);
        }
        let (_, tokenizer) = made.as_ref().unwrap();
        let text = std::fs::read_to_string(folder.join(format!("{text_name}.txt"))).unwrap();
        let expected = std::fs::read(folder.join(string("ids"))).unwrap();
        let expected: Vec<u32> =
            expected.chunks_exact(4).map(|id| u32::from_le_bytes(id.try_into().unwrap())).collect();

        let (found, time) = fastest_of_three(|| tokenizer.encode(&text, SPECIAL));
        let differ = differences(tokenizer, &found, &expected);
        let speed = |seconds: f64| format!("{:.1} MB/s", text.len() as f64 / 1e6 / seconds);
        let name = Path::new(&model).file_stem().unwrap().to_string_lossy().into_owned();
        let theirs = speed(entry["seconds"].as_f64().unwrap());
        let ours = speed(time.as_secs_f64());
        println!(
            "{name:32} {text_name:16} {by:10} {:>8} {:>8} {theirs:>10} {ours:>10}",
            expected.len(),
            differ.len()
        );
        for (at, found, expected) in differ.iter().take(3) {
            println!("    at byte {at}: {found:?}, expected {expected:?}");
        }
        if !differ.is_empty() {
            wrong.push(format!("{name} {text_name} {by}"));
        }
    }
    assert!(wrong.is_empty(), "differ: {wrong:#?}");
}

/// Runs a function three times. Returns its result and the shortest CPU time.
fn fastest_of_three<T>(run: impl Fn() -> T) -> (T, Duration) {
    let timed = || {
        let start = cpu_time();
        (run(), cpu_time() - start)
    };
    (0..2).map(|_| timed()).fold(timed(), |best, next| if next.1 < best.1 { next } else { best })
}

/// CPU time of this thread: other processes may use the CPU too.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live, writable timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns each difference: its offset in bytes, and the pieces of both sides up to where they agree again.
fn differences(tokenizer: &Tokenizer, found: &[u32], expected: &[u32]) -> Vec<(usize, Vec<String>, Vec<String>)> {
    let length = |id: u32| tokenizer.piece(id).unwrap().len();
    let text = |ids: &[u32]| -> Vec<String> {
        ids.iter().map(|&id| String::from_utf8_lossy(tokenizer.piece(id).unwrap()).into_owned()).collect()
    };
    let mut places = Vec::new();
    let (mut i, mut j, mut at) = (0, 0, 0);
    while i < found.len() || j < expected.len() {
        if found.get(i) == expected.get(j) {
            at += length(found[i]);
            i += 1;
            j += 1;
            continue;
        }
        let (from_i, from_j, start) = (i, j, at);
        let mut expected_at = at;
        loop {
            if at <= expected_at && i < found.len() {
                at += length(found[i]);
                i += 1;
            } else if j < expected.len() {
                expected_at += length(expected[j]);
                j += 1;
            } else if i < found.len() {
                at += length(found[i]);
                i += 1;
            } else {
                break;
            }
            if at == expected_at && found.get(i) == expected.get(j) {
                break;
            }
        }
        places.push((start, text(&found[from_i..i]), text(&expected[from_j..j])));
    }
    places
}
