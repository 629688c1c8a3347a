//! Texts of files on a terminal: they are shown, and control nothing.
#![cfg(all(llvm, target_os = "linux"))]

mod support;

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use nix::pty::openpty;
use support::{Scratch, metalworks, root};

/// Shared with the other tests of models.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-models");
/// Sets the title of a window, clears the screen in two ways, and reorders text.
const HOSTILE: &str = "\x1b]0;t\x07\x1b[2J\u{9b}2J\u{202e}";

/// Runs the program with stdout on a terminal; returns that and stderr, which must not control one either.
fn on_a_terminal(arguments: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let terminal = openpty(None, None).expect("a terminal");
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalworks"));
    command.args(arguments).current_dir(root()).env("METALWORKS_CACHE", CACHE).env("NO_COLOR", "1");
    command.envs(variables.iter().copied()).stdin(Stdio::null()).stderr(Stdio::piped());
    let child = command.stdout(terminal.slave).spawn().expect("the program starts");
    // The command has a copy of the terminal.
    drop(command);
    let (mut master, mut bytes) = (File::from(terminal.master), [0; 4096]);
    let reader = std::thread::spawn(move || {
        let mut screen = Vec::new();
        // An error is the end: the program has closed the terminal.
        while let Ok(count @ 1..) = master.read(&mut bytes) {
            screen.extend_from_slice(&bytes[..count]);
        }
        String::from_utf8_lossy(&screen).into_owned()
    });
    let output = child.wait_with_output().expect("the program ends");
    (reader.join().expect("it does not panic"), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Runs the program, which must show this and control nothing.
#[track_caller]
fn shows(expected: &str, arguments: &[&str], variables: &[(&str, &str)]) {
    let (screen, stderr) = on_a_terminal(arguments, variables);
    let controls = |c: char| (c.is_control() && !"\r\n\t".contains(c)) || c == '\u{202e}';
    for text in [&screen, &stderr] {
        assert!(!text.contains(controls), "{arguments:?}: {text:?}");
    }
    assert!(screen.contains(expected) || stderr.contains(expected), "{arguments:?}: {screen:?} {stderr:?}");
}

#[test]
fn strings_of_models() {
    let scratch = Scratch::new();
    let path = format!("{}/tiny.gguf", scratch.path());
    metalworks(["synthesize", "llama-tiny:q4_0", "-o", &path]).exits(0);
    let mut bytes = std::fs::read(&path).expect("it was written");
    // Names and texts of the same length.
    for text in ["llama-tiny:q4_0", "tokenizer.chat_template", "output_norm.weight"] {
        let hostile: Vec<u8> = b"\x1b]0;t\x07\x1b[2J".iter().chain(&[b'x'; 40]).take(text.len()).copied().collect();
        let at: Vec<usize> =
            (0..bytes.len() - text.len()).filter(|&at| bytes[at..].starts_with(text.as_bytes())).collect();
        assert!(!at.is_empty(), "{text}");
        at.iter().for_each(|&at| bytes[at..at + text.len()].copy_from_slice(&hostile));
    }
    let damaged = scratch.file("damaged.gguf", &bytes);
    shows("2J", &["info", &damaged, "--tensors", "--metadata"], &[]);
    shows("2J", &["info", &damaged, "--json"], &[]);
    shows("error", &["run", "-m", &damaged, "-p", "x"], &[]);
    shows("error", &["quantize", &damaged, "/no/such/file", "--to", "q8_0"], &[]);
    shows("\\u{1b}", &["tokenize", "-m", &path, HOSTILE], &[]);
    shows("\\u001b", &["tokenize", "-m", &path, "--json", HOSTILE], &[]);
    let (json, _) = on_a_terminal(&["tokenize", "-m", &path, "--json", HOSTILE], &[]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON on a terminal is JSON");
    assert_eq!(json["text"], HOSTILE);
    // A model without sense says everything, control characters too.
    shows(
        "\\u{",
        &[
            "run",
            "-m",
            &path,
            "-p",
            "x",
            "-n",
            "300",
            "--temp",
            "5",
            "--top-k",
            "0",
            "--top-p",
            "1",
            "--min-p",
            "0",
            "--seed",
            "1",
            "--raw",
            "--ignore-eos",
        ],
        &[],
    );
}

#[test]
fn names_of_models() {
    let scratch = Scratch::new();
    let path = format!("{}/models/hf/user/repo/a{HOSTILE}.gguf", scratch.path());
    scratch.file(&format!("models/hf/user/repo/a{HOSTILE}.gguf"), "");
    metalworks(["synthesize", "llama-tiny:q4_0", "-o", &path]).exits(0);
    let models = format!("{}/models", scratch.path());
    let variables = [("METALWORKS_MODELS", models.as_str())];
    shows("user/repo", &["list"], &variables);
    shows("", &["show", "user/repo"], &variables);
    shows("", &["rm", "user/repo", "--yes"], &variables);
    shows("there is no file", &["info", &format!("/no/{HOSTILE}")], &[]);
}

#[test]
fn texts_of_shaders() {
    let scratch = Scratch::new();
    let file = |name: &str, text: &str| scratch.file(&format!("{name}{HOSTILE}.metal"), text);
    let error = file("error", &format!("#error {HOSTILE}\n#include \"{HOSTILE}\"\nint {HOSTILE};\n"));
    shows("error", &["check", &error], &[]);
    shows("error", &["check", "--json", &error], &[]);
    shows("error", &["xcrun", "metal", "-c", &error, "-o", "/dev/null"], &[]);
    let messages = file(
        "log",
        &format!(
            "#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n\
             kernel void k(device int *o) {{ os_log_default.log(\"say {HOSTILE}\"); o[9] = 1; /* {HOSTILE} */ }}\n"
        ),
    );
    let exec = ["exec", "--std", "metal3.2", &messages, "k", "--threads", "1", "--arg", "o=zeros:i32:4"];
    shows("say ", &exec, &[]);
    shows("out-of-bounds", &[&exec[..], &["--validate"]].concat(), &[]);
    shows("k", &["reflect", "--std", "metal3.2", &messages], &[]);
    let library = format!("{}/a{HOSTILE}.metallib", scratch.path());
    metalworks(["compile", "-g", "--std", "metal3.2", &messages, "-o", &library]).exits(0);
    shows("k", &["objdump", &library], &[]);
    shows("k", &["objdump", &library, "--json"], &[]);
    shows("k", &["reflect", &library], &[]);
}
