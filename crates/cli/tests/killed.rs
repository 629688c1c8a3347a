//! Programs that are killed while they write: the old file is whole, or the new one is.
#![cfg(all(target_os = "linux", llvm))]

mod support;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::pty::openpty;
use support::killed::kill_at;
use support::{Scratch, metalworks, root};

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

/// The program with these arguments, which prints nothing.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalworks"));
    command.args(arguments).env("METALWORKS_CACHE", "off").current_dir(root());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn results_of_the_compiler_keep_the_old_file() {
    let scratch = Scratch::new();
    let path = format!("{}/out", scratch.path());
    let source = scratch.file("k.metal", "kernel void k(device int *o) { o[0] = 1; }");
    let out = format!("o={path}");
    for arguments in [
        vec!["compile", &source, "-o", &path],
        vec!["xcrun", "metal", "-c", &source, "-o", &path],
        vec!["exec", &source, "k", "--threads", "1", "--arg", "o=zeros:i32:4", "--out", &out],
        vec!["synthesize", "llama-tiny:q4_0", "-o", &path],
    ] {
        assert!(program(&arguments).status().expect("it starts").success(), "{arguments:?}");
        let expected = std::fs::read(&path).expect("it was written");
        old_or_new(&path, || program(&arguments), |found| found == expected);
    }
}

/// Each file of a folder is an old one or a new one, and the next run ends with the new ones.
fn old_or_new_files(folder: &Path, prepare: impl Fn(), command: impl Fn() -> Command) {
    prepare();
    assert!(command().status().expect("it starts").success());
    let expected = files(folder);
    // A file takes five calls, so that this stops at each of them.
    for number in (0..).step_by(7) {
        let _ = std::fs::remove_dir_all(folder);
        prepare();
        let old = files(folder);
        let has_ended = kill_at(number, &mut command());
        for (name, text) in files(folder) {
            let is_whole = old.get(&name) == Some(&text) || expected.get(&name) == Some(&text);
            assert!(is_whole, "killed at call {number}: {name} has {} bytes", text.len());
        }
        for name in old.keys() {
            assert!(folder.join(name).exists(), "killed at call {number}: {name} is gone");
        }
        if number % 35 == 0 {
            assert!(command().status().expect("it starts").success());
            assert_eq!(files(folder), expected, "after a kill at call {number}");
        }
        if has_ended {
            break;
        }
    }
}

/// Names and texts of the files in a folder that are complete; a folder is complete when it has its name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(inside) = folders.pop() {
        for entry in std::fs::read_dir(inside).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                _ if entry.file_name().to_string_lossy().starts_with(".metalworks-") => {}
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).expect("it is inside").display().to_string();
                    found.insert(name, std::fs::read(&path).expect("a file"));
                }
            }
        }
    }
    found
}

#[test]
fn manual_pages_and_the_environment_are_whole() {
    let scratch = Scratch::new();
    let framework = scratch.file("libmetal_framework.so", "");
    let package = "cargo/registry/src/index/objc2-metal-0.3.2";
    let link = "#[link(name = \"Metal\", kind = \"framework\")]\nextern \"C\" {}\n";
    scratch.file(&format!("{package}/src/generated/mod.rs"), link);
    let manifest = "[dependencies.block2]\nfeatures = []\n\n[dependencies.objc2]\nfeatures = []\n";
    scratch.file(&format!("{package}/Cargo.toml"), manifest);
    let cargo = format!("{}/cargo", scratch.path());

    let folder = format!("{}/env", scratch.path());
    let old = ["bin/xcrun", "lib/libobjc.so", "include/Metal/Metal.h", "cargo.toml"];
    let prepare = || old.iter().for_each(|name| drop(scratch.file(&format!("env/{name}"), "the old file")));
    old_or_new_files(folder.as_ref(), prepare, || {
        let mut command = program(&["env", "--framework", &framework, "--folder", &folder]);
        command.env("CARGO_HOME", &cargo);
        command
    });
    let mode = std::fs::metadata(format!("{folder}/bin/xcrun")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o100, 0o100, "a tool can be started");

    let folder = format!("{}/pages", scratch.path());
    let prepare = || drop(scratch.file("pages/metalworks.1", "the old file"));
    old_or_new_files(folder.as_ref(), prepare, || program(&["man", &folder]));
}

#[test]
fn quantize_keeps_the_old_file() {
    let scratch = Scratch::new();
    let [input, output] = ["in.gguf", "out.gguf"].map(|name| format!("{}/{name}", scratch.path()));
    metalworks(["synthesize", "llama-tiny:f16", "-o", &input]).exits(0);
    metalworks(["quantize", &input, &output, "--to", "q4_0"]).exits(0);
    let expected = std::fs::read(&output).expect("it was written");
    let command = || program(&["quantize", &input, &output, "--to", "q4_0", "--threads", "2"]);
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
