//! Synthetic models of every architecture and format, compared with Hugging Face transformers.
//!
//! ```text
//! scripts/transformers-reference.py ── data/transformers: SHA-256 of the tensors, logits ─┐
//!                                                                                         ├─ compare
//! SyntheticModel, checked by the SHA-256 ── Plan: prefill, decode ────────────────────────┘
//! ```

#[path = "../../compute/tests/until_exit/mod.rs"]
mod until_exit;

use compute::{BinaryArchive, Device};
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::generate::Sampling;
use metalworks_inference::gguf::{Builder, Gguf, Value};
use metalworks_inference::metal::MetalDevice;
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::synthetic::SyntheticModel;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use until_exit::until_exit;

/// Bound of the normalized mean square error. References have 5 decimals, an error of 1e-12; f32 rounding is up to
/// 1e-11. Bugs are larger: 2e-8 for RoPE scaling from 3.9 instead of 4 turns on, 1e-3 and more for a missing bias or
/// norm. An ε of 1e-6 instead of 1e-5 is below the bound in some models; cases with an ε of 0.03 catch it.
const EXACT: f64 = 5e-11;
/// Bound with an f16 KV cache, the default.
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
    /// SHA-256 of the names and bytes of all tensors.
    sha256_of_tensors: String,
    /// Keys of the architecture to override.
    keys: BTreeMap<String, serde_json::Value>,
    /// Compared positions; the last one is the end of the text.
    positions: Vec<usize>,
    /// Token with the largest logit at each position.
    best: Vec<usize>,
    /// Difference between the two largest logits at each position.
    margins: Vec<f32>,
    /// Logits of every `stride`th token at each position.
    logits: Vec<Vec<f32>>,
}

impl Case {
    /// Returns the model. Panics if transformers ran another one.
    fn open(&self) -> Gguf {
        let model: SyntheticModel = self.model.parse().expect("the name is valid");
        let model = model.with_seed(self.seed).open().expect("the model is valid");
        let mut hash = Sha256::new();
        for tensor in model.weights().tensors() {
            hash.update(&tensor.name);
            hash.update(model.weights().data(tensor));
        }
        let sha256: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            sha256, self.sha256_of_tensors,
            "{} has other weights than the reference: run scripts/transformers-reference.py again",
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
        let architecture = model.architecture().expect("the key exists");
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
                builder.tensor(&tensor.name, tensor.format().expect("supported").tensor_type(), &tensor.dimensions);
        }
        let bytes = builder.to_bytes(|index, out| out.write_all(weights.data(&weights.tensors()[index])));
        Gguf::from_bytes(bytes.expect("memory can be written to")).expect("the copy is valid")
    }

    /// Returns the tokens of the text, generated as in the script.
    fn tokens(&self, vocabulary: usize) -> Vec<u32> {
        let mut state = 1u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % vocabulary as u64) as u32
        };
        std::iter::repeat_with(next).take(self.positions.last().expect("a case has positions") + 1).collect()
    }
}

/// Compares logits with those of a case.
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
        // Fails for NaN too.
        assert!(error / size < self.bound, "{what}: normalized mean square error {:e}", error / size);
        let highest = found.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
        let highest = highest.map(|(token, _)| token);
        assert_eq!(highest, Some(best[index]), "{what}: the best token, with a margin of {}", margins[index]);
    }
}

/// Device shared by all tests, with the user's cache of compiled kernels.
fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<&MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let archive = BinaryArchive::user_cache().expect("the cache can be found");
        let device = Device::system_default().unwrap_or_else(|error| panic!("{error}"));
        until_exit(MetalDevice::with_device(device, archive).expect("the shader library is valid"))
    })
}

fn compare(case: &Case, model: &Gguf, stride: usize, cache: Activation, bound: f64) {
    let options = PlanOptions {
        context: Some(1024),
        chunk: Some(32),
        activation: Activation::F32,
        packed: false,
        cache: cache.into(),
        sequences: 1,
        sampling: Sampling::GREEDY,
    };
    let mut plan = Plan::load(device(), model, &options, |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let tokens = case.tokens(plan.hyperparameters().vocabulary);
    let comparison = Comparison { case, stride, bound };

    // Prefill of the whole text.
    plan.push(&tokens).expect("there is room");
    let mut rows = vec![Vec::new(); case.positions.len()];
    plan.logits_of_pending(0, |position, logits| {
        if let Some(index) = case.positions.iter().position(|&wanted| wanted == position) {
            rows[index] = logits.to_vec();
        }
    })
    .expect("the model runs");
    rows.iter().enumerate().for_each(|(index, row)| comparison.check("prompt", index, row));

    // The first token, prefill of a part, and single steps to the end.
    let [first, middle, last] = case.positions[..] else { panic!("there are three positions") };
    plan.truncate(0);
    for (index, part) in [&tokens[..=first], &tokens[first + 1..=middle]].into_iter().enumerate() {
        plan.push(part).expect("there is room");
        comparison.check("a part of the prompt", index, &plan.logits().expect("the model runs"));
    }
    let mut logits = Vec::new();
    for position in middle + 1..=last {
        plan.push(&tokens[position..=position]).expect("there is room");
        logits = plan.logits().expect("the model runs");
    }
    comparison.check("single steps", 2, &logits);
}

/// Checks all cases of one shape.
fn check_cases(reference: &str) {
    let reference: Reference = serde_json::from_str(reference).expect("the reference can be read");
    for case in &reference.cases {
        let model = case.open();
        compare(case, &model, reference.stride, Activation::F32, EXACT);
        compare(case, &model, reference.stride, Activation::F16, HALF_CACHE);
    }
}

#[test]
fn every_format_has_a_reference() {
    let references =
        [include_str!("data/transformers/llama-tiny.json"), include_str!("data/transformers/more-formats.json")];
    let references = references.map(|text| serde_json::from_str::<Reference>(text).expect("it can be read"));
    let cases: Vec<&Case> = references.iter().flat_map(|reference| &reference.cases).collect();
    let mut formats = Format::in_gguf();
    let missing = formats.find(|format| {
        let model = format!("llama-tiny:{}", format.to_string().to_lowercase());
        !cases.iter().any(|case| case.keys.is_empty() && case.model == model)
    });
    assert_eq!(missing, None);
}

#[test]
fn llama_in_more_formats_matches_transformers() {
    check_cases(include_str!("data/transformers/more-formats.json"));
}

#[test]
fn llama_matches_transformers() {
    check_cases(include_str!("data/transformers/llama-tiny.json"));
}

#[test]
fn llama_3_with_tied_embedding_and_scaled_rope_matches_transformers() {
    check_cases(include_str!("data/transformers/llama3-tiny.json"));
}

#[test]
fn qwen2_with_biases_matches_transformers() {
    check_cases(include_str!("data/transformers/qwen2-tiny.json"));
}

#[test]
fn qwen3_with_head_norms_matches_transformers() {
    check_cases(include_str!("data/transformers/qwen3-tiny.json"));
}

#[test]
fn qwen35_with_recurrent_layers_matches_transformers() {
    for reference in [
        include_str!("data/transformers/qwen35-tiny.json"),
        include_str!("data/transformers/qwen35-equal-tiny.json"),
    ] {
        check_cases(reference);
    }
}

#[test]
fn mixtral_matches_transformers() {
    check_cases(include_str!("data/transformers/mixtral-tiny.json"));
}

#[test]
fn qwen3_with_experts_matches_transformers() {
    check_cases(include_str!("data/transformers/qwen3-moe-tiny.json"));
}

#[test]
fn qwen2_with_a_shared_expert_matches_transformers() {
    check_cases(include_str!("data/transformers/qwen2-moe-tiny.json"));
}

#[test]
fn qwen35_with_a_shared_expert_matches_transformers() {
    check_cases(include_str!("data/transformers/qwen35-moe-tiny.json"));
}

#[test]
fn llama_with_windows_and_yarn_matches_transformers() {
    check_cases(include_str!("data/transformers/mistral-tiny.json"));
}

#[test]
fn gemma_with_gelu_and_scaled_embedding_matches_transformers() {
    check_cases(include_str!("data/transformers/gemma-tiny.json"));
}

#[test]
fn gemma2_with_norms_around_blocks_and_soft_caps_matches_transformers() {
    check_cases(include_str!("data/transformers/gemma2-tiny.json"));
}

#[test]
fn gemma3_with_two_ropes_matches_transformers() {
    check_cases(include_str!("data/transformers/gemma3-tiny.json"));
}

#[test]
fn phi3_with_fused_matrices_and_long_rope_matches_transformers() {
    check_cases(include_str!("data/transformers/phi3-tiny.json"));
}

#[test]
fn smollm3_with_layers_without_rope_matches_transformers() {
    check_cases(include_str!("data/transformers/smollm3-tiny.json"));
}

#[test]
fn olmo2_with_norms_after_blocks_matches_transformers() {
    check_cases(include_str!("data/transformers/olmo2-tiny.json"));
}

#[test]
fn granite_with_factors_matches_transformers() {
    check_cases(include_str!("data/transformers/granite-tiny.json"));
}

#[test]
fn glm4_with_partial_rope_matches_transformers() {
    check_cases(include_str!("data/transformers/glm4-tiny.json"));
}

#[test]
fn command_r_with_parallel_blocks_matches_transformers() {
    check_cases(include_str!("data/transformers/command-r-tiny.json"));
}

#[test]
fn cohere2_with_rope_in_windows_only_matches_transformers() {
    check_cases(include_str!("data/transformers/cohere2-tiny.json"));
}

#[test]
fn gpt_oss_matches_transformers() {
    check_cases(include_str!("data/transformers/gpt-oss-tiny.json"));
}

#[test]
fn qwen3_next_with_fused_gates_matches_transformers() {
    check_cases(include_str!("data/transformers/qwen3next-tiny.json"));
}

#[test]
fn olmoe_matches_transformers() {
    check_cases(include_str!("data/transformers/olmoe-tiny.json"));
}

#[test]
fn granite_with_experts_matches_transformers() {
    check_cases(include_str!("data/transformers/granite-moe-tiny.json"));
}

#[test]
fn seed_oss_matches_transformers() {
    check_cases(include_str!("data/transformers/seed-oss-tiny.json"));
}

#[test]
fn exaone_matches_transformers() {
    check_cases(include_str!("data/transformers/exaone-tiny.json"));
}

#[test]
fn exaone4_with_and_without_windows_matches_transformers() {
    check_cases(include_str!("data/transformers/exaone4-tiny.json"));
}

#[test]
fn internlm2_matches_transformers() {
    check_cases(include_str!("data/transformers/internlm2-tiny.json"));
}

#[test]
fn ernie_4_5_matches_transformers() {
    check_cases(include_str!("data/transformers/ernie-4.5-tiny.json"));
    check_cases(include_str!("data/transformers/ernie-4.5-moe-tiny.json"));
}

#[test]
fn norms_with_biases_match_transformers() {
    check_cases(include_str!("data/transformers/stablelm-tiny.json"));
    check_cases(include_str!("data/transformers/orion-tiny.json"));
}

#[test]
fn networks_without_gates_match_transformers() {
    check_cases(include_str!("data/transformers/starcoder2-tiny.json"));
    check_cases(include_str!("data/transformers/nemotron-tiny.json"));
    check_cases(include_str!("data/transformers/arcee-tiny.json"));
    check_cases(include_str!("data/transformers/codeshell-tiny.json"));
    check_cases(include_str!("data/transformers/jais2-tiny.json"));
}

#[test]
fn relatives_of_others_match_transformers() {
    check_cases(include_str!("data/transformers/xverse-tiny.json"));
    check_cases(include_str!("data/transformers/minicpm-tiny.json"));
    check_cases(include_str!("data/transformers/chatglm-tiny.json"));
    check_cases(include_str!("data/transformers/qwen2-vl-tiny.json"));
    check_cases(include_str!("data/transformers/qwen3-vl-tiny.json"));
    check_cases(include_str!("data/transformers/pangu-tiny.json"));
    check_cases(include_str!("data/transformers/paddleocr-tiny.json"));
    check_cases(include_str!("data/transformers/openelm-tiny.json"));
}

#[test]
fn hunyuan_with_norms_after_rope_matches_transformers() {
    check_cases(include_str!("data/transformers/hunyuan-tiny.json"));
    check_cases(include_str!("data/transformers/hunyuan-moe-tiny.json"));
    check_cases(include_str!("data/transformers/maincoder-tiny.json"));
    check_cases(include_str!("data/transformers/hunyuan-vl-tiny.json"));
}

#[test]
fn shared_experts_without_factors_match_transformers() {
    check_cases(include_str!("data/transformers/dots1-tiny.json"));
    check_cases(include_str!("data/transformers/glm4-moe-tiny.json"));
    check_cases(include_str!("data/transformers/deepseek-tiny.json"));
    check_cases(include_str!("data/transformers/bailing-moe-tiny.json"));
    check_cases(include_str!("data/transformers/hunyuan3-tiny.json"));
}

#[test]
fn minimax_m2_with_sigmoid_router_matches_transformers() {
    check_cases(include_str!("data/transformers/minimax-m2-tiny.json"));
}

#[test]
fn experts_in_layers_with_windows_match_transformers() {
    check_cases(include_str!("data/transformers/mellum-tiny.json"));
    check_cases(include_str!("data/transformers/exaone-moe-tiny.json"));
}
