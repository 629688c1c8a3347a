//! `METALWORKS_THREADS`, `METALWORKS_DEVICE` and the switches. The environment is per process, so these tests run
//! themselves again for each value.

use metalworks_compute::{CpuOptions, Device};
use std::process::Command;

/// Set in child processes: the expected result.
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
        let switches =
            |device: Device| format!("{} {} {}", device.is_validating(), device.is_serial(), device.is_adverse());
        let found = Device::cpu().map(switches);
        return assert_eq!(found.unwrap_or_else(|error| error.to_string()), expected);
    }
    let debug = cfg!(debug_assertions);
    let unknown_option = |option: &str| {
        let known = "bounds, races, nan, findings=NUMBER and steps=NUMBER";
        format!("METALWORKS_VALIDATION has the option '{option}': those of shader are {known}")
    };
    for (validation, serial, adverse, expected) in [
        ("1", "1", "1", "true true true".into()),
        ("0", "0", "0", "false false false".into()),
        ("", " 1 ", "", format!("{debug} true false")),
        ("yes", "0", "0", "METALWORKS_VALIDATION is 'yes': it must be 0, 1 or shader".into()),
        ("shader", "0", "0", "true false false".into()),
        (" shader , bounds,nan, findings=20,steps=1000", "0", "0", "true false false".into()),
        ("shader,findings=0", "0", "0", unknown_option("findings=0")),
        ("shader,all", "0", "0", unknown_option("all")),
        ("shader,", "0", "0", unknown_option("")),
        ("1", "2", "0", "METALWORKS_SERIAL is '2': it must be 0 or 1".into()),
        ("1", "1", "3", "METALWORKS_ADVERSE is '3': it must be 0 or 1".into()),
    ] {
        let variables = [
            ("METALWORKS_VALIDATION", validation),
            ("METALWORKS_SERIAL", serial),
            ("METALWORKS_ADVERSE", adverse),
            (EXPECTED, &expected),
        ];
        again("switches_come_from_the_environment", &variables);
    }
}

#[test]
fn the_default_device_comes_from_the_environment() {
    if let Ok(expected) = std::env::var(EXPECTED) {
        let found = Device::system_default().map(|device| format!("{} {}", device.kind(), device.id()));
        let found = found.unwrap_or_else(|error| error.to_string());
        return assert!(found.starts_with(&expected), "'{found}', and not '{expected}'");
    }
    let best = if cfg!(metal) { "metal metal:0" } else { "cpu cpu" };
    for (value, expected) in [
        ("cpu", "cpu cpu"),
        (" cpu ", "cpu cpu"),
        ("", best),
        ("gpu", "METALWORKS_DEVICE is 'gpu': there is no device 'gpu'; there "),
        ("metal:99", "METALWORKS_DEVICE is 'metal:99': there is no device 'metal:99': "),
    ] {
        let variables = [("METALWORKS_DEVICE", value), (EXPECTED, expected)];
        again("the_default_device_comes_from_the_environment", &variables);
    }
}

#[test]
fn captures_come_from_the_environment() {
    if let Ok(expected) = std::env::var(EXPECTED) {
        let found = Device::cpu().map(|_| "fine".to_owned());
        return assert_eq!(found.unwrap_or_else(|error| error.to_string()), expected);
    }
    let wrong =
        |count: &str| format!("METALWORKS_CAPTURE_COMMAND_BUFFERS is '{count}': it must be a number, at least 1");
    for (count, expected) in [
        ("", "fine".to_owned()),
        (" 12 ", "fine".into()),
        ("0", wrong("0")),
        ("-1", wrong("-1")),
        ("all", wrong("all")),
    ] {
        let variables = [
            ("METALWORKS_CAPTURE", "trace.gputrace"),
            ("METALWORKS_CAPTURE_COMMAND_BUFFERS", count),
            (EXPECTED, &expected),
        ];
        again("captures_come_from_the_environment", &variables);
    }
}

/// Runs one test in a child process.
fn again(test: &str, variables: &[(&str, &str)]) {
    let mut again = Command::new(std::env::current_exe().expect("a test has a file"));
    let output = again.args([test, "--exact"]).envs(variables.iter().copied()).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{variables:?}: {text}");
}
