//! Plans whose products multiply bytes: activations are rounded to eight bits in blocks of 32.

use crate::plan::{EXACT, random_tokens};
use crate::tiny::{TinyModel, TinyShape};
use crate::{assert_close, assert_logits, device, device_with, load, load_on, reference};
use metalworks_inference::formats::Format;
use metalworks_inference::metal::Tuning;
use metalworks_inference::plan::PlanOptions;

const PACKED: PlanOptions = PlanOptions { packed: true, ..EXACT };

/// An activation is off by 1/254 of the largest of its block at most; most errors cancel.
const TOLERANCE: f64 = 5e-2;

#[test]
fn packed_plans_match_the_reference_as_far_as_eight_bits_allow() {
    for (seed, format) in Format::in_gguf().filter(|format| !format.is_plain()).enumerate() {
        // Gate and up projection are fused in every second model, and some matrices are plain.
        let other_format = [Format::F16, format, Format::Q8_0][seed % 3];
        let shape = TinyShape {
            layers: 1,
            width: 256,
            feed_forward: 512,
            head_dim: 64,
            untied: true,
            format,
            other_format,
            ..TinyShape::new("llama")
        };
        let model = TinyModel::new(&shape, 300 + seed as u64);
        let tokens = random_tokens(shape.vocabulary, 44, seed as u64);
        let expected = reference::logits(&model, &tokens);
        let mut plan = load(&model, &PACKED);
        assert!(plan.is_packed());
        let what = format!("{format} and {other_format}");
        assert_logits(&what, &mut plan, &tokens, 40, &expected, TOLERANCE);
        let mut exact = load(&model, &EXACT);
        exact.push(&tokens).unwrap();
        assert_ne!(exact.logits().unwrap(), plan.logits().unwrap(), "{what}: nothing was rounded");
        let stats = device().stats();
        assert_eq!((stats.late_misses, stats.failures), (0, 0), "{stats}");
    }
}

#[test]
fn packed_plans_run_with_the_tuning_of_a_gpu() {
    let shape = TinyShape { width: 256, feed_forward: 512, format: Format::Q4_0, ..TinyShape::new("qwen2") };
    let model = TinyModel::new(&shape, 17);
    let tokens = random_tokens(shape.vocabulary, 45, 3);
    let expected = reference::logits(&model, &tokens);
    for tuning in [Tuning::apple(7), Tuning::nvidia(132)] {
        let mut plan = load_on(&device_with(tuning), &model, &PACKED);
        plan.push(&tokens).unwrap();
        let what = format!("prompt and one token, {tuning:?}");
        assert_close(&what, &plan.logits().unwrap(), &expected[44], TOLERANCE);
    }
}
