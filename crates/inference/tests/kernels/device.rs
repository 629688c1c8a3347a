//! The device of the tests.

use crate::coverage;
use crate::until_exit::until_exit;
use compute::{CommandBufferDescriptor, Device, Result};
use metalworks_inference::metal::dispatch::Encoding;
use metalworks_inference::metal::{MetalDevice, RowTuning};
use std::cell::Cell;
use std::sync::{OnceLock, PoisonError, RwLock};

/// The device, with pipelines that all tests share.
pub(crate) fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<&MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let device = Device::system_default().unwrap_or_else(|error| panic!("{error}"));
        let device = until_exit(MetalDevice::with_device(device, None).expect("the library is right"));
        // Functions for the end run in the opposite order: this one needs the device.
        coverage::watch();
        device
    })
}

/// Encodes operations and waits for them; returns the error of the step that fails.
pub(crate) fn try_run(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) -> Result<()> {
    let device = device();
    let profiling = coverage::is_profiled(device);
    let descriptor = CommandBufferDescriptor { profiling, ..CommandBufferDescriptor::default() };
    let command_buffer = device.queue().new_command_buffer_with_descriptor(&descriptor);
    let mut encoder = command_buffer.compute_command_encoder()?;
    encode(&mut Encoding::new(device, &mut encoder))?;
    encoder.end_encoding()?;
    in_order(ADVERSE.get(), || {
        command_buffer.commit()?;
        command_buffer.wait_until_completed()
    })?;
    coverage::note(&command_buffer.dispatch_timings());
    Ok(())
}

thread_local! {
    /// True if this thread's kernels run in reverse order.
    static ADVERSE: Cell<bool> = const { Cell::new(false) };
}

/// Runs kernels in the least expected order, see [`Device::set_adverse`].
pub(crate) fn adversely<R>(work: impl FnOnce() -> R) -> R {
    ADVERSE.set(true);
    let result = work();
    ADVERSE.set(false);
    result
}

/// Serializes adverse runs: all tests share the device, and those in the usual order may run at the same time.
pub(crate) fn in_order<R>(adverse: bool, work: impl FnOnce() -> R) -> R {
    static ORDER: RwLock<()> = RwLock::new(());
    if !adverse {
        let _usual = ORDER.read().unwrap_or_else(PoisonError::into_inner);
        return work();
    }
    let _adverse = ORDER.write().unwrap_or_else(PoisonError::into_inner);
    device().device().set_adverse(true);
    let result = work();
    device().device().set_adverse(false);
    result
}

/// Encodes operations and waits for them.
pub(crate) fn run(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) {
    if let Err(error) = try_run(encode) {
        panic!("{error}");
    }
}

/// Like [`run`], with a given number of simdgroups per row.
pub(crate) fn run_rows(simdgroups: usize, encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) {
    run(|encoding| {
        encoding.tuning.rows = RowTuning::exactly(simdgroups);
        encode(encoding)
    });
}

/// The error message of an operation that must be rejected.
pub(crate) fn rejected(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) -> String {
    try_run(encode).expect_err("it must be rejected").to_string()
}
