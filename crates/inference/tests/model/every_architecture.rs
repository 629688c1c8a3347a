//! Tiny models of every architecture: conversations in one plan, types of the KV cache, and prefixes that are used again.

use crate::plan::{EXACT, random_tokens};
use crate::{assert_close, device};
use metalworks_inference::formats::CacheType;
use metalworks_inference::gguf::Gguf;
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::synthetic::SyntheticModel;

/// Cache types, and how much rounding may differ between a batch and a single sequence.
const CACHES: [(CacheType, f64); 4] =
    [(CacheType::F32, 5e-5), (CacheType::F16, 2e-3), (CacheType::Q8_0, 5e-2), (CacheType::Q4_0, 0.5)];

fn load(name: &str, file: &Gguf, options: &PlanOptions) -> Plan {
    Plan::load(device(), file, options, |_| ()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Logits of a conversation whose last token is evaluated alone, as in a step of several conversations.
fn single(plan: &mut Plan, prompt: &[u32]) -> Vec<f64> {
    let (last, start) = prompt.split_last().expect("a prompt has tokens");
    plan.truncate(0);
    plan.push(start).unwrap();
    while plan.evaluate_chunk().unwrap() > 0 {}
    plan.push(&[*last]).unwrap();
    plan.logits().unwrap().into_iter().map(f64::from).collect()
}

fn check(name: &str) {
    let model: SyntheticModel = format!("{name}:f32").parse().expect("the name is valid");
    let file = model.open().expect("the model is valid");
    // Longer and shorter than the windows, which have 16 positions.
    let prompts: Vec<Vec<u32>> =
        [40, 3, 21].iter().enumerate().map(|(seed, &len)| random_tokens(384, len, seed as u64)).collect();
    for (cache, tolerance) in CACHES {
        let mut one = load(name, &file, &PlanOptions { cache, ..EXACT });
        let expected: Vec<Vec<f64>> = prompts.iter().map(|prompt| single(&mut one, prompt)).collect();
        let mut several = load(name, &file, &PlanOptions { cache, sequences: 3, ..EXACT });
        for (sequence, prompt) in prompts.iter().enumerate() {
            several.select(sequence).unwrap();
            several.push(prompt).unwrap();
        }
        let logits = several.logits_of_each(&[2, 0, 1]).unwrap();
        for (sequence, logits) in [2, 0, 1].into_iter().zip(&logits) {
            assert_close(&format!("{name}, {cache}, sequence {sequence}"), logits, &expected[sequence], tolerance);
        }
        // Another turn after the same beginning.
        let turn = [&prompts[0][..30], &prompts[1]].concat();
        let fresh = single(&mut one, &turn);
        single(&mut one, &prompts[0]);
        one.resume(&turn).unwrap();
        let again = one.logits().unwrap();
        assert_close(&format!("{name}, {cache}, after a prefix"), &again, &fresh, tolerance);
    }
}

fn tiny_shapes() -> impl Iterator<Item = &'static str> {
    SyntheticModel::shapes().into_iter().filter(|name| name.ends_with("-tiny"))
}

/// A few; `make models` runs all.
#[test]
fn some_architectures_serve_conversations_with_every_cache() {
    tiny_shapes().step_by(29).for_each(check);
}

#[test]
#[ignore = "takes a minute: make models"]
fn all_architectures_serve_conversations_with_every_cache() {
    tiny_shapes().for_each(check);
}
