//! Libraries of functions: from source, or from `.metallib` files.
//!
//! ```text
//! source ── front end, at once or when first needed ─┐
//!                                                    ├─ AIR of one kernel ── constants set ── Function
//! .metallib ─────────────────────────────────────────┘
//! ```

#[cfg(llvm)]
mod metallib;
mod open;
mod source;

use crate::archive::digest::Digest;
use crate::error::{Error, Result};
use abi::Constants;
use source::Source;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(llvm)]
use crate::{
    archive::key::Identity,
    compiler::{self, Air},
};
#[cfg(llvm)]
use metallib::Metallib;

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
/// A damaged file is an error. One that was made to do harm is another matter: LLVM's reader of bitcode is not hardened, and
/// kernels run unfenced. Open libraries from those whom you trust.
#[derive(Clone)]
pub struct Library {
    contents: Arc<Contents>,
}

enum Contents {
    /// A program: a kernel is lowered when it is asked for.
    Source(Box<Source>),
    /// A file by Apple's compiler or ours.
    #[cfg(llvm)]
    Metallib(Metallib),
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
    pub(crate) fn with_source(source: &str, options: &CompileOptions) -> Result<Library> {
        Ok(Library::with(Source::with_text(source, options)?))
    }

    pub(crate) fn with_source_file(path: &Path, options: &CompileOptions) -> Result<Library> {
        Ok(Library::with(Source::with_file(path, options)?))
    }

    pub(crate) fn with_checked_source(source: Cow<'static, str>, options: &CompileOptions) -> Library {
        Library::with(Source::deferred(source, options))
    }

    #[cfg(llvm)]
    pub(crate) fn with_file(path: &Path) -> Result<Library> {
        Metallib::with_file(path).map(Contents::Metallib).map(Library::new)
    }

    #[cfg(llvm)]
    pub(crate) fn with_data(data: Vec<u8>) -> Result<Library> {
        Metallib::with_data(data).map(Contents::Metallib).map(Library::new)
    }

    fn with(source: Source) -> Library {
        Library::new(Contents::Source(Box::new(source)))
    }

    fn new(contents: Contents) -> Library {
        Library { contents: Arc::new(contents) }
    }

    /// The names of its kernels, in the order of the source or file. A source that was said to be checked and is not has none;
    /// making a pipeline state says why.
    pub fn function_names(&self) -> Vec<String> {
        self.names().map(str::to_owned).collect()
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &*self.contents {
            Contents::Source(source) => {
                let kernels = source.compile().into_iter().flat_map(|compilation| compilation.program.kernels());
                Box::new(kernels.map(|entry| entry.name.as_str()))
            }
            #[cfg(llvm)]
            Contents::Metallib(metallib) => Box::new(metallib.names()),
        }
    }

    /// One kernel, with values for its function constants.
    #[cfg(llvm)]
    pub fn new_function(&self, name: &str, constants: &Constants) -> Result<Function> {
        let identity = Identity::new(&FunctionDescriptor { library: self, name, constants });
        let air = Arc::new(self.air(name, constants)?);
        Ok(Function { identity, air })
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
        }
    }

    /// Fails if the library cannot have a kernel of this name, and says why.
    #[cfg(not(llvm))]
    pub(crate) fn find(&self, name: &str) -> Result<()> {
        let Contents::Source(source) = &*self.contents;
        match source.compile()?.program.kernels().any(|entry| entry.name == name) {
            true => Ok(()),
            false => Err(self.no_function(name)),
        }
    }

    /// Of what decides the code of a kernel; `None` where that cannot be known, or there is no such kernel.
    pub(crate) fn digest(&self, name: &str) -> Option<Digest> {
        match &*self.contents {
            Contents::Source(source) => {
                let _ = name;
                source.digest()
            }
            #[cfg(llvm)]
            Contents::Metallib(metallib) => metallib.digest(name),
        }
    }

    fn no_function(&self, name: &str) -> Error {
        let similar = |candidate: &&str| {
            let (a, b) = (candidate.to_lowercase(), name.to_lowercase());
            a == b || (b.len() >= 3 && (a.contains(&b) || b.contains(&a)))
        };
        Error::NoFunction { name: name.into(), similar: self.names().find(similar).map(str::to_owned) }
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").finish_non_exhaustive()
    }
}

/// One kernel with fixed function constants, not yet compiled. A clone is the same function.
#[cfg(llvm)]
#[derive(Clone)]
pub struct Function {
    identity: Identity,
    air: Arc<Air>,
}

#[cfg(llvm)]
impl Function {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.reflection().name
    }

    /// What the host binds: arguments under a false constant are not in it.
    pub fn reflection(&self) -> &msl::reflect::Kernel {
        self.air.reflection()
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn air(&self) -> &Arc<Air> {
        &self.air
    }
}

#[cfg(llvm)]
impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("name", &self.name()).finish_non_exhaustive()
    }
}
