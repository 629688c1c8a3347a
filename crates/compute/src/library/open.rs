//! Where libraries come from.

use super::source::Source;
use super::{CompileOptions, Contents, Library};
use crate::device::{Backend, Device};
use crate::error::Result;
use std::borrow::Cow;
use std::path::Path;

#[cfg(llvm)]
use super::metallib::Metallib;
#[cfg(target_os = "macos")]
use crate::metal;

impl Device {
    /// Reads Metal source. Kernels are compiled when pipeline states are made of them.
    ///
    /// Metal's compiler opens no files: what the text includes is folded into it before, with lines that say where it was.
    pub fn new_library_with_source(&self, source: &str, options: &CompileOptions) -> Result<Library> {
        match self.backend() {
            Backend::Cpu(_) => Ok(Library::with(Source::with_text(source, options)?)),
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => {
                let source = Source::folded(source.to_owned().into(), options)?;
                metal::Library::with_source(device, source).map(metal)
            }
        }
    }

    /// Reads a `.metal` file, which may include others from its own directory.
    pub fn new_library_with_source_file(
        &self,
        path: impl AsRef<Path>,
        options: &CompileOptions,
    ) -> Result<Library> {
        match self.backend() {
            Backend::Cpu(_) => Ok(Library::with(Source::with_file(path.as_ref(), options)?)),
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => {
                metal::Library::with_source(device, Source::folded_file(path.as_ref(), options)?).map(metal)
            }
        }
    }

    /// Takes Metal source that was checked before, when the program was built: it is read only when no archive has a kernel of
    /// it. A mistake in it is the error of the first pipeline state that needs it.
    ///
    /// The text should be self-contained: with `#include`s of nothing but Metal's own headers. One that includes files is read
    /// at once, to know what it says.
    pub fn new_library_with_checked_source(
        &self,
        source: impl Into<Cow<'static, str>>,
        options: &CompileOptions,
    ) -> Library {
        self.new_library_with_metallib_or_source(None, source, options)
    }

    /// Takes a `.metallib` and the source that it was compiled from, which was checked before
    /// ([`Device::new_library_with_checked_source`]). Metal opens the `.metallib`, and compiles the source where there is none
    /// or the system refuses it, which [`log`](crate::log) then tells; either is done when a kernel is first needed. The
    /// processor takes the source.
    pub fn new_library_with_metallib_or_source(
        &self,
        metallib: Option<&'static [u8]>,
        source: impl Into<Cow<'static, str>>,
        options: &CompileOptions,
    ) -> Library {
        match self.backend() {
            Backend::Cpu(_) => {
                let _ = metallib;
                Library::with(Source::deferred(source.into(), options))
            }
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => metal(metal::Library::checked(device, metallib, source.into(), options)),
        }
    }

    /// Opens a `.metallib`. The file is mapped into memory: it must not be shortened while the library is in use.
    ///
    /// The processor needs a compiler for it (the feature `compiler`).
    pub fn new_library_with_file(&self, path: impl AsRef<Path>) -> Result<Library> {
        match self.backend() {
            #[cfg(llvm)]
            Backend::Cpu(_) => Metallib::with_file(path.as_ref()).map(Contents::Metallib).map(Library::new),
            #[cfg(not(llvm))]
            Backend::Cpu(_) => no_compiler(&format!("'{}'", path.as_ref().display())),
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => metal::Library::with_file(device, path.as_ref()).map(metal),
        }
    }

    /// Opens a `.metallib`.
    ///
    /// The processor needs a compiler for it (the feature `compiler`).
    pub fn new_library_with_data(&self, data: Vec<u8>) -> Result<Library> {
        match self.backend() {
            #[cfg(llvm)]
            Backend::Cpu(_) => Metallib::with_data(data).map(Contents::Metallib).map(Library::new),
            #[cfg(not(llvm))]
            Backend::Cpu(_) => no_compiler(&format!("a .metallib of {} bytes", data.len())),
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => metal::Library::with_data(device, &data).map(metal),
        }
    }
}

impl Library {
    fn with(source: Source) -> Library {
        Library::new(Contents::Source(Box::new(source)))
    }
}

#[cfg(target_os = "macos")]
fn metal(library: metal::Library) -> Library {
    Library::new(Contents::Metal(Box::new(library)))
}

#[cfg(not(llvm))]
fn no_compiler(what: &str) -> Result<Library> {
    crate::error::usage(format!(
        "{what} cannot be opened for the processor: there is no compiler in this program (the feature 'compiler' of the \
         crate 'compute')"
    ))
}
