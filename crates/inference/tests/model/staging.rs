//! Weights copied through staging buffers into private ones, as on a device without unified memory.

use crate::plan::{EXACT, random_tokens, shapes};
use crate::tiny::{TinyModel, TinyShape, tensors};
use crate::{device, device_with, load_on};
use metalworks_inference::formats::Format;
use metalworks_inference::generate::Sampling;
use metalworks_inference::metal::Tuning;
use metalworks_inference::plan::{LoadProgress, Plan, PlanOptions, WeightMemory};

/// Returns the logits after a prompt, and tokens sampled after it.
fn results(tuning: Tuning, model: &TinyModel) -> (Vec<f32>, Vec<u32>) {
    let hot = Sampling { temperature: 2.0, repeat_penalty: 1.1, top_k: Some(50), seed: 5, ..Sampling::GREEDY };
    let mut plan = load_on(&device_with(tuning), model, &PlanOptions { sampling: hot, ..EXACT });
    let all = tensors(&model.shape, 0).iter().map(|(.., bytes)| bytes.len() as u64).sum();
    assert_eq!(plan.weight_memory(), WeightMemory { copied: all, mapped: 0 });
    plan.push(&random_tokens(model.shape.vocabulary, 41, 3)).unwrap();
    let (logits, mut tokens) = (plan.logits().unwrap(), Vec::new());
    plan.generate(8, &mut tokens).unwrap();
    (logits, tokens)
}

#[track_caller]
fn assert_same(tuning: Tuning, model: &TinyModel, sizes: &[usize]) {
    let tuning = Tuning { maps_weights: false, ..tuning };
    let in_place = results(Tuning { staging: None, ..tuning }, model);
    for &size in sizes {
        let staged = results(Tuning { staging: Some(size), ..tuning }, model);
        assert_eq!(staged, in_place, "staging buffers of {size} bytes, {:?}", model.shape);
    }
}

#[test]
fn staged_weights_give_the_same_logits_and_tokens() {
    let tuning = *device().tuning();
    for (seed, shape) in shapes().iter().enumerate() {
        // Less than a tile, a few tiles, and the whole model.
        assert_same(tuning, &TinyModel::new(shape, seed as u64), &[1, 40_000, 1 << 20]);
    }
}

#[test]
fn staged_weights_of_every_format_give_the_same_logits_and_tokens() {
    for (seed, format) in Format::in_gguf().enumerate() {
        // In the block layout, the size of some tensors is not a multiple of 4.
        let (width, tiles) = if format.block_len() > 32 { (256, true) } else { (96, seed % 2 == 0) };
        let shape = TinyShape {
            layers: 1,
            width,
            feed_forward: 256,
            head_dim: 64,
            untied: true,
            format,
            other_format: format,
            ..TinyShape::new("llama")
        };
        let tuning = Tuning { tiles, ..*device().tuning() };
        assert_same(tuning, &TinyModel::new(&shape, 300 + seed as u64), &[5000]);
    }
}

#[test]
fn loading_reports_weights_and_then_pipelines() {
    let model = TinyModel::new(&TinyShape::new("qwen2"), 4);
    for staging in [None, Some(10_000)] {
        let device = device_with(Tuning { staging, ..*device().tuning() });
        let (mut weights, mut pipelines) = (Vec::new(), Vec::new());
        let plan = Plan::load(&device, &model.file, &EXACT, |progress| match progress {
            LoadProgress::Weights(done, total) => {
                assert!(pipelines.is_empty(), "weights come first");
                weights.push((done, total));
            }
            LoadProgress::Pipelines(now) => pipelines.push((now.done, now.total)),
        })
        .unwrap();
        let copied = plan.weight_memory().copied;
        assert!(weights.is_sorted() && weights.last() == Some(&(copied, copied)), "{weights:?}");
        let total = pipelines.len();
        assert_eq!(pipelines, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
        assert_eq!(device.stats().pipelines, total as u64);
        assert!(device.pipelines().is_sealed());
    }
}
