//! The default model, compared with llama.cpp (`scripts/model-reference.py`). For texts and logits, llama.cpp ran with
//! the weights dequantized to F32, because it rounds activations to 8 bits for matmuls with quantized weights, which
//! changes logits by several percent. For perplexity, and for texts as far as that noise lets them agree, it ran the
//! quantized file.

#![allow(clippy::print_stderr, reason = "how near they are is worth reading")]

use crate::device;
use metalworks_inference::generate::{Session, perplexity};
use metalworks_inference::gguf::Gguf;
use metalworks_inference::models;
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::tokenizer::EncodeOptions;
use serde_json::Value;

const REFERENCE: &str = include_str!("../data/model/smollm2.json");
const TEXT: &str = include_str!("../data/model/text.txt");

/// Tolerance of logits relative to the largest: the order of sums differs, and the KV cache is f16.
const NOISE: f64 = 2e-3;

fn session(context: usize) -> Session {
    let path = models::default_model().unwrap_or_else(|error| panic!("{error}"));
    let file = Gguf::open(path).unwrap();
    let options = PlanOptions { context: Some(context), ..PlanOptions::default() };
    let plan = Plan::load(device(), &file, &options, |_| ()).unwrap();
    Session::new(plan, &file).unwrap()
}

fn tokens(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|token| token.as_u64().unwrap() as u32).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
#[ignore = "needs the default model: metalworks pull smollm2"]
fn greedy_texts_and_logits_match_llama_cpp() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let mut session = session(256);
    let (mut same, mut worst, mut differences) = (0, 0.0f64, Vec::new());
    let cases = reference["continuations"].as_array().unwrap();
    assert!(cases.len() >= 20);
    for case in cases {
        let text = case["prompt"].as_str().unwrap();
        let prompt = session.tokenizer().encode(text, EncodeOptions { add_special: false, parse_special: true });
        assert_eq!(prompt, tokens(&case["tokens"]), "{text:?}");
        let plan = session.plan();
        plan.resume(&prompt).unwrap();
        let logits = plan.logits().unwrap();
        let largest = case["largest"].as_f64().unwrap();
        for (token, expected) in case["logits"].as_object().unwrap() {
            let found = f64::from(logits[token.parse::<usize>().unwrap()]);
            let off = (found - expected.as_f64().unwrap()).abs() / largest;
            worst = worst.max(off);
        }
        let (expected, margins) = (tokens(&case["greedy"]), numbers(&case["margins"]));
        let mut found = Vec::new();
        plan.generate(expected.len(), &mut found).unwrap();
        match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
            None => same += 1,
            Some(at) => {
                differences.push((at, margins[at]));
                assert!(
                    margins[at] < NOISE,
                    "{text:?} differs at token {at}, where the best led by {}",
                    margins[at]
                );
            }
        }
    }
    let rounding = cases.iter().map(|case| case["rounding"].as_f64().unwrap()).fold(0.0, f64::max);
    eprintln!("{same} of {} texts are equal; the others differ at (token, margin): {differences:?}", cases.len());
    eprintln!("logits after prompts differ by at most {worst:.5} of the largest");
    eprintln!("(rounded activations change those of llama.cpp by {rounding:.5})");
    assert!(worst < NOISE, "logits differ by {worst} of the largest");
    assert!(same * 2 > cases.len(), "only {same} texts are the same");
}

#[test]
#[ignore = "needs the default model: metalworks pull smollm2"]
fn greedy_texts_differ_from_the_quantized_file_within_its_noise() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let mut session = session(256);
    let cases = reference["continuations"].as_array().unwrap();
    let rounding = cases.iter().map(|case| case["rounding"].as_f64().unwrap()).fold(0.0, f64::max);
    let (mut same, mut differences) = (0, Vec::new());
    for case in cases {
        let (expected, margins) = (tokens(&case["file"]["greedy"]), numbers(&case["file"]["margins"]));
        let plan = session.plan();
        plan.resume(&tokens(&case["tokens"])).unwrap();
        let mut found = Vec::new();
        plan.generate(expected.len(), &mut found).unwrap();
        match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
            None => same += 1,
            Some(at) => {
                // Half of the largest change by rounding, although both of the two best logits may change.
                let noise = 0.5 * rounding * case["largest"].as_f64().unwrap();
                differences.push(format!("{at}: {:.2} of {noise:.2}", margins[at]));
                assert!(margins[at] < noise, "{} differs at token {at} by {}", case["prompt"], margins[at]);
            }
        }
    }
    eprintln!("{same} of {} texts are equal; the others differ at (token: margin of noise)", cases.len());
    eprintln!("{}", differences.join(", "));
}

#[test]
#[ignore = "needs the default model: metalworks pull smollm2"]
fn perplexity_matches_llama_cpp() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let expected = &reference["perplexity"];
    let mut session = session(512);
    let text = session.tokenizer().encode(TEXT, EncodeOptions { add_special: true, parse_special: false });
    assert_eq!(text.len() as u64, expected["tokens"].as_u64().unwrap());
    let found = perplexity(session.plan(), &text, 512, None, |_, _| ()).unwrap();
    let value = expected["value"].as_f64().unwrap();
    eprintln!("perplexity {:.4}, llama.cpp's is {value:.4}", found.value);
    assert_eq!(found.tokens as u64, expected["predicted"].as_u64().unwrap());
    assert!((found.value / value - 1.0).abs() < 5e-3, "{} instead of {value}", found.value);
}

#[test]
#[ignore = "needs the default model: metalworks pull smollm2"]
fn prefill_matches_single_steps() {
    let mut at_once = session(256);
    let text = at_once.tokenizer().encode(TEXT, EncodeOptions::default());
    let path = models::default_model().unwrap();
    let options = PlanOptions { context: Some(256), chunk: Some(1), ..PlanOptions::default() };
    let mut in_steps = Plan::load(device(), &Gguf::open(path).unwrap(), &options, |_| ()).unwrap();
    for n in [1, 2, 31, 33, 200] {
        at_once.plan().truncate(0);
        at_once.plan().push(&text[..n]).unwrap();
        in_steps.resume(&text[..n]).unwrap();
        let (found, expected) = (at_once.plan().logits().unwrap(), in_steps.logits().unwrap());
        let expected: Vec<f64> = expected.into_iter().map(f64::from).collect();
        crate::assert_close(&format!("{n} tokens"), &found, &expected, 1e-3);
    }
}
