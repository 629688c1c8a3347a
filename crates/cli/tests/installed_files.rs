//! Files that packages install beside the program: shell completions and manual pages.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use support::{Scratch, metalworks};

/// The subcommands that `metalworks -h` lists, without `help`.
fn commands() -> Vec<String> {
    let help = metalworks(["-h"]).exits(0).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<String> = listed.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    assert!(names.len() > 10, "{help}");
    names.into_iter().filter(|name| name != "help").collect()
}

/// A shell that parses a script without running it.
fn parses(shell: &str, script: &str) {
    let mut child =
        Command::new(shell).arg("-n").stdin(Stdio::piped()).spawn().expect("the shell was found and starts");
    child.stdin.take().expect("stdin is piped").write_all(script.as_bytes()).expect("the shell reads the script");
    assert!(child.wait().expect("the shell ends").success(), "{shell} -n");
}

fn is_installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

#[test]
fn completions_name_all_commands_and_parse() {
    for shell in ["bash", "zsh", "fish"] {
        let script = metalworks(["completions", shell]).exits(0).stdout;
        for command in commands() {
            assert!(script.contains(&command), "{shell}: no '{command}' in the completions");
        }
        assert!(script.contains("threadgroup"), "{shell}: no flag of exec in the completions");
        if is_installed(shell) {
            parses(shell, &script);
        }
    }
    metalworks(["completions", "tcsh"]).exits(2).says("tcsh");
}

#[test]
fn bash_completes_a_flag() {
    let script = metalworks(["completions", "bash"]).exits(0).stdout;
    let program = format!(
        "{script}\nCOMP_WORDS=(metalworks exec --threadg)\nCOMP_CWORD=2\n_metalworks metalworks --threadg exec\n\
         echo \"${{COMPREPLY[@]}}\"\n"
    );
    let output = Command::new("bash").args(["-c", &program]).output().expect("bash starts");
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(words.split_whitespace().any(|word| word == "--threadgroup"), "{output:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Scratch::new();
    metalworks(["man", &folder.path()]).exits(0);
    let page = |name: &str| {
        let file = Path::new(&folder.path()).join(name);
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let overview = page("metalworks.1");
    for command in commands() {
        let text = page(&format!("metalworks-{command}.1"));
        assert!(text.contains(".SH NAME") && text.contains(".SH OPTIONS"), "{command}: {text}");
        assert!(text.contains("Exit status"), "{command}: {text}");
        assert!(overview.contains(&format!("metalworks\\-{command}(1)")), "no {command} in {overview}");
    }
    assert!(!Path::new(&folder.path()).join("metalworks-man.1").exists(), "a page of a hidden command");
    metalworks(["man", "/no/such/folder"]).exits(2).says("cannot write manual pages to '/no/such/folder'");
}
