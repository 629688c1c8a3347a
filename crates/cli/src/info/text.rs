//! Formats the summary as text.

use inference::gguf::{Container, Gguf, Value};

use super::summary::Summary;
use super::value_to_text;
use crate::output::{count, size};
use crate::table::{Align, Table};

pub(super) fn render(summary: &Summary, model: &Gguf, tensors: bool, metadata: bool) -> String {
    let mut text = heading(summary);
    text += &facts(summary);
    text.push('\n');
    text += &types(summary);
    let not_run = summary.not_run();
    if !not_run.is_empty() {
        text += &format!("\nno kernel reads {}: the model cannot be run\n", not_run.join(", "));
    }
    for note in &summary.notes {
        text += &format!("\nnote: {note}\n");
    }
    if tensors {
        text.push('\n');
        text += &tensor_table(model);
    }
    if metadata {
        text.push('\n');
        for (key, value) in model.metadata().iter() {
            text += &format!("{} = {}\n", key.escape_debug(), value_to_text(value));
        }
    }
    text
}

fn heading(summary: &Summary) -> String {
    let files: String = summary.files.iter().map(|file| format!("{file}\n")).collect();
    let container = match summary.container {
        Container::Gguf => format!("GGUF version {}", summary.version),
        Container::HuggingFace => "Hugging Face folder".to_owned(),
        Container::Mlx => "MLX folder".to_owned(),
    };
    format!(
        "{files}{container}, {}, {} in {}\n\n",
        size(summary.bytes),
        parameters(summary.parameters),
        count(summary.tensors, "tensor")
    )
}

/// Formats a count: `134.5 million parameters`.
fn parameters(number: u64) -> String {
    match number {
        0..1_000_000 => format!("{number} parameters"),
        1_000_000..1_000_000_000 => format!("{:.1} million parameters", number as f64 / 1e6),
        _ => format!("{:.2} billion parameters", number as f64 / 1e9),
    }
}

fn facts(summary: &Summary) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (name, value) in &summary.facts {
        // Names need no quotes.
        let value = match value {
            Value::String(text) => text.escape_debug().to_string(),
            value => value_to_text(value),
        };
        lines.push(((*name).to_owned(), value));
    }
    if let Some(vocabulary) = summary.vocabulary {
        lines.push(("vocabulary".into(), count(vocabulary, "token")));
    }
    for (name, id, token) in &summary.special_tokens {
        let token = token.as_ref().map(|token| format!(" {}", token.escape_debug())).unwrap_or_default();
        lines.push((format!("token for {name}"), format!("{id}{token}")));
    }
    lines.push(("chat template".into(), if summary.has_chat_template { "yes" } else { "no" }.into()));
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    lines.into_iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect()
}

fn types(summary: &Summary) -> String {
    let mut table = Table::new([
        ("type", Align::Left),
        ("tensors", Align::Right),
        ("parameters", Align::Right),
        ("share", Align::Right),
        ("bytes", Align::Right),
    ]);
    for share in &summary.types {
        table.row([
            share.kind.name().to_owned(),
            share.tensors.to_string(),
            share.parameters.to_string(),
            format!("{:.1}%", share.parameters as f64 * 100.0 / summary.parameters.max(1) as f64),
            share.bytes.to_string(),
        ]);
    }
    table.render("")
}

fn tensor_table(model: &Gguf) -> String {
    let mut table = Table::new([
        ("tensor", Align::Left),
        ("type", Align::Left),
        ("shape", Align::Right),
        ("offset", Align::Right),
        ("bytes", Align::Right),
    ]);
    for tensor in model.weights().tensors() {
        table.row([
            tensor.name.escape_debug().to_string(),
            tensor.kind.name().to_owned(),
            tensor.shape(),
            tensor.range.start.to_string(),
            tensor.size().to_string(),
        ]);
    }
    table.render("")
}
