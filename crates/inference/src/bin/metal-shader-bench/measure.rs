//! Measurement of times.
//!
//! ```text
//! operation, with several copies of code and buffers ── for each of them:
//!     recorded once, so often that one replay is long enough for the clock
//!     ── warm-up ── replays, one sample each, until there are enough samples and enough time has passed
//! ── all samples together ── Statistics
//! ```
//!
//! A sample is the time from the start of a command buffer on the device to its end, divided by the number of
//! operations in it: the cost of an operation in the middle of a model, without encoding and waiting.

use compute::{CommandBufferDescriptor, Recording};
pub(crate) use metalworks_inference::cases::replay;
use metalworks_inference::cases::{Workload, record};
use metalworks_inference::metal::MetalDevice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Time of one sample: long enough for the clock, short enough to fit between interrupts.
const SAMPLE: Duration = Duration::from_micros(300);

/// Clock of the measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    /// Elapsed time.
    Wall,
    /// CPU time of this process, for a machine that is shared with others. Useful with one thread.
    Cpu,
}

impl Clock {
    /// The time of `run` by this clock; `run` returns its elapsed time.
    pub(crate) fn time<E>(self, run: impl FnOnce() -> Result<Duration, E>) -> Result<Duration, E> {
        let begin = cpu_time();
        let wall = run()?;
        match self {
            Clock::Wall => Ok(wall),
            Clock::Cpu => Ok(cpu_time().saturating_sub(begin).min(wall)),
        }
    }
}

/// CPU time of this process.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the time is written to `time`.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

/// Criteria for ending a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Minimum number of samples, if time permits.
    pub(crate) samples: usize,
    /// Minimum time.
    pub(crate) min_time: Duration,
    /// Clock of the samples.
    pub(crate) clock: Clock,
    /// Only one operation per sample, however short: for trying things out.
    pub(crate) quick: bool,
}

impl Effort {
    /// Minimum number of samples of slow operations.
    const FEW: usize = 3;

    /// An equal share of the effort.
    fn divided(&self, parts: usize) -> Effort {
        Effort { samples: self.samples.div_ceil(parts), min_time: self.min_time / parts as u32, ..*self }
    }

    fn is_enough(&self, samples: usize, spent: Duration) -> bool {
        let many = samples >= self.samples && (self.quick || spent >= self.min_time);
        many || (samples >= Effort::FEW && spent >= 10 * self.min_time)
    }
}

/// Statistics of the samples, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct Statistics {
    pub(crate) median_ns: f64,
    pub(crate) min_ns: f64,
    /// Lower quartile.
    pub(crate) low_ns: f64,
    /// Upper quartile.
    pub(crate) high_ns: f64,
    pub(crate) samples: usize,
    /// Operations per sample.
    pub(crate) repeats: usize,
    /// CPU time per elapsed time of the process, while samples were taken.
    pub(crate) busy: f64,
}

impl Statistics {
    pub(crate) fn new(mut nanos: Vec<f64>, repeats: usize, busy: f64) -> Statistics {
        nanos.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let rank = part * nanos.len().saturating_sub(1) as f64;
            let (low, high) = (nanos.get(rank as usize), nanos.get(rank.ceil() as usize));
            low.zip(high).map_or(f64::NAN, |(low, high)| low + (high - low) * rank.fract())
        };
        let (median_ns, min_ns, low_ns, high_ns) = (at(0.5), at(0.0), at(0.25), at(0.75));
        Statistics { median_ns, min_ns, low_ns, high_ns, samples: nanos.len(), repeats, busy }
    }

    /// Distance between the quartiles, relative to the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.high_ns - self.low_ns) / self.median_ns
    }
}

/// Takes samples of the time that `run` returns, per operation.
pub(crate) fn sample<E>(
    effort: &Effort,
    repeats: usize,
    run: impl FnMut() -> Result<Duration, E>,
) -> Result<Statistics, E> {
    let (begin, cpu, mut nanos) = (Instant::now(), cpu_time(), Vec::new());
    take(effort, repeats, run, &mut nanos)?;
    Ok(Statistics::new(nanos, repeats, busy(begin, cpu)))
}

fn take<E>(
    effort: &Effort,
    repeats: usize,
    mut run: impl FnMut() -> Result<Duration, E>,
    nanos: &mut Vec<f64>,
) -> Result<(), E> {
    let (begin, first) = (Instant::now(), nanos.len());
    while !effort.is_enough(nanos.len() - first, begin.elapsed()) {
        nanos.push(effort.clock.time(&mut run)?.as_nanos() as f64 / repeats as f64);
    }
    Ok(())
}

/// CPU time per elapsed time since `begin`.
fn busy(begin: Instant, cpu: Duration) -> f64 {
    cpu_time().saturating_sub(cpu).as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-9)
}

/// Number of repetitions of something that takes `once`, for a sample of sufficient length.
pub(crate) fn repeats(effort: &Effort, once: Duration) -> usize {
    match effort.quick {
        true => 1,
        false => (SAMPLE.as_nanos() / once.as_nanos().max(50)).clamp(1, 4096) as usize,
    }
}

/// One copy of an operation's code and buffers in memory.
pub(crate) struct OperationInstance {
    /// With its own pipelines, so that the code of the kernels has another address, too.
    pub(crate) device: MetalDevice,
    /// Copies of the operation, used in turn.
    pub(crate) workloads: Vec<Workload>,
}

/// Measures one operation, and returns the kernels that ran. The addresses of code and buffers can affect the time, and
/// differ between runs, so several instances are measured.
pub(crate) fn operation(
    instances: &[OperationInstance],
    effort: &Effort,
) -> compute::Result<(Statistics, BTreeSet<String>)> {
    let (begin, cpu) = (Instant::now(), cpu_time());
    let (mut kernels, mut nanos, mut operations) = (BTreeSet::new(), Vec::new(), 0);
    let effort = effort.divided(instances.len());
    for OperationInstance { device, workloads } in instances {
        let (names, once) = profile(device, workloads)?;
        kernels.extend(names);
        let rounds = repeats(&effort, once / workloads.len() as u32).div_ceil(workloads.len());
        operations = rounds * workloads.len();
        let recording = record(device, workloads, rounds)?;
        warm_up(device, &recording, &effort)?;
        take(&effort, operations, || replay(device, &recording), &mut nanos)?;
    }
    Ok((Statistics::new(nanos, operations, busy(begin, cpu)), kernels))
}

/// Runs until caches are warm and the CPU has reached its clock rate.
fn warm_up(device: &MetalDevice, recording: &Recording, effort: &Effort) -> compute::Result<()> {
    let begin = Instant::now();
    loop {
        let once = replay(device, recording)?;
        if effort.quick || begin.elapsed() + once > effort.min_time / 4 {
            return Ok(());
        }
    }
}

/// The kernels of the operation, and the time of its second run.
fn profile(device: &MetalDevice, workloads: &[Workload]) -> compute::Result<(BTreeSet<String>, Duration)> {
    let recording = record(device, workloads, 1)?;
    replay(device, &recording)?;
    let descriptor = CommandBufferDescriptor { profiling: true, ..CommandBufferDescriptor::default() };
    let command_buffer = device.queue().new_command_buffer_with_descriptor(&descriptor);
    command_buffer.replay(&recording, &[])?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()?;
    let timings = command_buffer.dispatch_timings();
    let once = timings.iter().map(compute::DispatchTiming::duration).sum();
    Ok((timings.iter().map(|timing| timing.kernel.to_string()).collect(), once))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quartiles() {
        let statistics = Statistics::new(vec![5.0, 1.0, 4.0, 2.0, 3.0], 7, 1.0);
        assert_eq!(
            (statistics.min_ns, statistics.low_ns, statistics.median_ns, statistics.high_ns),
            (1.0, 2.0, 3.0, 4.0)
        );
        assert_eq!((statistics.samples, statistics.repeats), (5, 7));
        assert_eq!(statistics.spread(), 2.0 / 3.0);
        assert_eq!(Statistics::new(vec![1.0, 2.0], 1, 1.0).median_ns, 1.5);
        assert!(Statistics::new(vec![], 1, 1.0).median_ns.is_nan());
    }

    #[test]
    fn sampling_ends() {
        let effort = Effort { samples: 1000, min_time: Duration::from_millis(1), clock: Clock::Wall, quick: false };
        let slow = sample(&effort, 1, || {
            std::thread::sleep(Duration::from_millis(5));
            Ok::<_, ()>(Duration::from_millis(5))
        });
        assert_eq!(slow.unwrap().samples, 3);
        let effort = Effort { samples: 5, min_time: Duration::from_secs(9), clock: Clock::Wall, quick: true };
        assert_eq!(sample(&effort, 1, || Ok::<_, ()>(Duration::ZERO)).unwrap().samples, 5);
        assert_eq!(sample(&effort, 1, || Err::<Duration, _>(7)), Err(7));
    }
}
