//! Running the program as a user would, from the root of the repository.
#![allow(dead_code, reason = "each test binary uses its own part")]

#[cfg(target_os = "linux")]
pub(crate) mod killed;
pub(crate) mod npy;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The root of the repository, where every run starts.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The run, if it ended with this status.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Run {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The run, if stderr says this.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Run {
        assert!(self.stderr.contains(text), "no '{text}' in stderr:\n{}", self.stderr);
        self
    }

    /// The run, if stderr does not say this.
    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Run {
        assert!(!self.stderr.contains(text), "'{text}' in stderr:\n{}", self.stderr);
        self
    }

    /// Stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in:\n{}", self.stdout))
    }
}

/// Runs `metalworks` with these arguments and nothing on stdin.
pub(crate) fn metalworks<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    metalworks_with_stdin(arguments, b"")
}

/// Runs `metalworks` with these arguments and this text on stdin.
pub(crate) fn metalworks_with_stdin<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>, stdin: &[u8]) -> Run {
    run(arguments, stdin, "off", &[])
}

/// Runs `metalworks` with compiled kernels in a folder, and with variables.
pub(crate) fn metalworks_with_cache<S: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = S>,
    cache: &str,
    variables: &[(&str, &str)],
) -> Run {
    run(arguments, b"", cache, variables)
}

/// Tests do not touch the user's cache.
fn run<S: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = S>,
    stdin: &[u8],
    cache: &str,
    variables: &[(&str, &str)],
) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalworks"));
    // The user's preferences: colours, terminal width, cache size, other folders and servers.
    for name in ["NO_COLOR", "COLUMNS", "METALWORKS_CACHE_SIZE", "METALWORKS_MODELS", "HF_ENDPOINT", "HF_TOKEN"] {
        command.env_remove(name);
    }
    let mut child = command
        .args(arguments)
        .current_dir(root())
        .env("METALWORKS_CACHE", cache)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A run that fails early does not read its stdin; that is not what is tested.
    let _ = child.stdin.take().expect("stdin is piped").write_all(stdin);
    let output = child.wait_with_output().expect("the program ends");
    Run {
        status: output.status.code().expect("the program was not killed"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// A folder of a test, removed at its end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{number}", env!("CARGO_CRATE_NAME"), std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("a scratch directory can be made");
        Scratch(path)
    }

    /// Writes a file there and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the scratch directory"))
            .expect("a directory can be made");
        std::fs::write(&path, content).expect("a scratch file can be written");
        path.display().to_string()
    }

    pub(crate) fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
