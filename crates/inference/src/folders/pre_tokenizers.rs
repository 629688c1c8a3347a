//! Pre-tokenizers of `tokenizer.json` by their names in GGUF files.

use super::json::Object;
use super::safetensors::printable;
use super::vocabulary::{kind, steps};
use crate::weights::FileError;
use serde_json::Value as Json;

/// A step of a pre-tokenizer: splits by a regular expression, splits digits one by one, or by the expression of GPT-2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step<'a> {
    Split(&'a str),
    Digits,
    Gpt2,
}

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const GPT4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Names in GGUF files, and the steps that they stand for.
const KNOWN: &[(&str, &[Step<'static>])] = &[
    ("gpt-2", &[Step::Gpt2]),
    ("smollm", &[Step::Digits, Step::Gpt2]),
    ("llama-bpe", &[Step::Split(LLAMA3)]),
    ("qwen2", &[Step::Split(QWEN2)]),
    ("qwen35", &[Step::Split(QWEN35)]),
    ("gpt-4o", &[Step::Split(GPT4O)]),
    ("tekken", &[Step::Split(TEKKEN)]),
];

/// Name of a byte-level tokenizer's pre-tokenizer.
pub(super) fn name(file: Object<'_>) -> Result<&'static str, FileError> {
    let mut found = Vec::new();
    for part in steps(file, "pre_tokenizer", "pretokenizers") {
        match kind(part) {
            "Split" => match part.pointer("/pattern/Regex").and_then(Json::as_str) {
                Some(expression) if is_isolated(part) => found.push(Step::Split(expression)),
                _ => return Err(unsupported(file, "splits in another way than by a regular expression, isolated")),
            },
            "Digits" if part.get("individual_digits").and_then(Json::as_bool) == Some(true) => {
                found.push(Step::Digits)
            }
            "ByteLevel" => {
                if part.get("add_prefix_space").and_then(Json::as_bool) == Some(true) {
                    return Err(unsupported(file, "adds a space before texts"));
                }
                // By default it splits, too.
                if part.get("use_regex").and_then(Json::as_bool).unwrap_or(true) {
                    found.push(Step::Gpt2);
                }
            }
            other => return Err(unsupported(file, &format!("has the step '{}'", printable(other)))),
        }
    }
    match KNOWN.iter().find(|(_, steps)| *steps == found) {
        Some((name, _)) => Ok(name),
        None => Err(unsupported(file, &format!("splits by {}", described(&found)))),
    }
}

fn is_isolated(part: &Json) -> bool {
    part.get("behavior").and_then(Json::as_str) == Some("Isolated")
        && part.get("invert").and_then(Json::as_bool) != Some(true)
}

fn described(steps: &[Step<'_>]) -> String {
    let steps = steps.iter().map(|step| match step {
        Step::Split(expression) => format!("the unknown expression '{expression}'"),
        Step::Digits => "digits".into(),
        Step::Gpt2 => "the expression of GPT-2".into(),
    });
    let steps: Vec<String> = steps.collect();
    if steps.is_empty() { "nothing".into() } else { steps.join(", then by ") }
}

fn unsupported(file: Object<'_>, problem: &str) -> FileError {
    let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
    file.unsupported(format_args!("the pre-tokenizer {problem}: only those of {} are supported", known.join(", ")))
}
