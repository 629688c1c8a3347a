//! The libraries that are embedded beside the sources, so that a program need not read a source before its first kernel.
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

/// Set to 0, it leaves the `.metallib` files out.
pub(crate) const SWITCH: &str = "METALWORKS_METALLIB";

/// Gives a library for the name of a shader and its folded text.
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
    /// The compiler for a target, where libraries are wanted and it is there.
    pub(crate) fn choose(for_macos: bool, switch: Option<&str>) -> Option<Compiler> {
        match (for_macos, switch) {
            (_, Some("0")) => None,
            (true, _) => apple::tool().map(Compiler::Apple),
            (false, _) => OURS.map(Compiler::Metalworks),
        }
    }

    /// Its variant of `compute::LibraryCompiler`.
    pub(crate) fn variant(&self) -> &'static str {
        match self {
            Compiler::Apple(_) => "Apple",
            Compiler::Metalworks(_) => "Metalworks",
        }
    }

    /// Compiles the shader of this path and folded text to a library of its name in the folder of results.
    pub(crate) fn compile(&self, shader: &Path, text: &str, folders: &Folders) -> Result<(), String> {
        let name = shader.file_stem().unwrap_or_default();
        let library = folders.out.join(name).with_extension("metallib");
        // One that an earlier build left must not pass for the result of this one.
        let _ = std::fs::remove_file(&library);
        match self {
            Compiler::Apple(xcrun) => apple::compile(xcrun, shader, folders, &library),
            Compiler::Metalworks(compile) => write(&library, compile(&name.to_string_lossy(), text)?),
        }
    }
}
