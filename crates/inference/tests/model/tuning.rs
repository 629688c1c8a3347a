//! Plans give the same whatever the tuning is: what is chosen for GPUs runs here, on whichever device there is.

use crate::plan::{EXACT, random_tokens, shapes};
use crate::tiny::{Shape, Tiny};
use crate::{assert_close, assert_logits, device, device_with, load_on, reference};
use compute::DispatchType;
use inference::formats::{Activation, Format};
use inference::generate::Sampling;
use inference::metal::{GemmTuning, GemvTuning, RowTuning, Tuning};
use inference::plan::PlanOptions;

/// Those of Apple's GPUs, and one with all that neither these nor a CPU choose.
fn tunings() -> [Tuning; 3] {
    let other = Tuning {
        simdgroups: 7,
        gemv: GemvTuning { chunk: 32, least_split: 3, most_split: 3 },
        gemm: Some(GemmTuning { from: 2, simdgroups: 3 }),
        rows: RowTuning::exactly(3),
        dispatch: DispatchType::Serial,
        tiles: false,
        maps_weights: false,
        ..Tuning::CPU
    };
    [Tuning::apple(7), Tuning::apple(9), other]
}

#[test]
fn prompts_and_steps_give_the_logits_of_the_formulas() {
    let models: Vec<Tiny> =
        shapes().iter().enumerate().map(|(seed, shape)| Tiny::new(shape, seed as u64)).collect();
    for tuning in tunings() {
        let device = device_with(tuning);
        for model in &models {
            let what = format!("{tuning:?}, {:?}", model.shape);
            let tokens = random_tokens(model.shape.vocabulary, 112, 7);
            let expected = reference::logits(model, &tokens);
            let mut plan = load_on(&device, model, &EXACT);
            // Chunks of 32 tokens, one of 8, and single ones up to where the cache has several tiles.
            assert_logits(&what, &mut plan, &tokens, 104, &expected, 2e-5);
        }
        let ran = device.pipelines().keys();
        let has_run = |family: &str| ran.iter().any(|key| key.kernel().starts_with(family));
        for family in ["gemm_", "attention_decode_split_", "attention_reduce_"] {
            assert!(has_run(family), "{tuning:?} is to use {family}");
        }
    }
}

#[test]
fn every_format_runs() {
    for (seed, format) in Format::ALL.into_iter().enumerate() {
        // Gates are computed at once, or not.
        let other_format = if seed % 2 == 0 { Format::Q8_0 } else { format };
        let shape = Shape {
            layers: 1,
            width: 256,
            feed_forward: 512,
            head_dim: 64,
            untied: true,
            format,
            other_format,
            ..Shape::new("qwen2")
        };
        let model = Tiny::new(&shape, 200 + seed as u64);
        let tokens = random_tokens(shape.vocabulary, 41, seed as u64);
        let expected = reference::logits(&model, &tokens);
        let device = device_with(tunings()[seed % 3]);
        for (activation, cache, tolerance) in
            [(Activation::F32, Activation::F32, 5e-5), (Activation::F16, Activation::F16, 2e-2)]
        {
            let mut plan = load_on(&device, &model, &PlanOptions { activation, cache, ..EXACT });
            plan.push(&tokens).unwrap();
            let what = format!("{format} {activation}, {:?}", device.tuning());
            assert_close(&what, &plan.logits().unwrap(), &expected[40], tolerance);
        }
    }
}

#[test]
fn tokens_are_chosen() {
    // Rows and a vocabulary that many simdgroups share.
    let shape = Shape { width: 640, vocabulary: 5003, layers: 2, ..Shape::new("llama") };
    let model = Tiny::new(&shape, 31);
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
        // As one who is sure, which goes through other kernels.
        let sure =
            Sampling { temperature: 1e-6, top_k: Some(20), top_p: 0.9, repeat_penalty: 1.0, ..Sampling::GREEDY };
        assert_eq!(generate(&sure, 1), greedy, "{tuning:?}");
        let bold = Sampling { temperature: 2.0, repeat_penalty: 1.1, seed: 5, ..Sampling::GREEDY };
        let text = generate(&bold, 4);
        assert_eq!(generate(&bold, 3), text, "{tuning:?}");
        assert_ne!(text, greedy, "{tuning:?}");
        let first = device.stats();
        assert_eq!((first.late_misses, first.failures), (0, 0), "{first}");
        // It is the best one.
        plan.truncate(45);
        let logits = plan.logits().unwrap();
        let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
        assert_eq!(greedy[0] as usize, best, "{tuning:?}");
    }
}

#[test]
fn steps_that_overlap_give_the_same_tokens_in_few_command_buffers() {
    let model = Tiny::new(&Shape::new("llama"), 12);
    let prompt = random_tokens(model.shape.vocabulary, 20, 9);
    let bold = Sampling { temperature: 2.0, repeat_penalty: 1.1, seed: 5, ..Sampling::GREEDY };
    let generate = |overlaps: bool, groups: &[usize]| {
        let device = device_with(Tuning { overlaps, ..*device().tuning() });
        let mut plan = load_on(&device, &model, &PlanOptions { sampling: bold, ..EXACT });
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
