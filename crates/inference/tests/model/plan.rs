//! Plans match the reference for any split of the tokens into chunks and steps.

use crate::random::Random;
use crate::tiny::{TinyModel, TinyShape};
use crate::{assert_close, assert_logits, load, reference};
use metalworks_inference::formats::{Activation, CacheType, Format};
use metalworks_inference::plan::PlanOptions;

pub(crate) fn shapes() -> Vec<TinyShape> {
    let llama = TinyShape::new("llama");
    vec![
        TinyShape { rope_factors: true, ..llama.clone() },
        TinyShape { untied: true, heads: 3, kv_heads: 1, head_dim: 64, rope_base: 500_000.0, ..llama },
        TinyShape { rope_base: 1_000_000.0, rope_scale: 4.0, ..TinyShape::new("qwen2") },
        TinyShape { head_dim: 64, kv_heads: 1, ..TinyShape::new("qwen3") },
    ]
}

pub(crate) fn random_tokens(vocabulary: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.bits() % vocabulary as u64) as u32).collect()
}

/// Options with f32 everywhere, so errors are larger than rounding.
pub(crate) const EXACT: PlanOptions = PlanOptions {
    context: Some(256),
    chunk: Some(32),
    activation: Activation::F32,
    packed: false,
    cache: CacheType::F32,
    sequences: 1,
    sampling: metalworks_inference::generate::Sampling::GREEDY,
};

#[test]
fn prefill_and_decode_match_the_reference() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let model = TinyModel::new(&shape, seed as u64);
        let tokens = random_tokens(shape.vocabulary, 47, 7);
        let expected = reference::logits(&model, &tokens);
        let mut plan = load(&model, &EXACT);
        assert_logits(&format!("{shape:?}"), &mut plan, &tokens, 40, &expected, 2e-5);
        // f16 is close to that.
        for (activation, tolerance) in [(Activation::F32, 5e-3), (Activation::F16, 2e-2)] {
            let mut plan = load(&model, &PlanOptions { activation, cache: CacheType::F16, ..EXACT });
            plan.push(&tokens).unwrap();
            let what = format!("{activation} {shape:?}");
            assert_close(&what, &plan.logits().unwrap(), &expected[46], tolerance);
        }
    }
}

#[test]
fn every_format_matches_the_reference() {
    for (seed, format) in Format::in_gguf().enumerate() {
        // Every second model has matrices of another format, which cannot be fused.
        let other_format = if seed % 2 == 0 { format } else { Format::Q8_0 };
        let shape = TinyShape {
            layers: 1,
            width: 256,
            feed_forward: 256,
            head_dim: 64,
            untied: true,
            format,
            other_format,
            ..TinyShape::new("llama")
        };
        let model = TinyModel::new(&shape, 100 + seed as u64);
        let tokens = random_tokens(shape.vocabulary, 9, seed as u64);
        let expected = reference::logits(&model, &tokens);
        let mut plan = load(&model, &PlanOptions { chunk: Some(8), ..EXACT });
        plan.push(&tokens).unwrap();
        assert_close(&format!("{format}"), &plan.logits().unwrap(), &expected[8], 5e-5);
    }
}

#[test]
fn prefill_matches_single_steps() {
    let shape =
        TinyShape { layers: 2, format: Format::Q4_1, other_format: Format::Q4_1, ..TinyShape::new("llama") };
    let model = TinyModel::new(&shape, 5);
    let mut at_once = load(&model, &PlanOptions { chunk: Some(128), ..EXACT });
    let mut in_steps = load(&model, &PlanOptions { chunk: Some(1), ..EXACT });
    for n in [1, 2, 31, 33, 200] {
        let tokens = random_tokens(shape.vocabulary, n, n as u64);
        at_once.truncate(0);
        in_steps.truncate(0);
        at_once.push(&tokens).unwrap();
        in_steps.push(&tokens).unwrap();
        let expected: Vec<f64> = in_steps.logits().unwrap().into_iter().map(f64::from).collect();
        assert_close(&format!("{n} tokens"), &at_once.logits().unwrap(), &expected, 1e-5);
    }
}

#[test]
fn logits_of_every_prompt_position_match_the_reference() {
    let model = TinyModel::new(&TinyShape::new("llama"), 2);
    let tokens = random_tokens(model.shape.vocabulary, 21, 3);
    let expected = reference::logits(&model, &tokens);
    let mut plan = load(&model, &EXACT);
    plan.push(&tokens).unwrap();
    let mut positions = Vec::new();
    plan.logits_of_pending(10, |position, logits| {
        assert_close(&format!("position {position}"), logits, &expected[position], 2e-5);
        positions.push(position);
    })
    .unwrap();
    assert_eq!(positions, (10..21).collect::<Vec<usize>>());
}

#[test]
fn a_truncated_sequence_continues() {
    let model = TinyModel::new(&TinyShape::new("qwen3"), 3);
    let tokens = random_tokens(model.shape.vocabulary, 30, 4);
    let mut plan = load(&model, &EXACT);
    plan.push(&tokens).unwrap();
    plan.logits().unwrap();
    let other = random_tokens(model.shape.vocabulary, 5, 5);
    plan.truncate(12);
    plan.push(&other).unwrap();
    let all: Vec<u32> = tokens[..12].iter().chain(&other).copied().collect();
    assert_eq!(plan.tokens().unwrap(), all);
    let expected = reference::logits(&model, &all);
    assert_close("after shortening", &plan.logits().unwrap(), expected.last().unwrap(), 2e-5);
    // Nothing is pending, and the row of the last token is gone.
    plan.truncate(16);
    assert_close("without new tokens", &plan.logits().unwrap(), &expected[15], 2e-5);
    assert_close("once more", &plan.logits().unwrap(), &expected[15], 2e-5);
}
