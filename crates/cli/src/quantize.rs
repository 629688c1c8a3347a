//! `metalworks quantize`: converts a model to another file type.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use inference::gguf::Gguf;
use inference::quantize::{Conversion, FileType, Quantization};
use inference::weights::FileErrorKind;
use serde_json::json;

use crate::engine::find_model;
use crate::number::count;
use crate::output::{self, Outcome};
use crate::progress::Progress;
use crate::table::{Align, Table};

pub(crate) const EXAMPLE: &str = "\
File types: f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, iq4_nl, iq4_xs, mxfp4
(experts; the rest is q8_0), q2_k, q3_k_s, q3_k_m, q3_k_l, q4_k_s, q4_k_m,
q5_k_s, q5_k_m, q6_k. They are llama.cpp's: tensors that are sensitive to
rounding get more bits, and rows that are no whole blocks another format.

Examples:
  metalworks quantize model-f16.gguf model.gguf --to q4_k_m
  metalworks quantize model-f16.gguf model.gguf --to q5_k_s --dry-run
  metalworks quantize smollm2 smaller.gguf --to q3_k_m --allow-requantize

Exit status: 0 success, 1 the model cannot be converted, 2 it could not be
tried.";

#[derive(Args)]
pub(crate) struct Quantize {
    /// Read a GGUF file, or a pulled model
    #[arg(value_name = "IN")]
    input: String,

    /// Write this file
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Set the file type, such as q4_k_m
    #[arg(long, value_name = "TYPE")]
    to: FileType,

    /// Convert tensors that are quantized already, too
    #[arg(long)]
    allow_requantize: bool,

    /// Print the type and size of each tensor; write nothing
    #[arg(long)]
    dry_run: bool,

    /// Set the number of threads [default: all]
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    threads: Option<usize>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Quantize {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let path = match find_model(Some(&self.input)) {
            Ok(path) => path,
            Err(problem) => return output::error(&problem).map(|()| Outcome::NotTried),
        };
        if is_same(&path, &self.output) {
            let message = format!("'{}' is the input: choose another name", self.output.display());
            return output::error(&message).map(|()| Outcome::NotTried);
        }
        let model = match Gguf::open_to_convert(&path) {
            Ok(model) => model,
            Err(error) => {
                output::error(&error.to_string())?;
                let unread = matches!(error.kind(), FileErrorKind::Io | FileErrorKind::WrongPart);
                return Ok(if unread { Outcome::NotTried } else { Outcome::Refused });
            }
        };
        let quantization = match Quantization::new(&model, self.to, self.allow_requantize) {
            Ok(quantization) => quantization,
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::Refused),
        };
        let size = quantization.size()?;
        if self.dry_run {
            return self.print(&quantization, size, None);
        }
        let start = Instant::now();
        let mut progress = Progress::new();
        let threads =
            self.threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
        let written = quantization
            .write_file(&self.output, threads, &mut |done, total| progress.show("quantizing", done, total));
        drop(progress);
        match written {
            Ok(()) => self.print(&quantization, size, Some(start.elapsed().as_secs_f64())),
            Err(error) => {
                output::error(&format!("cannot write '{}': {error}", self.output.display()))?;
                let is_input = error.kind() == io::ErrorKind::InvalidData;
                Ok(if is_input { Outcome::Refused } else { Outcome::NotTried })
            }
        }
    }

    fn print(&self, quantization: &Quantization<'_>, size: u64, seconds: Option<f64>) -> io::Result<Outcome> {
        let conversions = quantization.conversions();
        let before: u64 = conversions.iter().map(|conversion| conversion.from.1).sum();
        let after: u64 = conversions.iter().map(|conversion| conversion.to.1).sum();
        let numbers: u64 = conversions.iter().map(|one| one.dimensions.iter().product::<u64>()).sum();
        let bits = after as f64 * 8.0 / numbers.max(1) as f64;
        if self.json {
            output::json_result(&json!({
                "file": self.output.display().to_string(),
                "type": self.to.name(),
                "bytes": size,
                "tensor_bytes_before": before,
                "tensor_bytes": after,
                "bits_per_weight": bits,
                "seconds": seconds,
                "tensors": conversions.iter().map(to_json).collect::<Vec<_>>(),
            }))?;
            return Ok(Outcome::Fine);
        }
        let mut text = String::new();
        if seconds.is_none() {
            let mut table = Table::new([
                ("tensor", Align::Left),
                ("shape", Align::Left),
                ("from", Align::Left),
                ("to", Align::Left),
                ("size", Align::Right),
            ]);
            for Conversion { name, dimensions, from, to } in conversions {
                let shape: Vec<String> = dimensions.iter().map(u64::to_string).collect();
                table.row([
                    name.clone(),
                    shape.join("×"),
                    from.0.to_string(),
                    to.0.to_string(),
                    output::size(to.1),
                ]);
            }
            text = table.render("") + "\n";
        }
        let changed = conversions.iter().filter(|conversion| conversion.changes()).count();
        text += &format!(
            "{}: {}, {} ({bits:.2} bits per weight), {} of {} converted, from {}{}\n",
            self.output.display(),
            self.to,
            output::size(size),
            changed,
            output::count(conversions.len(), "tensor"),
            output::size(before),
            seconds.map_or_else(|| "; not written".to_owned(), |seconds| format!(", in {seconds:.1} s")),
        );
        output::result(&text)?;
        Ok(Outcome::Fine)
    }
}

fn to_json(conversion: &Conversion) -> serde_json::Value {
    json!({
        "name": conversion.name,
        "dimensions": conversion.dimensions,
        "from": conversion.from.0.name(),
        "to": conversion.to.0.name(),
        "bytes": conversion.to.1,
    })
}

/// True if both paths name one existing file.
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
