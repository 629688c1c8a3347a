//! `metalworks run`: runs a model.

mod chat;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use clap::Args;
use inference::chat::Message;
use inference::generate::{Generated, Sampling, Session, StopReason, TextRequest};
use inference::metal::MetalDevice;

use crate::engine::{Engine, ModelFlags, peak_memory, product_type};
use crate::input;
use crate::output::{self, Outcome};
use crate::profile::{ProfileFlags, Profiling};

pub(crate) const EXAMPLE: &str = "\
Without --prompt, it starts a chat on a terminal: an empty line, /exit or Ctrl-D
ends it, /clear starts a new one, Ctrl-C stops an answer. Piped input is one
prompt.

Examples:
  metalworks run -p 'What is a compiler?'
  metalworks run --raw -p 'Once upon a time' -n 100 --seed 1 --stats
  metalworks run -m qwen3-0.6b.gguf -c 8192
  metalworks run --temp 0 < question.txt

Exit status: 0 success, 1 the prompt cannot be answered, 2 the model cannot be
loaded.";

#[derive(Args)]
pub(crate) struct Run {
    #[command(flatten)]
    model: ModelFlags,

    /// Answer or continue this text
    #[arg(short, long, value_name = "TEXT")]
    prompt: Option<String>,

    /// Set the system message
    #[arg(long, value_name = "TEXT", conflicts_with = "raw")]
    system: Option<String>,

    /// Skip the chat template
    #[arg(long)]
    raw: bool,

    /// Limit the number of generated tokens
    #[arg(short = 'n', long, value_name = "TOKENS")]
    tokens: Option<usize>,

    /// Drop the oldest tokens when the context is full
    #[arg(long)]
    context_shift: bool,

    /// Continue after end-of-text tokens
    ///
    /// Generation stops at --tokens, at a full context or with Ctrl-C. The end-of-text token becomes a part of the
    /// text, without being printed.
    #[arg(long)]
    ignore_eos: bool,

    /// Print times and memory to stderr
    #[arg(long)]
    stats: bool,

    #[command(flatten)]
    sampling: SamplingFlags,

    #[command(flatten)]
    profile: ProfileFlags,
}

#[derive(Args)]
#[command(next_help_heading = "Sampling")]
struct SamplingFlags {
    /// Set the temperature; 0: greedy
    ///
    /// Divides the logits. With 0, the most probable token is always chosen.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.8)]
    temp: f32,

    /// Keep the K likeliest tokens
    ///
    /// 0 keeps all.
    #[arg(long, value_name = "TOKENS", default_value_t = 40)]
    top_k: usize,

    /// Keep this probability mass
    ///
    /// Samples from the most probable tokens that together have this probability; 1 keeps all.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.95)]
    top_p: f32,

    /// Drop less likely tokens
    ///
    /// Drops tokens that are less probable than this times the most probable one; 0 keeps all.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.05)]
    min_p: f32,

    /// Penalize recent tokens
    ///
    /// Reduces the logits of the last 64 tokens by this factor; 1 has no effect.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0)]
    repeat_penalty: f32,

    /// Set the seed; random by default
    ///
    /// The same seed gives the same text.
    #[arg(short, long, value_name = "NUMBER")]
    seed: Option<u64>,
}

impl SamplingFlags {
    fn sampling(&self) -> Sampling {
        let now =
            || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        Sampling {
            temperature: self.temp,
            top_k: Some(self.top_k).filter(|&k| k > 0),
            top_p: self.top_p,
            min_p: self.min_p,
            repeat_penalty: self.repeat_penalty,
            seed: self.seed.unwrap_or_else(now),
            ..Sampling::GREEDY
        }
    }
}

/// Cancellation by Ctrl-C.
struct Interrupt {
    cancelled: Arc<AtomicBool>,
    /// True while no answer is generated: Ctrl-C then ends the program.
    is_idle: Arc<AtomicBool>,
}

impl Interrupt {
    fn new() -> Interrupt {
        let interrupt = Interrupt { cancelled: Arc::default(), is_idle: Arc::new(AtomicBool::new(true)) };
        // Without a handler, Ctrl-C ends the program, which is acceptable.
        let signal = signal_hook::consts::SIGINT;
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, interrupt.is_idle.clone());
        let _ = signal_hook::flag::register(signal, interrupt.cancelled.clone());
        interrupt
    }

    /// Runs work that Ctrl-C cancels.
    fn during<T>(&self, work: impl FnOnce(&AtomicBool) -> T) -> T {
        self.cancelled.store(false, Ordering::Relaxed);
        self.is_idle.store(false, Ordering::Relaxed);
        let result = work(&self.cancelled);
        self.is_idle.store(true, Ordering::Relaxed);
        result
    }
}

impl Run {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let start = Instant::now();
        let is_conversation = self.prompt.is_none() && !self.raw && io::stdin().is_terminal();
        // Read the prompt before loading the model.
        let prompt = match &self.prompt {
            Some(prompt) => Ok(prompt.clone()),
            None if is_conversation => Ok(String::new()),
            None => input::stdin().map(|text| text.trim_end_matches(['\r', '\n']).to_owned()),
        };
        let loaded = prompt.and_then(|prompt| {
            let profiling = self.profile.open()?;
            let Engine { device, file, plan, seconds } = self.model.load(self.sampling.sampling(), None)?;
            let mut session = Session::new(plan, &file).map_err(|error| error.to_string())?;
            if self.profile.is_on() {
                profiling.begin(session.plan());
            }
            Ok((prompt, session, device, seconds, profiling))
        });
        let (prompt, mut session, device, load_seconds, profiling) = match loaded {
            Ok(loaded) => loaded,
            Err(message) => return output::error(&message).map(|()| Outcome::NotTried),
        };
        let interrupt = Interrupt::new();
        if is_conversation {
            let outcome = chat::conversation(self, &mut session, &interrupt)?;
            return Ok(outcome.max(self.print_profile(profiling, &mut session, &device)?));
        }
        let pipelines = device.stats();
        let (before, steps) = (start.elapsed(), session.plan().steps());
        let result = interrupt.during(|cancelled| {
            let request = self.request(steps, cancelled);
            let each = |text: &str| write(text, cancelled);
            match self.raw {
                true => session.complete(&prompt, &request, each),
                false => session.answer(&self.messages(&prompt), &request, each),
            }
        });
        let generated = match result {
            Ok(generated) => generated,
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::Refused),
        };
        output::result("\n")?;
        self.explain(&session_context(&mut session), &generated)?;
        if self.stats {
            let first = before + generated.prompt_time;
            let from = format!("{} kernels, {} of them compiled", pipelines.pipelines, pipelines.compiled());
            output::diagnostics(&format!("loaded in {load_seconds:.2} s ({from})\n"))?;
            let products = product_type(session.plan());
            output::diagnostics(&format!("activations: {products} in products with quantized weights\n"))?;
            output::diagnostics(&format!("first token after {:.2} s\n", first.as_secs_f64()))?;
            self.print_stats(&generated)?;
        }
        self.print_profile(profiling, &mut session, &device)
    }

    /// Ends the profile, and prints it.
    fn print_profile(
        &self,
        profiling: Profiling,
        session: &mut Session,
        device: &MetalDevice,
    ) -> io::Result<Outcome> {
        if !self.profile.is_on() {
            return Ok(Outcome::Fine);
        }
        match profiling.finish(&self.profile, session.plan(), device, self.model.cpu_threads()) {
            Ok(profiled) => {
                let text = profiled.map_or_else(String::new, |profiled| profiled.to_text());
                output::diagnostics(&text).map(|()| Outcome::Fine)
            }
            Err(message) => output::error(&message).map(|()| Outcome::NotTried),
        }
    }

    fn request<'a>(&self, steps: usize, cancelled: &'a AtomicBool) -> TextRequest<'a> {
        TextRequest {
            max_tokens: self.tokens,
            steps,
            context_shift: self.context_shift,
            ignore_end: self.ignore_eos,
            cancelled,
        }
    }

    /// The first messages of a chat.
    fn messages(&self, prompt: &str) -> Vec<Message> {
        let system = self.system.iter().map(|text| Message::new("system", text));
        system.chain([Message::new("user", prompt)]).collect()
    }

    /// Explains an answer that ended early.
    fn explain(&self, context: &usize, generated: &Generated) -> io::Result<()> {
        match generated.stop {
            StopReason::ContextFull => output::warning(&format!(
                "the context of {context} tokens is full; use a larger one with -c, or --context-shift"
            )),
            StopReason::Cancelled => output::diagnostics("(interrupted)\n"),
            StopReason::End | StopReason::MaxTokens => Ok(()),
        }
    }

    fn print_stats(&self, generated: &Generated) -> io::Result<()> {
        let mut text = format!(
            "prompt: {} in {:.2} s ({:.1} tokens/s)\nanswer: {} in {:.2} s ({:.1} tokens/s)\n",
            output::count(generated.prompt_tokens, "token"),
            generated.prompt_time.as_secs_f64(),
            generated.prompt_speed(),
            output::count(generated.tokens, "token"),
            generated.time.as_secs_f64(),
            generated.speed(),
        );
        if let Some(peak) = peak_memory() {
            text += &format!("memory: {} at most\n", output::size(peak));
        }
        output::diagnostics(&text)
    }
}

fn session_context(session: &mut Session) -> usize {
    session.plan().context()
}

/// Writes a part of an answer at once. If stdout is closed, cancels the answer; the next write reports the error.
fn write(text: &str, cancelled: &AtomicBool) {
    if output::result(text).is_err() {
        cancelled.store(true, Ordering::Relaxed);
    }
}
