//! Texts end when they should.

use crate::load;
use crate::plan::{EXACT, random_tokens};
use crate::tiny::{Shape, Tiny};
use inference::generate::{Request, StopReason, generate};
use inference::plan::{Plan, PlanOptions};
use std::sync::atomic::AtomicBool;

fn model() -> Tiny {
    Tiny::new(&Shape { layers: 1, ..Shape::new("llama") }, 31)
}

fn run(plan: &mut Plan, request: Request<'_>) -> (Vec<u32>, StopReason) {
    let mut tokens = Vec::new();
    let result = generate(plan, &request, |token| tokens.push(token)).unwrap();
    assert_eq!(result.tokens, tokens.len());
    (tokens, result.stop)
}

#[test]
fn a_text_ends() {
    let model = model();
    let prompt = random_tokens(model.shape.vocabulary, 40, 9);
    let mut plan = load(&model, &EXACT);
    let never = |_| false;
    let go_on = AtomicBool::new(false);
    let request =
        Request { max_tokens: Some(20), steps: 4, context_shift: false, is_end: &never, cancelled: &go_on };
    plan.push(&prompt).unwrap();
    let (all, stop) = run(&mut plan, request);
    assert_eq!((all.len(), stop, plan.len()), (20, StopReason::MaxTokens, 60));

    // By a token that says so, which is not a part of it, wherever it is in a command buffer.
    let end = all[7];
    let before = all.iter().position(|&token| token == end).unwrap();
    for steps in [1, 4, 30] {
        plan.resume(&prompt).unwrap();
        let is_end = |token| token == end;
        let (text, stop) = run(&mut plan, Request { steps, is_end: &is_end, ..request });
        assert_eq!((text.as_slice(), stop, plan.len()), (&all[..before], StopReason::End, 40 + before));
    }

    // It goes on where it was.
    let tokens = [&prompt[..], &all[..before]].concat();
    plan.resume(&tokens).unwrap();
    let (rest, _) = run(&mut plan, Request { max_tokens: Some(20 - before), ..request });
    assert_eq!(rest, all[before..]);

    let cancelled = AtomicBool::new(true);
    plan.resume(&prompt).unwrap();
    let (text, stop) = run(&mut plan, Request { cancelled: &cancelled, ..request });
    assert_eq!((text.len(), stop), (0, StopReason::Cancelled));
    let (text, stop) = run(&mut plan, Request { max_tokens: Some(0), ..request });
    assert_eq!((text.len(), stop), (0, StopReason::MaxTokens));
}

#[test]
fn a_full_context_ends_the_text_or_is_shifted() {
    let model = model();
    let prompt = random_tokens(model.shape.vocabulary, 30, 10);
    let mut plan = load(&model, &PlanOptions { context: Some(50), ..EXACT });
    let never = |_| false;
    let go_on = AtomicBool::new(false);
    let request =
        Request { max_tokens: Some(60), steps: 7, context_shift: false, is_end: &never, cancelled: &go_on };
    plan.push(&prompt).unwrap();
    let (text, stop) = run(&mut plan, request);
    assert_eq!((text.len(), stop), (20, StopReason::ContextFull));

    plan.resume(&prompt).unwrap();
    let (longer, stop) = run(&mut plan, Request { context_shift: true, ..request });
    assert_eq!((longer.len(), stop), (60, StopReason::MaxTokens));
    assert_eq!(longer[..20], text);
    // From there on it is as if the text began with its newer half.
    let half: Vec<u32> = prompt.iter().chain(&text).copied().skip(25).collect();
    plan.truncate(0);
    plan.push(&half).unwrap();
    let (rest, _) = run(&mut plan, Request { max_tokens: Some(20), ..request });
    assert_eq!(rest, longer[20..40]);
}
