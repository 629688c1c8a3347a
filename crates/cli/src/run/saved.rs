//! Saved chats: JSON lists of messages.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use inference::chat::Message;
use serde::Deserialize;

/// Largest file: far more than any context.
const MAX_SIZE: u64 = 64 << 20;

/// Message in a saved chat.
#[derive(Deserialize)]
struct SavedMessage {
    role: String,
    content: String,
}

/// Writes a chat. The error is for the user.
pub(crate) fn save(file: &str, messages: &[Message]) -> Result<(), String> {
    let text = serde_json::to_string_pretty(messages).map_err(|error| error.to_string())?;
    compute::files::replace_with(&path(file), (text + "\n").as_bytes())
        .map_err(|error| format!("cannot write '{file}': {error}"))
}

/// Reads a saved chat. The error is for the user.
pub(crate) fn load(file: &str) -> Result<Vec<Message>, String> {
    let text = read(file).map_err(|error| format!("cannot read '{file}': {error}"))?;
    let saved: Vec<SavedMessage> = serde_json::from_str(&text)
        .map_err(|error| format!("'{file}' is no saved chat, a list of messages with role and content: {error}"))?;
    Ok(saved.into_iter().map(|message| Message::new(message.role, message.content)).collect())
}

/// The path that a user means: as in a shell, `~/` is the home folder.
fn path(file: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let in_home = file.strip_prefix("~/").and_then(|rest| Some(home()?.join(rest.trim_start_matches('/'))));
    in_home.unwrap_or_else(|| file.into())
}

fn read(file: &str) -> io::Result<String> {
    // A pipe would be waited for, and a device may have no end.
    let path = path(file);
    if !std::fs::metadata(&path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_SIZE + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_SIZE {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MAX_SIZE} bytes"))),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder() {
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
            assert_eq!(path("~/chats/a.json"), home.join("chats/a.json"));
            assert_eq!(path("~//a.json"), home.join("a.json"));
        }
        for file in ["a.json", "/a.json", "~a.json", "./~/a.json"] {
            assert_eq!(path(file), PathBuf::from(file));
        }
    }
}
