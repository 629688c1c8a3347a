//! Dynamic libraries of Metal.

use super::device::Device;
use super::error::driver_error;
use super::held::Held;
use super::library::Library;
use crate::backend::{DynamicLibrary, LinkableLibrary, own};
use crate::error::{Error, Result};
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSArray, NSURL};
use objc2_metal::{MTLDevice, MTLDynamicLibrary};
use std::path::Path;
use std::sync::Arc;

/// A dynamic library, compiled for a GPU. Metal's are thread-safe.
pub(super) struct LinkedLibrary {
    library: Held<ProtocolObject<dyn MTLDynamicLibrary>>,
}

impl LinkedLibrary {
    /// Compiles a library, which must be a dynamic one.
    pub(super) fn new(device: &Arc<Device>, library: &Library) -> Result<LinkedLibrary> {
        if !device.raw().supportsDynamicLibraries() {
            return Err(Error::Usage(format!("{} has no dynamic libraries", device.name())));
        }
        autoreleasepool(|_| {
            let made = device.raw().newDynamicLibrary_error(library.raw()?);
            let made = made.map_err(|error| driver_error("cannot make a dynamic library", &error))?;
            Ok(LinkedLibrary { library: Held::new(made) })
        })
    }

    fn raw(&self) -> &ProtocolObject<dyn MTLDynamicLibrary> {
        &self.library
    }
}

impl LinkableLibrary for LinkedLibrary {
    fn install_name(&self) -> String {
        autoreleasepool(|_| self.raw().installName().to_string())
    }

    /// Metal's archives identify code by its descriptor.
    fn digest(&self) -> Option<[u8; 32]> {
        None
    }

    fn serialize(&self, path: &Path) -> Result<()> {
        autoreleasepool(|_| {
            let failed = |reason: String| Error::Write { path: path.display().to_string(), reason };
            let url = NSURL::from_file_path(path)
                .ok_or_else(|| failed("its path cannot be converted to a URL".into()))?;
            let written = self.raw().serializeToURL_error(&url);
            written.map_err(|error| failed(error.localizedDescription().to_string()))
        })
    }
}

/// The Metal objects of libraries.
pub(super) fn array(
    libraries: &[DynamicLibrary],
) -> Result<Retained<NSArray<ProtocolObject<dyn MTLDynamicLibrary>>>> {
    let raw = libraries.iter().map(|library| Ok(own::<LinkedLibrary>(&**library.backend())?.raw()));
    Ok(NSArray::from_slice(&raw.collect::<Result<Vec<_>>>()?))
}
