//! Programs: Metal source and `.metallib` files, independent of a device.
//!
//! ```text
//! source ── front end, at once or on first use ───────┐
//! .metallib ─────────────────────────────────────────┴─ air: the AIR of one kernel, with its constants set
//! ```

#[cfg(llvm)]
pub(crate) mod air;
pub mod apple;
pub(crate) mod dynamic;
#[cfg(llvm)]
pub(crate) mod metallib;
pub(crate) mod source;

pub use dynamic::{DynamicLibrary, LinkableLibrary};

use std::path::{Path, PathBuf};

/// Options for compiling Metal source.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The source's name in diagnostics.
    pub name: String,
    /// Folders that `#include "…"` searches.
    pub include_dirs: Vec<PathBuf>,
    /// Macros defined before the first line: a name and its text, `1` by default.
    pub defines: Vec<(String, Option<String>)>,
    /// The language version.
    pub language_version: msl::LanguageVersion,
    /// Floating-point mode.
    pub math_mode: MathMode,
    /// Variant of the mathematical functions on `float`; `None` for that of the mode.
    pub math_functions: Option<MathFunctions>,
    /// Kind of library.
    pub library_type: LibraryType,
    /// The name under which programs find a dynamic library. It must have one.
    pub install_name: Option<String>,
    /// Dynamic libraries whose functions its kernels call.
    pub libraries: Vec<DynamicLibrary>,
}

/// Kind of library.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum LibraryType {
    /// It has kernels.
    #[default]
    Executable,
    /// It has functions for kernels of other libraries, and no kernels.
    Dynamic,
}

/// Floating-point mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MathMode {
    /// `-ffast-math`, Metal's default.
    #[default]
    Fast,
    /// As fast, but NaN and infinity are kept.
    Relaxed,
    /// As written, without `-ffast-math`.
    Safe,
}

pub use msl::MathFunctions;

/// The compiler's name for a mode.
pub(crate) fn compiler_mode(mode: MathMode) -> msl::MathMode {
    match mode {
        MathMode::Fast => msl::MathMode::Fast,
        MathMode::Relaxed => msl::MathMode::Relaxed,
        MathMode::Safe => msl::MathMode::Safe,
    }
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            name: "program_source".into(),
            include_dirs: Vec::new(),
            defines: Vec::new(),
            language_version: msl::LanguageVersion::default(),
            math_mode: MathMode::Fast,
            math_functions: None,
            library_type: LibraryType::Executable,
            install_name: None,
            libraries: Vec::new(),
        }
    }
}

/// A `.metallib` compiled from the same source when the program was built.
#[derive(Clone, Copy, Debug)]
pub struct PrecompiledLibrary {
    /// The bytes of the file.
    pub data: &'static [u8],
    /// The compiler that made it.
    pub compiler: LibraryCompiler,
}

/// A compiler of `.metallib` files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LibraryCompiler {
    /// `xcrun metal`.
    Apple,
    /// The crate `air` of this version.
    Metalworks,
}

/// Origin of a library's kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LibraryOrigin {
    /// Source, compiled at run time.
    Source,
    /// A `.metallib`, compiled before.
    Metallib,
}

/// The input that a library is opened from.
pub enum LibraryContents<'a> {
    /// Metal source.
    Text(&'a str, &'a CompileOptions),
    /// A file of Metal source, which may include others from its own folder.
    File(&'a Path, &'a CompileOptions),
    /// A `.metallib`.
    Metallib(Vec<u8>),
    /// A `.metallib` in a file.
    MetallibFile(&'a Path),
}
