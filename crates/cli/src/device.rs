//! `--device`: chooses a device.

use clap::Args;
use compute::Device;
use inference::metal::find_device;

#[derive(Args)]
pub(crate) struct DeviceFlag {
    /// Choose the device
    ///
    /// `cpu`; `cuda` or `metal`, the first GPU; `cuda:1` or `metal:1`, the second. By default METALWORKS_DEVICE, or the
    /// best device: a GPU if there is one, or else the CPU.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
}

impl DeviceFlag {
    /// The value of the flag.
    pub(crate) fn name(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Finds the device; `threads` sets its number of threads.
    pub(crate) fn find(&self, threads: Option<usize>) -> compute::Result<Device> {
        find_device(self.device.as_deref(), threads)
    }
}
