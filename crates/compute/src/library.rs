//! Libraries of functions: from source, or from `.metallib` files.
//!
//! ```text
//! processor   source ── front end, at once or when first needed ─┐
//!             .metallib ─────────────────────────────────────────┴─ AIR of one kernel ── constants set ── Function
//! Metal       source, .metallib ── Metal's compiler ── MTLLibrary ── constants set ── MTLFunction ─────── Function
//! ```
//!
//! A library belongs to the kind of device that opened it: `open` has the doors.

#[cfg(any(target_os = "macos", test))]
pub(crate) mod apple;
pub(crate) mod constants;
mod function;
#[cfg(llvm)]
mod metallib;
mod open;
pub(crate) mod source;

pub use function::Function;
pub(crate) use function::Made;

use crate::archive::digest::Digest;
use crate::error::{Error, Result};
use abi::Constants;
use msl::reflect::Kernel;
use source::Source;
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(target_os = "macos")]
use crate::metal;
#[cfg(llvm)]
use {
    crate::compiler::{self, Air},
    metallib::Metallib,
    std::borrow::Cow,
};

/// How Metal source is compiled.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// What diagnostics call the source.
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

/// Functions to make pipeline states of. A clone is the same library.
///
/// Nothing is compiled to machine code here: that is what making a pipeline state does, for one kernel with fixed constants.
/// One kernel that cannot be compiled fails alone.
///
/// A library works with devices of the kind that opened it; with a GPU, only with that one.
///
/// A damaged file is an error. One that was made to do harm is another matter: LLVM's reader of bitcode is not hardened, and
/// kernels run unfenced. Open libraries from those whom you trust.
#[derive(Clone)]
pub struct Library {
    contents: Arc<Contents>,
}

enum Contents {
    /// A program for the processor: a kernel is lowered when it is asked for.
    Source(Box<Source>),
    /// A file by Apple's compiler or ours, for the processor.
    #[cfg(llvm)]
    Metallib(Metallib),
    /// For a GPU of Apple's, whatever it was made of.
    #[cfg(target_os = "macos")]
    Metal(Box<metal::Library>),
}

/// A kernel of a library with values for its function constants. Nothing is compiled by making one: a pipeline state that an
/// archive has is made without looking at the library's source at all.
#[derive(Clone, Copy, Debug)]
pub struct FunctionDescriptor<'a> {
    /// The library that has the kernel.
    pub library: &'a Library,
    /// The kernel's name.
    pub name: &'a str,
    /// Values for its function constants.
    pub constants: &'a Constants,
}

impl Library {
    fn new(contents: Contents) -> Library {
        Library { contents: Arc::new(contents) }
    }

    /// The names of its kernels, in the order of the source or file. A source that was said to be checked and is not has none;
    /// making a pipeline state says why.
    pub fn function_names(&self) -> Vec<String> {
        match &*self.contents {
            Contents::Source(source) => source.names(),
            #[cfg(llvm)]
            Contents::Metallib(metallib) => metallib.names().map(str::to_owned).collect(),
            #[cfg(target_os = "macos")]
            Contents::Metal(library) => library.names(),
        }
    }

    /// The interface of a kernel with these constants, by its source alone: nothing is compiled. Its threadgroup variables are
    /// all those of the source, also where a constant decides against the code that uses them. A `.metallib` has no source.
    pub fn reflection(&self, name: &str, constants: &Constants) -> Result<Kernel> {
        let source = match &*self.contents {
            Contents::Source(source) => Some(&**source),
            #[cfg(llvm)]
            Contents::Metallib(_) => None,
            #[cfg(target_os = "macos")]
            Contents::Metal(library) => library.source(),
        };
        let Some(source) = source else {
            let what = "the interface of a kernel of a .metallib without compiling it".into();
            return Err(Error::Unsupported { kernel: name.into(), what });
        };
        source.describe(name, constants)?.ok_or_else(|| self.no_function(name))
    }

    /// The AIR of one kernel with its constants set.
    #[cfg(llvm)]
    pub(crate) fn air(&self, name: &str, constants: &Constants) -> Result<Air> {
        compiler::specialize(self.bitcode(name)?, name, constants)
    }

    /// The AIR of one kernel, as LLVM bitcode.
    #[cfg(llvm)]
    fn bitcode(&self, name: &str) -> Result<Cow<'_, [u8]>> {
        match &*self.contents {
            Contents::Source(source) => {
                let compilation = source.compile()?;
                let entry = compilation.program.kernels().find(|entry| entry.name == name);
                let entry = entry.ok_or_else(|| self.no_function(name))?;
                Ok(compiler::lower(compilation, entry, source.math_mode())?.into())
            }
            Contents::Metallib(metallib) => {
                let bitcode = metallib.bitcode(name).ok_or_else(|| self.no_function(name))?;
                bitcode.map(Cow::Borrowed)
            }
            #[cfg(target_os = "macos")]
            Contents::Metal(_) => Err(belongs_elsewhere(name)),
        }
    }

    /// Fails if the library cannot have a kernel of this name for the processor, and says why.
    #[cfg(not(llvm))]
    pub(crate) fn find(&self, name: &str) -> Result<()> {
        match &*self.contents {
            Contents::Source(source) => match source.compile()?.program.kernels().any(|entry| entry.name == name) {
                true => Ok(()),
                false => Err(self.no_function(name)),
            },
            #[cfg(target_os = "macos")]
            Contents::Metal(_) => Err(belongs_elsewhere(name)),
        }
    }

    /// What a GPU made of it, if that one has opened it.
    #[cfg(target_os = "macos")]
    pub(crate) fn metal(&self, device: &metal::Device, name: &str) -> Result<&metal::Library> {
        match &*self.contents {
            Contents::Metal(library) if library.belongs_to(device) => Ok(library),
            _ => Err(belongs_elsewhere(name)),
        }
    }

    /// Of what decides the code of a kernel for a processor; `None` where that cannot be known, or there is no such kernel.
    pub(crate) fn digest(&self, name: &str) -> Option<Digest> {
        match &*self.contents {
            Contents::Source(source) => {
                let _ = name;
                source.digest()
            }
            #[cfg(llvm)]
            Contents::Metallib(metallib) => metallib.digest(name),
            // Metal's archives know code by its descriptor.
            #[cfg(target_os = "macos")]
            Contents::Metal(_) => None,
        }
    }

    pub(crate) fn no_function(&self, name: &str) -> Error {
        let similar = |candidate: &String| {
            let (a, b) = (candidate.to_lowercase(), name.to_lowercase());
            a == b || (b.len() >= 3 && (a.contains(&b) || b.contains(&a)))
        };
        Error::NoFunction { name: name.into(), similar: self.function_names().into_iter().find(similar) }
    }
}

#[cfg(target_os = "macos")]
fn belongs_elsewhere(kernel: &str) -> Error {
    Error::Usage(format!(
        "kernel '{kernel}' is of a library that another device opened; a library works with the device that opened it"
    ))
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").finish_non_exhaustive()
    }
}
