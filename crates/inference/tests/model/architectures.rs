//! Architectures other than Llama's with every tuning, and with packed activations: the same logits as with the default
//! tuning, which `tests/transformers.rs` compares with transformers.

use crate::plan::{EXACT, random_tokens};
use crate::{assert_close, device, device_with};
use metalworks_inference::metal::{MetalDevice, Tuning};
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::synthetic::SyntheticModel;

/// Length of the text, and of the part that is a prompt. Windows have 16 positions.
const TOKENS: usize = 44;
const PROMPT: usize = 40;

/// Logits after the prompt, and after the last of the tokens, which follow one by one.
fn logits(device: &MetalDevice, name: &str, options: &PlanOptions) -> [Vec<f32>; 2] {
    let model: SyntheticModel = name.parse().expect("the name is valid");
    let file = model.open().expect("the model is valid");
    let mut plan = Plan::load(device, &file, options, |_| ()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let tokens = random_tokens(384, TOKENS, 3);
    plan.push(&tokens[..PROMPT]).unwrap();
    let prompt = plan.logits().unwrap();
    let mut last = Vec::new();
    for token in &tokens[PROMPT..] {
        plan.push(&[*token]).unwrap();
        last = plan.logits().unwrap();
    }
    [prompt, last]
}

fn check(names: &[&str]) {
    let packed = PlanOptions { packed: true, ..EXACT };
    for name in names {
        let expected = logits(device(), name, &EXACT).map(|row| row.into_iter().map(f64::from).collect::<Vec<_>>());
        // The norms after blocks and the gate's function are other kernels for products of many vectors.
        for tuning in [Tuning::CPU, Tuning::apple(9), Tuning::nvidia(132)] {
            let device = device_with(tuning);
            for (options, tolerance) in [(&EXACT, 5e-5), (&packed, 5e-2)] {
                let found = logits(&device, name, options);
                for (found, expected) in found.iter().zip(&expected) {
                    let what = format!("{name}, packed: {}, {tuning:?}", options.packed);
                    assert_close(&what, found, expected, tolerance);
                }
            }
        }
    }
}

#[test]
fn norms_around_and_after_blocks_and_parallel_blocks_run_with_every_tuning() {
    check(&["gemma2-tiny:q4_0", "olmo2-tiny:q4_0", "command-r-tiny:q4_0"]);
}

#[test]
fn networks_without_gates_run_with_every_tuning() {
    check(&["starcoder2-tiny:q4_0"]);
}

#[test]
#[ignore = "takes a minute: make models"]
fn all_architectures_run_with_every_tuning() {
    check(&[
        "mistral-tiny:q8_0",
        "gemma-tiny:q8_0",
        "gemma3-tiny:q8_0",
        "phi3-tiny:q8_0",
        "smollm3-tiny:q8_0",
        "granite-tiny:q8_0",
        "glm4-tiny:q8_0",
        "cohere2-tiny:q8_0",
        "nemotron-tiny:q8_0",
        "chatglm-tiny:q8_0",
        "hunyuan-tiny:q8_0",
        "glm4-moe-tiny:q8_0",
        "deepseek-tiny:q8_0",
    ]);
}
