//! Libraries of functions: from source, or from `.metallib` files.

use crate::compiler::{self, Air};
use crate::error::{Error, Result};
use abi::Constants;
use air::metallib;
use msl::Compilation;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
/// Nothing is compiled to machine code here: [`Library::new_function`] takes one kernel and fixes its constants, and
/// [`crate::Device::new_compute_pipeline_state`] compiles that. One kernel that cannot be compiled fails alone.
///
/// A damaged file is an error. One that was made to do harm is another matter: LLVM's reader of bitcode is not hardened, and
/// kernels run unfenced. Open libraries from those whom you trust.
#[derive(Clone)]
pub struct Library {
    contents: Arc<Contents>,
}

enum Contents {
    /// A checked program: a kernel is lowered when it is asked for.
    Source { compilation: Box<Compilation>, math_mode: MathMode },
    /// A file by Apple's compiler or ours.
    Metallib(OpenMetallib),
}

/// The bytes of a `.metallib`.
enum Data {
    Owned(Vec<u8>),
    Mapped(memmap2::Mmap),
}

impl Data {
    fn bytes(&self) -> &[u8] {
        match self {
            Data::Owned(bytes) => bytes,
            Data::Mapped(mapping) => mapping,
        }
    }
}

type Parsed<'a> = metallib::Library<'a>;

self_cell::self_cell! {
    struct OpenMetallib {
        owner: Data,
        #[covariant]
        dependent: Parsed,
    }
}

impl Library {
    pub(crate) fn with_source(source: &str, options: &CompileOptions) -> Result<Library> {
        let compilation = msl::compile_source(&options.name, source, &front_end(options));
        Library::with_compilation(compilation, options)
    }

    pub(crate) fn with_source_file(path: &Path, options: &CompileOptions) -> Result<Library> {
        let compilation = msl::compile_file(path, &front_end(options)).map_err(|error| Error::File {
            path: path.display().to_string(),
            reason: error.reason().to_string(),
        })?;
        Library::with_compilation(compilation, options)
    }

    fn with_compilation(compilation: Compilation, options: &CompileOptions) -> Result<Library> {
        if compilation.has_errors() {
            let errors = compilation.error_count();
            return Err(Error::Source { errors, diagnostics: compilation.render_diagnostics(false) });
        }
        let contents = Contents::Source { compilation: Box::new(compilation), math_mode: options.math_mode };
        Ok(Library { contents: Arc::new(contents) })
    }

    pub(crate) fn with_file(path: &Path) -> Result<Library> {
        let failed =
            |error: std::io::Error| Error::File { path: path.display().to_string(), reason: error.to_string() };
        let file = File::open(path).map_err(failed)?;
        // SAFETY: the mapping is read only. A file that others shorten while it is mapped is the hazard that
        // `new_library_with_file` documents; one that they change fails by its hash.
        let mapping = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        let parsed = Library::with_metallib(Data::Mapped(mapping));
        parsed.map_err(|problem| Error::Library(format!("'{}': {problem}", path.display())))
    }

    pub(crate) fn with_data(data: Vec<u8>) -> Result<Library> {
        Library::with_metallib(Data::Owned(data)).map_err(|problem| Error::Library(problem.to_string()))
    }

    fn with_metallib(data: Data) -> std::result::Result<Library, metallib::ParseError> {
        let open = OpenMetallib::try_new(data, |data| metallib::Library::parse(data.bytes()))?;
        Ok(Library { contents: Arc::new(Contents::Metallib(open)) })
    }

    /// The names of its kernels, in the order of the source or file.
    pub fn function_names(&self) -> Vec<String> {
        self.names().map(str::to_owned).collect()
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &*self.contents {
            Contents::Source { compilation, .. } => {
                Box::new(compilation.program.kernels().map(|entry| entry.name.as_str()))
            }
            Contents::Metallib(open) => {
                let functions = open.borrow_dependent().functions().iter();
                let kernels = functions.filter(|function| function.kind == metallib::FunctionKind::Kernel);
                Box::new(kernels.map(|function| function.name()))
            }
        }
    }

    /// One kernel, with values for its function constants.
    pub fn new_function(&self, name: &str, constants: &Constants) -> Result<Function> {
        let bitcode = self.bitcode(name)?;
        let air = compiler::specialize(bitcode, name, constants)?;
        Ok(Function { air: Arc::new(air) })
    }

    /// The AIR of one kernel, as LLVM bitcode.
    fn bitcode(&self, name: &str) -> Result<std::borrow::Cow<'_, [u8]>> {
        match &*self.contents {
            Contents::Source { compilation, math_mode } => {
                let entry = compilation.program.kernels().find(|entry| entry.name == name);
                let entry = entry.ok_or_else(|| self.no_function(name))?;
                Ok(compiler::lower(compilation, entry, *math_mode)?.into())
            }
            Contents::Metallib(open) => {
                let function = open.borrow_dependent().function(name);
                let function = function.ok_or_else(|| self.no_function(name))?;
                let bitcode = function.bitcode().map_err(|error| Error::Library(error.to_string()))?;
                Ok(bitcode.into())
            }
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

fn front_end(options: &CompileOptions) -> msl::Options {
    msl::Options {
        include_dirs: options.include_dirs.clone(),
        defines: options.defines.clone(),
        std: options.language_version,
        warnings: false,
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("functions", &self.names().count()).finish_non_exhaustive()
    }
}

/// One kernel with fixed function constants, not yet compiled. A clone is the same function.
#[derive(Clone)]
pub struct Function {
    air: Arc<Air>,
}

impl Function {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.reflection().name
    }

    /// What the host binds: arguments under a false constant are not in it.
    pub fn reflection(&self) -> &msl::reflect::Kernel {
        self.air.reflection()
    }

    pub(crate) fn air(&self) -> &Arc<Air> {
        &self.air
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("name", &self.name()).finish_non_exhaustive()
    }
}
