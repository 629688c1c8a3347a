//! Libraries of back ends that compile AIR themselves.
//!
//! ```text
//! source ─────────────────────────── front end ── lowered ─┐
//! .metallib ───────────────────────────────────────────────┼─ AIR of one kernel ── constants set ── AirFunction
//! source with a .metallib ── the .metallib, or the source ─┘
//! ```
//!
//! A kernel is lowered when it is first used, not when its library is opened.

use super::{
    DynamicLibrary, Function, Library, LibraryContents, LibraryOrigin, LibraryType, MetalSource, VisibleFunction,
};
use crate::digest::Digest;
use crate::error::Result;
use crate::program::PrecompiledLibrary;
use abi::Constants;
use msl::reflect::{Kernel, Reflection};
use std::sync::Arc;

#[cfg(llvm)]
use crate::{
    error::Error,
    log,
    program::LibraryCompiler,
    program::air::{self, Air, VisibleAir},
    program::metallib::Metallib,
};

/// A program, before it is compiled for a device.
pub(crate) struct AirLibrary {
    contents: ProgramContents,
}

enum ProgramContents {
    Source(MetalSource),
    #[cfg(llvm)]
    Metallib(Metallib),
    /// Compiled when the program was built; the source has the rest of the reflection.
    #[cfg(llvm)]
    Precompiled(Metallib, LibraryCompiler, MetalSource),
}

impl AirLibrary {
    pub(crate) fn open(contents: LibraryContents<'_>) -> Result<AirLibrary> {
        let contents = match contents {
            LibraryContents::Text(text, options) => ProgramContents::Source(MetalSource::with_text(text, options)?),
            LibraryContents::File(path, options) => ProgramContents::Source(MetalSource::with_file(path, options)?),
            #[cfg(llvm)]
            LibraryContents::Metallib(data) => ProgramContents::Metallib(Metallib::with_data(data)?),
            #[cfg(llvm)]
            LibraryContents::MetallibFile(path) => ProgramContents::Metallib(Metallib::with_file(path)?),
            #[cfg(not(llvm))]
            LibraryContents::Metallib(data) => return no_compiler(&format!("a .metallib of {} bytes", data.len())),
            #[cfg(not(llvm))]
            LibraryContents::MetallibFile(path) => return no_compiler(&format!("'{}'", path.display())),
        };
        Ok(AirLibrary { contents })
    }

    pub(crate) fn checked(metallib: Option<PrecompiledLibrary>, source: MetalSource) -> AirLibrary {
        AirLibrary { contents: checked(metallib, source) }
    }

    /// The source, for the front end.
    fn source(&self) -> Option<&MetalSource> {
        match &self.contents {
            ProgramContents::Source(source) => Some(source),
            #[cfg(llvm)]
            ProgramContents::Precompiled(_, _, source) => Some(source),
            #[cfg(llvm)]
            ProgramContents::Metallib(_) => None,
        }
    }

    /// Downcasts a library of a back end that compiles AIR.
    #[cfg(llvm)]
    pub(crate) fn of(library: &dyn Library) -> Option<&AirLibrary> {
        (library as &dyn std::any::Any).downcast_ref()
    }

    /// The AIR of a kernel with the lines of its source; `None` if there is no source or no such kernel.
    #[cfg(llvm)]
    pub(crate) fn located(&self, kernel: &str, constants: &Constants) -> Result<Option<Air>> {
        let Some(source) = self.source() else { return Ok(None) };
        let compilation = source.compile()?;
        let entry = compilation.program.kernels().find(|entry| entry.name == kernel);
        entry.map(|entry| air::lower_located(compilation, entry, source.math_mode(), constants)).transpose()
    }

    /// The AIR of a kernel with its constants set; `None` if there is no such kernel.
    #[cfg(llvm)]
    fn air(&self, kernel: &str, constants: &Constants) -> Result<Option<Air>> {
        match &self.contents {
            ProgramContents::Source(source) => lower(source, kernel, constants),
            ProgramContents::Metallib(metallib) => {
                let bitcode = metallib.bitcode(kernel);
                bitcode.map(|bitcode| air::specialize(bitcode?, kernel, constants)).transpose()
            }
            ProgramContents::Precompiled(metallib, _, source) => {
                let Some(bitcode) = metallib.bitcode(kernel) else { return Ok(None) };
                match bitcode.and_then(|bitcode| air::specialize(bitcode, kernel, constants)) {
                    // The `.metallib` is damaged, or its bitcode is not readable by LLVM.
                    Err(problem @ Error::Library(_)) => {
                        tell(source, &problem);
                        lower(source, kernel, constants)
                    }
                    specialized => specialized.map(Some),
                }
            }
        }
    }
}

impl AirLibrary {
    /// The name of a dynamic library; `None` for other libraries.
    pub(crate) fn install_name(&self) -> Option<String> {
        match &self.contents {
            #[cfg(llvm)]
            ProgramContents::Metallib(metallib) => metallib.install_name(),
            _ => {
                let options = self.source()?.options();
                let is_dynamic = options.library_type == LibraryType::Dynamic;
                options.install_name.clone().filter(|_| is_dynamic)
            }
        }
    }

    /// Digest of everything that decides the code of a dynamic library.
    pub(crate) fn whole_digest(&self) -> Option<Digest> {
        match &self.contents {
            #[cfg(llvm)]
            ProgramContents::Metallib(metallib) => Some(metallib.whole_digest()),
            _ => self.source()?.digest(),
        }
    }

    /// The file of a dynamic library.
    #[cfg(llvm)]
    pub(crate) fn dynamic_metallib(&self, install_name: &str) -> Result<Vec<u8>> {
        match &self.contents {
            ProgramContents::Metallib(metallib) => Ok(metallib.bytes().to_vec()),
            ProgramContents::Source(source) | ProgramContents::Precompiled(_, _, source) => {
                let linked: Vec<String> =
                    source.options().libraries.iter().map(DynamicLibrary::install_name).collect();
                air::dynamic_metallib(source.compile()?, source.math_mode(), install_name, &linked)
            }
        }
    }

    #[cfg(not(llvm))]
    pub(crate) fn dynamic_metallib(&self, install_name: &str) -> Result<Vec<u8>> {
        crate::error::usage(format!(
            "'{install_name}' cannot be written: there is no compiler in this program (the feature 'compiler' of the \
             crate 'compute')"
        ))
    }
}

#[cfg(llvm)]
impl AirLibrary {
    /// A function of a dynamic library, by its symbol.
    pub(crate) fn exported(&self, symbol: &str) -> Result<Option<VisibleAir>> {
        match &self.contents {
            ProgramContents::Metallib(metallib) => {
                let bitcode = metallib.exported_bitcode(symbol);
                bitcode.map(|bitcode| air::specialize_visible(bitcode?, symbol, &Constants::new())).transpose()
            }
            ProgramContents::Source(source) | ProgramContents::Precompiled(_, _, source) => {
                let compilation = source.compile()?;
                let mut exports = ::air::exports(&compilation.program).into_iter();
                let function = exports.find(|(name, _)| name == symbol);
                let lower = |(_, function)| air::lower_export(compilation, function, source.math_mode());
                function.map(lower).transpose()
            }
        }
    }

    /// The names of the dynamic libraries that it was linked with.
    pub(crate) fn linked_names(&self) -> Vec<String> {
        match &self.contents {
            ProgramContents::Metallib(metallib) => metallib.linked_names(),
            _ => self.linked_libraries().iter().map(DynamicLibrary::install_name).collect(),
        }
    }
}

/// A visible function with its constants set.
pub(crate) struct AirVisibleFunction {
    #[cfg(llvm)]
    pub(crate) air: VisibleAir,
}

impl VisibleFunction for AirVisibleFunction {}

#[cfg(llvm)]
impl AirVisibleFunction {
    /// Downcasts a function that an [`AirLibrary`] made.
    pub(crate) fn of(function: &dyn VisibleFunction) -> Option<&AirVisibleFunction> {
        (function as &dyn std::any::Any).downcast_ref()
    }
}

#[cfg(llvm)]
impl AirLibrary {
    /// The AIR of a visible function; `None` if there is no such function.
    fn visible_air(&self, name: &str, constants: &Constants) -> Result<Option<VisibleAir>> {
        match &self.contents {
            ProgramContents::Metallib(metallib) => {
                let bitcode = metallib.visible_bitcode(name);
                bitcode.map(|bitcode| air::specialize_visible(bitcode?, name, constants)).transpose()
            }
            ProgramContents::Source(source) | ProgramContents::Precompiled(_, _, source) => {
                let compilation = source.compile()?;
                let function = compilation.program.visible_functions.iter().find(|function| function.name == name);
                let lower = |function| air::lower_visible(compilation, function, source.math_mode(), constants);
                function.map(lower).transpose()
            }
        }
    }
}

#[cfg(llvm)]
fn lower(source: &MetalSource, kernel: &str, constants: &Constants) -> Result<Option<Air>> {
    let compilation = source.compile()?;
    let entry = compilation.program.kernels().find(|entry| entry.name == kernel);
    entry.map(|entry| air::lower(compilation, entry, source.math_mode(), constants)).transpose()
}

/// Logs that the source is compiled, and why.
#[cfg(llvm)]
fn tell(source: &MetalSource, problem: &Error) {
    let name = &source.options().name;
    log::line(format_args!("{name} is compiled from its source, since its .metallib cannot be read: {problem}"));
}

/// Logs a `.metallib` that cannot be opened, and falls back to the source.
#[cfg(llvm)]
fn checked(metallib: Option<PrecompiledLibrary>, source: MetalSource) -> ProgramContents {
    let Some(PrecompiledLibrary { data, compiler }) = metallib else { return ProgramContents::Source(source) };
    match Metallib::with_static_data(data) {
        Ok(metallib) => ProgramContents::Precompiled(metallib, compiler, source),
        Err(problem) => {
            tell(&source, &problem);
            ProgramContents::Source(source)
        }
    }
}

/// Reading AIR needs LLVM.
#[cfg(not(llvm))]
fn checked(_: Option<PrecompiledLibrary>, source: MetalSource) -> ProgramContents {
    ProgramContents::Source(source)
}

#[cfg(not(llvm))]
fn no_compiler<T>(what: &str) -> Result<T> {
    crate::error::usage(format!(
        "{what} cannot be opened for the CPU: there is no compiler in this program (the feature 'compiler' of the crate \
         'compute')"
    ))
}

impl Library for AirLibrary {
    fn function_names(&self) -> Vec<String> {
        match &self.contents {
            ProgramContents::Source(source) => source.names(),
            #[cfg(llvm)]
            ProgramContents::Metallib(metallib) | ProgramContents::Precompiled(metallib, ..) => {
                metallib.names().map(str::to_owned).collect()
            }
        }
    }

    fn source_reflection(&self) -> Option<Reflection> {
        Some(self.source()?.compile().ok()?.reflect())
    }

    fn reflection(&self, kernel: &str, constants: &Constants) -> Result<Option<Kernel>> {
        MetalSource::reflection(self.source(), kernel, constants)
    }

    #[cfg(llvm)]
    fn new_function(&self, kernel: &str, constants: &Constants) -> Result<Option<Arc<dyn Function>>> {
        let air = self.air(kernel, constants)?;
        Ok(air.map(|air| Arc::new(AirFunction { air }) as Arc<dyn Function>))
    }

    #[cfg(not(llvm))]
    fn new_function(&self, kernel: &str, constants: &Constants) -> Result<Option<Arc<dyn Function>>> {
        let reflection = self.reflection(kernel, constants)?;
        Ok(reflection.map(|reflection| Arc::new(AirFunction { reflection }) as Arc<dyn Function>))
    }

    #[cfg(llvm)]
    fn new_visible_function(&self, name: &str, constants: &Constants) -> Result<Option<Arc<dyn VisibleFunction>>> {
        let visible = self.visible_air(name, constants)?;
        Ok(visible.map(|air| Arc::new(AirVisibleFunction { air }) as Arc<dyn VisibleFunction>))
    }

    /// Code comes from archives, by the name and digest of the function.
    #[cfg(not(llvm))]
    fn new_visible_function(&self, name: &str, _: &Constants) -> Result<Option<Arc<dyn VisibleFunction>>> {
        let Some(source) = self.source() else { return Ok(None) };
        let is_there = source.compile()?.program.visible_functions.iter().any(|function| function.name == name);
        Ok(is_there.then(|| Arc::new(AirVisibleFunction {}) as Arc<dyn VisibleFunction>))
    }

    fn digest(&self, kernel: &str) -> Option<Digest> {
        let _ = kernel;
        match &self.contents {
            ProgramContents::Source(source) => source.digest(),
            #[cfg(llvm)]
            ProgramContents::Metallib(metallib)
            | ProgramContents::Precompiled(metallib, LibraryCompiler::Apple, _) => metallib.digest(kernel),
            // This version's compiler made it from the source, and its fingerprint is in every key: it is the same
            // code.
            #[cfg(llvm)]
            ProgramContents::Precompiled(_, LibraryCompiler::Metalworks, source) => source.digest(),
        }
    }

    fn linked_libraries(&self) -> Vec<DynamicLibrary> {
        self.source().map(|source| source.options().libraries.clone()).unwrap_or_default()
    }

    fn origin(&self) -> LibraryOrigin {
        match &self.contents {
            ProgramContents::Source(_) => LibraryOrigin::Source,
            #[cfg(llvm)]
            ProgramContents::Metallib(_) | ProgramContents::Precompiled(..) => LibraryOrigin::Metallib,
        }
    }
}

/// A kernel with its constants set.
pub(crate) struct AirFunction {
    #[cfg(llvm)]
    pub(crate) air: Air,
    /// Without a compiler there is only the reflection; code comes from archives.
    #[cfg(not(llvm))]
    reflection: Kernel,
}

impl Function for AirFunction {
    #[cfg(llvm)]
    fn reflection(&self) -> &Kernel {
        self.air.reflection()
    }

    #[cfg(not(llvm))]
    fn reflection(&self) -> &Kernel {
        &self.reflection
    }
}

#[cfg(llvm)]
impl AirFunction {
    /// Downcasts a function that an [`AirLibrary`] made.
    pub(crate) fn of(function: &dyn Function) -> Option<&AirFunction> {
        (function as &dyn std::any::Any).downcast_ref()
    }
}
