//! Programs that are killed while they write: the old file is whole, or the new one is.
#![cfg(all(target_os = "linux", llvm))]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use nix::pty::openpty;
use support::killed::kill_at;
use support::{Scratch, metalworks};

/// Shared with the other tests of models.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-models");

/// Kills the program at each call that changes files until it ends by itself. `whole` tells if a file is a new one.
fn old_or_new(path: &str, command: impl Fn() -> Command, is_new: impl Fn(&[u8]) -> bool) {
    let (mut olds, mut news) = (0, 0);
    for number in 0.. {
        std::fs::write(path, b"the old file").expect("it is ours");
        let has_ended = kill_at(number, &mut command());
        let found = std::fs::read(path).expect("a file");
        match found == b"the old file" {
            true => olds += 1,
            false => news += usize::from(is_new(&found)),
        }
        assert_eq!(olds + news, number + 1, "killed at call {number}: {} bytes", found.len());
        if has_ended {
            break;
        }
    }
    // Creating, writing, syncing and renaming; syncing the folder and printing the result.
    assert!(olds >= 4 && news >= 2, "{olds} times the old file, {news} times the new one");
}

#[test]
fn quantize_keeps_the_old_file() {
    let scratch = Scratch::new();
    let [input, output] = ["in.gguf", "out.gguf"].map(|name| format!("{}/{name}", scratch.path()));
    metalworks(["synthesize", "llama-tiny:f16", "-o", &input]).exits(0);
    metalworks(["quantize", &input, &output, "--to", "q4_0"]).exits(0);
    let expected = std::fs::read(&output).expect("it was written");
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalworks"));
        command.args(["quantize", &input, &output, "--to", "q4_0", "--threads", "2"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    old_or_new(&output, command, |found| found == expected);
}

/// Types a line whenever the editor waits for one: it turns on bracketed paste. Ends with the program.
fn type_when_ready(mut terminal: File, lines: &[&str]) {
    let (mut screen, mut bytes, mut typed) = (String::new(), [0; 4096], 0);
    while let Ok(count @ 1..) = terminal.read(&mut bytes) {
        screen += &String::from_utf8_lossy(&bytes[..count]);
        if screen.matches("\x1b[?2004h").count() > typed
            && let Some(line) = lines.get(typed)
        {
            typed += 1;
            let _ = terminal.write_all(line.as_bytes());
        }
    }
}

#[test]
fn a_saved_chat_keeps_the_old_file() {
    let scratch = Scratch::new();
    let path = format!("{}/chat.json", scratch.path());
    let command = || {
        let terminal = openpty(None, None).expect("a terminal");
        let same = || terminal.slave.try_clone().expect("a descriptor");
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalworks"));
        command
            .args(["run", "--synthetic", "llama-tiny:q4_0", "--system", "Be brief."])
            .env("METALWORKS_CACHE", CACHE)
            .env("METALWORKS_HISTORY", "")
            .env("TERM", "xterm")
            .stdin(same())
            .stdout(same())
            .stderr(same());
        let (keyboard, save) = (File::from(terminal.master), format!("/save {path}\r"));
        std::thread::spawn(move || type_when_ready(keyboard, &[&save, "/exit\r"]));
        command
    };
    let is_new = |found: &[u8]| serde_json::from_slice::<serde_json::Value>(found).is_ok();
    old_or_new(&path, command, is_new);
}
