//! Libraries and functions: those of the inner device.

use compute::backend::{self, CompileOptions, LibraryContents, LibraryOrigin, PrecompiledLibrary};
use compute::reflect::Kernel;
use compute::{Error, FunctionConstantValues, Result};
use std::borrow::Cow;
use std::sync::Arc;

pub(super) struct Library {
    pub(super) inner: compute::Library,
}

pub(super) struct Function {
    pub(super) inner: compute::Function,
}

impl Library {
    pub(super) fn open(device: &compute::Device, contents: LibraryContents<'_>) -> Result<Library> {
        let inner = match contents {
            LibraryContents::Text(text, options) => device.new_library_with_source(text, options),
            LibraryContents::File(path, options) => device.new_library_with_source_file(path, options),
            LibraryContents::Metallib(data) => device.new_library_with_data(data),
            LibraryContents::MetallibFile(path) => device.new_library_with_file(path),
        };
        Ok(Library { inner: inner? })
    }

    pub(super) fn checked(
        device: &compute::Device,
        metallib: Option<PrecompiledLibrary>,
        source: Cow<'static, str>,
        options: &CompileOptions,
    ) -> Library {
        Library { inner: device.new_library_with_metallib_or_source(metallib, source, options) }
    }
}

/// Converts the error for a missing kernel to `None`.
fn found<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Error::NoFunction { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl backend::Library for Library {
    fn function_names(&self) -> Vec<String> {
        self.inner.function_names()
    }

    fn reflection(&self, kernel: &str, constants: &FunctionConstantValues) -> Result<Option<Kernel>> {
        found(self.inner.reflection(kernel, constants))
    }

    fn new_function(
        &self,
        kernel: &str,
        constants: &FunctionConstantValues,
    ) -> Result<Option<Arc<dyn backend::Function>>> {
        let function = found(self.inner.new_function(kernel, constants))?;
        Ok(function.map(|inner| Arc::new(Function { inner }) as Arc<dyn backend::Function>))
    }

    /// The inner device has the archives: its libraries have the digests.
    fn digest(&self, _: &str) -> Option<[u8; 32]> {
        None
    }

    fn origin(&self) -> LibraryOrigin {
        self.inner.origin()
    }
}

impl backend::Function for Function {
    fn reflection(&self) -> &Kernel {
        self.inner.reflection()
    }
}
