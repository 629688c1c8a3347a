//! The flag that chooses a device.

use clap::Args;
use compute::Device;
use inference::metal::find_device;

#[derive(Args)]
pub(crate) struct DeviceFlag {
    /// Choose the device
    ///
    /// cpu, metal, or metal:1 for the second GPU. By default the one that METALWORKS_DEVICE names, or else the best
    /// that there is: a GPU on a Mac, the CPU elsewhere.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
}

impl DeviceFlag {
    /// What the flag says.
    pub(crate) fn name(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// The device, with so many threads, if they are given.
    pub(crate) fn find(&self, threads: Option<usize>) -> compute::Result<Device> {
        find_device(self.device.as_deref(), threads)
    }
}
