//! Types of the KV cache, and the prefix that conversations share.

use crate::plan::{EXACT, random_tokens};
use crate::tiny::{TinyModel, TinyShape};
use crate::{assert_close, load, reference};
use metalworks_inference::formats::CacheType;
use metalworks_inference::generate::{TokenRequest, generate};
use metalworks_inference::plan::{Plan, PlanOptions};
use std::sync::atomic::AtomicBool;

#[test]
fn quantized_caches_are_close_to_f32() {
    let mut errors = Vec::new();
    // From the most precise on.
    for (cache, tolerance) in [
        (CacheType::F32, 2e-5),
        (CacheType::F16, 2e-3),
        (CacheType::Q8_0_F16, 2e-2),
        (CacheType::Q8_0, 2e-2),
        (CacheType::Q8_0_Q4_0, 0.4),
        (CacheType::Q4_0, 0.4),
    ] {
        let mut squares = 0.0;
        for architecture in ["llama", "qwen3"] {
            let shape = TinyShape { head_dim: 64, ..TinyShape::new(architecture) };
            let model = TinyModel::new(&shape, 51);
            let tokens = random_tokens(shape.vocabulary, 70, 8);
            let expected = reference::logits(&model, &tokens);
            let mut plan = load(&model, &PlanOptions { cache, ..EXACT });
            assert_eq!(plan.cache_type(), cache);
            let bytes = cache.bytes(3 * 2 * 64 * 256).map(|[keys, values]| keys + values);
            assert_eq!(Some(plan.cache_bytes()), bytes);
            // A prompt in chunks, then single tokens.
            plan.push(&tokens[..60]).unwrap();
            for len in 60..70 {
                let (logits, expected) = (plan.logits().unwrap(), &expected[len - 1]);
                assert_close(&format!("{architecture}, {cache}, {len} tokens"), &logits, expected, tolerance);
                let power: f64 = expected.iter().map(|logit| logit * logit).sum();
                let error = logits.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum::<f64>();
                squares += error / power;
                plan.push(&tokens[len..=len]).unwrap();
            }
        }
        errors.push(squares);
    }
    assert!(errors.is_sorted(), "{errors:?}");
    assert!(errors[3] < 1e-2 * errors[5], "a step of q4_0 is 16 times one of q8_0: {errors:?}");
}

#[test]
fn heads_that_are_not_whole_blocks_are_refused() {
    let shape = TinyShape { head_dim: 40, layers: 1, ..TinyShape::new("llama") };
    let model = TinyModel::new(&shape, 52);
    let options = PlanOptions { cache: CacheType::Q8_0, ..EXACT };
    let refused = Plan::load(crate::device(), &model.file, &options, |_| ()).unwrap_err().to_string();
    assert_eq!(refused, "a KV cache in q8_0 has blocks of 32 numbers, but the heads have 40");
}

#[test]
fn turns_reuse_the_common_prefix() {
    let model = TinyModel::new(&TinyShape { layers: 1, ..TinyShape::new("llama") }, 53);
    let mut plan = load(&model, &EXACT);
    let cancelled = AtomicBool::new(false);
    let request = TokenRequest {
        max_tokens: Some(4),
        steps: 2,
        context_shift: false,
        is_end: &|_| false,
        cancelled: &cancelled,
    };
    let mut turn = |tokens: &[u32]| {
        plan.resume(tokens).unwrap();
        let generated = generate(&mut plan, &request, |_| ()).unwrap();
        (generated.reused_tokens, generated.prompt_tokens, plan.tokens().unwrap())
    };
    let prompt = random_tokens(model.shape.vocabulary, 20, 1);
    let (reused, evaluated, text) = turn(&prompt);
    assert_eq!((reused, evaluated), (0, 20));
    // The next message follows the answer, whose last token is not in the cache yet.
    let next: Vec<u32> = text.iter().copied().chain([3, 4, 5]).collect();
    let (reused, evaluated, _) = turn(&next);
    assert_eq!((reused, evaluated), (23, 4));
    // The same question once more: its last token is evaluated again, for its logits.
    let (reused, evaluated, again) = turn(&prompt);
    assert_eq!((reused, evaluated), (19, 1));
    assert_eq!(again, text);
    let (reused, evaluated, _) = turn(&[&prompt[..7], &[1, 2]].concat());
    assert!(reused >= 7 && reused + evaluated == 9, "{reused} reused");
}
