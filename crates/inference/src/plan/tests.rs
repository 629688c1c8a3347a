//! Unit tests of plans: uninitialized private memory, and barriers of recordings.

use super::{Plan, PlanOptions};
use crate::arch::{Hyperparameters, Mixer};
use crate::formats::{Activation, CacheType};
use crate::generate::Sampling;
use crate::gguf::Gguf;
use crate::metal::{MetalDevice, Tuning};
use crate::synthetic::SyntheticModel;
use compute::{BinaryArchive, Device, StorageMode};

#[cfg(llvm)]
use compute::CompileTarget;

fn model(name: &str) -> Gguf {
    name.parse::<SyntheticModel>().expect("the name is valid").open().expect("the model is valid")
}

fn load(tuning: Tuning, file: &Gguf, cache: Activation) -> Plan {
    let archive = BinaryArchive::user_cache().expect("the cache can be found");
    let device = Device::system_default().expect("there is a device");
    let device = MetalDevice::with_tuning(device, archive, tuning).expect("the library is right");
    let sampling = Sampling { temperature: 1.5, top_k: Some(20), repeat_penalty: 1.1, ..Sampling::GREEDY };
    let packed = tuning.packs;
    let options = PlanOptions {
        context: Some(100),
        chunk: Some(32),
        activation: cache,
        packed,
        cache: cache.into(),
        sequences: 1,
        sampling,
    };
    Plan::load(&device, file, &options, |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Sets all bytes of the private buffers to `value`.
fn fill(plan: &Plan, value: u8) {
    let command_buffer = plan.device.command_buffer();
    // Those that a model does not use have one byte.
    for buffer in plan.parts.state.private_buffers().filter(|buffer| buffer.len() >= 4) {
        assert_eq!(buffer.storage_mode(), StorageMode::Private, "{buffer:?}");
        command_buffer.fill_buffer(buffer, 0..buffer.len() / 4 * 4, value).unwrap();
    }
    command_buffer.commit().unwrap();
    command_buffer.wait_until_completed().unwrap();
}

#[test]
#[cfg_attr(not(llvm), ignore = "kernels are compiled")]
fn results_do_not_depend_on_initial_private_memory() {
    let (file, recurrent) = (model("llama-tiny:q4_0"), model("qwen35-tiny:q8_0"));
    let (experts, shared) = (model("gpt-oss-tiny:q8_0"), model("qwen35-moe-tiny:q8_0"));
    let types = [Activation::F32, Activation::F16];
    for tuning in [Tuning::CPU, Tuning::apple(7)] {
        for (file, ty) in types
            .map(|ty| (&file, ty))
            .into_iter()
            .chain([&recurrent, &experts, &shared].map(|file| (file, Activation::F32)))
        {
            let mut plan = load(tuning, file, ty);
            let mut results = |value: u8| {
                plan.truncate(0);
                // 0xff: NaN in f16 and f32, and invalid tokens and positions.
                fill(&plan, value);
                let prompt: Vec<u32> = (1..43).collect();
                plan.push(&prompt).unwrap();
                let (logits, mut tokens) = (plan.logits().unwrap(), Vec::new());
                plan.generate(12, &mut tokens).unwrap();
                (logits, tokens)
            };
            let expected = results(0);
            assert!(expected.0.iter().all(|logit| logit.is_finite()));
            assert_eq!(results(0xff), expected, "{ty}, {tuning:?}");
        }
    }
}

#[test]
#[cfg_attr(not(llvm), ignore = "kernels are compiled")]
fn recordings_have_few_barriers() {
    // Query and key norms are dispatches of their own, and matmuls of mixed formats are not fused.
    let plan = load(Tuning::CPU, &model("qwen3-tiny:q4_k_m"), Activation::F32);
    let layers = plan.parts.model.layers.len();
    for table in &plan.layers {
        let (dispatches, barriers) = (table.dispatch_count(), table.barrier_count());
        assert!(barriers + layers < dispatches, "{barriers} barriers for {dispatches} dispatches, {layers} layers");
        // Norm, QKV matmuls, RoPE, attention, output matmul; norm, gate and up matmuls, down matmul.
        assert!(barriers >= 7 * layers, "{barriers} barriers, {layers} layers");
    }
    for table in [&plan.logits, &plan.current().choose] {
        assert!((1..table.dispatch_count()).contains(&table.barrier_count()));
    }
    let [last, choose] = [plan.layers.last().unwrap(), &plan.current().choose];
    assert_eq!(plan.barriers_per_token(), last.barrier_count() + choose.barrier_count());
}

/// An archive with the pipelines of a model serves the tunings that it was compiled for, and any sampling.
#[test]
#[cfg(llvm)]
fn archives_have_all_pipelines_of_a_model() {
    let file = model("llama-tiny:q4_0");
    let tuning = Tuning::of_target(&CompileTarget::default());
    let cpu = || Device::cpu().expect("there is a CPU");
    let options = PlanOptions { context: Some(100), chunk: Some(32), ..PlanOptions::default() };
    let archive = BinaryArchive::new();
    let compiler = MetalDevice::with_tuning(cpu(), None, tuning).expect("the library is right");
    let pipelines = Plan::pipelines(&compiler, &file, &options).expect("the model is valid");
    compiler.compile(&pipelines, &archive, &CompileTarget::default()).expect("they compile");
    let entries = archive.len();
    assert!(entries >= pipelines.len() && pipelines.len() > 20, "{entries} for {}", pipelines.len());
    // An archive in memory takes all code that is compiled.
    let device = MetalDevice::with_tuning(cpu(), archive.clone(), tuning).expect("the library is right");
    let mut plan = Plan::load(&device, &file, &options, |_| ()).expect("it loads");
    plan.set_sampling(&Sampling { temperature: 0.7, top_k: Some(40), ..Sampling::GREEDY }).expect("it is valid");
    plan.set_sampling(&Sampling { repeat_penalty: 1.3, ..Sampling::GREEDY }).expect("it is valid");
    assert_eq!(archive.len(), entries);
}

#[test]
#[cfg_attr(not(llvm), ignore = "kernels are compiled")]
fn a_profile_counts_every_token_and_dispatch_once() {
    let mut plan = load(Tuning::CPU, &model("llama-tiny:q4_0"), Activation::F16);
    let prompt: Vec<u32> = (0..75).collect();
    let mut chosen = Vec::new();
    assert!(plan.take_profile().is_none(), "it is off at first");
    plan.set_profiling(true);
    plan.push(&prompt).unwrap();
    while plan.pending() > plan.chunk() {
        plan.evaluate_chunk().unwrap();
    }
    plan.generate(1, &mut chosen).unwrap();
    plan.generate(4, &mut chosen).unwrap();
    let profile = plan.take_profile().expect("it is on");
    assert_eq!((profile.prompt.tokens, profile.decode.tokens), (75, 4));
    assert_eq!(profile.decode.dispatches(), 4 * plan.dispatches_per_token());
    let chunks = profile.prompt.dispatches() - plan.current().choose.dispatch_count();
    assert_eq!(chunks % plan.layers[0].dispatch_count(), 0, "whole chunks of the prompt");
    let weights = plan.weight_memory().copied + plan.weight_memory().mapped;
    assert!(
        profile.decode.bytes() >= 3.0 * weights as f64,
        "a token reads the weights, all but rows of the embedding"
    );
    let next = plan.take_profile().expect("it is still on");
    assert!(next.prompt.is_empty() && next.decode.is_empty());
}

/// Loads a model in which every second layer sees 20 positions only.
fn load_windowed(file: &Gguf, context: usize, chunk: usize, sequences: usize) -> Plan {
    let archive = BinaryArchive::user_cache().expect("the cache can be found");
    let device = Device::system_default().expect("there is a device");
    let device = MetalDevice::with_device(device, archive).expect("the library is right");
    let mut model = Hyperparameters::read(file).expect("the model is valid");
    for layer in model.layers.iter_mut().step_by(2) {
        if let Mixer::Attention(attention) = &mut layer.mixer {
            attention.window = Some(20);
        }
    }
    let cache = CacheType::F32;
    let options =
        PlanOptions { context: Some(context), chunk: Some(chunk), cache, sequences, ..PlanOptions::default() };
    Plan::load_described(&device, file, model, &options, |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Compares logits with those of a plan whose caches have all positions.
fn assert_like_whole(what: &str, ring: &mut Plan, whole: &mut Plan) {
    whole.resume(&ring.tokens().unwrap()).unwrap();
    let (found, expected) = (ring.logits().unwrap(), whole.logits().unwrap());
    let largest = expected.iter().fold(0.0f32, |largest, logit| largest.max(logit.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= 2e-5 * largest, "{what}: {found}, not {expected}");
    }
}

#[test]
#[cfg_attr(not(llvm), ignore = "kernels are compiled")]
fn windows_bound_the_memory_of_caches() {
    let file = model("llama-tiny:f32");
    // A ring for 20 + 32 positions, rounded up; with chunks of 512 it would have the whole context.
    let (mut ring, mut whole) = (load_windowed(&file, 256, 32, 1), load_windowed(&file, 544, 512, 1));
    let layers = whole.parts.model.layers.len();
    let (all, windowed) = (whole.cache_bytes() / layers / 544 * 256, layers.div_ceil(2));
    assert_eq!(ring.cache_bytes(), all * (layers - windowed) + all * 64 / 256 * windowed);

    let tokens: Vec<u32> = (0..150).map(|i| i * 7 % 100).collect();
    ring.push(&tokens).unwrap();
    assert_like_whole("a prompt of several turns", &mut ring, &mut whole);
    let mut generated = Vec::new();
    ring.generate(40, &mut generated).unwrap();
    assert_like_whole("decoded tokens", &mut ring, &mut whole);
    // The ring has the positions from 127 on: the next token after 150 sees 131 and later ones.
    let written = ring.current().written;
    assert!((190..=198).contains(&written), "{written} positions were stored");
    assert_eq!((ring.reusable(170), ring.reusable(150), ring.reusable(140)), (170, 150, 0));
    assert_eq!(whole.reusable(140), 140);
    ring.truncate(170);
    assert_eq!(ring.pending(), 0);
    ring.push(&[5, 6, 7]).unwrap();
    assert_like_whole("after shortening a little", &mut ring, &mut whole);
    let other: Vec<u32> = tokens[..90].iter().copied().chain([1, 2, 3]).collect();
    ring.resume(&other).unwrap();
    assert_eq!(ring.pending(), 93, "nothing can be reused");
    assert_like_whole("another conversation", &mut ring, &mut whole);
    ring.truncate(60);
    assert_eq!(ring.pending(), 0, "after few positions all are still there");
    assert_like_whole("a prefix of it", &mut ring, &mut whole);
}

#[test]
#[cfg_attr(not(llvm), ignore = "kernels are compiled")]
fn windowed_sequences_share_steps() {
    let file = model("llama-tiny:f32");
    let (mut ring, mut whole) = (load_windowed(&file, 256, 32, 3), load_windowed(&file, 544, 512, 1));
    for (sequence, len) in [130usize, 10, 77].into_iter().enumerate() {
        ring.select(sequence).unwrap();
        ring.push(&(0..len).map(|i| (i * 11 + sequence) as u32 % 100).collect::<Vec<u32>>()).unwrap();
    }
    let mut tokens = vec![Vec::new(); 3];
    ring.generate_each(&[2, 0, 1], 30, &mut tokens).unwrap();
    for sequence in 0..3 {
        ring.select(sequence).unwrap();
        assert_like_whole(&format!("sequence {sequence}"), &mut ring, &mut whole);
    }
}

/// Prompts go through simdgroup matrices, tiles of several vectors or packed ones, single tokens through each expert.
#[test]
#[cfg_attr(not(llvm), ignore = "kernels are compiled")]
fn experts_have_the_same_logits_with_every_tuning() {
    // The second has an expert that all tokens use, too.
    for name in ["qwen3-moe-tiny:q8_0", "qwen2-moe-tiny:q8_0"] {
        experts_have_the_same_logits(&model(name));
    }
}

fn experts_have_the_same_logits(file: &Gguf) {
    let prompt: Vec<u32> = (1..41).collect();
    let logits = |tuning: Tuning| {
        let mut plan = load(tuning, file, Activation::F32);
        plan.push(&prompt).unwrap();
        let after_prompt = plan.logits().unwrap();
        plan.truncate(0);
        let mut single = Vec::new();
        for token in &prompt {
            plan.push(&[*token]).unwrap();
            single = plan.logits().unwrap();
        }
        [after_prompt, single]
    };
    let unpacked = Tuning { packs: false, ..Tuning::CPU };
    let [expected, _] = logits(unpacked);
    let size: f32 = expected.iter().map(|logit| logit * logit).sum();
    for (tuning, bound) in [(unpacked, 1e-9), (Tuning::apple(9), 1e-9), (Tuning::CPU, 1e-3)] {
        for found in logits(tuning) {
            let error: f32 = found.iter().zip(&expected).map(|(found, expected)| (found - expected).powi(2)).sum();
            assert!(error / size < bound, "{tuning:?}: {:e}", error / size);
        }
    }
}

#[test]
#[cfg_attr(not(llvm), ignore = "kernels are compiled")]
fn a_token_reads_the_experts_that_it_uses() {
    let mut plan = load(Tuning::CPU, &model("qwen3-moe-tiny:q8_0"), Activation::F32);
    plan.push(&[1]).unwrap();
    let mut chosen = Vec::new();
    plan.generate(1, &mut chosen).unwrap();
    plan.set_profiling(true);
    plan.generate(2, &mut chosen).unwrap();
    let profile = plan.take_profile().expect("it is on");
    let weights = (plan.weight_memory().copied + plan.weight_memory().mapped) as f64;
    // Three of eight experts in each of two layers: three matrices of 256 × 256 each, 34 bytes for 32 numbers.
    let unused = 2.0 * 5.0 * 3.0 * 256.0 * 256.0 * 34.0 / 32.0;
    let read = profile.decode.bytes() / 2.0;
    assert!(read < weights - 0.9 * unused, "{read} bytes of {weights}, of which {unused} belong to unused experts");
}
