//! The chat of `metalworks run`, on a terminal of its own.
#![cfg(all(llvm, unix))]

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::pty::openpty;

mod support;

use support::Scratch;

/// Shared with the other tests of models.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-models");
/// Printed when the editor waits for a message: it turns on bracketed paste.
const READY: &str = "\x1b[?2004h";
/// Longer than any answer takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A chat with the tiny model.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<String>,
}

impl Terminal {
    fn start(flags: &[&str], history: &str) -> Terminal {
        let terminal = openpty(None, None).expect("a terminal");
        let same = || terminal.slave.try_clone().expect("a descriptor");
        let child = Command::new(env!("CARGO_BIN_EXE_metalworks"))
            .args(["run", "--synthetic", "llama-tiny:q4_0", "-n", "6", "--seed", "1"])
            .args(flags)
            .env("METALWORKS_CACHE", CACHE)
            .env("METALWORKS_HISTORY", history)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(same())
            .stdout(same())
            .stderr(same())
            .spawn()
            .expect("the program starts");
        let keyboard = File::from(terminal.master);
        let mut output = keyboard.try_clone().expect("a descriptor");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error is the end: the program has closed the terminal.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Terminal { child, keyboard, screen };
        terminal.wait();
        terminal
    }

    /// Returns what is printed until the editor waits for the next message.
    fn wait(&mut self) -> String {
        let mut text = String::new();
        while !text.contains(READY) {
            text += &self.screen.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no prompt after {text:?}"));
        }
        text
    }

    /// Types keys, and returns what is printed until the next message is awaited.
    fn type_keys(&mut self, keys: &str) -> String {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal is open");
        self.wait()
    }

    /// Types keys that end the program.
    fn leave(mut self, keys: &str) -> ExitStatus {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal is open");
        // The terminal must be read, or the program cannot write to it.
        while self.screen.recv_timeout(PATIENCE).is_ok() {}
        self.child.wait().expect("the program ends")
    }
}

fn messages(scratch: &Scratch, terminal: &mut Terminal) -> Vec<(String, String)> {
    let file = format!("{}/chat.json", scratch.path());
    let said = terminal.type_keys(&format!("/save {file}\r"));
    assert!(said.contains("message"), "{said:?}");
    let text = std::fs::read_to_string(file).expect("the chat was saved");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let field = |message: &serde_json::Value, name: &str| message[name].as_str().expect("a string").to_owned();
    json.as_array()
        .expect("a list")
        .iter()
        .map(|message| (field(message, "role"), field(message, "content")))
        .collect()
}

#[test]
fn pasted_and_continued_lines_are_one_message() {
    let scratch = Scratch::new();
    let mut chat = Terminal::start(&[], "");
    chat.type_keys("\x1b[200~one\ntwo\nthree\x1b[201~\r");
    chat.type_keys("four \\\rfive\r");
    chat.type_keys("\"\"\"six\rseven\"\"\"\r");
    // Far beyond the length of a line that a terminal keeps.
    let long = "x".repeat(9000);
    chat.type_keys(&format!("/system {long}\r"));
    let messages = messages(&scratch, &mut chat);
    let said: Vec<&str> =
        messages.iter().filter(|(role, _)| role == "user").map(|(_, content)| content.as_str()).collect();
    assert_eq!(said, ["one\ntwo\nthree", "four \nfive", "six\nseven"]);
    assert_eq!(messages[0], ("system".into(), long));
    assert!(chat.leave("/exit\r").success());
}

#[test]
fn commands_change_the_chat() {
    let scratch = Scratch::new();
    let mut chat = Terminal::start(&["--system", "Be brief."], "");
    assert!(chat.type_keys("/help\r").contains("/regen"));
    assert!(chat.type_keys("/regen\r").contains("there is no message to answer yet"));
    chat.type_keys("hello\r");
    chat.type_keys("/regen\r");
    let before = messages(&scratch, &mut chat);
    assert_eq!(before.iter().map(|(role, _)| role.as_str()).collect::<Vec<_>>(), ["system", "user", "assistant"]);
    assert!(chat.type_keys("/system\r").contains("Be brief."));
    chat.type_keys("/clear\r");
    assert!(chat.type_keys(&format!("/load {}/chat.json\r", scratch.path())).contains("(3 messages)"));
    assert_eq!(messages(&scratch, &mut chat), before);
    chat.type_keys("/set temp 0\r");
    assert!(chat.type_keys("/set\r").contains("temp 0\r\n"));
    assert!(chat.type_keys("/set temp -1\r").contains("it must be 0 or above"));
    assert!(chat.type_keys("/load no-such-file\r").contains("cannot read 'no-such-file'"));
    assert!(chat.type_keys("/stats\r").contains("times are shown"));
    let said = chat.type_keys("more\r");
    assert!(said.contains("tokens/s") && said.contains(" tokens reused"), "{said:?}");
    assert!(chat.type_keys("/regen\r").contains(" tokens reused"));
    assert!(chat.type_keys("\x03").contains("again"));
    assert!(chat.leave("\x03").success());
}

#[test]
fn a_full_context_drops_the_oldest_messages() {
    let mut chat = Terminal::start(&["-c", "64", "--ignore-eos"], "");
    let mut said = String::new();
    for _ in 0..4 {
        said = chat.type_keys("hello again\r");
    }
    assert!(said.contains("the context of 64 tokens is full: the oldest text was dropped"), "{said:?}");
    assert!(!said.contains("error"), "{said:?}");
    // Ctrl-D
    assert!(chat.leave("\x04").success());
}

#[test]
fn lines_typed_ahead_are_kept() {
    let mut chat = Terminal::start(&[], "");
    let mut said = chat.type_keys("hello\r/stats\r/* two */ words\r/exi\r");
    while !said.contains("did you mean /exit?") {
        said += &chat.wait();
    }
    assert!(said.contains("times are shown") && said.contains("answer: "), "{said:?}");
    assert!(chat.leave("/stats\r/exit\r").success());
}

#[test]
fn a_message_longer_than_the_context_is_refused() {
    let scratch = Scratch::new();
    let mut chat = Terminal::start(&["-c", "64"], "");
    let said = chat.type_keys(&format!("\x1b[200~{}\x1b[201~\r", "word ".repeat(100)));
    assert!(said.contains("the prompt has ") && said.contains("more than the context of 64"), "{said:?}");
    chat.type_keys("short\r");
    assert_eq!(messages(&scratch, &mut chat)[0], ("user".into(), "short".into()));
    assert!(chat.leave("/exit\r").success());
}

#[test]
fn the_history_outlasts_the_chat() {
    let scratch = Scratch::new();
    let history = format!("{}/state/history", scratch.path());
    let mut chat = Terminal::start(&[], &history);
    chat.type_keys("/stats\r");
    assert!(chat.leave("/exit\r").success());
    let mut chat = Terminal::start(&[], &history);
    // The last line was /exit, the one before it /stats.
    let said = chat.type_keys("\x1b[A\x1b[A\r");
    assert!(said.contains("times are shown"), "{said:?}");
    chat.child.kill().expect("it runs");
    assert!(!chat.leave("").success());
    let mut chat = Terminal::start(&[], &history);
    let said = chat.type_keys("\x1b[A\r");
    assert!(said.contains("times are shown"), "{said:?}");
    assert!(chat.leave("\x04").success());
}
