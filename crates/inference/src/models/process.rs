//! Child processes, with progress by the size of their files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Interval of progress reports.
const INTERVAL: Duration = Duration::from_millis(100);

/// Result of a process that exited.
pub(super) struct Exited {
    /// Exit status; `None` if a signal killed it.
    pub(super) status: Option<i32>,
    /// Output to stdout and stderr.
    pub(super) output: String,
}

impl Exited {
    pub(super) fn succeeded(&self) -> bool {
        self.status == Some(0)
    }

    /// Last lines of the output, for messages.
    pub(super) fn last_lines(&self) -> String {
        let lines: Vec<&str> = self.output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }
}

/// Child process, killed on drop: a panic or an error may end the wait early.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Has no effect on a process that exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program with its output in the file `log`. Reports the size of `watched`, a file or a folder, to `on_bytes`
/// while it runs. Returns an error if the program cannot be started or its log cannot be written or read.
pub(super) fn run(
    command: &mut Command,
    log: &Path,
    watched: &Path,
    on_bytes: &mut dyn FnMut(u64),
) -> io::Result<Exited> {
    run_with_input(command, "", log, watched, on_bytes)
}

/// Like [`run`], with `input` on stdin, which must fit into a pipe.
pub(super) fn run_with_input(
    command: &mut Command,
    input: &str,
    log: &Path,
    watched: &Path,
    on_bytes: &mut dyn FnMut(u64),
) -> io::Result<Exited> {
    let output = File::create(log)?;
    let child = command.stdin(Stdio::piped()).stdout(output.try_clone()?).stderr(output).spawn()?;
    let mut running = Running(child);
    if let Some(mut stdin) = running.0.stdin.take() {
        // Ignore a broken pipe: a program that exits early reports the reason itself.
        let _ = io::Write::write_all(&mut stdin, input.as_bytes());
    }
    let status = loop {
        if let Some(status) = running.0.try_wait()? {
            break status;
        }
        on_bytes(size(watched));
        thread::sleep(INTERVAL);
    };
    Ok(Exited { status: status.code(), output: String::from_utf8_lossy(&fs::read(log)?).into_owned() })
}

/// Size in bytes of a file, or of all files in a folder. Files that vanish meanwhile count as empty.
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
