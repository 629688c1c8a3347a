//! Loads a model and continues a text, or answers where the model has a chat template.
//!
//! ```sh
//! cargo run --release -p metalworks-inference --example generate -- model.gguf 'What is the capital of France?'
//! ```
//!
//! Without a file, the model is a tiny one with random weights, whose text has no meaning.
#![allow(clippy::print_stdout, reason = "an example prints")]

use metalworks_inference::chat::Message;
use metalworks_inference::generate::{Session, TextRequest};
use metalworks_inference::gguf::Gguf;
use metalworks_inference::metal::MetalDevice;
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::synthetic::SyntheticModel;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = match arguments.next() {
        Some(path) => Gguf::open(path)?,
        None => "llama-tiny:q8_0".parse::<SyntheticModel>()?.open()?,
    };
    let prompt = arguments.next().unwrap_or_else(|| "Once upon a time".into());

    let device = MetalDevice::system_default()?;
    // The first load compiles kernels; they are cached for the next process.
    let plan = Plan::load(&device, &model, &PlanOptions::default(), |_| {})?;
    let mut session = Session::new(plan, &model)?;

    // Set it from another thread to stop.
    let cancelled = AtomicBool::new(false);
    let mut request = TextRequest::new(&cancelled);
    request.max_tokens = Some(32);
    let print = |text: &str| {
        print!("{text}");
        // A closed stdout is not an error of the model.
        let _ = std::io::stdout().flush();
    };
    let generated = match session.check_chat() {
        Ok(()) => session.answer(&[Message::new("user", &prompt)], &request, print)?,
        Err(_) => session.complete(&prompt, &request, print)?,
    };
    println!("\n{} tokens, {:.1} per second, stopped by {:?}", generated.tokens, generated.speed(), generated.stop);
    Ok(())
}
