//! How times are taken.
//!
//! ```text
//! operation, with code and buffers in several places ── for each of them:
//!     recorded once, so often that one replay takes long enough for the clock
//!     ── warm-up ── replays, one sample each, until there are enough and enough time has passed
//! ── all samples together ── Statistics
//! ```
//!
//! A sample is the time from when the device begins with a command buffer until it is done, divided by the operations in
//! it: what an operation costs in the middle of a model, without the cost of encoding and waiting.

use compute::{CommandBufferDescriptor, Recording};
pub(crate) use inference::cases::replay;
use inference::cases::{Workload, record};
use inference::metal::MetalDevice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long one sample should take: enough for the clock, and little enough to fit between interruptions.
const SAMPLE: Duration = Duration::from_micros(300);

/// Which time counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    /// That which passes.
    Wall,
    /// That which this process is given by a machine that others use, too. It makes sense with one thread.
    Cpu,
}

impl Clock {
    /// How long `run` takes, by this clock; it says itself how long it took.
    pub(crate) fn time<E>(self, run: impl FnOnce() -> Result<Duration, E>) -> Result<Duration, E> {
        let begin = cpu_time();
        let wall = run()?;
        match self {
            Clock::Wall => Ok(wall),
            Clock::Cpu => Ok(cpu_time().saturating_sub(begin).min(wall)),
        }
    }
}

/// What this process has used of processors.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is one that there is, and the time is written to `time`.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

/// When there is enough of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// At least so many samples, as far as there is time.
    pub(crate) samples: usize,
    /// At least so long.
    pub(crate) min_time: Duration,
    /// Which time counts.
    pub(crate) clock: Clock,
    /// One operation in a sample, whatever the clock says: for trying things out.
    pub(crate) quick: bool,
}

impl Effort {
    /// Slow operations get fewer samples.
    const FEW: usize = 3;

    /// A share of it.
    fn divided(&self, parts: usize) -> Effort {
        Effort { samples: self.samples.div_ceil(parts), min_time: self.min_time / parts as u32, ..*self }
    }

    fn is_enough(&self, samples: usize, spent: Duration) -> bool {
        let many = samples >= self.samples && (self.quick || spent >= self.min_time);
        many || (samples >= Effort::FEW && spent >= 10 * self.min_time)
    }
}

/// What the samples say, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, Debug)]
pub(crate) struct Statistics {
    pub(crate) median_ns: f64,
    pub(crate) min_ns: f64,
    /// A quarter of the samples are faster.
    pub(crate) low_ns: f64,
    /// A quarter of them are slower.
    pub(crate) high_ns: f64,
    pub(crate) samples: usize,
    /// Operations in a sample.
    pub(crate) repeats: usize,
    /// Which part of the time the process was given a processor, while samples were taken.
    pub(crate) busy: f64,
}

impl Statistics {
    pub(crate) fn new(mut nanos: Vec<f64>, repeats: usize, busy: f64) -> Statistics {
        nanos.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let place = part * nanos.len().saturating_sub(1) as f64;
            let (low, high) = (nanos.get(place as usize), nanos.get(place.ceil() as usize));
            low.zip(high).map_or(f64::NAN, |(low, high)| low + (high - low) * place.fract())
        };
        let (median_ns, min_ns, low_ns, high_ns) = (at(0.5), at(0.0), at(0.25), at(0.75));
        Statistics { median_ns, min_ns, low_ns, high_ns, samples: nanos.len(), repeats, busy }
    }

    /// The middle half of the samples lies this far apart, relative to the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.high_ns - self.low_ns) / self.median_ns
    }
}

/// Takes samples of what `run` says it took for one operation.
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

/// Which part of the time since then the process was given a processor.
fn busy(begin: Instant, cpu: Duration) -> f64 {
    cpu_time().saturating_sub(cpu).as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-9)
}

/// How often to do something that takes `once`, so that it takes long enough.
pub(crate) fn repeats(effort: &Effort, once: Duration) -> usize {
    match effort.quick {
        true => 1,
        false => (SAMPLE.as_nanos() / once.as_nanos().max(50)).clamp(1, 4096) as usize,
    }
}

/// An operation somewhere in memory.
pub(crate) struct Place {
    /// With pipelines of its own: the code of kernels is in another place, too.
    pub(crate) device: MetalDevice,
    /// Copies of the operation, which are used in turn.
    pub(crate) workloads: Vec<Workload>,
}

/// Measures one operation. Where code and buffers are can make a difference that the next run has or has not, so there
/// are several places. Also says which kernels ran.
pub(crate) fn operation(places: &[Place], effort: &Effort) -> compute::Result<(Statistics, BTreeSet<String>)> {
    let (begin, cpu) = (Instant::now(), cpu_time());
    let (mut kernels, mut nanos, mut operations) = (BTreeSet::new(), Vec::new(), 0);
    let effort = effort.divided(places.len());
    for Place { device, workloads } in places {
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

/// The first runs find cold caches and a slow clock.
fn warm_up(device: &MetalDevice, recording: &Recording, effort: &Effort) -> compute::Result<()> {
    let begin = Instant::now();
    loop {
        let once = replay(device, recording)?;
        if effort.quick || begin.elapsed() + once > effort.min_time / 4 {
            return Ok(());
        }
    }
}

/// The kernels of the operation, and how long it takes when it runs for the second time.
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
    fn there_is_an_end_to_sampling() {
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
