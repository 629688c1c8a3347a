//! Running other programs, with an eye on what they have written.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// How often it is looked how far a program is.
const INTERVAL: Duration = Duration::from_millis(100);

/// How a program ended that was started.
pub(super) struct Ended {
    /// Its exit status; none if it was killed.
    pub(super) status: Option<i32>,
    /// What it wrote, to stdout and stderr.
    pub(super) output: String,
}

impl Ended {
    pub(super) fn succeeded(&self) -> bool {
        self.status == Some(0)
    }

    /// The end of what it wrote, for messages.
    pub(super) fn last_lines(&self) -> String {
        let lines: Vec<&str> = self.output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }
}

/// Kills a program that is not waited for any more, such as when showing progress has failed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail for one that has ended, which is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program with its output in the file `log`, and tells now and then how many bytes there are in `watched`, a file or
/// a folder. The error is that it could not be started.
pub(super) fn run(
    command: &mut Command,
    log: &Path,
    watched: &Path,
    on_bytes: &mut dyn FnMut(u64),
) -> io::Result<Ended> {
    run_with_input(command, "", log, watched, on_bytes)
}

/// The same with a text on stdin, short enough to be taken at once.
pub(super) fn run_with_input(
    command: &mut Command,
    input: &str,
    log: &Path,
    watched: &Path,
    on_bytes: &mut dyn FnMut(u64),
) -> io::Result<Ended> {
    let output = File::create(log)?;
    let child = command.stdin(Stdio::piped()).stdout(output.try_clone()?).stderr(output).spawn()?;
    let mut running = Running(child);
    if let Some(mut stdin) = running.0.stdin.take() {
        // A program that ended early says why itself.
        let _ = io::Write::write_all(&mut stdin, input.as_bytes());
    }
    let status = loop {
        if let Some(status) = running.0.try_wait()? {
            break status;
        }
        on_bytes(size(watched));
        thread::sleep(INTERVAL);
    };
    Ok(Ended { status: status.code(), output: String::from_utf8_lossy(&fs::read(log)?).into_owned() })
}

/// Bytes of a file, or of all files in a folder. What vanishes meanwhile counts as nothing.
fn size(path: &Path) -> u64 {
    let mut sum = 0;
    let mut open: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            Ok(metadata) => sum += metadata.len(),
            Err(_) => {}
        }
    }
    sum
}
