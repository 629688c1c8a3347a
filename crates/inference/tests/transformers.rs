//! Models that are made up, of every architecture and format, against what Hugging Face transformers computes with them.
//!
//! ```text
//! scripts/transformers-reference.py ── data/transformers: logits, and the SHA-256 of the tensors
//!                                                           └─ compared
//! SyntheticModel, the same by that ── Plan: prompts, steps ────┘
//! ```

use compute::{BinaryArchive, Device};
use inference::formats::{Activation, Format};
use inference::generate::Sampling;
use inference::gguf::{Builder, Gguf, Value};
use inference::metal::MetalDevice;
use inference::plan::{Plan, PlanOptions};
use inference::synthetic::SyntheticModel;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Normalized mean square errors. References have 5 decimals, which is 1e-12; rounding to 32 bits is up to 1e-11. Mistakes are
/// more: 2e-8 for rotations that are scaled from 3.9 turns on rather than from 4, 1e-3 and up for a missing bias or norm. An ε of
/// 1e-6 rather than 1e-5 is less than the bound in some models; those in which it is 0.03 show it.
const EXACT: f64 = 5e-11;
/// Of keys and values in half numbers, as they are unless something else is asked for.
const HALF_CACHE: f64 = 1e-6;

#[derive(Deserialize)]
struct Reference {
    stride: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    model: String,
    seed: u64,
    /// Of the names and bytes of all tensors.
    sha256_of_tensors: String,
    /// Keys of the architecture that have other values than in the file.
    keys: BTreeMap<String, serde_json::Value>,
    /// Of the text; the last one is its end.
    positions: Vec<usize>,
    /// The token with the highest score at each position.
    best: Vec<usize>,
    /// By how much it is higher than the next.
    margins: Vec<f32>,
    /// The scores at each position, of every `stride`th token.
    logits: Vec<Vec<f32>>,
}

impl Case {
    /// The model, which must be the one that transformers ran.
    fn open(&self) -> Gguf {
        let model: SyntheticModel = self.model.parse().expect("there is such a model");
        let model = model.with_seed(self.seed).open().expect("it is whole");
        let mut hash = Sha256::new();
        for tensor in model.weights().tensors() {
            hash.update(&tensor.name);
            hash.update(model.weights().data(tensor));
        }
        let sha256: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            sha256, self.sha256_of_tensors,
            "{} is made up differently by now: run scripts/transformers-reference.py again",
            self.model
        );
        self.with_keys(model)
    }

    fn with_keys(&self, model: Gguf) -> Gguf {
        if self.keys.is_empty() {
            return model;
        }
        let mut builder =
            model.metadata().iter().fold(Builder::new(), |builder, (key, value)| builder.key(key, value.clone()));
        let architecture = model.architecture().expect("it is there");
        for (key, value) in &self.keys {
            let value = match value {
                serde_json::Value::String(text) => Value::from(text.as_str()),
                number => match number.as_u64() {
                    Some(count) => Value::from(count as u32),
                    None => Value::from(number.as_f64().expect("a number") as f32),
                },
            };
            builder = builder.key(&format!("{architecture}.{key}"), value);
        }
        let weights = model.weights();
        for tensor in weights.tensors() {
            builder =
                builder.tensor(&tensor.name, tensor.format().expect("it runs").tensor_type(), &tensor.dimensions);
        }
        let bytes = builder.to_bytes(|index, out| out.write_all(weights.data(&weights.tensors()[index])));
        Gguf::from_bytes(bytes.expect("memory can be written to")).expect("it is whole")
    }

    /// The text: the same numbers as in the script.
    fn tokens(&self, vocabulary: usize) -> Vec<u32> {
        let mut state = 1u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % vocabulary as u64) as u32
        };
        std::iter::repeat_with(next).take(self.positions.last().expect("there is one") + 1).collect()
    }
}

/// How far a model may be from a case.
struct Comparison<'a> {
    case: &'a Case,
    stride: usize,
    bound: f64,
}

impl Comparison<'_> {
    /// Compares the logits after a position.
    fn check(&self, how: &str, index: usize, found: &[f32]) {
        let Case { model, keys, positions, best, margins, logits, .. } = self.case;
        let what = format!("{model} {keys:?}, {how}, position {}", positions[index]);
        let expected = &logits[index];
        assert_eq!(found.len().div_ceil(self.stride), expected.len(), "{what}");
        let (mut error, mut size) = (0.0, 0.0);
        for (&found, &expected) in found.iter().step_by(self.stride).zip(expected) {
            error += f64::from(found - expected).powi(2);
            size += f64::from(expected).powi(2);
        }
        // NaN is no less than any bound.
        assert!(error / size < self.bound, "{what}: normalized mean square error {:e}", error / size);
        let highest = found.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
        let highest = highest.map(|(token, _)| token);
        assert_eq!(highest, Some(best[index]), "{what}: the best token, by {}", margins[index]);
    }
}

/// The device, with its pipelines, and what was compiled before.
fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let archive = BinaryArchive::user_cache().expect("the cache can be found");
        let device = Device::system_default().unwrap_or_else(|error| panic!("{error}"));
        MetalDevice::with_device(device, archive).expect("the library is right")
    })
}

fn compare(case: &Case, model: &Gguf, stride: usize, cache: Activation, bound: f64) {
    let options = PlanOptions {
        context: Some(1024),
        chunk: Some(32),
        activation: Activation::F32,
        cache,
        sampling: Sampling::GREEDY,
    };
    let mut plan = Plan::load(device(), model, &options, |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let tokens = case.tokens(plan.hyperparameters().vocabulary);
    let comparison = Comparison { case, stride, bound };

    // All positions of a prompt.
    plan.push(&tokens).expect("there is room");
    let mut rows = vec![Vec::new(); case.positions.len()];
    plan.logits_of_pending(0, |position, logits| {
        if let Some(index) = case.positions.iter().position(|&wanted| wanted == position) {
            rows[index] = logits.to_vec();
        }
    })
    .expect("it runs");
    rows.iter().enumerate().for_each(|(index, row)| comparison.check("prompt", index, row));

    // The first token, a prompt that goes on from it, and single steps to the end.
    let [first, middle, last] = case.positions[..] else { panic!("there are three positions") };
    plan.truncate(0);
    for (index, part) in [&tokens[..=first], &tokens[first + 1..=middle]].into_iter().enumerate() {
        plan.push(part).expect("there is room");
        comparison.check("a part of the prompt", index, &plan.logits().expect("it runs"));
    }
    let mut logits = Vec::new();
    for position in middle + 1..=last {
        plan.push(&tokens[position..=position]).expect("there is room");
        logits = plan.logits().expect("it runs");
    }
    comparison.check("single steps", 2, &logits);
}

/// All cases of one shape.
fn check(reference: &str) {
    let reference: Reference = serde_json::from_str(reference).expect("the reference can be read");
    let formats = Format::ALL.map(|format| format!(":{}", format.to_string().to_lowercase()));
    let missing = formats
        .iter()
        .find(|format| !reference.cases.iter().any(|case| case.keys.is_empty() && case.model.ends_with(*format)));
    assert_eq!(missing, None, "every format has a reference");
    for case in &reference.cases {
        let model = case.open();
        compare(case, &model, reference.stride, Activation::F32, EXACT);
        compare(case, &model, reference.stride, Activation::F16, HALF_CACHE);
    }
}

#[test]
fn llama_with_grouped_queries() {
    check(include_str!("data/transformers/llama-tiny.json"));
}

#[test]
fn llama_3_with_tied_embeddings_and_scaled_rotations() {
    check(include_str!("data/transformers/llama3-tiny.json"));
}

#[test]
fn qwen2_with_biases() {
    check(include_str!("data/transformers/qwen2-tiny.json"));
}

#[test]
fn qwen3_with_norms_of_heads() {
    check(include_str!("data/transformers/qwen3-tiny.json"));
}
