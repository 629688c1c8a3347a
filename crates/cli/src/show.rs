//! `metalworks show`: the files of a model on this machine.

use std::io;

use clap::Args;

use crate::cache::ago;
use crate::list;
use crate::output::{self, FormatFlag, Outcome, size};
use crate::table::{Align, Table};

pub(crate) const EXAMPLE: &str = "\
`metalworks info` prints the properties of the model itself.

Examples:
  metalworks show smollm2
  metalworks show Qwen/Qwen3-0.6B-GGUF:Q8_0 --json

Exit status: 0 success, 1 there is no such model, 2 the folder could not be read.";

#[derive(Args)]
pub(crate) struct Show {
    /// Show a model by its name, as `metalworks list` prints it
    #[arg(value_name = "MODEL", default_value = "smollm2")]
    model: String,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,
}

impl Show {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let model = match list::find(&self.model) {
            Ok(model) => model,
            Err((message, outcome)) => return output::error(&message).map(|()| outcome),
        };
        if self.format.is_json(self.json) {
            return output::json_result(&list::to_json(&model)).map(|()| Outcome::Fine);
        }
        let state = if model.is_complete { "" } else { ", incomplete: 'metalworks pull' goes on with it" };
        let mut text = format!("{}\n{}, {}{state}\n", model.name, model.format.name(), size(model.bytes()));
        text += &format!("{}\n", model.path.display());
        let mut table = Table::new([
            ("file", Align::Left),
            ("size", Align::Right),
            ("changed", Align::Left),
            ("", Align::Left),
        ]);
        for file in &model.files {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let state = if file.is_complete { "" } else { "incomplete" };
            table.row([name, size(file.bytes), file.modified.map(ago).unwrap_or_default(), state.into()]);
        }
        output::result(&(text + &table.render("  ")))?;
        Ok(Outcome::Fine)
    }
}
