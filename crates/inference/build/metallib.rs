//! Apple's compiler, where it is installed: the library is embedded, and nothing is compiled from source on a Mac.
//!
//! Without it (another system, or a Mac without the Metal toolchain) the embedded source is compiled at run time.

use super::Folders;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set to 0, it leaves the `.metallib` files out.
pub(crate) const SWITCH: &str = "METALWORKS_METALLIB";

/// What every `.metallib` begins with.
const MAGIC: &[u8] = b"MTLB";

/// Pinned, so that a newer toolchain makes the same of the same source.
const FLAGS: [&str; 4] = ["-std=metal3.1", "-mmacosx-version-min=14.0", "-O2", "-ffast-math"];

/// `xcrun`, when libraries are wanted and the Metal toolchain is there.
pub(crate) fn tool(for_macos: bool, switch: Option<&str>) -> Option<PathBuf> {
    if !for_macos || switch == Some("0") {
        return None;
    }
    let xcrun = PathBuf::from("xcrun");
    has_metal(&xcrun).then_some(xcrun)
}

/// `xcrun` is on every Mac with developer tools; the compiler is a download of its own.
pub(crate) fn has_metal(xcrun: &Path) -> bool {
    let found = Command::new(xcrun).args(["-sdk", "macosx", "metal", "--version"]).output();
    found.is_ok_and(|output| output.status.success())
}

/// Compiles one shader to a library of its name in the folder of results.
pub(crate) fn compile(xcrun: &Path, shader: &Path, folders: &Folders) -> Result<(), String> {
    let name = shader.file_stem().unwrap_or_default();
    let library = folders.out.join(name).with_extension("metallib");
    // One that an earlier build left must not pass for the result of this one.
    let _ = std::fs::remove_file(&library);
    let mut command = Command::new(xcrun);
    command.args(["-sdk", "macosx", "metal"]).args(FLAGS);
    command.arg("-I").arg(&folders.include).arg("-o").arg(&library).arg(shader);
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{command:?} failed ({}; with {SWITCH}=0, sources are compiled at run time):\n{message}",
            output.status
        ));
    }
    match std::fs::read(&library) {
        Ok(bytes) if bytes.starts_with(MAGIC) => Ok(()),
        Ok(bytes) => Err(format!("{command:?} wrote {} bytes that are no Metal library", bytes.len())),
        Err(error) => Err(format!("{command:?} reported success but wrote no library: {error}")),
    }
}
