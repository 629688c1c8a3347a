//! The file with the messages of earlier chats, which the line editor reads.
//!
//! Two chats may end at the same time, and each may be killed: new messages are added under a lock, to a copy that replaces
//! the file. The editor itself would empty the file first, and then write it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Longest history in messages.
pub(super) const MESSAGES: usize = 1000;

/// First line of a file in which a message is a line, with its own lines and backslashes escaped.
const ESCAPED: &str = "#V2";

/// `METALWORKS_HISTORY`, or a file in the user's folder of state. An empty variable keeps no history.
pub(super) fn file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("METALWORKS_HISTORY") {
        return Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty());
    }
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("metalworks/history"))
}

/// Adds a message. The file is readable for its owner only.
pub(super) fn add(path: &Path, message: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = locked(path)?;
    // Nothing is kept in /dev/null.
    if !file.metadata()?.is_file() {
        return Ok(());
    }
    let mut old = String::new();
    file.read_to_string(&mut old)?;
    // A link stays, and leads to the new file.
    compute::files::replace_private(&path.canonicalize()?, joined(&old, message).as_bytes())
}

/// The text of a file with this message added; the oldest ones are left out.
fn joined(old: &str, message: &str) -> String {
    let escaped = |message: &str| message.replace('\\', "\\\\").replace('\n', "\\n");
    let mut lines: Vec<String> = match old.strip_prefix(ESCAPED).and_then(|rest| rest.strip_prefix('\n')) {
        Some(lines) => lines.lines().map(str::to_owned).collect(),
        None => old.lines().map(escaped).collect(),
    };
    lines.push(escaped(message));
    lines.dedup();
    let kept = &lines[lines.len().saturating_sub(MESSAGES)..];
    format!("{ESCAPED}\n{}\n", kept.join("\n"))
}

/// Opens the file, or makes an empty one, and waits until no other chat is adding to it.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        file.lock()?;
        // Whoever had the lock has replaced the file.
        let (ours, named) = (file.metadata()?, std::fs::metadata(path)?);
        if (ours.dev(), ours.ino()) == (named.dev(), named.ino()) {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_lines() {
        assert_eq!(joined("", "a\\b\nc"), "#V2\na\\\\b\\nc\n");
        assert_eq!(joined("#V2\nx\\n\n", "d"), "#V2\nx\\n\nd\n");
        assert_eq!(joined("#V2\nd\n", "d"), "#V2\nd\n");
        assert_eq!(joined("of an old\\version\n", "d"), "#V2\nof an old\\\\version\nd\n");
        let many: String = (0..MESSAGES + 5).map(|number| format!("{number}\n")).collect();
        assert!(joined(&format!("#V2\n{many}"), "last").starts_with("#V2\n6\n7\n"));
    }

    #[test]
    fn devices_stay() {
        add(Path::new("/dev/null"), "a").expect("it is left alone");
        assert!(!std::fs::metadata("/dev/null").expect("it is there").is_file());
    }

    #[test]
    fn chats_that_end_together_keep_all_messages() {
        let path = std::env::temp_dir().join(format!("metalworks-history-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        std::thread::scope(|scope| {
            for chat in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..10 {
                        add(path, &format!("{chat} {number}")).expect("it can be written");
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_file(&path).expect("it is ours");
        assert_eq!(text.lines().count(), 1 + 80, "{text}");
    }
}
