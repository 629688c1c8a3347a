//! `metalworks cache`: the user's cache of compiled kernels.

use std::io;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use compute::{ArchiveInfo, BinaryArchive};
use serde_json::{Value, json};

use crate::output::{self, FormatFlag, Outcome, size};
use crate::table::{Align, Table};

pub(crate) const EXAMPLE: &str = "\
The folder is METALWORKS_CACHE, or metalworks/pipelines in XDG_CACHE_HOME, in
~/.cache, or on a Mac in ~/Library/Caches. METALWORKS_CACHE=off turns it off.
METALWORKS_CACHE_SIZE limits its size [512M].

Examples:
  metalworks cache info
  METALWORKS_CACHE=/tmp/kernels metalworks cache clear

Exit status: 0 success, 1 the cache is off, 2 the folder could not be changed.";

#[derive(Args)]
pub(crate) struct Cache {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print the path of the folder
    Path,

    /// Print statistics
    ///
    /// Every entry is read and checked. Damaged ones are removed when a program next needs them.
    Info {
        /// Print JSON
        #[arg(long)]
        json: bool,

        #[command(flatten)]
        format: FormatFlag,
    },

    /// Remove all compiled kernels
    Clear,
}

impl Cache {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let cache = match BinaryArchive::user_cache() {
            Ok(cache) => cache,
            Err(error) => return output::error(&error.to_string()).map(|()| Outcome::NotTried),
        };
        let Some(path) = cache.path() else {
            let why = cache.info().off.unwrap_or_default();
            return output::error(&format!("compiled kernels are not cached: {why}")).map(|()| Outcome::Refused);
        };
        match &self.action {
            Action::Path => output::result(&format!("{}\n", path.display()))?,
            Action::Info { json, format } if format.is_json(*json) => {
                output::json_result(&to_json(&cache.info()))?;
            }
            Action::Info { .. } => output::result(&to_text(&cache.info()))?,
            Action::Clear => {
                let files = cache.clear();
                if let Some(problem) = cache.problems().first() {
                    return output::error(problem).map(|()| Outcome::NotTried);
                }
                output::result(&format!("{}: removed {}\n", path.display(), output::count(files, "file")))?;
            }
        }
        Ok(Outcome::Fine)
    }
}

fn to_text(info: &ArchiveInfo) -> String {
    let path = info.path.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    let limit = info.size_limit.map(|limit| format!(" of {}", size(limit))).unwrap_or_default();
    let mut text = format!("{path}\n{}, {}{limit}", count(info.entries), size(info.bytes));
    if let Some(oldest) = info.oldest {
        text += &format!("; the oldest was used {}", ago(oldest));
    }
    text.push('\n');
    for (number, what) in [(info.damaged, "damaged"), (info.unfinished, "unfinished")] {
        if number > 0 {
            text += &format!("{} {what}\n", output::count(number, "file"));
        }
    }
    let mut table = Table::new([("target", Align::Left), ("entries", Align::Right), ("code bytes", Align::Right)]);
    for target in &info.targets {
        table.row([target.target.clone(), target.entries.to_string(), target.code_bytes.to_string()]);
    }
    text + &table.render("")
}

fn to_json(info: &ArchiveInfo) -> Value {
    let seconds = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_secs());
    let targets: Vec<Value> = info
        .targets
        .iter()
        .map(|target| json!({"target": target.target, "entries": target.entries, "code_bytes": target.code_bytes}))
        .collect();
    json!({
        "path": info.path,
        "entries": info.entries,
        "bytes": info.bytes,
        "size_limit": info.size_limit,
        "oldest_use": info.oldest.map(seconds),
        "damaged": info.damaged,
        "unfinished": info.unfinished,
        "targets": targets,
    })
}

fn count(entries: usize) -> String {
    format!("{entries} {}", if entries == 1 { "entry" } else { "entries" })
}

/// Formats an age: `5 minutes ago`.
pub(crate) fn ago(time: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(time).map_or(0, |age| age.as_secs());
    let (number, unit) = match seconds {
        0..60 => return "just now".into(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} ago", output::count(number as usize, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn formats_ages() {
        let before = |seconds| ago(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!(
            [before(5), before(61), before(7300), before(200_000)].join(", "),
            "just now, 1 minute ago, 2 hours ago, 2 days ago"
        );
        assert_eq!(ago(SystemTime::now() + Duration::from_secs(1000)), "just now");
    }
}
