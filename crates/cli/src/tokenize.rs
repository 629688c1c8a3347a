//! `metalworks tokenize`: converts text to tokens, and back.

use std::io;

use clap::Args;
use inference::chat::{ChatTemplate, Message, RenderOptions};
use inference::gguf::Gguf;
use inference::tokenizer::{EncodeOptions, Tokenizer, Vocabulary};
use serde_json::json;

use crate::engine::{ModelProblem, find_model};
use crate::input;
use crate::output::{self, FormatFlag, Outcome};
use crate::table::{Align, Table};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks tokenize -m model.gguf \"Hello, world\"
  metalworks tokenize -m model.gguf --chat \"Who are you?\"
  metalworks tokenize -m model.gguf --ids < text | wc -w
  metalworks tokenize -m model.gguf --decode \"19556 28 905\"

Exit status: 0 success, 1 the vocabulary or the tokens are wrong, 2 it could not
be tried.";

#[derive(Args)]
pub(crate) struct Tokenize {
    /// Load a GGUF file, a folder, or a pulled model
    ///
    /// By default the model `smollm2`.
    #[arg(short, long)]
    model: Option<String>,

    /// Print only the IDs, on one line
    #[arg(long, conflicts_with = "decode")]
    ids: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "ids")]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,

    /// Decode token IDs to text
    #[arg(long)]
    decode: bool,

    /// Parse control tokens; with --decode, print them
    #[arg(long)]
    special: bool,

    /// Add the model's begin and end tokens
    #[arg(long, conflicts_with = "decode")]
    add_special: bool,

    /// Apply the chat template first
    ///
    /// The text becomes the message of a user, followed by the start of the answer. Control tokens are parsed in all of
    /// it.
    #[arg(long, conflicts_with_all = ["decode", "add_special", "special"])]
    chat: bool,

    /// Tokenize this text [default: stdin]
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
}

/// Tokens as they are printed.
enum Tokens {
    Text(String),
    Json(serde_json::Value),
}

impl Tokenize {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let path = match find_model(self.model.as_deref()) {
            Ok(path) => path,
            Err(problem) => return output::error(&problem).map(|()| Outcome::NotTried),
        };
        let file = match Gguf::open(&path) {
            Ok(file) => file,
            Err(error) => return ModelProblem::from(error).report(),
        };
        let text = match self.text.clone().map_or_else(input::stdin, Ok) {
            Ok(text) => text,
            Err(error) => return output::error(&error).map(|()| Outcome::NotTried),
        };
        match self.convert(&file, &text) {
            Ok(Tokens::Text(text)) => output::result(&text).map(|()| Outcome::Fine),
            Ok(Tokens::Json(json)) => output::json_result(&json).map(|()| Outcome::Fine),
            Err(error) => output::error(&format!("{}: {error}", path.display())).map(|()| Outcome::Refused),
        }
    }

    fn convert(&self, file: &Gguf, text: &str) -> Result<Tokens, Box<dyn std::error::Error>> {
        let tokenizer = Tokenizer::new(&Vocabulary::from_metadata(file.metadata())?)?;
        if self.decode {
            let ids = read_ids(text)?;
            let text = tokenizer.decode(&ids, self.special)?;
            return Ok(if self.format.is_json(self.json) {
                Tokens::Json(to_json(&tokenizer, &ids, &text)?)
            } else {
                Tokens::Text(text + "\n")
            });
        }
        let text = if self.chat { chat(file, &tokenizer, text)? } else { text.to_owned() };
        let options = EncodeOptions { add_special: self.add_special, parse_special: self.special || self.chat };
        let ids = tokenizer.encode(&text, options);
        warn_of_missing_bytes(&tokenizer, &text)?;
        Ok(if self.format.is_json(self.json) {
            Tokens::Json(to_json(&tokenizer, &ids, &text)?)
        } else if self.ids {
            Tokens::Text(ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ") + "\n")
        } else {
            Tokens::Text(to_table(&tokenizer, &ids)?)
        })
    }
}

fn chat(file: &Gguf, tokenizer: &Tokenizer, text: &str) -> Result<String, inference::chat::ChatError> {
    let template = ChatTemplate::from_metadata(file.metadata(), tokenizer)?;
    let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
    template.render(&[Message::new("user", text)], &options)
}

/// Parses IDs separated by spaces or commas, as `--ids` and JSON print them.
fn read_ids(text: &str) -> Result<Vec<u32>, String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']'));
    let ids = words.filter(|word| !word.is_empty());
    ids.map(|word| word.parse().map_err(|_| format!("{word:?} is not a token ID"))).collect()
}

fn warn_of_missing_bytes(tokenizer: &Tokenizer, text: &str) -> io::Result<()> {
    let missing = tokenizer.missing_bytes();
    let left_out = text.bytes().filter(|byte| missing.contains(byte)).count();
    if left_out > 0 {
        let bytes = output::count(left_out, "byte");
        output::warning(&format!("the model has no tokens for {bytes} of the text; left out"))?;
    }
    Ok(())
}

fn pieces<'t>(
    tokenizer: &'t Tokenizer,
    ids: &[u32],
) -> Result<Vec<&'t [u8]>, inference::tokenizer::TokenizerError> {
    ids.iter().map(|&id| tokenizer.piece(id)).collect()
}

fn to_table(tokenizer: &Tokenizer, ids: &[u32]) -> Result<String, inference::tokenizer::TokenizerError> {
    let mut table = Table::new([("id", Align::Right), ("piece", Align::Left)]);
    for (id, piece) in ids.iter().zip(pieces(tokenizer, ids)?) {
        // As in Rust: bytes that are not UTF-8 are \xff.
        let shown = match std::str::from_utf8(piece) {
            Ok(text) => format!("{text:?}"),
            Err(_) => format!("\"{}\"", piece.escape_ascii()),
        };
        table.row([id.to_string(), shown]);
    }
    Ok(table.render("") + &format!("{}\n", output::count(ids.len(), "token")))
}

fn to_json(
    tokenizer: &Tokenizer,
    ids: &[u32],
    text: &str,
) -> Result<serde_json::Value, inference::tokenizer::TokenizerError> {
    let pieces: Vec<_> =
        pieces(tokenizer, ids)?.into_iter().map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
    Ok(json!({ "text": text, "ids": ids, "pieces": pieces }))
}
