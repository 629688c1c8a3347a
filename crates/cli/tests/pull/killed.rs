//! Downloads that are killed: a file has its name only when it is whole, and the next pull ends with it.

use std::process::{Command, Stdio};

use crate::server::{HubFile, Server};
use crate::support::killed::kill_at;
use crate::{Machine, tiny_model};

#[test]
fn a_killed_download_leaves_no_half_file() {
    let server = Server::of(vec![HubFile::new("/user/repo/resolve/main/x.gguf", tiny_model())]);
    let (mut absent, mut whole) = (0, 0);
    for number in 0.. {
        let machine = Machine::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalworks"));
        command.args(["pull", "hf:user/repo/x.gguf"]);
        command.envs(machine.variables(&server.address).iter().map(|(name, value)| (name, value)));
        let has_ended = kill_at(number, command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()));
        match std::fs::read(machine.file("x.gguf")) {
            Ok(found) => {
                assert!(found == tiny_model(), "killed at call {number}: {} bytes", found.len());
                whole += 1;
            }
            Err(_) => absent += 1,
        }
        // Its remains do not keep the next one from ending.
        if number % 4 == 0 {
            machine.pull_from("hf:user/repo/x.gguf", &server).exits(0);
            assert!(std::fs::read(machine.file("x.gguf")).expect("it is there") == tiny_model());
        }
        if has_ended {
            break;
        }
    }
    assert!(absent >= 4 && whole >= 2, "{absent} times no file, {whole} times a whole one");
}
