//! Stop conditions of generation.

use crate::load;
use crate::plan::{EXACT, random_tokens};
use crate::tiny::{self, TinyModel, TinyShape};
use metalworks_inference::formats::Format;
use metalworks_inference::generate::{StopReason, TokenRequest, generate};
use metalworks_inference::plan::{Plan, PlanOptions};
use std::sync::atomic::AtomicBool;

fn model() -> TinyModel {
    TinyModel::new(&TinyShape { layers: 1, ..TinyShape::new("llama") }, 31)
}

fn run(plan: &mut Plan, request: TokenRequest<'_>) -> (Vec<u32>, StopReason) {
    let mut tokens = Vec::new();
    let result = generate(plan, &request, |token| tokens.push(token)).unwrap();
    assert_eq!(result.tokens, tokens.len());
    (tokens, result.stop)
}

#[test]
fn weights_that_are_not_numbers_are_an_error() {
    let shape = TinyShape { layers: 1, format: Format::F32, ..TinyShape::new("llama") };
    let mut tensors = tiny::tensors(&shape, 31);
    for (_, _, _, bytes) in &mut tensors {
        bytes.fill(0xff);
    }
    let model = TinyModel { file: tiny::file(tiny::keys(&shape), &tensors), numbers: Default::default(), shape };
    let mut plan = load(&model, &EXACT);
    plan.push(&[1, 2, 3]).unwrap();
    let cancelled = AtomicBool::new(false);
    let request = TokenRequest {
        max_tokens: Some(8),
        steps: 4,
        context_shift: false,
        is_end: &|_| false,
        cancelled: &cancelled,
    };
    let error = generate(&mut plan, &request, |_| {}).unwrap_err().to_string();
    assert!(error.starts_with("all logits are NaN"), "{error}");
}

#[test]
fn generation_stops_at_limits_end_tokens_and_cancellation() {
    let model = model();
    let prompt = random_tokens(model.shape.vocabulary, 40, 9);
    let mut plan = load(&model, &EXACT);
    let never = |_| false;
    let go_on = AtomicBool::new(false);
    let request =
        TokenRequest { max_tokens: Some(20), steps: 4, context_shift: false, is_end: &never, cancelled: &go_on };
    plan.push(&prompt).unwrap();
    let (all, stop) = run(&mut plan, request);
    assert_eq!((all.len(), stop, plan.len()), (20, StopReason::MaxTokens, 60));

    // At an end token, which is not part of the text, at any step of a command buffer.
    let end = all[7];
    let before = all.iter().position(|&token| token == end).unwrap();
    for steps in [1, 4, 30] {
        plan.resume(&prompt).unwrap();
        let is_end = |token| token == end;
        let (text, stop) = run(&mut plan, TokenRequest { steps, is_end: &is_end, ..request });
        assert_eq!((text.as_slice(), stop, plan.len()), (&all[..before], StopReason::End, 40 + before));
    }

    // Continues from there.
    let tokens = [&prompt[..], &all[..before]].concat();
    plan.resume(&tokens).unwrap();
    let (rest, _) = run(&mut plan, TokenRequest { max_tokens: Some(20 - before), ..request });
    assert_eq!(rest, all[before..]);

    let cancelled = AtomicBool::new(true);
    plan.resume(&prompt).unwrap();
    let (text, stop) = run(&mut plan, TokenRequest { cancelled: &cancelled, ..request });
    assert_eq!((text.len(), stop), (0, StopReason::Cancelled));
    let (text, stop) = run(&mut plan, TokenRequest { max_tokens: Some(0), ..request });
    assert_eq!((text.len(), stop), (0, StopReason::MaxTokens));
}

#[test]
fn a_full_context_stops_or_shifts() {
    let model = model();
    let prompt = random_tokens(model.shape.vocabulary, 30, 10);
    let mut plan = load(&model, &PlanOptions { context: Some(50), ..EXACT });
    let never = |_| false;
    let go_on = AtomicBool::new(false);
    let request =
        TokenRequest { max_tokens: Some(60), steps: 7, context_shift: false, is_end: &never, cancelled: &go_on };
    plan.push(&prompt).unwrap();
    let (text, stop) = run(&mut plan, request);
    assert_eq!((text.len(), stop), (20, StopReason::ContextFull));

    plan.resume(&prompt).unwrap();
    let (longer, stop) = run(&mut plan, TokenRequest { context_shift: true, ..request });
    assert_eq!((longer.len(), stop), (60, StopReason::MaxTokens));
    assert_eq!(longer[..20], text);
    // After the shift, the text continues as if it began with its newer half.
    let half: Vec<u32> = prompt.iter().chain(&text).copied().skip(25).collect();
    plan.truncate(0);
    plan.push(&half).unwrap();
    let (rest, _) = run(&mut plan, TokenRequest { max_tokens: Some(20), ..request });
    assert_eq!(rest, longer[20..40]);
}
