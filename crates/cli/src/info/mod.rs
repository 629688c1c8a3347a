//! `metalworks info`: prints the properties of a model.

mod summary;
mod text;

use std::io;

use clap::Args;
use inference::gguf::{Array, Gguf, Value};
use inference::weights::TensorInfo;
use serde_json::{Map, Value as Json, json};

use crate::engine::{ModelProblem, find_model};
use crate::output::{self, FormatFlag, Outcome};
use summary::Summary;

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks info model.gguf
  metalworks info smollm2 --tensors
  metalworks info model.gguf --metadata --json

Exit status: 0 success, 1 the file is damaged or not a model, 2 it could not be
read.";

#[derive(Args)]
pub(crate) struct Info {
    /// Read a GGUF file, a folder, or a pulled model [default: smollm2]
    #[arg(value_name = "MODEL")]
    model: Option<String>,

    /// Print all tensors
    #[arg(long)]
    tensors: bool,

    /// Print all metadata
    #[arg(long)]
    metadata: bool,

    /// Print JSON, with whole metadata arrays
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,
}

impl Info {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let path = match find_model(self.model.as_deref()) {
            Ok(path) => path,
            Err(problem) => return output::error(&problem).map(|()| Outcome::NotTried),
        };
        let model = match Gguf::open(&path) {
            Ok(model) => model,
            Err(error) => return ModelProblem::from(error).report(),
        };
        let summary = Summary::of(&model);
        match self.format.is_json(self.json) {
            true => output::json_result(&self.to_json(&summary, &model))?,
            false => output::result(&text::render(&summary, &model, self.tensors, self.metadata))?,
        }
        Ok(Outcome::Fine)
    }

    fn to_json(&self, summary: &Summary, model: &Gguf) -> Json {
        let mut json = summary.to_json();
        if self.tensors {
            json["tensors"] = model.weights().tensors().iter().map(tensor_to_json).collect();
        }
        if self.metadata {
            let entries = model.metadata().iter().map(|(key, value)| (key.to_owned(), value_to_json(value)));
            json["metadata"] = Json::Object(entries.collect::<Map<String, Json>>());
        }
        json
    }
}

fn tensor_to_json(tensor: &TensorInfo) -> Json {
    json!({
        "name": tensor.name,
        "dimensions": tensor.dimensions,
        "type": tensor.kind.name(),
        "file": tensor.file,
        "offset": tensor.range.start,
        "bytes": tensor.size(),
    })
}

/// Converts a value to JSON. Numbers that JSON cannot express, such as infinity, become null.
fn value_to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::String(value) => json!(value),
        // Nested arrays are few and small, so copying them is fine.
        Value::Array(array) => {
            (0..array.len()).filter_map(|index| array.get(index)).map(|value| value_to_json(&value)).collect()
        }
        Value::F32(value) => json!(shortest(*value)),
        Value::F64(value) => json!(value),
        Value::U64(value) => json!(value),
        other => json!(other.integer().and_then(|integer| i64::try_from(integer).ok())),
    }
}

/// Rounds to the shortest decimal: 1e-5 instead of 0.000009999999747378752.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| value.into())
}

/// Formats a value on one line, truncated if long.
fn value_to_text(value: &Value) -> String {
    const SHOWN: usize = 8;
    match value {
        Value::String(text) => quoted(text),
        Value::Bool(value) => value.to_string(),
        Value::F32(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::Array(array) => {
            let shown: Vec<String> = (0..array.len().min(SHOWN))
                .filter_map(|index| array.get(index))
                .map(|value| value_to_text(&value))
                .collect();
            let rest = if array.len() > SHOWN { ", …" } else { "" };
            format!("[{}{rest}] ({} {})", shown.join(", "), array.len(), kind_of(array))
        }
        other => other.integer().map(|integer| integer.to_string()).unwrap_or_default(),
    }
}

fn kind_of(array: &Array) -> String {
    array.kind().to_string()
}

fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
        None => format!("{text:?}"),
    }
}
