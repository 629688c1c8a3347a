//! `metalworks list`: the models on this machine.

use std::io;
use std::time::SystemTime;

use clap::Args;
use inference::models::{self, StoredFile, StoredModel};
use serde_json::{Value, json};

use crate::cache::ago;
use crate::output::{self, FormatFlag, Outcome, size};
use crate::table::{Align, Table};

pub(crate) const EXAMPLE: &str = "\
Models are in METALWORKS_MODELS, or in metalworks/models in XDG_CACHE_HOME,
in ~/.cache, or on a Mac in ~/Library/Caches.

Examples:
  metalworks list
  metalworks list --json

Exit status: 0 success, 2 the folder could not be read.";

#[derive(Args)]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,
}

impl List {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let models = match models::list() {
            Ok(models) => models,
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::NotTried),
        };
        if self.format.is_json(self.json) {
            let models: Vec<Value> = models.iter().map(to_json).collect();
            return output::json_result(&models).map(|()| Outcome::Fine);
        }
        if models.is_empty() {
            return output::note("there are no models: 'metalworks pull' downloads one").map(|()| Outcome::Fine);
        }
        let columns =
            [("model", Align::Left), ("format", Align::Left), ("size", Align::Right), ("changed", Align::Left)];
        let mut table = Table::new([&columns[..], &[("", Align::Left)]].concat());
        for model in &models {
            let state = if model.is_complete { "" } else { "incomplete" };
            let changed = model.modified().map(ago).unwrap_or_default();
            table.row([model.name.clone(), model.format.name().into(), size(model.bytes()), changed, state.into()]);
        }
        output::result(&table.render(""))?;
        Ok(Outcome::Fine)
    }
}

/// A model as JSON, with its files.
pub(crate) fn to_json(model: &StoredModel) -> Value {
    let file = |file: &StoredFile| {
        json!({
            "path": file.path,
            "bytes": file.bytes,
            "modified": seconds(file.modified),
            "complete": file.is_complete,
        })
    };
    json!({
        "name": model.name,
        "path": model.path,
        "format": model.format.name().to_ascii_lowercase(),
        "bytes": model.bytes(),
        "modified": seconds(model.modified()),
        "complete": model.is_complete,
        "files": model.files.iter().map(file).collect::<Vec<_>>(),
    })
}

/// Seconds since 1970.
fn seconds(time: Option<SystemTime>) -> Option<u64> {
    time?.duration_since(SystemTime::UNIX_EPOCH).ok().map(|age| age.as_secs())
}

/// Finds a model in the folder of models. The error is for the user, and suggests a model of a similar name.
pub(crate) fn find(name: &str) -> Result<StoredModel, (String, Outcome)> {
    models::stored(name).map_err(|error| {
        let outcome = match error.kind() {
            models::ModelErrorKind::Failed => Outcome::NotTried,
            _ => Outcome::Refused,
        };
        let models = models::list().unwrap_or_default();
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        let message = match crate::suggest::near_matches(name, &names).first() {
            Some(near) => format!("{error}; did you mean '{near}'?"),
            None => format!("{error}; 'metalworks list' lists the models"),
        };
        (message, outcome)
    })
}
