//! Several sequences in one plan.

use crate::plan::{EXACT, random_tokens};
use crate::tiny::{TinyModel, TinyShape};
use crate::{assert_close, device_with, load, load_on, reference};
use metalworks_inference::formats::CacheType;
use metalworks_inference::generate::Sampling;
use metalworks_inference::metal::Tuning;
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::synthetic::SyntheticModel;

const SEVERAL: PlanOptions = PlanOptions { sequences: 4, ..EXACT };

/// Makes a sequence of a prompt, all but the last token of which is evaluated, as for several sequences.
fn start(plan: &mut Plan, prompt: &[u32]) {
    plan.truncate(0);
    plan.push(&prompt[..prompt.len() - 1]).unwrap();
    while plan.evaluate_chunk().unwrap() > 0 {}
    plan.push(&prompt[prompt.len() - 1..]).unwrap();
}

/// Prompts of different lengths.
fn prompts(vocabulary: usize) -> Vec<Vec<u32>> {
    [40, 3, 71, 1].iter().enumerate().map(|(seed, &len)| random_tokens(vocabulary, len, seed as u64)).collect()
}

#[test]
fn four_conversations_equal_single_ones() {
    let model = TinyModel::new(&TinyShape::new("llama"), 41);
    let prompts = prompts(model.shape.vocabulary);
    let hot = Sampling { temperature: 1.5, top_k: Some(20), repeat_penalty: 1.1, seed: 9, ..Sampling::GREEDY };
    let samplings = [Sampling::GREEDY, hot, Sampling { seed: 10, ..hot }, Sampling { top_k: None, ..hot }];
    for sampled in [false, true] {
        let sampling = |sequence: usize| if sampled { samplings[sequence] } else { Sampling::GREEDY };
        let single: Vec<Vec<u32>> = (0..4)
            .map(|sequence| {
                let mut plan = load(&model, &PlanOptions { sampling: sampling(sequence), ..EXACT });
                start(&mut plan, &prompts[sequence]);
                let mut tokens = Vec::new();
                plan.generate(24, &mut tokens).unwrap();
                tokens
            })
            .collect();

        let mut plan = load(&model, &SEVERAL);
        for (sequence, prompt) in prompts.iter().enumerate() {
            assert_eq!(plan.free_sequence(), Some(sequence));
            plan.select(sequence).unwrap();
            plan.set_sampling(&sampling(sequence)).unwrap();
            plan.push(prompt).unwrap();
        }
        assert_eq!(plan.free_sequence(), None);
        let mut tokens = vec![Vec::new(); 4];
        plan.generate_each(&[0, 1, 2, 3], 10, &mut tokens).unwrap();
        // One leaves, and its place is taken by another conversation later on.
        let mut three = [3, 0, 1].map(|sequence: usize| tokens[sequence].clone());
        plan.generate_each(&[3, 0, 1], 7, &mut three).unwrap();
        let mut left = tokens[2].clone();
        [tokens[3], tokens[0], tokens[1]] = three;
        plan.select(2).unwrap();
        plan.generate(7, &mut left).unwrap();
        plan.truncate(0);
        assert_eq!(plan.free_sequence(), Some(2));
        plan.push(&prompts[2]).unwrap();
        tokens[2].clear();
        plan.generate_each(&[2], 10, &mut tokens[2..3]).unwrap();
        plan.generate_each(&[2], 7, &mut tokens[2..3]).unwrap();
        assert_eq!(tokens[2], left, "the same conversation in an old place");
        plan.generate_each(&[2, 1, 0, 3], 7, &mut {
            let [zero, one, two, three] = <[Vec<u32>; 4]>::try_from(std::mem::take(&mut tokens)).unwrap();
            vec![two, one, zero, three]
        })
        .unwrap();
        assert_eq!(plan.lengths(), [64, 27, 95, 25]);
        for (sequence, expected) in single.iter().enumerate() {
            plan.select(sequence).unwrap();
            let text = plan.tokens().unwrap();
            assert_eq!(text[prompts[sequence].len()..], *expected, "sequence {sequence}, sampled {sampled}");
        }
    }
}

#[test]
fn logits_of_several_sequences_match_the_reference() {
    for (architecture, seed) in [("llama", 42), ("qwen3", 43)] {
        let model = TinyModel::new(&TinyShape::new(architecture), seed);
        let prompts = prompts(model.shape.vocabulary);
        let expected: Vec<Vec<f64>> =
            prompts.iter().map(|prompt| reference::logits(&model, prompt).pop().unwrap()).collect();
        let dividing = Tuning {
            attention: metalworks_inference::metal::AttentionTuning {
                whole: 16,
                simdgroups: 64,
                ..Tuning::CPU.attention
            },
            ..Tuning::CPU
        };
        for tuning in [*crate::device().tuning(), Tuning::apple(7), dividing] {
            let device = device_with(tuning);
            let mut plan = load_on(&device, &model, &SEVERAL);
            for (sequence, prompt) in prompts.iter().enumerate() {
                plan.select(sequence).unwrap();
                plan.push(prompt).unwrap();
            }
            for order in [vec![0, 1, 2, 3], vec![3, 1], vec![2], vec![2, 3, 0]] {
                let logits = plan.logits_of_each(&order).unwrap();
                for (&sequence, logits) in order.iter().zip(&logits) {
                    let what = format!("{architecture}, sequence {sequence} of {order:?}, {tuning:?}");
                    assert_close(&what, logits, &expected[sequence], 2e-5);
                }
            }
            let stats = device.stats();
            assert_eq!((stats.late_misses, stats.failures), (0, 0), "{stats}");
        }
    }
}

#[test]
fn every_cache_type_serves_several_sequences() {
    let model = TinyModel::new(&TinyShape::new("llama"), 44);
    let prompts = prompts(model.shape.vocabulary);
    // Products of several vectors add in another order, and then some keys are rounded to the next step.
    for (cache, tolerance) in CacheType::ALL.into_iter().zip([1e-5, 2e-4, 2e-2, 0.2, 2e-2, 0.2, 2e-2, 0.2]) {
        let mut single = load(&model, &PlanOptions { cache, ..EXACT });
        let mut plan = load(&model, &PlanOptions { cache, ..SEVERAL });
        assert_eq!(plan.cache_bytes(), 4 * single.cache_bytes());
        for (sequence, prompt) in prompts.iter().enumerate() {
            plan.select(sequence).unwrap();
            plan.push(prompt).unwrap();
        }
        let logits = plan.logits_of_each(&[0, 1, 2, 3]).unwrap();
        for (prompt, logits) in prompts.iter().zip(&logits) {
            start(&mut single, prompt);
            let expected: Vec<f64> = single.logits().unwrap().into_iter().map(f64::from).collect();
            assert_close(&format!("{cache}, {} tokens", prompt.len()), logits, &expected, tolerance);
        }
    }
}

#[test]
fn wrong_sequences_are_refused() {
    let model = TinyModel::new(&TinyShape { layers: 1, ..TinyShape::new("llama") }, 45);
    let mut plan = load(&model, &SEVERAL);
    let message = |result: metalworks_inference::Result<()>| result.unwrap_err().to_string();
    assert_eq!(message(plan.select(4)), "there is no sequence 4: the plan has 0 to 3");
    plan.push(&[1, 2, 3]).unwrap();
    let mut tokens = vec![Vec::new(); 2];
    let twice = plan.generate_each(&[0, 0], 1, &mut tokens);
    assert_eq!(message(twice), "sequence 0 is there twice");
    let empty = plan.generate_each(&[0, 1], 1, &mut tokens);
    assert_eq!(message(empty), "sequence 1 is empty: push at least one token first");
    assert_eq!(message(plan.generate_each(&[0], 1, &mut tokens)), "2 lists of tokens for 1 sequences");
    let full = plan.generate_each(&[0], 254, &mut tokens[..1]);
    assert!(message(full).starts_with("the context of 256 tokens is too small: sequence 0 has 3, and 254 more"));
    plan.generate_each(&[], 5, &mut []).unwrap();
    assert_eq!((plan.lengths(), plan.selected()), (vec![3, 0, 0, 0], 0));
    let mut one = load(&model, &EXACT);
    one.push(&[1]).unwrap();
    let message = message(one.generate_each(&[0], 1, &mut tokens[..1]));
    assert!(message.starts_with("the plan has one sequence"), "{message}");
    let none = Plan::load(crate::device(), &model.file, &PlanOptions { sequences: 0, ..EXACT }, |_| ());
    assert_eq!(none.unwrap_err().to_string(), "the plan has 0 sequences: it must have 1 or more");
}

/// Mixtures of experts choose others for each row, and recurrent layers have a state for each sequence.
#[test]
fn experts_and_recurrent_layers_share_steps() {
    for name in ["qwen3-moe-tiny:f32", "qwen35-tiny:f32"] {
        let file = name.parse::<SyntheticModel>().expect("it is known").open().expect("it is valid");
        let plan = |options: &PlanOptions| Plan::load(crate::device(), &file, options, |_| ()).unwrap();
        // More rows than a chunk has.
        let mut several = plan(&PlanOptions { chunk: Some(1), sequences: 3, ..EXACT });
        let mut single = plan(&EXACT);
        let prompts = &prompts(single.hyperparameters().vocabulary)[..3];
        for (sequence, prompt) in prompts.iter().enumerate() {
            several.select(sequence).unwrap();
            several.push(prompt).unwrap();
        }
        let logits = several.logits_of_each(&[0, 1, 2]).unwrap();
        for (prompt, logits) in prompts.iter().zip(&logits) {
            start(&mut single, prompt);
            let expected: Vec<f64> = single.logits().unwrap().into_iter().map(f64::from).collect();
            assert_close(&format!("{name}, {} tokens", prompt.len()), logits, &expected, 2e-5);
        }
    }
}
