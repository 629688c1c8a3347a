//! Times of operations, on sizes that are large enough to measure.

use super::check::maker;
use crate::cases::{Case, Problem, Purpose, record, replay};
use crate::metal::MetalDevice;
use std::time::{Duration, Instant};

/// Least time of one sample: enough for the clock, and for the time that a GPU takes to begin.
const SAMPLE: Duration = Duration::from_millis(1);

/// Samples, as far as there is time.
const SAMPLES: usize = 5;

/// Time after which no more samples are taken.
const ENOUGH: Duration = Duration::from_millis(60);

/// Time of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Speed {
    /// The case.
    pub name: String,
    /// Its sizes.
    pub shape: String,
    /// Its kernels; the time is for all of them together.
    pub kernels: Vec<String>,
    /// The median.
    pub nanoseconds: f64,
    /// Bytes that it must read and write at least.
    pub bytes: f64,
    /// Additions and multiplications.
    pub flops: f64,
}

impl Speed {
    /// 10⁹ bytes a second.
    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes / self.nanoseconds
    }

    /// 10⁹ additions and multiplications a second.
    pub fn gigaflops(&self) -> f64 {
        self.flops / self.nanoseconds
    }
}

/// Measures an operation. A device that does not say when it began and ended has no speed.
pub(super) fn measure(device: &MetalDevice, case: &Case) -> Result<Option<Speed>, Problem> {
    let workloads = [case.build(&maker(device, Purpose::Measure))?];
    let once = record(device, &workloads, 1)?;
    let first = replay(device, &once)?;
    // A slow operation is no faster the second time.
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
