//! Functions: kernels with fixed constants.

use super::{Contents, FunctionDescriptor, Library};
use crate::archive::key::Identity;
use crate::error::Result;
use abi::Constants;
use msl::reflect::Kernel;
use std::sync::Arc;

#[cfg(llvm)]
use crate::compiler::Air;
#[cfg(target_os = "macos")]
use crate::metal;

/// One kernel with fixed function constants, not yet compiled. A clone is the same function.
#[derive(Clone)]
pub struct Function {
    identity: Identity,
    made: Made,
}

/// How far it is made.
#[derive(Clone)]
pub(crate) enum Made {
    /// Its AIR is there.
    #[cfg(llvm)]
    Air(Arc<Air>),
    /// There is no compiler here: its code comes from an archive.
    #[cfg(not(llvm))]
    Described(Arc<Kernel>),
    /// Metal has it.
    #[cfg(target_os = "macos")]
    Metal(Arc<metal::DescribedFunction>),
}

impl Library {
    /// One kernel, with values for its function constants.
    pub fn new_function(&self, name: &str, constants: &Constants) -> Result<Function> {
        let identity = Identity::new(&FunctionDescriptor { library: self, name, constants });
        Ok(Function { made: self.make(name, constants)?, identity })
    }

    fn make(&self, name: &str, constants: &Constants) -> Result<Made> {
        match &*self.contents {
            #[cfg(target_os = "macos")]
            Contents::Metal(library) => {
                let function = library.function(name, constants, || self.no_function(name))?;
                Ok(Made::Metal(Arc::new(metal::DescribedFunction::new(library, function, name, constants)?)))
            }
            #[cfg(llvm)]
            Contents::Source(_) | Contents::Metallib(_) => Ok(Made::Air(Arc::new(self.air(name, constants)?))),
            #[cfg(not(llvm))]
            Contents::Source(_) => Ok(Made::Described(Arc::new(self.reflection(name, constants)?))),
        }
    }
}

impl Function {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.identity.kernel
    }

    /// What the host binds: arguments under a false constant are not in it. Where there is no compiler for the processor, its
    /// threadgroup variables are all those of the source ([`Library::reflection`]).
    pub fn reflection(&self) -> &Kernel {
        match &self.made {
            #[cfg(llvm)]
            Made::Air(air) => air.reflection(),
            #[cfg(not(llvm))]
            Made::Described(kernel) => kernel,
            #[cfg(target_os = "macos")]
            Made::Metal(function) => function.reflection(),
        }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn made(&self) -> &Made {
        &self.made
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("name", &self.name()).finish_non_exhaustive()
    }
}
