//! Times of operations, with sizes that are large enough to measure.

use super::check::maker;
use crate::cases::{Case, Problem, Purpose, record, replay};
use crate::metal::MetalDevice;
use std::time::{Duration, Instant};

/// Minimum time of one sample: long enough for the resolution of the clock and the start-up time of a GPU.
const SAMPLE: Duration = Duration::from_millis(1);

/// Number of samples, if time permits.
const SAMPLES: usize = 5;

/// Time after which sampling stops.
const ENOUGH: Duration = Duration::from_millis(60);

/// Time of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Speed {
    /// The case.
    pub name: String,
    /// Its sizes.
    pub shape: String,
    /// Its kernels; the time is their sum.
    pub kernels: Vec<String>,
    /// Median time.
    pub nanoseconds: f64,
    /// Bytes that it must read and write at least.
    pub bytes: f64,
    /// Floating-point operations.
    pub flops: f64,
}

impl Speed {
    /// 10⁹ bytes per second.
    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes / self.nanoseconds
    }

    /// 10⁹ floating-point operations per second.
    pub fn gigaflops(&self) -> f64 {
        self.flops / self.nanoseconds
    }
}

/// Measures an operation; `None` if the device does not report start and end times.
pub(super) fn measure(device: &MetalDevice, case: &Case) -> Result<Option<Speed>, Problem> {
    let workloads = [case.build(&maker(device, Purpose::Measure))?];
    let once = record(device, &workloads, 1)?;
    let first = replay(device, &once)?;
    // A slow operation needs no warm-up run.
    let once = if first < ENOUGH { replay(device, &once)? } else { first };
    let repeats = (SAMPLE.as_nanos() / once.as_nanos().max(1000)).clamp(1, 256) as usize;
    let recording = record(device, &workloads, repeats)?;
    let (begin, mut samples) = (Instant::now(), Vec::new());
    while samples.len() < SAMPLES && (samples.is_empty() || begin.elapsed() < ENOUGH) {
        samples.push(replay(device, &recording)?.as_nanos() as f64 / repeats as f64);
    }
    samples.sort_by(f64::total_cmp);
    let nanoseconds = samples[samples.len() / 2];
    Ok((nanoseconds > 0.0).then(|| Speed {
        name: case.name(),
        shape: case.shape.to_string(),
        kernels: case.kernels(),
        nanoseconds,
        bytes: case.bytes(),
        flops: case.flops(),
    }))
}
