//! The commands of README.md and docs/tour.md, run as a reader would, in a folder that has what the repository has.
#![cfg(llvm)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Scratch, root};

/// Precedes blocks whose commands need the default model.
const NEEDS_MODEL: &str = "<!-- needs the model -->";

/// A command, and its output if the page shows it.
struct Shown<'a> {
    command: &'a str,
    output: Option<String>,
    needs_model: bool,
}

/// The commands of a page in order.
fn commands(page: &str) -> Vec<Shown<'_>> {
    let (mut found, mut block, mut needs_model) = (Vec::<Shown<'_>>::new(), None, false);
    for line in page.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(language), None) => block = Some(language),
            (Some(_), Some(_)) => (block, needs_model) = (None, false),
            (None, Some("sh")) => found.push(Shown { command: line, output: None, needs_model }),
            (None, Some("console")) => match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push(Shown { command, output: Some(String::new()), needs_model }),
                (None, Some(Shown { output: Some(output), .. })) => *output += &format!("{line}\n"),
                (None, _) => panic!("output before a command: {line}"),
            },
            (None, Some(_)) => {}
            (None, None) => needs_model |= line == NEEDS_MODEL,
        }
    }
    found
}

/// Replaces the device, which differs between machines, by an ellipsis.
fn without_device(text: &str) -> String {
    let line = |line: &str| match line.split_once("in each threadgroup, on ") {
        Some((before, _)) => format!("{before}in each threadgroup, on …\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Runs the commands of the tour in one folder: later ones use the files of earlier ones.
fn take_tour(needs_model: bool) {
    let page = ["README.md", "docs/tour.md"].map(|name| std::fs::read_to_string(root().join(name)).expect(name));
    let page = page.concat();
    let scratch = Scratch::new();
    let folder = scratch.path();
    for name in ["examples", "crates", "docs", "README.md", "CONTRIBUTING.md"] {
        let target = root().join(name).canonicalize().expect("a part of the repository");
        std::os::unix::fs::symlink(target, Path::new(&folder).join(name)).expect("a link");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_metalworks"));
    let path = std::env::var("PATH").expect("PATH is set");
    let path = format!("{}:{path}", program.parent().expect("a folder").display());
    let is_wanted = |shown: &Shown<'_>| shown.needs_model == needs_model && shown.command.starts_with("metalworks");
    let wanted: Vec<Shown<'_>> = commands(&page).into_iter().filter(is_wanted).collect();
    assert!(wanted.len() > 5, "is the page still read right?");
    for Shown { command, output, .. } in wanted {
        let run = Command::new("sh")
            .args(["-c", command])
            .current_dir(&folder)
            .env("PATH", &path)
            .env("METALWORKS_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-models"))
            .stdin(std::process::Stdio::null())
            .output()
            .expect("there is a shell");
        let (stdout, stderr) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        match output {
            Some(expected) => assert_eq!(without_device(&format!("{stdout}{stderr}")), expected, "{command}"),
            None => assert!(run.status.success(), "{command}\n{stdout}{stderr}"),
        }
    }
}

#[test]
#[cfg(unix)]
fn every_command_of_the_tour_runs() {
    take_tour(false);
}

#[test]
#[cfg(unix)]
#[ignore = "needs the default model: make models"]
fn every_command_with_a_model_runs() {
    take_tour(true);
}
