//! Sampling on the device.

use crate::plan::{EXACT, random_tokens};
use crate::tiny::{TinyModel, TinyShape};
use crate::{load, reference};
use metalworks_inference::generate::Sampling;
use metalworks_inference::plan::{Plan, PlanOptions};

fn best(logits: &[f64]) -> u32 {
    let better = |best: usize, index: usize| if logits[index] > logits[best] { index } else { best };
    (0..logits.len()).fold(0, better) as u32
}

fn generate(plan: &mut Plan, prompt: &[u32], count: usize, steps: usize) -> Vec<u32> {
    plan.truncate(0);
    plan.push(prompt).unwrap();
    let mut tokens = Vec::new();
    while tokens.len() < count {
        plan.generate(steps.min(count - tokens.len()), &mut tokens).unwrap();
    }
    tokens
}

#[test]
fn greedy_decoding_matches_the_reference_for_any_number_of_steps() {
    let model = TinyModel::new(&TinyShape::new("llama"), 11);
    let prompt = random_tokens(model.shape.vocabulary, 13, 1);
    let mut expected = prompt.clone();
    for _ in 0..12 {
        let logits = reference::logits(&model, &expected);
        expected.push(best(logits.last().unwrap()));
    }
    let mut plan = load(&model, &EXACT);
    for steps in [1, 4, 12] {
        assert_eq!(generate(&mut plan, &prompt, 12, steps), expected[13..], "{steps} steps at a time");
        assert_eq!(plan.tokens().unwrap(), expected);
        assert_eq!(plan.pending(), 1, "the last token is sampled but not evaluated");
    }
}

#[test]
fn penalties_prevent_repetition() {
    let model = TinyModel::new(&TinyShape::new("llama"), 12);
    let prompt = random_tokens(model.shape.vocabulary, 5, 2);
    // This penalty excludes every recent token.
    let sampling = Sampling { presence_penalty: 1000.0, repeat_last: 20, ..Sampling::GREEDY };
    let mut plan = load(&model, &PlanOptions { sampling, ..EXACT });
    let tokens: Vec<u32> = prompt.iter().copied().chain(generate(&mut plan, &prompt, 40, 8)).collect();
    for (position, token) in tokens.iter().enumerate().skip(5) {
        let recent = &tokens[position.saturating_sub(20)..position];
        assert!(!recent.contains(token), "{token} at {position} is one of {recent:?}");
    }
    let again = generate(&mut plan, &prompt, 40, 3);
    assert_eq!(tokens[5..], again);
}

#[test]
fn a_seed_determines_the_text() {
    let model = TinyModel::new(&TinyShape::new("llama"), 13);
    let prompt = random_tokens(model.shape.vocabulary, 9, 3);
    let sampling = |seed| Sampling {
        temperature: 1.5,
        top_k: Some(40),
        top_p: 0.95,
        min_p: 0.01,
        repeat_penalty: 1.1,
        seed,
        ..Sampling::GREEDY
    };
    let mut plan = load(&model, &PlanOptions { sampling: sampling(1), ..EXACT });
    let text = generate(&mut plan, &prompt, 40, 1);
    assert_eq!(generate(&mut plan, &prompt, 40, 8), text, "8 steps at a time");
    plan.set_sampling(&sampling(2)).unwrap();
    assert_ne!(generate(&mut plan, &prompt, 40, 8), text, "another seed");
    plan.set_sampling(&sampling(1)).unwrap();
    assert_eq!(generate(&mut plan, &prompt, 40, 8), text);
    // One candidate is greedy decoding.
    plan.set_sampling(&Sampling { top_k: Some(1), repeat_penalty: 1.0, ..sampling(3) }).unwrap();
    let one = generate(&mut plan, &prompt, 10, 5);
    plan.set_sampling(&Sampling::GREEDY).unwrap();
    assert_eq!(generate(&mut plan, &prompt, 10, 5), one);
}

#[test]
fn samples_follow_the_softmax_of_the_logits() {
    let model = TinyModel::new(&TinyShape { layers: 1, vocabulary: 5, ..TinyShape::new("llama") }, 14);
    let prompt = [0, 1, 2];
    let logits = reference::logits(&model, &prompt).pop().unwrap();
    let weights: Vec<f64> = logits.iter().map(|logit| logit.exp()).collect();
    let sampling = Sampling { temperature: 1.0, ..Sampling::GREEDY };
    let mut plan = load(&model, &PlanOptions { sampling, ..EXACT });
    let mut counts = [0usize; 5];
    let draws = 2000;
    for seed in 0..draws {
        plan.set_sampling(&Sampling { seed, ..sampling }).unwrap();
        counts[generate(&mut plan, &prompt, 1, 1)[0] as usize] += 1;
    }
    for (token, &count) in counts.iter().enumerate() {
        let probability = weights[token] / weights.iter().sum::<f64>();
        let expected = probability * draws as f64;
        let deviation = (expected * (1.0 - probability)).sqrt();
        let off = (count as f64 - expected).abs();
        assert!(off <= 5.0 * deviation + 1.0, "token {token}: {count} of {draws}, expected {expected:.0}");
    }
}
