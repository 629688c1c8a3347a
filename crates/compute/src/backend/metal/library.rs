//! Libraries compiled or opened by Metal.
//!
//! ```text
//! source ─────────── newLibraryWithSource ──┐
//! .metallib, file ── newLibraryWithURL ─────┼─ MTLLibrary
//!           bytes ── newLibraryWithData ────┘
//! ```
//!
//! The source is kept, if there is one: the front end parses it when a kernel's reflection is needed.

use super::device::Device;
use super::dynamic_library;
use super::error::driver_error;
use super::function::{DescribedFunction, Function};
use super::function_table::VisibleFunction;
use super::held::Held;
use crate::backend::driver::apple::{named_source, source_error};
use crate::backend::{
    self, CompileOptions, DynamicLibrary, LibraryCompiler, LibraryContents, LibraryOrigin, LibraryType,
    MathFunctions, MathMode, MetalSource, PrecompiledLibrary,
};
use crate::error::{Error, Result};
use crate::log;
use abi::Constants;
use dispatch2::DispatchData;
use msl::reflect::Kernel;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{NSObjectProtocol, ProtocolObject};
use objc2::sel;
use objc2_foundation::{NSDictionary, NSError, NSObject, NSString, NSURL};
use objc2_metal::{
    MTLCompileOptions, MTLDevice, MTLFunction, MTLFunctionType, MTLLanguageVersion, MTLLibrary, MTLLibraryError,
    MTLLibraryErrorDomain, MTLLibraryType, MTLMathFloatingPointFunctions, MTLMathMode,
};
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A GPU library. Metal libraries are thread-safe.
pub(crate) struct Library {
    device: Arc<Device>,
    /// Created at once, or on first use.
    library: OnceLock<Result<Held<ProtocolObject<dyn MTLLibrary>>>>,
    /// The source, and true if it was checked when the program was built.
    source: Option<(MetalSource, bool)>,
    /// Opened instead of compiling the source.
    metallib: Option<&'static [u8]>,
    /// Origin of its kernels, once created.
    origin: OnceLock<LibraryOrigin>,
}

impl Library {
    pub(super) fn open(device: &Arc<Device>, contents: LibraryContents<'_>) -> Result<Library> {
        match contents {
            LibraryContents::Text(text, options) => {
                Library::with_source(device, MetalSource::folded(text.to_owned().into(), options)?)
            }
            LibraryContents::File(path, options) => {
                Library::with_source(device, MetalSource::folded_file(path, options)?)
            }
            LibraryContents::Metallib(data) => Library::with_data(device, &data),
            LibraryContents::MetallibFile(path) => Library::with_file(device, path),
        }
    }

    /// Compiles the source now.
    fn with_source(device: &Arc<Device>, source: MetalSource) -> Result<Library> {
        let library = Library {
            device: device.clone(),
            library: OnceLock::new(),
            source: Some((source, false)),
            metallib: None,
            origin: OnceLock::new(),
        };
        library.raw()?;
        Ok(library)
    }

    /// Opens or compiles it when the first kernel is needed. `.metallib`s of our own compiler are skipped: no Mac has
    /// loaded one yet, and the source is at hand.
    pub(super) fn checked(
        device: &Arc<Device>,
        metallib: Option<PrecompiledLibrary>,
        text: Cow<'static, str>,
        options: &CompileOptions,
    ) -> Library {
        let (library, source) = match MetalSource::folded(text, options) {
            Ok(source) => (OnceLock::new(), Some((source, true))),
            // An included file is missing.
            Err(error) => (OnceLock::from(Err(error)), None),
        };
        let metallib = metallib.filter(|metallib| metallib.compiler == LibraryCompiler::Apple);
        let metallib = metallib.map(|metallib| metallib.data);
        Library { device: device.clone(), library, source, metallib, origin: OnceLock::new() }
    }

    fn with_file(device: &Arc<Device>, path: &Path) -> Result<Library> {
        // Metal's error for a missing file does not name it.
        let failed = |reason: String| Error::File { path: path.display().to_string(), reason };
        std::fs::File::open(path).map_err(|error| failed(error.to_string()))?;
        let opened = autoreleasepool(|_| {
            let url = NSURL::from_file_path(path)
                .ok_or_else(|| failed("its path cannot be converted to a URL".into()))?;
            let opened = device.raw().newLibraryWithURL_error(&url);
            opened.map_err(|error| Error::Library(format!("'{}': {}", path.display(), text(&error))))
        });
        Ok(Library::opened(device, opened?))
    }

    fn with_data(device: &Arc<Device>, data: &[u8]) -> Result<Library> {
        let opened = autoreleasepool(|_| {
            let opened = device.raw().newLibraryWithData_error(&DispatchData::from_bytes(data));
            opened.map_err(|error| Error::Library(format!("a .metallib of {} bytes: {}", data.len(), text(&error))))
        });
        Ok(Library::opened(device, opened?))
    }

    fn opened(device: &Arc<Device>, library: Retained<ProtocolObject<dyn MTLLibrary>>) -> Library {
        Library {
            device: device.clone(),
            library: OnceLock::from(Ok(Held::new(library))),
            source: None,
            metallib: None,
            origin: OnceLock::from(LibraryOrigin::Metallib),
        }
    }

    pub(super) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The source, for the front end.
    pub(super) fn source(&self) -> Option<&MetalSource> {
        self.source.as_ref().map(|(source, _)| source)
    }

    /// True if the source was checked when the program was built.
    pub(super) fn is_checked(&self) -> bool {
        matches!(self.source, Some((_, true)))
    }

    /// Names of its kernels; empty if it does not compile.
    pub(super) fn names(&self) -> Vec<String> {
        autoreleasepool(|_| {
            let Ok(library) = self.raw() else { return Vec::new() };
            let is_kernel = |name: &NSString| {
                let function = library.newFunctionWithName(name);
                function.is_none_or(|function| function.functionType() == MTLFunctionType::Kernel)
            };
            let names = library.functionNames().to_vec();
            names.iter().filter(|name| is_kernel(name)).map(|name| name.to_string()).collect()
        })
    }

    /// A kernel with its constants set; `None` if there is no such kernel.
    pub(super) fn function(&self, name: &str, constants: &Constants) -> Result<Option<Function>> {
        Function::new(self, name, constants)
    }

    /// The Metal library. Errors are cached, too: the source does not change.
    pub(super) fn raw(&self) -> Result<&ProtocolObject<dyn MTLLibrary>> {
        match self.library.get_or_init(|| autoreleasepool(|_| self.make()).map(Held::new)) {
            Ok(library) => Ok(library),
            Err(error) => Err(error.clone()),
        }
    }

    fn make(&self) -> Result<Retained<ProtocolObject<dyn MTLLibrary>>> {
        let Some((source, _)) = &self.source else {
            return Err(Error::Internal("a library without source or .metallib".into()));
        };
        if let Some(metallib) = self.metallib {
            match self.device.raw().newLibraryWithData_error(&DispatchData::from_static_bytes(metallib)) {
                Ok(library) => {
                    let _ = self.origin.set(LibraryOrigin::Metallib);
                    return Ok(library);
                }
                Err(error) => log::line(format_args!(
                    "{} is compiled from its source, since the system refuses its .metallib: {}",
                    source.options().name,
                    text(&error)
                )),
            }
        }
        let _ = self.origin.set(LibraryOrigin::Source);
        compile(self.device.raw(), source)
    }
}

impl backend::Library for Library {
    fn function_names(&self) -> Vec<String> {
        self.names()
    }

    fn reflection(&self, kernel: &str, constants: &Constants) -> Result<Option<Kernel>> {
        MetalSource::reflection(self.source(), kernel, constants)
    }

    fn new_function(&self, kernel: &str, constants: &Constants) -> Result<Option<Arc<dyn backend::Function>>> {
        let Some(function) = self.function(kernel, constants)? else { return Ok(None) };
        Ok(Some(Arc::new(DescribedFunction::new(self, function, kernel, constants)?)))
    }

    fn new_visible_function(
        &self,
        name: &str,
        constants: &Constants,
    ) -> Result<Option<Arc<dyn backend::VisibleFunction>>> {
        let function = VisibleFunction::new(self, name, constants)?;
        Ok(function.map(|function| Arc::new(function) as Arc<dyn backend::VisibleFunction>))
    }

    fn linked_libraries(&self) -> Vec<DynamicLibrary> {
        self.source().map(|source| source.options().libraries.clone()).unwrap_or_default()
    }

    /// Metal's archives identify code by its descriptor.
    fn digest(&self, _: &str) -> Option<[u8; 32]> {
        None
    }

    fn origin(&self) -> LibraryOrigin {
        // Opening the `.metallib` shows if the system accepts it.
        if self.metallib.is_some() {
            let _ = self.raw();
        }
        self.origin.get().copied().unwrap_or(LibraryOrigin::Source)
    }
}

fn compile(
    device: &ProtocolObject<dyn MTLDevice>,
    source: &MetalSource,
) -> Result<Retained<ProtocolObject<dyn MTLLibrary>>> {
    let options = source.options();
    let text = NSString::from_str(&named_source(&options.name, source.text()));
    let compile = compile_options(options)?;
    let compiled = device.newLibraryWithSource_options_error(&text, Some(&compile));
    compiled.map_err(|error| match is_compile_failure(&error) {
        true => source_error(&error.localizedDescription().to_string()),
        false => driver_error(format!("cannot compile {}", options.name), &error),
    })
}

fn compile_options(options: &CompileOptions) -> Result<Retained<MTLCompileOptions>> {
    let compile = MTLCompileOptions::new();
    compile.setLanguageVersion(language_version(options));
    // `mathMode` came with macOS 15. Its predecessor sets the math functions, too.
    match (compile.respondsToSelector(sel!(setMathMode:)), options.math_mode) {
        (true, MathMode::Fast) => compile.setMathMode(MTLMathMode::Fast),
        (true, MathMode::Relaxed) => compile.setMathMode(MTLMathMode::Relaxed),
        (true, MathMode::Safe) => {
            compile.setMathMode(MTLMathMode::Safe);
            compile.setMathFloatingPointFunctions(MTLMathFloatingPointFunctions::Precise);
        }
        #[allow(deprecated, reason = "macOS 14 has nothing else")]
        (false, mode) => compile.setFastMathEnabled(mode == MathMode::Fast),
    }
    if compile.respondsToSelector(sel!(setMathFloatingPointFunctions:)) {
        match options.math_functions {
            Some(MathFunctions::Fast) => compile.setMathFloatingPointFunctions(MTLMathFloatingPointFunctions::Fast),
            Some(MathFunctions::Precise) => {
                compile.setMathFloatingPointFunctions(MTLMathFloatingPointFunctions::Precise);
            }
            None => {}
        }
    }
    if !options.defines.is_empty() {
        let text = |text: &str| NSString::from_str(text);
        let names: Vec<_> = options.defines.iter().map(|(name, _)| text(name)).collect();
        let values = options.defines.iter().map(|(_, value)| text(value.as_deref().unwrap_or("1")));
        let values: Vec<Retained<NSObject>> = values.map(Retained::into_super).collect();
        let names: Vec<&NSString> = names.iter().map(|name| &**name).collect();
        let macros = NSDictionary::from_retained_objects(&names, &values);
        // SAFETY: the values are strings, as they must be.
        unsafe { compile.setPreprocessorMacros(Some(&macros)) };
    }
    if options.library_type == LibraryType::Dynamic {
        compile.setLibraryType(MTLLibraryType::Dynamic);
        let name = options.install_name.as_deref().map(NSString::from_str);
        compile.setInstallName(name.as_deref());
    }
    if !options.libraries.is_empty() {
        compile.setLibraries(Some(&*dynamic_library::array(&options.libraries)?));
    }
    Ok(compile)
}

/// Metal rejects versions that the system does not know.
fn language_version(options: &CompileOptions) -> MTLLanguageVersion {
    let msl::LanguageVersion { major, minor } = options.language_version;
    MTLLanguageVersion(((major as usize) << 16) + minor as usize)
}

fn is_compile_failure(error: &NSError) -> bool {
    // SAFETY: the constant exists whenever the framework does.
    let domain = unsafe { MTLLibraryErrorDomain };
    *error.domain() == *domain && error.code() == MTLLibraryError::CompileFailure.0 as isize
}

/// The description of an error.
fn text(error: &NSError) -> String {
    error.localizedDescription().to_string()
}
