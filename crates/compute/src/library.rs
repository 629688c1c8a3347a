//! Libraries of functions, from source or from `.metallib` files.

use crate::backend::{self, LibraryContents, LibraryOrigin};
use crate::device::Device;
use crate::error::{Error, Result, usage};
use crate::program::{CompileOptions, DynamicLibrary, LibraryType, PrecompiledLibrary};
use abi::Constants;
use msl::reflect::{Kernel, Reflection};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Functions to create pipeline states from. A clone is the same library.
///
/// Opening a library compiles no machine code: creating a pipeline state does, for one kernel with fixed constants. A
/// kernel that cannot be compiled fails alone.
///
/// A library works with devices of the kind that opened it; a GPU's library only with that GPU.
///
/// A damaged file is an error. A malicious file is not handled: LLVM's bitcode reader is not hardened, and kernels run
/// without a sandbox. Open only libraries from people you trust.
#[derive(Clone)]
pub struct Library {
    library: Arc<dyn backend::Library>,
    /// Domain of the devices that it works with.
    domain: u32,
}

/// A kernel of a library with values for its function constants. Creating one compiles nothing: a pipeline state from
/// an archive does not even parse the library's source.
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
    /// Parses Metal source. Kernels are compiled when pipeline states are created.
    ///
    /// Metal's compiler opens no files: includes are folded into the text, with `#line` directives.
    pub fn new_library_with_source(&self, source: &str, options: &CompileOptions) -> Result<Library> {
        self.open_library(LibraryContents::Text(source, options))
    }

    /// Parses a `.metal` file, which may include others from its own folder.
    pub fn new_library_with_source_file(
        &self,
        path: impl AsRef<Path>,
        options: &CompileOptions,
    ) -> Result<Library> {
        self.open_library(LibraryContents::File(path.as_ref(), options))
    }

    /// Takes Metal source that was checked before, when the program was built: it is parsed only if no archive has the
    /// requested kernel. An error in it is reported by the first pipeline state that needs it.
    ///
    /// The text should be self-contained, including Metal's own headers only. One that includes files is parsed at
    /// once, to compute its digest.
    pub fn new_library_with_checked_source(
        &self,
        source: impl Into<Cow<'static, str>>,
        options: &CompileOptions,
    ) -> Library {
        self.new_library_with_metallib_or_source(None, source, options)
    }

    /// Takes a `.metallib` and the checked source that it was compiled from
    /// ([`Device::new_library_with_checked_source`]). Kernels come from the `.metallib`; if there is none, or if it
    /// cannot be opened, which is [logged](crate::log), they are compiled from the source. Both happen on first use.
    /// See [`Library::origin`].
    pub fn new_library_with_metallib_or_source(
        &self,
        metallib: Option<PrecompiledLibrary>,
        source: impl Into<Cow<'static, str>>,
        options: &CompileOptions,
    ) -> Library {
        let library = self.backend().new_checked_library(metallib, source.into(), options);
        Library { library, domain: self.domain() }
    }

    /// Opens a `.metallib`. The file is mapped into memory: it must not be truncated while the library is in use.
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

    /// Makes a dynamic library of one that was compiled with [`LibraryType::Dynamic`].
    pub fn new_dynamic_library(&self, library: &Library) -> Result<DynamicLibrary> {
        if library.domain != self.domain() {
            return usage("new_dynamic_library: another device opened the library");
        }
        Ok(DynamicLibrary::new(self.backend().new_dynamic_library(&library.library)?, self.domain()))
    }

    /// Opens a dynamic library in a `.metallib`. The file must not be truncated while the library is in use.
    pub fn new_dynamic_library_with_file(&self, path: impl AsRef<Path>) -> Result<DynamicLibrary> {
        self.new_dynamic_library(&self.new_library_with_file(path)?)
    }

    /// Refuses dynamic libraries of other devices.
    pub(crate) fn check_libraries(&self, libraries: &[DynamicLibrary]) -> Result<()> {
        match libraries.iter().find(|library| library.domain() != self.domain()) {
            Some(library) => {
                usage(format!("the dynamic library '{}' is one of another device", library.install_name()))
            }
            None => Ok(()),
        }
    }

    fn open_library(&self, contents: LibraryContents<'_>) -> Result<Library> {
        if let LibraryContents::Text(_, options) | LibraryContents::File(_, options) = &contents {
            if options.library_type == LibraryType::Dynamic && options.install_name.is_none() {
                return usage("a dynamic library needs an install name ('CompileOptions::install_name')");
            }
            self.check_libraries(&options.libraries)?;
        }
        Ok(Library { library: self.backend().new_library(contents)?, domain: self.domain() })
    }
}

impl Library {
    /// Names of its kernels, in the order of the source or file. Empty if a source turns out to have errors; creating a
    /// pipeline state reports them.
    pub fn function_names(&self) -> Vec<String> {
        self.library.function_names()
    }

    /// The reflection of a kernel with these constants, from its source alone, without compiling. It includes all
    /// threadgroup variables of the source, even those in code that a constant disables. Fails for a `.metallib`, which
    /// has no source.
    pub fn reflection(&self, name: &str, constants: &Constants) -> Result<Kernel> {
        self.library.reflection(name, constants)?.ok_or_else(|| self.no_function(name))
    }

    /// The interface of all its functions, from its source, without compiling; `None` for a `.metallib`, which has no
    /// source, for a source with errors, and on devices that leave sources to a driver.
    pub fn source_reflection(&self) -> Option<Reflection> {
        self.library.source_reflection()
    }

    /// Origin of its kernels: source or a `.metallib`.
    pub fn origin(&self) -> LibraryOrigin {
        self.library.origin()
    }

    /// A kernel with values for its function constants.
    pub fn new_function(&self, name: &str, constants: &Constants) -> Result<Function> {
        let function = self.library.new_function(name, constants)?.ok_or_else(|| self.no_function(name))?;
        Ok(Function { library: self.clone(), name: name.into(), constants: Arc::new(constants.clone()), function })
    }

    pub(crate) fn no_function(&self, name: &str) -> Error {
        backend::no_function(&*self.library, name)
    }

    pub(crate) fn backend(&self) -> &Arc<dyn backend::Library> {
        &self.library
    }

    /// The back-end library, checked to belong to the device.
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

/// A kernel with fixed function constants, not yet compiled. A clone is the same function.
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

    /// Its reflection, without arguments that a constant disables. Without a compiler for the CPU, it includes all
    /// threadgroup variables of the source ([`Library::reflection`]).
    pub fn reflection(&self) -> &Kernel {
        self.function.reflection()
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("name", &self.name()).finish_non_exhaustive()
    }
}
