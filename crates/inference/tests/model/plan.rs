//! Plans give what the formulas give, however the tokens come.

use crate::random::Random;
use crate::tiny::{Shape, Tiny};
use crate::{assert_close, assert_logits, load, reference};
use inference::formats::{Activation, Format};
use inference::plan::PlanOptions;

pub(crate) fn shapes() -> Vec<Shape> {
    let llama = Shape::new("llama");
    vec![
        Shape { rope_factors: true, ..llama.clone() },
        Shape { untied: true, heads: 3, kv_heads: 1, head_dim: 64, rope_base: 500_000.0, ..llama },
        Shape { rope_base: 1_000_000.0, rope_scale: 4.0, ..Shape::new("qwen2") },
        Shape { head_dim: 64, kv_heads: 1, ..Shape::new("qwen3") },
    ]
}

pub(crate) fn random_tokens(vocabulary: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.bits() % vocabulary as u64) as u32).collect()
}

/// Exact but for rounding, so that a mistake shows.
pub(crate) const EXACT: PlanOptions = PlanOptions {
    context: Some(256),
    chunk: Some(32),
    activation: Activation::F32,
    cache: Activation::F32,
    sampling: inference::generate::Sampling::GREEDY,
};

#[test]
fn prompts_and_steps_give_the_logits_of_the_formulas() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let model = Tiny::new(&shape, seed as u64);
        let tokens = random_tokens(shape.vocabulary, 47, 7);
        let expected = reference::logits(&model, &tokens);
        let mut plan = load(&model, &EXACT);
        assert_logits(&format!("{shape:?}"), &mut plan, &tokens, 40, &expected, 2e-5);
        // Half numbers are near to that.
        for (activation, tolerance) in [(Activation::F32, 5e-3), (Activation::F16, 2e-2)] {
            let mut plan = load(&model, &PlanOptions { activation, cache: Activation::F16, ..EXACT });
            plan.push(&tokens).unwrap();
            let what = format!("{activation} {shape:?}");
            assert_close(&what, &plan.logits().unwrap(), &expected[46], tolerance);
        }
    }
}

#[test]
fn every_format_runs() {
    for (seed, format) in Format::ALL.into_iter().enumerate() {
        // Some matrices in another format, so that they cannot be computed at once.
        let other_format = if seed % 2 == 0 { format } else { Format::Q8_0 };
        let shape = Shape {
            layers: 1,
            width: 256,
            feed_forward: 256,
            head_dim: 64,
            untied: true,
            format,
            other_format,
            ..Shape::new("llama")
        };
        let model = Tiny::new(&shape, 100 + seed as u64);
        let tokens = random_tokens(shape.vocabulary, 9, seed as u64);
        let expected = reference::logits(&model, &tokens);
        let mut plan = load(&model, &PlanOptions { chunk: Some(8), ..EXACT });
        plan.push(&tokens).unwrap();
        assert_close(&format!("{format}"), &plan.logits().unwrap(), &expected[8], 5e-5);
    }
}

#[test]
fn a_prompt_is_as_good_as_single_steps() {
    let shape = Shape { layers: 2, format: Format::Q4_1, other_format: Format::Q4_1, ..Shape::new("llama") };
    let model = Tiny::new(&shape, 5);
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
fn every_position_of_a_prompt_has_logits() {
    let model = Tiny::new(&Shape::new("llama"), 2);
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
fn a_sequence_can_be_shortened_and_goes_on() {
    let model = Tiny::new(&Shape::new("qwen3"), 3);
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
    // Nothing is pending, and the last token is no longer at hand.
    plan.truncate(16);
    assert_close("without new tokens", &plan.logits().unwrap(), &expected[15], 2e-5);
    assert_close("once more", &plan.logits().unwrap(), &expected[15], 2e-5);
}
