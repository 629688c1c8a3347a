//! `METALWORKS_THREADS`. The environment belongs to the whole process, so this test runs itself again for each value.

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
        let mut again = Command::new(std::env::current_exe().expect("a test has a file"));
        let output = again.env("METALWORKS_THREADS", value).env(EXPECTED, expected).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "'{value}': {text}");
    }
}
