//! Where libraries come from.

use super::{CompileOptions, Library};
use crate::device::Device;
use crate::error::Result;
use std::borrow::Cow;
use std::path::Path;

impl Device {
    /// Reads Metal source. Kernels are compiled when pipeline states are made of them.
    pub fn new_library_with_source(&self, source: &str, options: &CompileOptions) -> Result<Library> {
        Library::with_source(source, options)
    }

    /// Reads a `.metal` file, which may include others from its own directory.
    pub fn new_library_with_source_file(
        &self,
        path: impl AsRef<Path>,
        options: &CompileOptions,
    ) -> Result<Library> {
        Library::with_source_file(path.as_ref(), options)
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
        Library::with_checked_source(source.into(), options)
    }

    /// Opens a `.metallib`. The file is mapped into memory: it must not be shortened while the library is in use.
    #[cfg(llvm)]
    pub fn new_library_with_file(&self, path: impl AsRef<Path>) -> Result<Library> {
        Library::with_file(path.as_ref())
    }

    /// Opens a `.metallib`.
    #[cfg(llvm)]
    pub fn new_library_with_data(&self, data: Vec<u8>) -> Result<Library> {
        Library::with_data(data)
    }
}
