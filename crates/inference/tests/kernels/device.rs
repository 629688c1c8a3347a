//! The device that the tests run on.

use crate::coverage;
use compute::{Device, Result};
use inference::metal::MetalDevice;
use inference::metal::dispatch::Encoding;
use std::sync::OnceLock;

/// The device, with its pipelines: all tests share them.
pub(crate) fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let wanted = std::env::var("METALWORKS_DEVICE").unwrap_or_else(|_| "cpu".into());
        let device = match wanted.as_str() {
            "cpu" => Device::cpu().expect("there is a processor"),
            "metal" | "cuda" => panic!("METALWORKS_DEVICE={wanted}: there is no such back end yet"),
            _ => panic!("METALWORKS_DEVICE={wanted}: it is one of cpu, metal, cuda"),
        };
        coverage::watch();
        MetalDevice::with_device(device, None).expect("the library is right")
    })
}

/// Encodes operations and waits until they have run; gives the error of whichever step fails.
pub(crate) fn try_run(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) -> Result<()> {
    let device = device();
    let command_buffer = device.command_buffer();
    let mut encoder = command_buffer.compute_command_encoder()?;
    encode(&mut Encoding::new(device, &mut encoder))?;
    encoder.end_encoding()?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()
}

/// Encodes operations and waits until they have run.
pub(crate) fn run(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) {
    if let Err(error) = try_run(encode) {
        panic!("{error}");
    }
}

/// Like [`run`], with so many simdgroups for each row.
pub(crate) fn run_rows(simdgroups: usize, encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) {
    run(|encoding| {
        encoding.row_simdgroups = simdgroups;
        encode(encoding)
    });
}

/// The message of an operation that must be refused.
pub(crate) fn refused(encode: impl FnOnce(&mut Encoding<'_>) -> Result<()>) -> String {
    try_run(encode).expect_err("it must be refused").to_string()
}
