//! Libraries that are embedded beside the sources, so that a program need not compile a source before its first kernel.
//!
//! ```text
//! for macOS    shaders/*.metal ── apple: xcrun metal, where it is installed ──┐
//! for others   folded text ────── metalworks: our own, feature `compiler` ────┴─ OUT_DIR/*.metallib
//! ```
//!
//! Without a compiler the embedded source is compiled at run time.

pub(crate) mod apple;
#[cfg(all(feature = "compiler", not(target_os = "macos")))]
mod metalworks;

use super::{Folders, write};
use std::path::{Path, PathBuf};

/// Environment variable; 0 disables the `.metallib` files.
pub(crate) const SWITCH: &str = "METALWORKS_METALLIB";

/// Compiles a shader, given its name and folded source, to a library.
pub(crate) type Compile = fn(&str, &str) -> Result<Vec<u8>, String>;

/// Our compiler. Build scripts run on the host, and on a Mac the crate `air` is empty.
#[cfg(all(feature = "compiler", not(target_os = "macos")))]
const OURS: Option<Compile> = Some(metalworks::compile);
#[cfg(not(all(feature = "compiler", not(target_os = "macos"))))]
const OURS: Option<Compile> = None;

/// A compiler that writes libraries.
#[derive(Debug)]
pub(crate) enum Compiler {
    /// Apple's, through this `xcrun`.
    Apple(PathBuf),
    /// Ours.
    Metalworks(Compile),
}

impl Compiler {
    /// The compiler for a target, if libraries are enabled and it is available.
    pub(crate) fn choose(for_macos: bool, switch: Option<&str>) -> Option<Compiler> {
        match (for_macos, switch) {
            (_, Some("0")) => None,
            (true, _) => apple::tool().map(Compiler::Apple),
            (false, _) => OURS.map(Compiler::Metalworks),
        }
    }

    /// The variant of `compute::LibraryCompiler`.
    pub(crate) fn variant(&self) -> &'static str {
        match self {
            Compiler::Apple(_) => "Apple",
            Compiler::Metalworks(_) => "Metalworks",
        }
    }

    /// Compiles a shader, given its path and folded source, to a library of its name in the output folder.
    pub(crate) fn compile(&self, shader: &Path, text: &str, folders: &Folders) -> Result<(), String> {
        let name = shader.file_stem().unwrap_or_default();
        let library = folders.out.join(name).with_extension("metallib");
        // Removes the library of an earlier build, which must not pass for the result of this one.
        let _ = std::fs::remove_file(&library);
        match self {
            Compiler::Apple(xcrun) => apple::compile(xcrun, shader, folders, &library),
            Compiler::Metalworks(compile) => write(&library, compile(&name.to_string_lossy(), text)?),
        }
    }
}
