//! `metalworks synthesize`: generates a model with random weights.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use inference::synthetic::SyntheticModel;

use crate::number::count;
use crate::output::{self, Outcome};
use crate::progress::Progress;

pub(crate) const EXAMPLE: &str = "\
Shapes: llama-tiny, llama3-tiny, mistral-tiny, mixtral-tiny, qwen2-tiny,
qwen2-moe-tiny, qwen3-tiny, qwen3-moe-tiny, qwen35-tiny, qwen35-equal-tiny,
qwen35-moe-tiny, qwen3next-tiny, gemma-tiny, gemma2-tiny, gemma3-tiny,
phi3-tiny, smollm3-tiny, olmo2-tiny, olmoe-tiny, granite-tiny,
granite-moe-tiny, glm4-tiny, command-r-tiny, cohere2-tiny, gpt-oss-tiny,
seed-oss-tiny, exaone-tiny, exaone4-tiny, internlm2-tiny, ernie-4.5-tiny,
stablelm-tiny, starcoder2-tiny, nemotron-tiny, orion-tiny, arcee-tiny,
xverse-tiny, minicpm-tiny, chatglm-tiny, qwen2-vl-tiny, qwen3-vl-tiny,
hunyuan-tiny, hunyuan-moe-tiny, dots1-tiny, glm4-moe-tiny, ernie-4.5-moe-tiny,
deepseek-tiny, bailing-moe-tiny, minimax-m2-tiny, codeshell-tiny, jais2-tiny,
pangu-tiny, maincoder-tiny, paddleocr-tiny, hunyuan-vl-tiny, mellum-tiny,
exaone-moe-tiny, hunyuan3-tiny, openelm-tiny, smollm2-135m, smollm2-360m,
smollm3-3b, llama-1b, llama-3b, llama-8b, mistral-7b, mixtral-8x7b,
qwen1.5-moe-a2.7b, qwen2-0.5b, qwen2-1.5b, qwen3-0.6b, qwen3-1.7b, qwen3-8b,
qwen3-30b-a3b, qwen3-30b-a3b-16-layers, qwen3-next-80b-a3b, qwen3.5-0.8b,
qwen3.5-2b, qwen3.5-35b-a3b, qwen3.5-35b-a3b-12-layers, gemma-2-2b, gemma-3-1b,
phi-4-mini, olmo-2-1b, granite-3-2b, gpt-oss-20b, gpt-oss-20b-12-layers.
Formats: f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, iq4_nl, iq4_xs, mxfp4,
q2_k, q3_k, q4_k, q5_k, q6_k, and the mixtures q4_k_m and q5_k_m.

Examples:
  metalworks synthesize llama-tiny:q4_0 -o tiny.gguf
  metalworks synthesize llama-8b:q4_k_m -o 8b.gguf --seed 1

Exit status: 0 success, 1 there is no such model, 2 it could not be written.";

#[derive(Args)]
pub(crate) struct Synthesize {
    /// Set the shape and format of the model
    #[arg(value_name = "SHAPE:FORMAT")]
    model: String,

    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Set the seed; 0 by default
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true, value_parser = count::<u64>)]
    seed: u64,
}

impl Synthesize {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let model = match self.model.parse::<SyntheticModel>() {
            Ok(model) => model.with_seed(self.seed),
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::Refused),
        };
        let start = Instant::now();
        let mut progress = Progress::new();
        let written = model.write_file(&self.output, &mut |done, total| progress.show("writing", done, total));
        drop(progress);
        let path = self.output.display();
        match written.and_then(|()| model.size()) {
            Ok(size) => {
                let seconds = start.elapsed().as_secs_f64();
                output::result(&format!("{path}: {model}, {}, in {seconds:.1} s\n", output::size(size)))?;
                Ok(Outcome::Fine)
            }
            Err(error) => output::error(&format!("cannot write '{path}': {error}")).map(|()| Outcome::NotTried),
        }
    }
}
