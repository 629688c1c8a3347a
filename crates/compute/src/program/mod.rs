//! Programs: Metal source and `.metallib` files, before any device has seen them.
//!
//! ```text
//! source ── front end, at once or when first needed ─┐
//! .metallib ─────────────────────────────────────────┴─ air: the AIR of one kernel, with its constants set
//! ```

#[cfg(llvm)]
pub(crate) mod air;
pub mod apple;
#[cfg(llvm)]
pub(crate) mod metallib;
pub(crate) mod source;

use std::path::{Path, PathBuf};

/// How Metal source is compiled.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The source's name in diagnostics.
    pub name: String,
    /// Where `#include "…"` looks.
    pub include_dirs: Vec<PathBuf>,
    /// Macros defined before the first line: a name and, if not `1`, its text.
    pub defines: Vec<(String, Option<String>)>,
    /// The version of the language.
    pub language_version: msl::LanguageVersion,
    /// How floating-point numbers are computed.
    pub math_mode: MathMode,
}

/// How floating-point numbers are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MathMode {
    /// `-ffast-math`, Metal's default.
    #[default]
    Fast,
    /// As written.
    Safe,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            name: "program_source".into(),
            include_dirs: Vec::new(),
            defines: Vec::new(),
            language_version: msl::LanguageVersion::default(),
            math_mode: MathMode::Fast,
        }
    }
}

/// A `.metallib` that was compiled from the same source when the program was built.
#[derive(Clone, Copy, Debug)]
pub struct PrecompiledLibrary {
    /// The file.
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

/// Where the kernels of a library come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LibraryOrigin {
    /// Source, which is compiled at run time.
    Source,
    /// A `.metallib`, which was compiled before.
    Metallib,
}

/// Everything that a library can be opened from.
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
