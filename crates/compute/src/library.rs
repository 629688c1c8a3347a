//! Libraries of functions: from source, or from `.metallib` files.

use crate::backend::{self, LibraryContents, LibraryOrigin};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::program::{CompileOptions, PrecompiledLibrary};
use abi::Constants;
use msl::reflect::Kernel;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

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
    library: Arc<dyn backend::Library>,
    /// The devices that it works with.
    domain: u32,
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

impl Device {
    /// Reads Metal source. Kernels are compiled when pipeline states are made of them.
    ///
    /// Metal's compiler opens no files: what the text includes is folded into it before, with lines that say where it was.
    pub fn new_library_with_source(&self, source: &str, options: &CompileOptions) -> Result<Library> {
        self.open_library(LibraryContents::Text(source, options))
    }

    /// Reads a `.metal` file, which may include others from its own directory.
    pub fn new_library_with_source_file(
        &self,
        path: impl AsRef<Path>,
        options: &CompileOptions,
    ) -> Result<Library> {
        self.open_library(LibraryContents::File(path.as_ref(), options))
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
    /// ([`Device::new_library_with_checked_source`]). Kernels come from the `.metallib`; where there is none, or it cannot be
    /// opened, which [`log`](crate::log) then tells, they are compiled from the source. Either is done when a kernel is first
    /// needed. [`Library::origin`] says which it is.
    pub fn new_library_with_metallib_or_source(
        &self,
        metallib: Option<PrecompiledLibrary>,
        source: impl Into<Cow<'static, str>>,
        options: &CompileOptions,
    ) -> Library {
        let library = self.backend().new_checked_library(metallib, source.into(), options);
        Library { library, domain: self.domain() }
    }

    /// Opens a `.metallib`. The file is mapped into memory: it must not be shortened while the library is in use.
    ///
    /// The CPU needs a compiler for it (the feature `compiler`).
    pub fn new_library_with_file(&self, path: impl AsRef<Path>) -> Result<Library> {
        self.open_library(LibraryContents::MetallibFile(path.as_ref()))
    }

    /// Opens a `.metallib`.
    ///
    /// The CPU needs a compiler for it (the feature `compiler`).
    pub fn new_library_with_data(&self, data: Vec<u8>) -> Result<Library> {
        self.open_library(LibraryContents::Metallib(data))
    }

    fn open_library(&self, contents: LibraryContents<'_>) -> Result<Library> {
        Ok(Library { library: self.backend().new_library(contents)?, domain: self.domain() })
    }
}

impl Library {
    /// The names of its kernels, in the order of the source or file. A source that was said to be checked and is not has none;
    /// making a pipeline state says why.
    pub fn function_names(&self) -> Vec<String> {
        self.library.function_names()
    }

    /// The interface of a kernel with these constants, by its source alone: nothing is compiled. Its threadgroup variables are
    /// all those of the source, also where a constant decides against the code that uses them. A `.metallib` has no source.
    pub fn reflection(&self, name: &str, constants: &Constants) -> Result<Kernel> {
        self.library.reflection(name, constants)?.ok_or_else(|| self.no_function(name))
    }

    /// Whether its kernels come from source or from a `.metallib`.
    pub fn origin(&self) -> LibraryOrigin {
        self.library.origin()
    }

    /// One kernel, with values for its function constants.
    pub fn new_function(&self, name: &str, constants: &Constants) -> Result<Function> {
        let function = self.library.new_function(name, constants)?.ok_or_else(|| self.no_function(name))?;
        Ok(Function { library: self.clone(), name: name.into(), constants: Arc::new(constants.clone()), function })
    }

    fn no_function(&self, name: &str) -> Error {
        backend::no_function(&*self.library, name)
    }

    pub(crate) fn backend(&self) -> &Arc<dyn backend::Library> {
        &self.library
    }

    /// Its back end's, for a kernel on a device that it must be of.
    pub(crate) fn for_device(&self, device: &Device, kernel: &str) -> Result<&Arc<dyn backend::Library>> {
        match self.domain == device.domain() {
            true => Ok(&self.library),
            false => Err(Error::Usage(format!(
                "kernel '{kernel}' is of a library that another device opened; a library works with the device that opened \
                 it"
            ))),
        }
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").finish_non_exhaustive()
    }
}

/// One kernel with fixed function constants, not yet compiled. A clone is the same function.
#[derive(Clone)]
pub struct Function {
    pub(crate) library: Library,
    pub(crate) name: Arc<str>,
    pub(crate) constants: Arc<Constants>,
    pub(crate) function: Arc<dyn backend::Function>,
}

impl Function {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its interface: arguments under a false constant are not in it. Where there is no compiler for the CPU, its
    /// threadgroup variables are all those of the source ([`Library::reflection`]).
    pub fn reflection(&self) -> &Kernel {
        self.function.reflection()
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("name", &self.name()).finish_non_exhaustive()
    }
}
