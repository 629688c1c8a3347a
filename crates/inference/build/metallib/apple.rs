//! Apple's compiler, from the original source.

use super::super::Folders;
use super::SWITCH;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Magic number of a `.metallib`.
const MAGIC: &[u8] = b"MTLB";

/// Pinned, so that newer toolchains compile the same source in the same way.
const FLAGS: [&str; 4] = ["-std=metal3.1", "-mmacosx-version-min=14.0", "-O2", "-ffast-math"];

/// Path of `xcrun`, if the Metal toolchain is installed.
pub(crate) fn tool() -> Option<PathBuf> {
    let xcrun = PathBuf::from("xcrun");
    has_metal(&xcrun).then_some(xcrun)
}

/// True if the Metal compiler is installed: `xcrun` is on every Mac with developer tools, the compiler is a separate
/// download.
pub(crate) fn has_metal(xcrun: &Path) -> bool {
    let found = Command::new(xcrun).args(["-sdk", "macosx", "metal", "--version"]).output();
    found.is_ok_and(|output| output.status.success())
}

/// Compiles one shader to a library.
pub(super) fn compile(xcrun: &Path, shader: &Path, folders: &Folders, library: &Path) -> Result<(), String> {
    let mut command = Command::new(xcrun);
    command.args(["-sdk", "macosx", "metal"]).args(FLAGS);
    command.arg("-I").arg(&folders.include).arg("-o").arg(library).arg(shader);
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{command:?} failed ({}; with {SWITCH}=0, sources are compiled at run time):\n{message}",
            output.status
        ));
    }
    match std::fs::read(library) {
        Ok(bytes) if bytes.starts_with(MAGIC) => Ok(()),
        Ok(bytes) => Err(format!("{command:?} wrote {} bytes that are no Metal library", bytes.len())),
        Err(error) => Err(format!("{command:?} reported success but wrote no library: {error}")),
    }
}
