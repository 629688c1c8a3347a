//! The GPUs that the system has.

use super::family;
use crate::capabilities::{Capabilities, Limits};
use crate::device::CPU_DOMAIN;
use crate::log;
use crate::size::Size;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{NSObjectProtocol, ProtocolObject};
use objc2::sel;
use objc2_foundation::{NSOperatingSystemVersion, NSProcessInfo};
use objc2_metal::{MTLCopyAllDevices, MTLCreateSystemDefaultDevice, MTLDevice};

/// Older ones lack calls that are made without asking, which ends the process.
const OLDEST_SYSTEM: NSOperatingSystemVersion =
    NSOperatingSystemVersion { majorVersion: 14, minorVersion: 0, patchVersion: 0 };

/// A GPU. Metal's devices may be used by any thread.
pub(crate) struct Device {
    device: Retained<ProtocolObject<dyn MTLDevice>>,
    /// Its position in [`Device::all`].
    index: usize,
    name: String,
    capabilities: Capabilities,
    limits: Limits,
}

impl Device {
    /// All of them, the one that the system prefers first.
    pub(crate) fn all() -> Vec<Device> {
        autoreleasepool(|_| {
            if !NSProcessInfo::processInfo().isOperatingSystemAtLeastVersion(OLDEST_SYSTEM) {
                log::line(format_args!("Metal is not used: that takes macOS {}", OLDEST_SYSTEM.majorVersion));
                return Vec::new();
            }
            let preferred = MTLCreateSystemDefaultDevice();
            let first = preferred.as_ref().map(|device| device.registryID());
            let others =
                MTLCopyAllDevices().to_vec().into_iter().filter(|device| Some(device.registryID()) != first);
            preferred
                .into_iter()
                .chain(others)
                .enumerate()
                .map(|(index, device)| Device::new(device, index))
                .collect()
        })
    }

    fn new(device: Retained<ProtocolObject<dyn MTLDevice>>, index: usize) -> Device {
        let most = device.maxThreadsPerThreadgroup();
        let limits = Limits {
            max_threads_per_threadgroup: Size::new(most.width, most.height, most.depth),
            max_threadgroup_memory_length: device.maxThreadgroupMemoryLength(),
            max_buffer_length: device.maxBufferLength(),
            recommended_max_working_set_size: Some(device.recommendedMaxWorkingSetSize()),
        };
        // Pipelines are created by as many threads as there are cores. A virtual GPU lacks some calls.
        if device.respondsToSelector(sel!(setShouldMaximizeConcurrentCompilation:)) {
            device.setShouldMaximizeConcurrentCompilation(true);
        }
        let (name, capabilities) = (device.name().to_string(), family::capabilities(&device));
        Device { device, index, name, capabilities, limits }
    }

    /// Metal's own.
    pub(crate) fn raw(&self) -> &ProtocolObject<dyn MTLDevice> {
        &self.device
    }

    /// The system's number for it.
    pub(crate) fn registry_id(&self) -> u64 {
        self.device.registryID()
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Tells it from all other devices: [`crate::device::Backend::domain`].
    pub(crate) fn domain(&self) -> u32 {
        CPU_DOMAIN + 1 + self.index as u32
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }
}
