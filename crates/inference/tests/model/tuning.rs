//! Plans match the reference with every tuning: those for GPUs run on any device.

use crate::plan::{EXACT, random_tokens, shapes};
use crate::tiny::{TinyModel, TinyShape};
use crate::{assert_close, assert_logits, device, device_with, load_on, reference};
use compute::DispatchType;
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::generate::Sampling;
use metalworks_inference::metal::{AttentionTuning, GemmTuning, GemvTuning, RowTuning, Tuning};
use metalworks_inference::plan::PlanOptions;

/// Tunings of Apple GPUs, and one with values that neither these nor the CPU's have.
fn tunings() -> [Tuning; 3] {
    let other = Tuning {
        simdgroups: 7,
        gemv: GemvTuning {
            chunk: 32,
            packed_batch: 4,
            pairs: false,
            least_split: 3,
            most_split: 3,
            most_staged_split: 5,
        },
        gemm: Some(GemmTuning { from: 2, large: usize::MAX, ahead: 2, few_ahead: 2, wide: true }),
        rows: RowTuning::exactly(3),
        // The cache is divided from the middle of the text on.
        attention: AttentionTuning { simdgroups: 7, whole: 106, wide: Some(1), together: 5 },
        dispatch: DispatchType::Serial,
        tiles: false,
        maps_weights: false,
        ..Tuning::CPU
    };
    [Tuning::apple(7), Tuning::apple(9), other]
}

#[test]
fn prefill_and_decode_match_the_reference() {
    let models: Vec<TinyModel> =
        shapes().iter().enumerate().map(|(seed, shape)| TinyModel::new(shape, seed as u64)).collect();
    for tuning in tunings() {
        let device = device_with(tuning);
        for model in &models {
            let what = format!("{tuning:?}, {:?}", model.shape);
            let tokens = random_tokens(model.shape.vocabulary, 112, 7);
            let expected = reference::logits(model, &tokens);
            let mut plan = load_on(&device, model, &EXACT);
            // Chunks of 32 tokens, one of 8, and single tokens until the cache has several tiles.
            assert_logits(&what, &mut plan, &tokens, 104, &expected, 2e-5);
        }
        let ran = device.pipelines().keys();
        let has_run = |family: &str| ran.iter().any(|key| key.kernel().starts_with(family));
        for family in ["gemm_", "attention_decode_wide_", "attention_reduce_"] {
            assert!(has_run(family), "{tuning:?} did not use {family}");
        }
    }
}

#[test]
fn every_format_matches_the_reference() {
    for (seed, format) in Format::in_gguf().enumerate() {
        // Gate and up projection are fused in every second model.
        let other_format = if seed % 2 == 0 { Format::Q8_0 } else { format };
        let shape = TinyShape {
            layers: 1,
            width: 256,
            feed_forward: 512,
            head_dim: 64,
            untied: true,
            format,
            other_format,
            ..TinyShape::new("qwen2")
        };
        let model = TinyModel::new(&shape, 200 + seed as u64);
        let tokens = random_tokens(shape.vocabulary, 41, seed as u64);
        let expected = reference::logits(&model, &tokens);
        let device = device_with(tunings()[seed % 3]);
        for (activation, cache, tolerance) in
            [(Activation::F32, Activation::F32, 5e-5), (Activation::F16, Activation::F16, 2e-2)]
        {
            let mut plan = load_on(&device, &model, &PlanOptions { activation, cache: cache.into(), ..EXACT });
            plan.push(&tokens).unwrap();
            let what = format!("{format} {activation}, {:?}", device.tuning());
            assert_close(&what, &plan.logits().unwrap(), &expected[40], tolerance);
        }
    }
}

#[test]
fn sampling_is_deterministic_with_every_tuning() {
    // Rows and a vocabulary that are split over many simdgroups.
    let shape = TinyShape { width: 640, vocabulary: 5003, layers: 2, ..TinyShape::new("llama") };
    let model = TinyModel::new(&shape, 31);
    let prompt = random_tokens(model.shape.vocabulary, 45, 6);
    for tuning in tunings() {
        let device = device_with(tuning);
        let mut plan = load_on(&device, &model, &EXACT);
        let mut generate = |sampling: &Sampling, steps: usize| {
            plan.set_sampling(sampling).unwrap();
            plan.truncate(0);
            plan.push(&prompt).unwrap();
            let mut tokens = Vec::new();
            while tokens.len() < 12 {
                plan.generate(steps, &mut tokens).unwrap();
            }
            tokens
        };
        let greedy = generate(&Sampling::GREEDY, tuning.steps);
        // A temperature near 0 is greedy too, but uses other kernels.
        let cold =
            Sampling { temperature: 1e-6, top_k: Some(20), top_p: 0.9, repeat_penalty: 1.0, ..Sampling::GREEDY };
        assert_eq!(generate(&cold, 1), greedy, "{tuning:?}");
        let hot = Sampling { temperature: 2.0, repeat_penalty: 1.1, seed: 5, ..Sampling::GREEDY };
        let text = generate(&hot, 4);
        assert_eq!(generate(&hot, 3), text, "{tuning:?}");
        assert_ne!(text, greedy, "{tuning:?}");
        let first = device.stats();
        assert_eq!((first.late_misses, first.failures), (0, 0), "{first}");
        // The first greedy token has the largest logit.
        plan.truncate(45);
        let logits = plan.logits().unwrap();
        let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
        assert_eq!(greedy[0] as usize, best, "{tuning:?}");
    }
}

#[test]
fn overlapping_steps_decode_the_same_tokens_in_few_command_buffers() {
    let model = TinyModel::new(&TinyShape::new("llama"), 12);
    let prompt = random_tokens(model.shape.vocabulary, 20, 9);
    let hot = Sampling { temperature: 2.0, repeat_penalty: 1.1, seed: 5, ..Sampling::GREEDY };
    let generate = |overlaps: bool, groups: &[usize]| {
        let device = device_with(Tuning { overlaps, ..*device().tuning() });
        let mut plan = load_on(&device, &model, &PlanOptions { sampling: hot, ..EXACT });
        assert_eq!(plan.steps_per_command_buffer(24), groups);
        plan.push(&prompt).unwrap();
        let mut tokens = Vec::new();
        for count in [1, 24, 4] {
            plan.generate(count, &mut tokens).unwrap();
        }
        assert_eq!(plan.tokens().unwrap()[20..], tokens);
        (tokens, plan.logits().unwrap())
    };
    assert_eq!(generate(true, &[1, 2, 4, 8, 9]), generate(false, &[24]));
}
