//! `metalworks perplexity`: measures how well a model predicts a text.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use inference::generate::{Sampling, Session, perplexity};
use inference::tokenizer::EncodeOptions;
use serde_json::json;

use crate::engine::{ModelFlags, ModelProblem};
use crate::input;
use crate::output::{self, FormatFlag, Outcome};
use crate::progress::Progress;

pub(crate) const EXAMPLE: &str = "\
The text is split into windows of the context length, 512 tokens by default.
The second half of each is predicted from the tokens before it. The perplexity
is e to the mean negative log-likelihood, printed with its standard error.

Examples:
  metalworks perplexity -f text.txt
  metalworks perplexity -m model.gguf -f text.txt -c 1024 --json

Exit status: 0 success, 1 the text is too short or the model damaged, 2 it
could not be tried.";

/// Default number of tokens in a window.
const WINDOW: usize = 512;

#[derive(Args)]
pub(crate) struct Perplexity {
    #[command(flatten)]
    model: ModelFlags,

    /// Read the text from this file
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,
}

impl Perplexity {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let loaded = input::text(&self.file)
            .map_err(ModelProblem::from)
            .and_then(|text| Ok((text, self.model.load(Sampling::GREEDY, Some(WINDOW))?)))
            .and_then(|(text, engine)| {
                Ok((text, Session::new(engine.plan, &engine.file).map_err(|error| error.to_string())?))
            });
        let (text, mut session) = match loaded {
            Ok(loaded) => loaded,
            Err(problem) => return problem.report(),
        };
        let start = Instant::now();
        let tokenizer = session.tokenizer();
        let tokens = tokenizer.encode(&text, EncodeOptions { add_special: true, parse_special: false });
        let bos = tokenizer.bos().filter(|_| tokenizer.adds_bos());
        let mut progress = Progress::new();
        let plan = session.plan();
        let window = plan.context();
        let result = perplexity(plan, &tokens, window, bos, |done, total| {
            progress.show_count("reading", done as u64, total as u64, "windows");
        });
        drop(progress);
        let found = match result {
            Ok(found) => found,
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::Refused),
        };
        let seconds = start.elapsed().as_secs_f64();
        if self.format.is_json(self.json) {
            output::json_result(&json!({
                "model": self.model.name(),
                "perplexity": found.value,
                "standard_error": found.error,
                "tokens": tokens.len(),
                "tokens_predicted": found.tokens,
                "window": window,
                "seconds": seconds,
            }))?;
        } else {
            output::result(&format!(
                "perplexity {:.4} ± {:.4} ({} of {} predicted, windows of {window}, {seconds:.1} s)\n",
                found.value,
                found.error,
                found.tokens,
                output::count(tokens.len(), "token"),
            ))?;
        }
        Ok(Outcome::Fine)
    }
}
