//! `metalworks run`: runs a model.

mod answer;
mod chat;
mod commands;
mod editor;
mod events;
mod history;
mod markdown;
mod saved;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime};

use clap::Args;
use compute::Device;
use inference::chat::Message;
use inference::generate::{Generated, Sampling, Session, StopReason, TextRequest};
use inference::metal::MetalDevice;

use answer::AnswerText;
use events::RunEvent;

use crate::engine::{Engine, ModelFlags, ModelProblem, peak_memory, product_type};
use crate::findings::ValidationFlags;
use crate::input;
use crate::interrupt::{on_interrupt, stop_kernels};
use crate::number::count;
use crate::output::{self, Outcome};
use crate::profile::{ProfileFlags, Profiling};

pub(crate) const EXAMPLE: &str = "\
Without a prompt, it starts a chat on a terminal: /help lists its commands,
/exit or Ctrl-D ends it. Ctrl-C stops an answer; a second one stops the kernels
that are running, and ends a chat. Piped input is the prompt, or follows the one that is given.

Examples:
  metalworks run
  metalworks run smollm2 'What is a compiler?'
  metalworks run qwen3-0.6b.gguf -c 8192
  metalworks run smollm2 'Summarize this text.' < article.txt
  metalworks run --raw -p 'Once upon a time' -n 100 --seed 1 --stats

Exit status: 0 success, 1 the prompt cannot be answered or --validate found a
mistake, 2 the model cannot be loaded.";

#[derive(Args)]
pub(crate) struct Run {
    /// Load a GGUF file, a folder, or a pulled model
    ///
    /// By default `smollm2`. With --model or --synthetic, the first argument is the prompt.
    #[arg(value_name = "MODEL")]
    name: Option<String>,

    /// Answer or continue this text
    #[arg(value_name = "PROMPT")]
    text: Option<String>,

    #[command(flatten)]
    model: ModelFlags,

    /// Answer or continue this text
    #[arg(short, long, value_name = "TEXT", conflicts_with = "text")]
    prompt: Option<String>,

    /// Set the system message
    #[arg(long, value_name = "TEXT", conflicts_with = "raw")]
    system: Option<String>,

    /// Skip the chat template
    #[arg(long)]
    raw: bool,

    /// Limit the number of generated tokens
    #[arg(short = 'n', long, value_name = "TOKENS", value_parser = token_count)]
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

    /// Print events as JSON, one in a line
    #[arg(long, conflicts_with = "profile")]
    json: bool,

    #[command(flatten)]
    sampling: SamplingFlags,

    #[command(flatten)]
    profile: ProfileFlags,

    #[command(flatten)]
    validation: ValidationFlags,
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
    #[arg(long, value_name = "TOKENS", default_value_t = 40, value_parser = count::<usize>)]
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
    #[arg(short, long, value_name = "NUMBER", value_parser = count::<u64>)]
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
    /// Number of the answer at hand, odd; even between two.
    answer: Arc<AtomicUsize>,
    /// True if Ctrl-C was pressed twice during the last answer.
    was_repeated: Arc<AtomicBool>,
}

impl Interrupt {
    fn new(device: &Device) -> Interrupt {
        let interrupt = Interrupt {
            cancelled: Arc::default(),
            is_idle: Arc::new(AtomicBool::new(true)),
            answer: Arc::default(),
            was_repeated: Arc::default(),
        };
        // Without a handler, Ctrl-C ends the program, which is acceptable.
        let (device, answer, was_repeated) =
            (device.clone(), interrupt.answer.clone(), interrupt.was_repeated.clone());
        let mut last = 0;
        on_interrupt(move || {
            let now = answer.load(Ordering::Relaxed);
            // The second one during an answer: the first did not end it.
            if now % 2 == 1 && std::mem::replace(&mut last, now) == now {
                was_repeated.store(true, Ordering::Relaxed);
                stop_kernels(&device, || answer.load(Ordering::Relaxed) != now);
            }
        });
        let signal = signal_hook::consts::SIGINT;
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, interrupt.is_idle.clone());
        let _ = signal_hook::flag::register(signal, interrupt.cancelled.clone());
        interrupt
    }

    /// Runs work that Ctrl-C cancels.
    fn during<T>(&self, work: impl FnOnce(&AtomicBool) -> T) -> T {
        self.cancelled.store(false, Ordering::Relaxed);
        self.was_repeated.store(false, Ordering::Relaxed);
        self.is_idle.store(false, Ordering::Relaxed);
        self.answer.fetch_add(1, Ordering::Relaxed);
        let result = work(&self.cancelled);
        self.answer.fetch_add(1, Ordering::Relaxed);
        self.is_idle.store(true, Ordering::Relaxed);
        result
    }
}

/// Parses `--tokens`. Other programs take -1 for no limit.
fn token_count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| match text.starts_with('-') {
        true => "it must be 0 or above; leave out the flag for no limit".to_owned(),
        false => "it is not a number of tokens".to_owned(),
    })
}

impl Run {
    /// Blanks are a text to continue, but no message.
    fn says_nothing(&self, prompt: &str) -> bool {
        prompt.is_empty() || !self.raw && prompt.trim().is_empty()
    }

    pub(crate) fn run(mut self) -> io::Result<Outcome> {
        let start = Instant::now();
        let is_named = self.name.is_some() && !self.model.is_chosen();
        if let Some(problem) = self.place_arguments() {
            return output::error(&problem).map(|()| Outcome::NotTried);
        }
        let is_conversation = self.prompt.is_none() && !self.raw && !self.json && io::stdin().is_terminal();
        // Read the prompt before loading the model.
        let prompt = if is_conversation { Ok(String::new()) } else { self.read_prompt() };
        let prompt = match prompt {
            Ok(prompt) if self.says_nothing(&prompt) && !is_conversation => {
                let taken = match is_named && self.prompt.is_none() {
                    true => format!("; '{}' is taken as the model", self.model.name()),
                    false => String::new(),
                };
                let problem = format!("the prompt is empty: pass a text, or pipe one to the program{taken}");
                return output::error(&problem).map(|()| Outcome::Refused);
            }
            Ok(prompt) => prompt,
            Err(problem) => return output::error(&problem).map(|()| Outcome::NotTried),
        };
        let loaded = self.profile.open().map_err(ModelProblem::from).and_then(|profiling| {
            let Engine { device, file, plan, seconds } =
                self.model.load_prepared(self.sampling.sampling(), |device| self.validation.apply(device))?;
            let mut session = Session::new(plan, &file).map_err(|error| error.to_string())?;
            if self.profile.is_on() {
                profiling.begin(session.plan());
            }
            Ok((session, device, seconds, profiling))
        });
        let (mut session, device, load_seconds, profiling) = match loaded {
            Ok(loaded) => loaded,
            Err(problem) => return problem.report(),
        };
        self.warn_of_long_context(&mut session)?;
        let interrupt = Interrupt::new(device.device());
        if is_conversation {
            let greeting = self.greeting(&mut session, &device);
            let outcome = chat::conversation(&self, &mut session, &interrupt, &greeting)?;
            let outcome = outcome.max(self.validation.print(device.device(), None, || None)?);
            return Ok(outcome.max(self.print_profile(profiling, &mut session, &device)?));
        }
        if self.json {
            let outcome = self.print_events(&prompt, &mut session, &interrupt, &device, load_seconds)?;
            return Ok(outcome.max(self.validation.print(device.device(), None, || None)?));
        }
        let pipelines = device.stats();
        let before = start.elapsed();
        let mut text = AnswerText::new(!self.raw);
        let generated =
            self.answer(&prompt, &mut session, &interrupt, |part, cancelled| text.write(part, cancelled));
        let generated = match generated {
            Ok(generated) => generated,
            Err(error) => {
                output::error(&error.to_string())?;
                self.validation.print(device.device(), None, || None)?;
                return Ok(Outcome::Refused);
            }
        };
        text.finish()?;
        self.explain(session.plan().context(), &generated)?;
        if self.stats {
            let first = before + generated.prompt_time;
            let from = format!("{} kernels, {} of them compiled", pipelines.pipelines, pipelines.compiled());
            output::diagnostics(&format!("loaded in {load_seconds:.2} s ({from})\n"))?;
            let products = product_type(session.plan());
            output::diagnostics(&format!("activations: {products} in products with quantized weights\n"))?;
            let cache = output::size(session.plan().cache_bytes() as u64);
            output::diagnostics(&format!("KV cache: {cache} in {}\n", session.plan().cache_type()))?;
            output::diagnostics(&format!("first token after {:.2} s\n", first.as_secs_f64()))?;
            self.print_stats(&generated)?;
        }
        let outcome = self.validation.print(device.device(), None, || None)?;
        Ok(outcome.max(self.print_profile(profiling, &mut session, &device)?))
    }

    /// Takes arguments without a flag for what they are. Returns a problem for the user.
    fn place_arguments(&mut self) -> Option<String> {
        if self.model.is_chosen() {
            if self.text.is_some() {
                return Some("the model is named twice: leave out MODEL, or --model and --synthetic".into());
            }
            self.text = self.name.take();
            if self.text.is_some() && self.prompt.is_some() {
                return Some("there are two prompts: leave out PROMPT, or --prompt".into());
            }
        } else if let Some(name) = self.name.take() {
            if name.contains(char::is_whitespace) && !Path::new(&name).exists() {
                return Some(format!("'{name}' is no model: pass a prompt with -p, or after the name of a model"));
            }
            self.model.choose(name);
        }
        self.prompt = self.prompt.take().or(self.text.take());
        None
    }

    /// The prompt, followed by piped input.
    fn read_prompt(&self) -> Result<String, String> {
        let given = self.prompt.as_deref().unwrap_or_default();
        if self.prompt.is_some() && !input::is_piped() {
            return Ok(given.to_owned());
        }
        let piped = input::stdin()?;
        let piped = piped.trim_end_matches(['\r', '\n']);
        let between = if given.is_empty() || piped.is_empty() { "" } else { "\n\n" };
        Ok([given, between, piped].concat())
    }

    fn greeting(&self, session: &mut Session, device: &MetalDevice) -> String {
        let (name, context) = (self.model.name(), session.plan().context());
        format!(
            "{name} on {}, {context} tokens of context; /help lists commands, /exit leaves\n",
            device.device().name()
        )
    }

    /// Models answer badly beyond the length that they were trained with.
    fn warn_of_long_context(&self, session: &mut Session) -> io::Result<()> {
        let (context, trained) = (session.plan().context(), session.plan().hyperparameters().context);
        match context > trained {
            true => output::warning(&format!(
                "the context of {context} tokens exceeds the {trained} of training: answers get worse beyond that"
            )),
            false => Ok(()),
        }
    }

    /// Answers or continues a prompt. Calls `each` with the new text.
    fn answer(
        &self,
        prompt: &str,
        session: &mut Session,
        interrupt: &Interrupt,
        mut each: impl FnMut(&str, &AtomicBool),
    ) -> inference::Result<Generated> {
        interrupt.during(|cancelled| {
            let request = self.request(cancelled);
            let each = |text: &str| each(text, cancelled);
            match self.raw {
                true => session.complete(prompt, &request, each),
                false => session.answer(&self.messages(prompt), &request, each),
            }
        })
    }

    fn print_events(
        &self,
        prompt: &str,
        session: &mut Session,
        interrupt: &Interrupt,
        device: &MetalDevice,
        load_seconds: f64,
    ) -> io::Result<Outcome> {
        let (model, device, context) = (self.model.name(), device.device().name(), session.plan().context());
        let cancelled = &interrupt.cancelled;
        RunEvent::Start { model, device: &device, context, load_seconds }.print(cancelled)?;
        let generated = self.answer(prompt, session, interrupt, |text, cancelled| {
            // A failure cancels the answer, and the last event reports it.
            let _ = RunEvent::Text { text }.print(cancelled);
        });
        match generated {
            Ok(generated) => RunEvent::end(&generated).print(cancelled).map(|()| Outcome::Fine),
            Err(error) => {
                RunEvent::Error { message: &error.to_string() }.print(cancelled).map(|()| Outcome::Refused)
            }
        }
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

    fn request<'a>(&self, cancelled: &'a AtomicBool) -> TextRequest<'a> {
        let mut request = TextRequest::new(cancelled);
        request.max_tokens = self.tokens;
        request.context_shift = self.context_shift;
        request.ignore_end = self.ignore_eos;
        request
    }

    /// The first messages of a chat.
    fn messages(&self, prompt: &str) -> Vec<Message> {
        let system = self.system.iter().map(|text| Message::new("system", text));
        system.chain([Message::new("user", prompt)]).collect()
    }

    /// Explains an answer that ended early.
    fn explain(&self, context: usize, generated: &Generated) -> io::Result<()> {
        if generated.shifted && !self.context_shift {
            output::diagnostics(&format!(
                "(the context of {context} tokens is full: the oldest text was dropped)\n"
            ))?;
        }
        match generated.stop {
            StopReason::ContextFull => output::warning(&format!(
                "the context of {context} tokens is full; use a larger one with -c, or --context-shift"
            )),
            StopReason::Cancelled => output::diagnostics("(interrupted)\n"),
            StopReason::End | StopReason::MaxTokens => Ok(()),
        }
    }

    fn print_stats(&self, generated: &Generated) -> io::Result<()> {
        let reused = match generated.reused_tokens {
            0 => String::new(),
            tokens => format!(", {} reused", output::count(tokens, "token")),
        };
        let mut text = format!(
            "prompt: {} in {:.2} s ({:.1} tokens/s){reused}\nanswer: {} in {:.2} s ({:.1} tokens/s)\n",
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
