//! `METALWORKS_THREADS` and the switches. The environment belongs to the whole process, so this test runs itself again for each value.

use compute::{CpuOptions, Device};
use std::process::Command;

/// Set in the processes that the test starts: what a device must say there.
const EXPECTED: &str = "METALWORKS_TEST_EXPECTED";

fn check_this_process(expected: &str) {
    match Device::cpu() {
        Ok(device) => assert!(device.name().contains(expected), "{}", device.name()),
        Err(error) => assert!(error.to_string().contains(expected), "{error}"),
    }
    let own = Device::cpu_with_options(&CpuOptions { threads: Some(5) }).expect("an option comes first");
    assert!(own.name().contains("5 threads"));
}

#[test]
fn threads_come_from_the_environment() {
    if let Ok(expected) = std::env::var(EXPECTED) {
        return check_this_process(&expected);
    }
    for (value, expected) in [
        ("3", " 3 threads"),
        (" 1 ", " 1 thread)"),
        ("100000", " 1024 threads"),
        ("0", "a device with 0 threads"),
        ("two", "METALWORKS_THREADS is 'two'"),
        ("-1", "METALWORKS_THREADS is '-1'"),
    ] {
        again("threads_come_from_the_environment", &[("METALWORKS_THREADS", value), (EXPECTED, expected)]);
    }
}

#[test]
fn switches_come_from_the_environment() {
    if let Ok(expected) = std::env::var(EXPECTED) {
        let found = Device::cpu().map(|device| format!("{} {}", device.is_validating(), device.is_serial()));
        return assert_eq!(found.unwrap_or_else(|error| error.to_string()), expected);
    }
    let debug = cfg!(debug_assertions);
    for (validation, serial, expected) in [
        ("1", "1", "true true".into()),
        ("0", "0", "false false".into()),
        ("", " 1 ", format!("{debug} true")),
        ("yes", "0", "METALWORKS_VALIDATION is 'yes': it must be 0 or 1".into()),
        ("1", "2", "METALWORKS_SERIAL is '2': it must be 0 or 1".into()),
    ] {
        let variables =
            [("METALWORKS_VALIDATION", validation), ("METALWORKS_SERIAL", serial), (EXPECTED, &expected)];
        again("switches_come_from_the_environment", &variables);
    }
}

/// Runs one test in a process of its own.
fn again(test: &str, variables: &[(&str, &str)]) {
    let mut again = Command::new(std::env::current_exe().expect("a test has a file"));
    let output = again.args([test, "--exact"]).envs(variables.iter().copied()).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{variables:?}: {text}");
}
