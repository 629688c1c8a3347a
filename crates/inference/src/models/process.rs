//! Child processes, with progress by the size of their files.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
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

/// Files of a program that runs.
pub(super) struct Files<'a> {
    /// Its output goes here.
    pub(super) log: &'a Path,
    /// A file or a folder that it writes.
    pub(super) watched: &'a Path,
    /// Most bytes of one file. A program that writes more gets an error.
    pub(super) most: u64,
}

/// Room for the messages of a program, where its files must be smaller.
const LOG_SIZE: u64 = 64 << 10;

/// Runs a program with `input` on stdin, which must fit into a pipe. Reports the size of the watched file or folder to
/// `on_bytes` while it runs. Returns an error if the program cannot be started or its log cannot be written or read.
pub(super) fn run(
    command: &mut Command,
    input: &str,
    files: &Files<'_>,
    on_bytes: &mut dyn FnMut(u64),
) -> io::Result<Exited> {
    let Files { log, watched, most } = *files;
    let output = File::create(log)?;
    confine(command, most.max(LOG_SIZE));
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

/// Bounds the size of the files that a program writes, and ends it with this process.
fn confine(command: &mut Command, most: u64) {
    let parent = std::process::id();
    let limit = move || {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: the calls take numbers and a pointer to an initialized structure, and are safe between fork and exec.
        unsafe {
            // Then writing fails instead of ending the program, which reports it.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // This process may have ended before it was asked for.
            if libc::getppid().unsigned_abs() != parent {
                return Err(io::Error::other("the parent process has ended"));
            }
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls only.
    unsafe { command.pre_exec(limit) };
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
