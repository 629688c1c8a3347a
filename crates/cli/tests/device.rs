//! `--device` and `METALWORKS_DEVICE`, of all subcommands that run kernels.
#![cfg(llvm)]

mod support;

use support::metalworks_with_cache;

const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-models");

const MODEL: &str = "llama-tiny:q4_0";

/// A run that would be fine, of each.
const COMMANDS: [&[&str]; 4] = [
    &["run", "--synthetic", MODEL, "-p", "hello", "-n", "2"],
    &["bench", "--synthetic", MODEL, "-p", "8", "-n", "2", "-r", "1", "--json"],
    &["perplexity", "--synthetic", MODEL, "-f", "LICENSE-MIT", "-c", "64"],
    &[
        "exec",
        "examples/add_arrays.metal",
        "add_arrays",
        "--threads",
        "4",
        "--arg",
        "a=ones:f32:4",
        "--arg",
        "b=ones:f32:4",
        "--arg",
        "result=zeros:f32:4",
    ],
];

#[test]
fn a_missing_device_is_not_tried_and_the_others_are_listed() {
    for command in COMMANDS {
        let flag = metalworks_with_cache(command.iter().chain(&["--device", "gpu"]), CACHE, &[]).exits(2);
        let flag = flag.says("there is no device 'gpu'; there ").says("cpu");
        assert_eq!(flag.stdout, "", "{command:?}");
        let number = metalworks_with_cache(command.iter().chain(&["--device", "metal:99"]), CACHE, &[]).exits(2);
        number.says("there is no device 'metal:99'").says("cpu");
        let variable = metalworks_with_cache(command, CACHE, &[("METALWORKS_DEVICE", "gpu")]).exits(2);
        variable.says("METALWORKS_DEVICE is 'gpu'").says("there is no device 'gpu'");
    }
}

#[test]
fn a_device_can_be_chosen() {
    for command in COMMANDS {
        let flags = ["--device", "cpu"];
        // The flag counts.
        let run =
            metalworks_with_cache(command.iter().chain(&flags), CACHE, &[("METALWORKS_DEVICE", "gpu")]).exits(0);
        if command[0] == "bench" {
            let json = run.json();
            assert_eq!(json["device_id"], "cpu");
            assert!(json["steps"].as_u64() >= Some(1) && json["copied_weight_bytes"].as_u64() > Some(0), "{json}");
        }
    }
}

#[test]
fn threads_are_for_the_cpu() {
    let run = |flags: &[&str]| metalworks_with_cache(COMMANDS[1].iter().chain(flags), CACHE, &[]);
    run(&["--device", "cpu", "-t", "1"]).exits(0);
    if cfg!(target_os = "macos") {
        run(&["--device", "metal", "-t", "1"]).exits(2).says("only the device 'cpu' can be given any");
    }
}
