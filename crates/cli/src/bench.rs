//! `metalworks bench`: measures prefill and decode speed.

use std::io;
use std::num::NonZero;
use std::time::Instant;

use clap::Args;
use inference::arch::Hyperparameters;
use inference::generate::Sampling;
use inference::gguf::Gguf;
use inference::plan::Plan;
use serde_json::{Value, json};

use crate::engine::{Engine, ModelFlags, peak_memory, product_type};
use crate::number::{count, positive};
use crate::output::{self, FormatFlag, Outcome};
use crate::profile::{ProfileFlags, Profiled, Profiling};
use crate::table::{Align, Table};

pub(crate) const EXAMPLE: &str = "\
Prints the median of the measurements in tokens per second, with the slowest
and the fastest. A warm-up run of each is not counted. Prompt tokens are
synthetic, and decoding is greedy, on the device. --profile and --trace add
another run of each, after the measurements.

Examples:
  metalworks bench
  metalworks bench -m model.gguf -p 512 -n 128 -t 1 --json
  metalworks bench --synthetic llama-8b:q4_0 -n 16 -r 3
  metalworks bench -p 128 -n 32 --profile --trace trace.json
  metalworks bench -p 0 -n 64 --sequences 1,4,16 --kv q8_0

Exit status: 0 success, 1 the model is damaged or too small, 2 it
could not be loaded.";

#[derive(Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    model: ModelFlags,

    /// Prefill this many tokens; 0: none
    #[arg(short, long, value_name = "TOKENS", default_value_t = 512, value_parser = count::<usize>)]
    prompt: usize,

    /// Decode this many tokens; 0: none
    #[arg(short = 'n', long, value_name = "TOKENS", default_value_t = 128, value_parser = count::<usize>)]
    tokens: usize,

    /// Start after this many tokens
    #[arg(short, long, value_name = "TOKENS", default_value_t = 0, value_parser = count::<usize>)]
    depth: usize,

    /// Decode this many tokens per submission
    ///
    /// By default as many as `run` does.
    #[arg(long, value_name = "TOKENS", value_parser = positive)]
    steps: Option<NonZero<usize>>,

    /// Decode several sequences at a time
    ///
    /// Measures each of these numbers of sequences, all in the same steps, and
    /// prints the speed of all of them together and of each.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = positive)]
    sequences: Vec<NonZero<usize>>,

    /// Set the number of measurements
    #[arg(short, long, value_name = "NUMBER", default_value = "5", value_parser = positive)]
    repetitions: NonZero<usize>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,

    #[command(flatten)]
    profile: ProfileFlags,
}

/// A measurement: tokens per second, in ascending order.
struct Measured {
    name: String,
    tokens: usize,
    speeds: Vec<f64>,
}

impl Measured {
    fn median(&self) -> f64 {
        let middle = self.speeds.len() / 2;
        match self.speeds.len() % 2 {
            0 => (self.speeds[middle - 1] + self.speeds[middle]) / 2.0,
            _ => self.speeds[middle],
        }
    }
}

impl Bench {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        if self.prompt == 0 && self.tokens == 0 {
            let problem = "there is nothing to measure: -p and -n are 0";
            return output::error(problem).map(|()| Outcome::NotTried);
        }
        let profiling = match self.profile.open() {
            Ok(profiling) => profiling,
            Err(message) => return output::error(&message).map(|()| Outcome::NotTried),
        };
        let file = match self.model.open() {
            Ok(file) => file,
            Err(problem) => return problem.report(),
        };
        let needed = match self.needed_context(&file) {
            Ok(needed) => needed,
            Err(message) => return output::error(&message).map(|()| Outcome::Refused),
        };
        let sequences = self.sequences.iter().map(|count| count.get()).max().unwrap_or(1);
        let loaded = self.model.load_sequences(file, Sampling::GREEDY, Some(needed.max(64)), sequences);
        let mut engine = match loaded {
            Ok(engine) => engine,
            Err(problem) => return problem.report(),
        };
        let measured = match self.measure(&mut engine.plan) {
            Ok(measured) => measured,
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::Refused),
        };
        let batches = match self.measure_sequences(&mut engine.plan) {
            Ok(batches) => batches,
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::Refused),
        };
        let mut json = self.format.is_json(self.json).then(|| self.to_json(&engine, &measured));
        if let Some(json) = json.as_mut().filter(|_| !batches.is_empty()) {
            json["sequences"] = batches.iter().map(|batch| batch.to_json(&batches[0])).collect();
        }
        let profiled = match self.profiled(profiling, &mut engine) {
            Ok(profiled) => profiled,
            Err(message) => return output::error(&message).map(|()| Outcome::Refused),
        };
        if let Some(json) = &mut json {
            if let Some(profiled) = &profiled {
                json["profile"] = profiled.to_json();
            }
            return output::json_result(json).map(|()| Outcome::Fine);
        }
        let mut table = Table::new([
            ("test", Align::Left),
            ("tokens/s", Align::Right),
            ("slowest", Align::Right),
            ("fastest", Align::Right),
        ]);
        for measured in &measured {
            let speeds = [measured.median(), measured.speeds[0], measured.speeds[measured.speeds.len() - 1]];
            let [median, slowest, fastest] = speeds.map(|speed| format!("{speed:.2}"));
            table.row([measured.name.clone(), median, slowest, fastest]);
        }
        let device = engine.device.device().name();
        let profile = profiled.map_or_else(String::new, |profiled| profiled.to_text());
        let batches = if batches.is_empty() { String::new() } else { batch_table(&batches).render("") };
        output::result(&format!("{} on {device}\n{}{batches}{profile}", self.model.name(), table.render("")))?;
        Ok(Outcome::Fine)
    }

    /// The context that the measurements need. Refuses one that the model was not trained for before anything is
    /// loaded: filling it takes minutes or days. `-c` allows it.
    fn needed_context(&self, file: &Gguf) -> Result<usize, String> {
        let tokens = self.depth.saturating_add(self.prompt.max(self.tokens));
        // The last token is sampled, and needs a place, but is not evaluated.
        let needed = tokens.saturating_add(1);
        // Loading explains a model that cannot be read.
        let trained = Hyperparameters::read(file).map_or(usize::MAX, |model| model.context);
        match self.model.context() {
            Some(context) if needed > context => Err(format!(
                "the context of {context} tokens is too small: {needed} are needed; set a larger one with -c"
            )),
            None if tokens > trained => Err(format!(
                "the model's context of {trained} tokens is too small: {tokens} are needed; exceed it with -c {needed}"
            )),
            _ => Ok(needed),
        }
    }

    /// Tokens up to the end of the prompt.
    fn input(&self, plan: &Plan) -> Vec<u32> {
        let vocabulary = plan.hyperparameters().vocabulary as u64;
        let token = |index: usize| ((index as u64 * 7919 + 13) % vocabulary) as u32;
        (0..self.depth + self.prompt.max(1)).map(token).collect()
    }

    /// Runs each test once more with a profile. The error is for the user.
    fn profiled(&self, profiling: Profiling, engine: &mut Engine) -> Result<Option<Profiled>, String> {
        if !self.profile.is_on() {
            return Ok(None);
        }
        let Engine { plan, device, .. } = engine;
        self.run_profiled(&profiling, plan).map_err(|error| error.to_string())?;
        profiling.finish(&self.profile, plan, device, self.model.cpu_threads())
    }

    fn run_profiled(&self, profiling: &Profiling, plan: &mut Plan) -> inference::Result<()> {
        let (all, steps, mut chosen) = (self.input(plan), self.steps(plan), Vec::new());
        prepare(plan, &all[..self.depth])?;
        profiling.begin(plan);
        if self.prompt > 0 {
            plan.push(&all[self.depth..])?;
            plan.generate(1, &mut chosen)?;
            // The KV cache has the tokens before the prompt still.
            plan.truncate(self.depth);
        }
        if self.tokens > 0 {
            plan.push(&all[self.depth..=self.depth])?;
            self.decode(plan, steps, &mut chosen)?;
        }
        Ok(())
    }

    fn decode(&self, plan: &mut Plan, steps: usize, chosen: &mut Vec<u32>) -> inference::Result<()> {
        chosen.clear();
        while chosen.len() < self.tokens {
            plan.generate(steps.min(self.tokens - chosen.len()), chosen)?;
        }
        Ok(())
    }

    fn measure(&self, plan: &mut Plan) -> inference::Result<Vec<Measured>> {
        let all = self.input(plan);
        let mut measured = Vec::new();
        let at = if self.depth > 0 { format!(" @ {}", self.depth) } else { String::new() };
        let mut chosen = Vec::with_capacity(self.tokens + 1);
        let steps = self.steps(plan);
        if self.prompt > 0 {
            let name = format!("pp{}{at}", self.prompt);
            measured.push(self.repeat(name, self.prompt, || {
                prepare(plan, &all[..self.depth])?;
                plan.push(&all[self.depth..])?;
                let start = Instant::now();
                plan.generate(1, &mut chosen)?;
                Ok(start.elapsed().as_secs_f64())
            })?);
        }
        if self.tokens > 0 {
            let name = format!("tg{}{at}", self.tokens);
            measured.push(self.repeat(name, self.tokens, || {
                prepare(plan, &all[..self.depth])?;
                plan.push(&all[self.depth..=self.depth])?;
                let start = Instant::now();
                self.decode(plan, steps, &mut chosen)?;
                Ok(start.elapsed().as_secs_f64())
            })?);
        }
        Ok(measured)
    }

    /// Measures decoding for each number of sequences.
    fn measure_sequences(&self, plan: &mut Plan) -> inference::Result<Vec<Batch>> {
        let (all, steps) = (self.input(plan), self.steps(plan));
        let mut batches = Vec::new();
        for count in self.sequences.iter().map(|count| count.get()).filter(|_| self.tokens > 0) {
            let sequences: Vec<usize> = (0..count).collect();
            let mut chosen = vec![Vec::with_capacity(self.tokens); count];
            let name = format!("tg{} x {count}", self.tokens);
            let measured = self.repeat(name, self.tokens * count, || {
                for &sequence in &sequences {
                    plan.select(sequence)?;
                    prepare(plan, &all[..self.depth])?;
                    plan.push(&all[self.depth..=self.depth])?;
                }
                plan.select(0)?;
                let start = Instant::now();
                if count == 1 {
                    self.decode(plan, steps, &mut chosen[0])?;
                } else {
                    chosen.iter_mut().for_each(Vec::clear);
                    while chosen[0].len() < self.tokens {
                        plan.generate_each(&sequences, steps.min(self.tokens - chosen[0].len()), &mut chosen)?;
                    }
                }
                Ok(start.elapsed().as_secs_f64())
            })?;
            batches.push(Batch { sequences: count, measured });
        }
        Ok(batches)
    }

    fn steps(&self, plan: &Plan) -> usize {
        self.steps.map_or(plan.steps(), NonZero::get)
    }

    fn repeat(
        &self,
        name: String,
        tokens: usize,
        mut run: impl FnMut() -> inference::Result<f64>,
    ) -> inference::Result<Measured> {
        run()?;
        let mut speeds = Vec::new();
        for _ in 0..self.repetitions.get() {
            speeds.push(tokens as f64 / run()?);
        }
        speeds.sort_by(f64::total_cmp);
        Ok(Measured { name, tokens, speeds })
    }

    fn to_json(&self, engine: &Engine, measured: &[Measured]) -> Value {
        let tests: Vec<Value> = measured
            .iter()
            .map(|measured| {
                json!({
                    "test": measured.name,
                    "tokens": measured.tokens,
                    "depth": self.depth,
                    "tokens_per_second": measured.median(),
                    "samples": measured.speeds,
                })
            })
            .collect();
        let weights = engine.plan.weight_memory();
        json!({
            "model": self.model.name(),
            "device": engine.device.device().name(),
            "device_id": engine.device.device().id(),
            "context": engine.plan.context(),
            "prefill_chunk": engine.plan.chunk(),
            "steps": self.steps(&engine.plan),
            "activations": product_type(&engine.plan),
            "copied_weight_bytes": weights.copied,
            "mapped_weight_bytes": weights.mapped,
            "kv_cache": engine.plan.cache_type().to_string(),
            "kv_cache_bytes": engine.plan.cache_bytes(),
            "dispatches_per_token": engine.plan.dispatches_per_token(),
            "load_seconds": engine.seconds,
            "peak_memory_bytes": peak_memory(),
            "tests": tests,
        })
    }
}

/// Speed of several sequences that are decoded in the same steps.
struct Batch {
    sequences: usize,
    measured: Measured,
}

impl Batch {
    /// Tokens per second of each sequence.
    fn each(&self) -> f64 {
        self.measured.median() / self.sequences as f64
    }

    fn to_json(&self, first: &Batch) -> Value {
        json!({
            "sequences": self.sequences,
            "tokens_per_second": self.measured.median(),
            "tokens_per_second_each": self.each(),
            "scaling": self.measured.median() / first.measured.median(),
            "samples": self.measured.speeds,
        })
    }
}

/// Speeds of all sequences and of each, and the factor to the first measurement.
fn batch_table(batches: &[Batch]) -> Table {
    let mut table = Table::new([
        ("sequences", Align::Right),
        ("tokens/s", Align::Right),
        ("each", Align::Right),
        ("scaling", Align::Right),
    ]);
    for batch in batches {
        let (speed, first) = (batch.measured.median(), batches[0].measured.median());
        let numbers = [speed, batch.each(), speed / first].map(|number| format!("{number:.2}"));
        let [speed, each, scaling] = numbers;
        table.row([batch.sequences.to_string(), speed, each, scaling]);
    }
    table
}

/// Resets the sequence to these tokens, all evaluated.
fn prepare(plan: &mut Plan, tokens: &[u32]) -> inference::Result<()> {
    plan.truncate(0);
    plan.push(tokens)?;
    while plan.evaluate_chunk()? > 0 {}
    Ok(())
}
