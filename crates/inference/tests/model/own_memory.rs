//! Models on a device without unified memory: the toy back end of the tests of `compute`.
#![cfg(llvm)]

#[path = "../../../compute/tests/third_backend/toy/mod.rs"]
mod toy;

use crate::plan::{EXACT, random_tokens, shapes};
use crate::tiny::TinyModel;
use crate::{assert_logits, load_on, reference};
use compute::BinaryArchive;
use metalworks_inference::generate::Sampling;
use metalworks_inference::metal::{MetalDevice, Tuning};
use metalworks_inference::plan::PlanOptions;
use toy::{Toy, ToyOptions};

/// Creates a toy device with the limits that the kernels need.
fn toy() -> (Toy, MetalDevice) {
    let options = ToyOptions { max_threads: 1024, max_threadgroup_memory: 32 << 10, ..ToyOptions::default() };
    let toy = Toy::new(&options).expect("a toy device");
    let archive = BinaryArchive::user_cache().expect("the cache can be found");
    let device = MetalDevice::with_device(toy.device().clone(), archive).expect("the shader library is valid");
    (toy, device)
}

#[test]
fn logits_match_the_reference_without_unified_memory() {
    let (toy, device) = toy();
    let tuning = *device.tuning();
    assert!(tuning.staging.is_some() && !tuning.maps_weights, "{tuning:?}");
    for (seed, shape) in shapes().iter().enumerate() {
        let model = TinyModel::new(shape, seed as u64);
        let tokens = random_tokens(shape.vocabulary, 45, 7);
        let expected = reference::logits(&model, &tokens);
        let before = toy.counts();
        let mut plan = load_on(&device, &model, &EXACT);
        let loaded = toy.counts();
        assert!(loaded.copies > before.copies, "weights go through staging buffers");
        assert_logits(&format!("{shape:?}"), &mut plan, &tokens, 40, &expected, 2e-5);
    }
    let stats = device.stats();
    assert_eq!((stats.late_misses, stats.failures), (0, 0), "{stats}");
}

#[test]
fn decoding_downloads_only_tokens_in_few_submissions() {
    let (toy, device) = toy();
    assert!(device.tuning().overlaps);
    let model = TinyModel::new(&shapes()[0], 5);
    let prompt = random_tokens(model.shape.vocabulary, 20, 9);
    let hot = Sampling { temperature: 2.0, repeat_penalty: 1.1, seed: 5, ..Sampling::GREEDY };
    let options = PlanOptions { sampling: hot, ..EXACT };
    let mut plan = load_on(&device, &model, &options);
    plan.push(&prompt).unwrap();
    let mut tokens = Vec::new();
    plan.generate(1, &mut tokens).unwrap();
    let before = toy.counts();
    plan.generate(24, &mut tokens).unwrap();
    let after = toy.counts();
    let groups = plan.steps_per_command_buffer(24);
    assert_eq!(after.submissions - before.submissions, groups.len() as u64, "{groups:?}");
    assert!(groups.len() < 24 / 4);
    let dispatches = (after.dispatches - before.dispatches) / 24;
    assert_eq!(dispatches, plan.dispatches_per_token() as u64);
    assert_eq!((after.uploads, after.downloaded_bytes), (before.uploads, before.downloaded_bytes + 24 * 4));
    assert_eq!(
        (after.recordings, after.pipelines),
        (before.recordings, before.pipelines),
        "decoding creates no recordings and no pipelines"
    );

    // The same tokens as with unified memory.
    let cpu = compute::Device::cpu().expect("a CPU");
    let archive = BinaryArchive::user_cache().expect("the cache can be found");
    let tuning = Tuning { staging: None, ..*device.tuning() };
    let cpu = MetalDevice::with_tuning(cpu, archive, tuning).expect("the shader library is valid");
    let mut plan = load_on(&cpu, &model, &options);
    plan.push(&prompt).unwrap();
    let mut expected = Vec::new();
    plan.generate(25, &mut expected).unwrap();
    assert_eq!(tokens, expected);
}
