//! The help texts and the command line's own errors.

mod support;

use support::metalworks;

/// First words of flag descriptions.
const VERBS: [&str; 34] = [
    "Add",
    "Answer",
    "Apply",
    "Bind",
    "Check",
    "Choose",
    "Colour",
    "Compare",
    "Compile",
    "Continue",
    "Convert",
    "Decode",
    "Define",
    "Do",
    "Drop",
    "Keep",
    "Limit",
    "Load",
    "Omit",
    "Parse",
    "Penalize",
    "Prefill",
    "Print",
    "Read",
    "Repeat",
    "Run",
    "Search",
    "Set",
    "Skip",
    "Start",
    "Synthesize",
    "Test",
    "Use",
    "Write",
];

/// All subcommands.
fn commands() -> Vec<&'static str> {
    let mut commands =
        vec!["check", "reflect", "pull", "list", "show", "rm", "info", "quantize", "synthesize", "tokenize"];
    commands.extend(["exec", "cache", "run", "bench", "perplexity", "doctor", "completions", "man"]);
    if cfg!(llvm) {
        commands.extend(["compile", "objdump", "xcrun"]);
    }
    if cfg!(all(llvm, target_os = "linux")) {
        commands.push("env");
    }
    commands
}

#[test]
fn short_help_is_one_line_per_flag_within_79_columns() {
    let of_commands = commands().into_iter().map(|command| vec![command, "-h"]);
    for arguments in std::iter::once(vec!["-h"]).chain(of_commands) {
        let run = metalworks(&arguments).exits(0);
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 79, "{arguments:?}: {line}");
        }
        let is_flag = |line: &&str| line.trim_start().starts_with('-');
        for flag in run.stdout.lines().filter(is_flag) {
            let text = flag.trim_start().split_once("  ").map(|(_, text)| text.trim());
            let verb = text.and_then(|text| text.split(' ').next()).unwrap_or_default();
            assert!(VERBS.contains(&verb), "{arguments:?}: no verb beside {flag}");
        }
        let is_continuation = |line: &&str| line.starts_with(&" ".repeat(12)) && !is_flag(line);
        assert_eq!(run.stdout.lines().find(is_continuation), None, "{arguments:?}: a flag takes two lines");
    }
}

#[test]
fn long_help_has_an_example_and_the_exit_status() {
    for command in commands() {
        let run = metalworks([command, "--help"]).exits(0);
        assert!(run.stdout.contains(&format!("  metalworks {command} ")), "{}", run.stdout);
        assert!(run.stdout.contains("Exit status: 0"), "{}", run.stdout);
        assert!(run.stdout.lines().all(|line| line.chars().count() <= 79), "{}", run.stdout);
    }
}

#[test]
fn prints_the_version_of_the_package() {
    let run = metalworks(["--version"]).exits(0);
    assert_eq!(run.stdout, concat!("metalworks ", env!("CARGO_PKG_VERSION"), "\n"));
    assert_eq!(metalworks(["-V"]).exits(0).stdout, run.stdout);
}

#[test]
fn rejects_wrong_command_lines() {
    metalworks([""; 0]).exits(2).says("Usage:");
    metalworks(["chekc", "x.metal"]).exits(2).says("check");
    metalworks(["check"]).exits(2).says("<FILES>");
    metalworks(["check", "--no-such-flag", "examples/gemv.metal"]).exits(2).says("--no-such-flag");
    metalworks(["reflect"]).exits(2).says("<FILE>");
}

/// Texts are results, and a result that cannot be written is an error.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_for_every_text() {
    let texts = ["--help", "-h", "--version", "help", "help exec", "exec --help", "completions bash", "cache path"];
    for text in texts {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_metalworks"))
            .args(text.split(' '))
            .stdout(full)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{text}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("cannot write"), "{text}: {stderr}");
    }
}
