//! Writes the logits after each token of a pseudorandom text, to compare them with another program
//! (`scripts/llama-reference.py`).
//!
//! ```sh
//! cargo run -p metalworks-inference --example logits -- model.gguf 41 logits.f32
//! ```
//!
//! The output has a row of f32 for each token. Products are exact and the KV cache has f32: another program may round
//! otherwise.

use metalworks_inference::formats::Activation;
use metalworks_inference::gguf::Gguf;
use metalworks_inference::metal::MetalDevice;
use metalworks_inference::plan::{Plan, PlanOptions};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

/// Context of the plans, which selects the factors of LongRoPE.
const CONTEXT: usize = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, count, output] = &arguments[..] else { return Err("usage: logits MODEL TOKENS OUTPUT".into()) };
    let options = PlanOptions {
        context: Some(CONTEXT),
        packed: false,
        cache: Activation::F32.into(),
        ..PlanOptions::default()
    };
    let mut plan = Plan::load(&MetalDevice::system_default()?, &Gguf::open(model)?, &options, |_| {})?;
    let tokens = random_tokens(plan.hyperparameters().vocabulary, count.parse()?);
    plan.push(&tokens)?;
    let mut bytes = Vec::new();
    plan.logits_of_pending(0, |_, logits| bytes.extend(logits.iter().flat_map(|logit| logit.to_le_bytes())))?;
    BufWriter::new(File::create(output)?).write_all(&bytes)?;
    Ok(())
}

/// The tokens of `random_tokens` in the scripts.
fn random_tokens(vocabulary: usize, count: usize) -> Vec<u32> {
    let mut state = 1u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % vocabulary as u64) as u32
    };
    std::iter::repeat_with(next).take(count).collect()
}
