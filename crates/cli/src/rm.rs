//! `metalworks rm`: removes models of this machine.

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;

use crate::list;
use crate::output::{self, Outcome, size};

pub(crate) const EXAMPLE: &str = "\
Only models in the folder of models are removed. On a terminal, each is asked
about first.

Examples:
  metalworks rm Qwen/Qwen3-0.6B-GGUF:Q8_0
  metalworks rm --yes smollm2

Exit status: 0 success, 1 there is no such model, 2 it could not be removed.";

#[derive(Args)]
pub(crate) struct Rm {
    /// Remove models by their names, as `metalworks list` prints them
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<String>,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Rm {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let mut outcome = Outcome::Fine;
        for name in &self.models {
            outcome = outcome.max(self.remove(name)?);
        }
        Ok(outcome)
    }

    fn remove(&self, name: &str) -> io::Result<Outcome> {
        let model = match list::find(name) {
            Ok(model) => model,
            Err((message, outcome)) => return output::error(&message).map(|()| outcome),
        };
        let bytes = size(model.bytes());
        if !self.yes && io::stdin().is_terminal() && !agrees(&format!("remove {} ({bytes})? [y/N] ", model.name))? {
            return output::note(&format!("{} stays", model.name)).map(|()| Outcome::Fine);
        }
        if let Err(error) = model.remove() {
            return output::error(&error.to_string()).map(|()| Outcome::NotTried);
        }
        output::result(&format!("{}: removed {bytes}\n", model.name))?;
        Ok(Outcome::Fine)
    }
}

/// Asks on the terminal. Everything but a yes is a no.
fn agrees(question: &str) -> io::Result<bool> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(output::printable(question).as_bytes())?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
