//! Limits of this device, measured in every run with kernels that do nothing else.
//!
//! An operation takes at least the time to move its bytes at the bandwidth of the memory that they fit into, and at
//! least the time of its arithmetic at the rate of multiply-adds. The larger of the two is its limit.

use crate::measure::{self, Effort, Statistics};
use crate::native;
use compute::{
    CompileOptions, ComputePipelineDescriptor, ComputePipelineState, DispatchType, FunctionConstantValues,
    FunctionDescriptor, Library, Size,
};
use metalworks_inference::metal::MetalDevice;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Numbers that a simdgroup copies or reads, as in the shader.
const CHUNK: usize = 2048;

/// Chains of multiply-adds per lane, and their length.
const CHAINS: usize = 8;
const ROUNDS: u32 = 4096;

/// Bytes that are accessed repeatedly: from the smallest cache to memory.
const SIZES: [usize; 5] = [16 << 10, 256 << 10, 2 << 20, 16 << 20, 256 << 20];

/// The measured limits.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct Limits {
    pub(crate) bandwidths: Vec<Bandwidth>,
    /// GFLOP/s of a kernel.
    pub(crate) kernel_fma: f64,
    /// GFLOP/s of a loop in Rust.
    pub(crate) native_fma: f64,
    /// Instructions of that loop.
    pub(crate) native_instructions: String,
}

/// GB/s for repeated accesses to `bytes` bytes.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct Bandwidth {
    pub(crate) bytes: usize,
    /// Counts bytes read and bytes written.
    pub(crate) copy: f64,
    pub(crate) read: f64,
    /// A copy in Rust.
    pub(crate) native_copy: f64,
}

impl Bandwidth {
    fn best(&self) -> f64 {
        self.copy.max(self.read).max(self.native_copy)
    }
}

/// The minimum time of an operation.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct RooflineBound {
    pub(crate) nanoseconds: f64,
    pub(crate) by: Binding,
}

/// The limit that applies.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Binding {
    Memory,
    Arithmetic,
}

impl Limits {
    /// Peak rate of multiply-adds, in GFLOP/s.
    pub(crate) fn peak(&self) -> f64 {
        self.kernel_fma.max(self.native_fma)
    }

    /// GB/s for an operation that touches `bytes` bytes, interpolated between the measured sizes.
    pub(crate) fn bandwidth(&self, bytes: f64) -> f64 {
        let size = |bandwidth: &Bandwidth| (bandwidth.bytes as f64).ln();
        let at = bytes.max(1.0).ln();
        for pair in self.bandwidths.windows(2) {
            if at < size(&pair[1]) {
                let part = ((at - size(&pair[0])) / (size(&pair[1]) - size(&pair[0]))).max(0.0);
                return pair[0].best() + (pair[1].best() - pair[0].best()) * part;
            }
        }
        self.bandwidths.last().map_or(f64::NAN, Bandwidth::best)
    }

    /// GB/s of a copy outside of all caches.
    pub(crate) fn memory_copy(&self) -> f64 {
        self.bandwidths.last().map_or(f64::NAN, |bandwidth| bandwidth.copy.max(bandwidth.native_copy))
    }

    /// The limit for `bytes` bytes and `flops` operations; `resident` bytes are touched between two uses of the same
    /// byte.
    pub(crate) fn bound(&self, bytes: f64, resident: f64, flops: f64) -> RooflineBound {
        let (memory, arithmetic) = (bytes / self.bandwidth(resident), flops / self.peak());
        match memory >= arithmetic {
            true => RooflineBound { nanoseconds: memory, by: Binding::Memory },
            false => RooflineBound { nanoseconds: arithmetic, by: Binding::Arithmetic },
        }
    }
}

/// Measures all limits.
pub(crate) fn measure(device: &MetalDevice, threads: usize, effort: &Effort) -> compute::Result<Limits> {
    let options = CompileOptions { name: "limits.metal".into(), ..CompileOptions::default() };
    let library = device.device().new_library_with_source(include_str!("limits.metal"), &options)?;
    // Threads share the outer caches, so sizes are totals over all threads.
    let sizes = &SIZES[..if effort.quick { 2 } else { SIZES.len() }];
    let mut bandwidths = Vec::new();
    for &bytes in sizes {
        let copy = bandwidth(device, &library, "limit_copy", bytes, effort)?;
        let read = bandwidth(device, &library, "limit_read", bytes, effort)?;
        bandwidths.push(Bandwidth { bytes, copy, read, native_copy: native::copy(bytes, threads, effort) });
    }
    let (native_fma, native_instructions) = native::multiply_adds(threads, effort);
    Ok(Limits {
        bandwidths,
        kernel_fma: multiply_adds(device, &library, threads, effort)?,
        native_fma,
        native_instructions,
    })
}

fn bandwidth(
    device: &MetalDevice,
    library: &Library,
    kernel: &str,
    bytes: usize,
    effort: &Effort,
) -> compute::Result<f64> {
    let read = if kernel == "limit_copy" { bytes / 2 } else { bytes };
    let (x, y) = (device.device().new_buffer(read)?, device.device().new_buffer(read)?);
    // Pages that were never written all map to the same zero page.
    x.write(0, &vec![1u8; read])?;
    y.write(0, &vec![1u8; read])?;
    let pipeline = pipeline(device, library, kernel)?;
    let groups = read / (CHUNK * 4);
    let statistics = repeated(device, effort, |recorder| {
        recorder.set_compute_pipeline_state(&pipeline)?;
        recorder.set_buffer(0, &x, 0)?;
        recorder.set_buffer(1, &y, 0)?;
        recorder.dispatch_threadgroups(Size::linear(groups), Size::linear(32))
    })?;
    Ok(bytes as f64 / best(&statistics))
}

fn multiply_adds(device: &MetalDevice, library: &Library, threads: usize, effort: &Effort) -> compute::Result<f64> {
    let groups = 4 * threads * device.tuning().simdgroups;
    let (x, y) = (device.device().new_buffer(256)?, device.device().new_buffer(groups * 128)?);
    x.write(0, &[0.5f32; 64])?;
    let pipeline = pipeline(device, library, "limit_fma")?;
    let statistics = repeated(device, effort, |recorder| {
        recorder.set_compute_pipeline_state(&pipeline)?;
        recorder.set_buffer(0, &x, 0)?;
        recorder.set_buffer(1, &y, 0)?;
        recorder.set_bytes(2, &ROUNDS.to_ne_bytes())?;
        recorder.dispatch_threadgroups(Size::linear(groups), Size::linear(32))
    })?;
    Ok((groups * 32 * CHAINS * ROUNDS as usize * 2) as f64 / best(&statistics))
}

/// The limit is the fastest sample: other work on the machine makes samples slower, never faster.
fn best(statistics: &Statistics) -> f64 {
    statistics.min_ns
}

fn pipeline(device: &MetalDevice, library: &Library, name: &str) -> compute::Result<ComputePipelineState> {
    let function = FunctionDescriptor { library, name, constants: &FunctionConstantValues::new() };
    let descriptor = ComputePipelineDescriptor {
        thread_group_width_is_multiple_of_thread_execution_width: true,
        binary_archives: device.archive().into_iter().cloned().collect(),
        ..ComputePipelineDescriptor::default()
    };
    device.device().new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
}

fn repeated(
    device: &MetalDevice,
    effort: &Effort,
    encode: impl Fn(&mut compute::CommandRecorder) -> compute::Result<()>,
) -> compute::Result<Statistics> {
    let record = |repeats: usize| {
        let mut recorder = device.device().new_command_recorder(DispatchType::Serial);
        (0..repeats).try_for_each(|_| encode(&mut recorder))?;
        recorder.finish()
    };
    let once = record(1)?;
    measure::replay(device, &once)?;
    let repeats = measure::repeats(effort, measure::replay(device, &once)?.max(Duration::from_nanos(1)));
    let recording = record(repeats)?;
    measure::replay(device, &recording)?;
    measure::sample(effort, repeats, || measure::replay(device, &recording))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        let bandwidth = |bytes, copy| Bandwidth { bytes, copy, read: copy / 2.0, native_copy: 0.0 };
        Limits {
            bandwidths: vec![bandwidth(1 << 10, 100.0), bandwidth(1 << 20, 20.0)],
            kernel_fma: 50.0,
            native_fma: 40.0,
            native_instructions: String::new(),
        }
    }

    #[test]
    fn bandwidths_between_sizes() {
        let limits = limits();
        assert_eq!(limits.bandwidth(0.0), 100.0);
        assert_eq!(limits.bandwidth(1024.0), 100.0);
        assert!((limits.bandwidth(32.0 * 1024.0) - 60.0).abs() < 1e-9);
        assert_eq!(limits.bandwidth(1e12), 20.0);
    }

    #[test]
    fn the_larger_minimum_time_binds() {
        let limits = limits();
        assert_eq!(limits.bound(1000.0, 1e12, 10.0), RooflineBound { nanoseconds: 50.0, by: Binding::Memory });
        assert_eq!(
            limits.bound(1000.0, 1e12, 5000.0),
            RooflineBound { nanoseconds: 100.0, by: Binding::Arithmetic }
        );
    }
}
