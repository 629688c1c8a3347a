//! Dynamic libraries: functions that kernels of other libraries call by name.

use crate::digest::Digest;
use crate::error::Result;
use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A library whose functions kernels of other libraries call, as Metal's `MTLDynamicLibrary`. A clone is the same
/// library.
///
/// Such a kernel declares the functions: `extern float scale(float x);`. They are found when its pipeline state is
/// created: in the descriptor's `preloaded_libraries`, then in the [`CompileOptions::libraries`] of its own library, in
/// their order.
///
/// [`CompileOptions::libraries`]: crate::CompileOptions::libraries
#[derive(Clone)]
pub struct DynamicLibrary {
    library: Arc<dyn LinkableLibrary>,
    domain: u32,
}

impl DynamicLibrary {
    pub(crate) fn new(library: Arc<dyn LinkableLibrary>, domain: u32) -> DynamicLibrary {
        DynamicLibrary { library, domain }
    }

    /// The name under which programs find it.
    pub fn install_name(&self) -> String {
        self.library.install_name()
    }

    /// Writes it to a `.metallib`.
    pub fn serialize_to_file(&self, path: impl AsRef<Path>) -> Result<()> {
        self.library.serialize(path.as_ref())
    }

    /// Domain of the devices that it works with.
    pub(crate) fn domain(&self) -> u32 {
        self.domain
    }

    /// The back end's library.
    pub fn backend(&self) -> &Arc<dyn LinkableLibrary> {
        &self.library
    }
}

impl fmt::Debug for DynamicLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicLibrary").field("install_name", &self.install_name()).finish_non_exhaustive()
    }
}

/// A dynamic library of a back end.
pub trait LinkableLibrary: Any + Send + Sync {
    /// The name under which programs find it.
    fn install_name(&self) -> String;

    /// Digest of everything that decides its code; `None` if that is not known, or if the driver keeps the archives.
    fn digest(&self) -> Option<Digest>;

    /// Writes it to a `.metallib`.
    fn serialize(&self, path: &Path) -> Result<()>;
}
