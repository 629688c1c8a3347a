//! Bandwidth of the device, measured in the same run as a profile.
//!
//! CPUs: plain reads of as many bytes as the weights have, by as many threads as execute kernels, since decoding does
//! little else than reading weights. Other devices: a copy kernel.

use crate::cases::{Workload, record, replay};
use crate::error::{Error, Result};
use crate::formats::{Activation, Format};
use crate::metal::MetalDevice;
use crate::metal::operations::{Copy, copy};
use compute::{Buffer, DeviceKind};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bounds for the bytes that are read: caches must not hold them if they do not hold the weights.
const LEAST_BYTES: usize = 16 << 20;
const MOST_BYTES: usize = 1 << 30;

/// Time of a sample, and number of samples. The fastest counts: other work on the machine makes samples slower, never
/// faster.
const SAMPLE: Duration = Duration::from_millis(60);
const SAMPLES: usize = 5;

/// Measured bandwidth of a device.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bandwidth {
    /// Bytes read and written per second.
    pub bytes_per_second: f64,
    /// Bytes that were accessed again and again.
    pub bytes: usize,
    /// Number of CPU threads; `None` for other devices.
    pub threads: Option<usize>,
}

impl Bandwidth {
    /// The accesses: `plain reads` or `a copy`.
    pub fn accesses(&self) -> &'static str {
        if self.threads.is_some() { "plain reads" } else { "a copy" }
    }
}

/// Measures the bandwidth of a device with about `bytes` bytes. CPUs use this many threads.
pub fn measure_bandwidth(device: &MetalDevice, threads: usize, bytes: usize) -> Result<Bandwidth> {
    let bytes = bytes.clamp(LEAST_BYTES, MOST_BYTES).next_multiple_of(1 << 20);
    match device.device().kind() {
        DeviceKind::Cpu => reads(device, threads.max(1), bytes),
        _ => copies(device, bytes),
    }
    .map_err(Error::Device)
}

fn reads(device: &MetalDevice, threads: usize, bytes: usize) -> compute::Result<Bandwidth> {
    // A buffer of the device has the same kind of pages as weights.
    let buffer = filled(device, bytes)?;
    // SAFETY: memory of the CPU is that of the buffer, initialized, and nothing writes to it now.
    let memory = unsafe { std::slice::from_raw_parts(buffer.contents().cast_const(), bytes) };
    let parts: Vec<&[u8]> = memory.chunks(bytes.div_ceil(threads)).collect();
    let time = |rounds: usize| {
        let begin = Instant::now();
        let pass = |part: &[u8]| (0..rounds).filter(|_| is_uniform(black_box(part))).count();
        std::thread::scope(|scope| {
            let (own, others) = parts.split_first().unwrap_or((&memory, &[]));
            others.iter().for_each(|part| drop(scope.spawn(move || black_box(pass(part)))));
            black_box(pass(own));
        });
        begin.elapsed()
    };
    time(1);
    let best = best(time(1), |rounds| Ok(time(rounds)))?;
    Ok(Bandwidth { bytes_per_second: bytes as f64 / best, bytes, threads: Some(threads) })
}

/// True if all bytes are equal. Comparing both halves reads all of them, with the C library's widest loads in any build.
fn is_uniform(bytes: &[u8]) -> bool {
    let (one, other) = bytes.split_at(bytes.len() / 2);
    one == &other[..one.len()]
}

fn copies(device: &MetalDevice, bytes: usize) -> compute::Result<Bandwidth> {
    // The caches of pipelines of a loaded model are sealed.
    let device = MetalDevice::with_device(device.device().clone(), device.archive().cloned())?;
    let (x, y) = (filled(&device, bytes / 2)?, filled(&device, bytes / 2)?);
    let workload: Workload = Box::new(move |encoding| {
        let (from, to, n) = (Format::F32, Activation::F32, bytes / 8);
        copy(encoding, Copy { x: (&x).into(), y: (&y).into(), from, to, n })
    });
    let workloads = [workload];
    let time = |rounds: usize| replay(&device, &record(&device, &workloads, rounds)?);
    time(1)?;
    let best = best(time(1)?, time)?;
    Ok(Bandwidth { bytes_per_second: bytes as f64 / best, bytes, threads: None })
}

/// Seconds of the fastest round, given the time of one.
fn best(once: Duration, time: impl Fn(usize) -> compute::Result<Duration>) -> compute::Result<f64> {
    let rounds = (SAMPLE.as_nanos() / once.as_nanos().max(1)).clamp(1, 1024) as usize;
    let mut best = f64::INFINITY;
    for _ in 0..SAMPLES {
        best = best.min(time(rounds)?.as_secs_f64() / rounds as f64);
    }
    Ok(best.max(1e-9))
}

/// A buffer of ones: pages that were never written all map to the same zero page.
fn filled(device: &MetalDevice, bytes: usize) -> compute::Result<Buffer> {
    let buffer = device.device().new_buffer(bytes)?;
    let ones = vec![1u8; 1 << 20];
    for offset in (0..bytes).step_by(ones.len()) {
        buffer.write(offset, &ones[..ones.len().min(bytes - offset)])?;
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(not(llvm), ignore = "kernels are compiled")]
    fn measures_reads_and_copies() {
        let archive = compute::BinaryArchive::user_cache().unwrap();
        let device = MetalDevice::with_device(compute::Device::system_default().unwrap(), archive).unwrap();
        let read = reads(&device, 2, 1 << 20).unwrap();
        assert_eq!((read.bytes, read.threads, read.accesses()), (1 << 20, Some(2), "plain reads"));
        let copied = copies(&device, 1 << 20).unwrap();
        assert_eq!((copied.threads, copied.accesses()), (None, "a copy"));
        for bandwidth in [read, copied] {
            assert!(bandwidth.bytes_per_second.is_finite() && bandwidth.bytes_per_second > 0.0);
        }
    }
}
