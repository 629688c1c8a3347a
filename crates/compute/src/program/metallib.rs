//! A `.metallib`, compiled by Apple's compiler or ours.

use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use air::metallib::{self, FunctionKind, ParseError};
use std::fs::File;
use std::path::Path;

/// The bytes of a `.metallib`.
enum Data {
    Owned(Vec<u8>),
    Static(&'static [u8]),
    Mapped(memmap2::Mmap),
}

impl Data {
    fn bytes(&self) -> &[u8] {
        match self {
            Data::Owned(bytes) => bytes,
            Data::Static(bytes) => bytes,
            Data::Mapped(mapping) => mapping,
        }
    }
}

type Parsed<'a> = metallib::Library<'a>;

self_cell::self_cell! {
    pub(crate) struct Metallib {
        owner: Data,
        #[covariant]
        dependent: Parsed,
    }
}

impl Metallib {
    pub(crate) fn with_file(path: &Path) -> Result<Metallib> {
        let failed =
            |error: std::io::Error| Error::File { path: path.display().to_string(), reason: error.to_string() };
        let file = File::open(path).map_err(failed)?;
        // SAFETY: the mapping is read-only. Truncation by other processes is the hazard that `new_library_with_file`
        // documents; changed contents fail the hash check.
        let mapping = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        let parsed = Metallib::parse(Data::Mapped(mapping));
        parsed.map_err(|problem| Error::Library(format!("'{}': {problem}", path.display())))
    }

    pub(crate) fn with_data(data: Vec<u8>) -> Result<Metallib> {
        Metallib::parse(Data::Owned(data)).map_err(|problem| Error::Library(problem.to_string()))
    }

    pub(crate) fn with_static_data(data: &'static [u8]) -> Result<Metallib> {
        Metallib::parse(Data::Static(data)).map_err(|problem| Error::Library(problem.to_string()))
    }

    fn parse(data: Data) -> std::result::Result<Metallib, ParseError> {
        Metallib::try_new(data, |data| metallib::Library::parse(data.bytes()))
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.borrow_owner().bytes()
    }

    /// The name of a dynamic library; `None` for other libraries.
    pub(crate) fn install_name(&self) -> Option<String> {
        let library = self.borrow_dependent();
        library.is_dynamic().then(|| library.install_name().unwrap_or_default())
    }

    /// The names of the dynamic libraries that it was linked with.
    pub(crate) fn linked_names(&self) -> Vec<String> {
        self.borrow_dependent().linked_libraries()
    }

    /// A function of a dynamic library, by its symbol.
    pub(crate) fn exported_bitcode(&self, symbol: &str) -> Option<Result<&[u8]>> {
        self.bitcode_if(symbol, |kind| kind == FunctionKind::Unqualified)
    }

    /// Digest of all functions.
    pub(crate) fn whole_digest(&self) -> Digest {
        let mut hasher = Hasher::new("metallib");
        for function in self.borrow_dependent().functions() {
            hasher.text(function.name());
            hasher.bytes(function.hash());
        }
        hasher.finish()
    }

    /// Names of its kernels.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let kernels =
            self.borrow_dependent().functions().iter().filter(|function| function.kind == FunctionKind::Kernel);
        kernels.map(|function| function.name())
    }

    /// The AIR of a kernel as LLVM bitcode; `None` if there is no such kernel.
    pub(crate) fn bitcode(&self, name: &str) -> Option<Result<&[u8]>> {
        self.bitcode_if(name, |kind| !matches!(kind, FunctionKind::Visible | FunctionKind::Unqualified))
    }

    /// The same for a visible function.
    pub(crate) fn visible_bitcode(&self, name: &str) -> Option<Result<&[u8]>> {
        self.bitcode_if(name, |kind| kind == FunctionKind::Visible)
    }

    fn bitcode_if(&self, name: &str, is_meant: impl Fn(FunctionKind) -> bool) -> Option<Result<&[u8]>> {
        let function = self.borrow_dependent().function(name).filter(|function| is_meant(function.kind))?;
        Some(function.bitcode().map_err(|error| Error::Library(error.to_string())))
    }

    /// Digest of the kernel's bitcode alone: the same kernel in another library has the same digest. It uses the hash
    /// stored in the file, which is checked when the bitcode is read; an archive lookup needs no more.
    pub(crate) fn digest(&self, name: &str) -> Option<Digest> {
        let mut hasher = Hasher::new("air");
        hasher.bytes(self.borrow_dependent().function(name)?.hash());
        Some(hasher.finish())
    }
}
