//! `MTLBinaryArchive`: archives of code compiled by Metal.
//!
//! `archive::driver` decides when files are opened and written; this file makes the calls.

use super::device::Device;
use super::held::Held;
use crate::backend::driver::{ArchiveDriver as Driver, DriverArchive};
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSError, NSProcessInfo, NSString, NSURL};
use objc2_metal::{MTLBinaryArchive, MTLBinaryArchiveDescriptor, MTLComputePipelineDescriptor, MTLDevice};
use std::path::Path;
use std::sync::Arc;

/// Metal's archives for one GPU.
pub(crate) struct ArchiveDriver {
    device: Arc<Device>,
}

/// A Metal archive.
pub(crate) struct RawArchive(Held<ProtocolObject<dyn MTLBinaryArchive>>);

// SAFETY: an archive has no thread affinity, and devices look up code in the same archive on several threads. It is
// changed and written under an exclusive lock (`archive::driver`).
unsafe impl Send for RawArchive {}
// SAFETY: as above.
unsafe impl Sync for RawArchive {}

impl RawArchive {
    pub(super) fn raw(&self) -> &ProtocolObject<dyn MTLBinaryArchive> {
        &self.0
    }
}

/// The descriptor of a compiled pipeline state, no longer changed.
pub(crate) struct CompiledDescriptor(Held<MTLComputePipelineDescriptor>);

// SAFETY: it has no thread affinity, and from here on it is only read.
unsafe impl Send for CompiledDescriptor {}

impl CompiledDescriptor {
    pub(super) fn new(descriptor: Retained<MTLComputePipelineDescriptor>) -> CompiledDescriptor {
        CompiledDescriptor(Held::new(descriptor))
    }
}

impl ArchiveDriver {
    /// The archive for a GPU and this version of the system.
    pub(crate) fn archive(device: &Arc<Device>) -> DriverArchive<ArchiveDriver> {
        let driver = ArchiveDriver { device: device.clone() };
        DriverArchive::new(driver, device.name(), &ArchiveDriver::system())
    }

    /// True if archives are used. Not under Metal's tools: kernels compiled for validation are not for other processes,
    /// and the tools' archive wrappers have crashed the process.
    pub(crate) fn is_used() -> bool {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        !["MTL_DEBUG_LAYER", "MTL_SHADER_VALIDATION", "MTL_CAPTURE_ENABLED"].into_iter().any(is_set)
    }

    /// The system with its build: another one has another compiler.
    fn system() -> String {
        autoreleasepool(|_| NSProcessInfo::processInfo().operatingSystemVersionString().to_string())
    }
}

impl Driver for ArchiveDriver {
    type Archive = RawArchive;
    type Item = CompiledDescriptor;

    fn open(&self, file: Option<&Path>) -> Result<RawArchive, String> {
        autoreleasepool(|_| {
            let descriptor = MTLBinaryArchiveDescriptor::new();
            if let Some(file) = file {
                descriptor.setUrl(Some(&*url(file)?));
            }
            let archive = self.device.raw().newBinaryArchiveWithDescriptor_error(&descriptor).map_err(text)?;
            archive.setLabel(Some(&NSString::from_str("metalworks")));
            Ok(RawArchive(Held::new(archive)))
        })
    }

    fn add(&self, archive: &RawArchive, item: &CompiledDescriptor) -> Result<(), String> {
        autoreleasepool(|_| archive.0.addComputePipelineFunctionsWithDescriptor_error(&item.0).map_err(text))
    }

    fn serialize(&self, archive: &RawArchive, file: &Path) -> Result<(), String> {
        autoreleasepool(|_| archive.0.serializeToURL_error(&*url(file)?).map_err(text))
    }
}

fn url(file: &Path) -> Result<Retained<NSURL>, String> {
    NSURL::from_file_path(file).ok_or_else(|| format!("the path '{}' cannot be converted to a URL", file.display()))
}

fn text(error: Retained<NSError>) -> String {
    error.localizedDescription().to_string()
}
