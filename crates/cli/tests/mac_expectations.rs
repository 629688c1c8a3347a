//! `scripts/mac-expectations.sh`: which Macs must pass `make mac-test`.

use std::path::Path;
use std::process::Command;

/// The family that is expected of a Mac with this CPU, or `no`.
fn expected(cpu: &str, is_virtual: &str, version: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/mac-expectations.sh");
    let output = Command::new("bash").arg(script).args([cpu, is_virtual, version]).output().expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn apple_silicon_must_pass() {
    let macs = [
        ("Apple M1", "7"),
        ("Apple M1 Ultra", "7"),
        ("Apple M2 Pro", "8"),
        ("Apple M3 Max", "9"),
        ("Apple M4", "9"),
        ("Apple M5", "9"),
        ("Apple M12 Max", "9"),
    ];
    for (cpu, family) in macs {
        // `Apple M12` is not an M1: names are compared by the whole number.
        assert_eq!(expected(cpu, "0", "14.5"), family, "{cpu}");
        assert_eq!(expected(cpu, "0", "26.0.1"), family, "{cpu}");
    }
}

#[test]
fn nothing_is_expected_of_other_macs() {
    assert_eq!(expected("Apple M1 (Virtual)", "1", "14.5"), "no");
    assert_eq!(expected("Apple M2", "1", "15.0"), "no");
    assert_eq!(expected("Apple M1", "0", "13.6.4"), "no");
    assert_eq!(expected("Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz", "0", "14.5"), "no");
}

/// The program under test is not asked.
#[test]
fn expectations_do_not_depend_on_the_program() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/mac-expectations.sh");
    let text = std::fs::read_to_string(script).expect("it is there");
    let commands: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(commands.iter().all(|line| !line.contains("metalworks") && !line.contains("doctor")), "{commands:?}");
}
