//! LLVM 14, a program of its own.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Has LLVM 14 read and verify a module. (Its `opt` refuses a triple that it does not know, and Apple's own modules with
/// it.)
pub(crate) fn verify(bitcode: &[u8]) -> Result<(), String> {
    let folder = std::env::var_os("METALWORKS_LLVM14").unwrap_or_else(|| "/usr/lib/llvm-14/bin".into());
    let program = PathBuf::from(folder).join("opt");
    let mut child = Command::new(&program)
        .args(["-mtriple=x86_64-linux", "-passes=verify", "-disable-output", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} cannot be run (make llvm14): {error}", program.display()));
    let mut input = child.stdin.take().expect("it is piped");
    // A program that refuses the beginning does not read the rest.
    let _ = input.write_all(bitcode);
    drop(input);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).lines().take(3).collect::<Vec<_>>().join(" | ")),
    }
}
