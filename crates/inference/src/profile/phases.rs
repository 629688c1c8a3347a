//! Time by kernel, for the prompt and for decoding.

use super::overlap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most dispatches that are kept for a timeline.
const MOST_DISPATCHES: usize = 1 << 18;

/// Part of a model's work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Evaluation of a prompt, up to the first sampled token.
    Prompt,
    /// Decoding, token by token.
    Decode,
}

/// Work of a dispatch.
#[derive(Clone, PartialEq, Debug)]
pub struct DispatchWork {
    /// Types and sizes that stay the same from step to step, as text: `M=1 N=4096 K=4096`.
    pub sizes: Arc<str>,
    /// Bytes that must be read and written at least.
    pub bytes: f64,
    /// Floating-point operations.
    pub flops: f64,
}

/// A dispatch that has run.
#[derive(Clone, Debug)]
pub struct TimedDispatch {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// Start of its first threadgroup.
    pub start: Instant,
    /// End of its last threadgroup.
    pub end: Instant,
    /// Its work. `None` if it is counted with the dispatch before it.
    pub work: Option<DispatchWork>,
    /// Its part of the model's work.
    pub phase: Phase,
}

/// Total of all dispatches of a kernel with the same sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelProfile {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// Sizes, as in [`DispatchWork::sizes`].
    pub sizes: Arc<str>,
    /// Number of dispatches.
    pub count: usize,
    /// Time that they ran. Dispatches that ran at the same time share it.
    pub seconds: f64,
    /// Idle time of the device before them.
    pub seconds_before: f64,
    /// Bytes that they must move at least.
    pub bytes: f64,
    /// Floating-point operations.
    pub flops: f64,
}

/// Time of a phase.
#[derive(Clone, Default, Debug)]
pub struct PhaseProfile {
    /// Evaluated or decoded tokens.
    pub tokens: usize,
    /// Time of the device after the last dispatch of its command buffers.
    pub seconds_after: f64,
    /// Time in which the device had no work.
    pub host_seconds: f64,
    kernels: BTreeMap<(Arc<str>, Arc<str>), KernelProfile>,
}

impl PhaseProfile {
    /// True if nothing ran.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// The kernels, longest time first.
    pub fn kernels(&self) -> Vec<&KernelProfile> {
        let mut kernels: Vec<&KernelProfile> = self.kernels.values().collect();
        kernels.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        kernels
    }

    /// Number of dispatches.
    pub fn dispatches(&self) -> usize {
        self.kernels.values().map(|kernel| kernel.count).sum()
    }

    /// Time in which dispatches ran.
    pub fn busy_seconds(&self) -> f64 {
        self.kernels.values().map(|kernel| kernel.seconds).sum()
    }

    /// Idle time of the device before, between and after the dispatches of its command buffers.
    pub fn seconds_between(&self) -> f64 {
        self.kernels.values().map(|kernel| kernel.seconds_before).sum::<f64>() + self.seconds_after
    }

    /// Time of the phase: dispatches, time between them, and time of the host.
    pub fn total_seconds(&self) -> f64 {
        self.busy_seconds() + self.seconds_between() + self.host_seconds
    }

    /// Bytes that the dispatches must move at least.
    pub fn bytes(&self) -> f64 {
        self.kernels.values().map(|kernel| kernel.bytes).sum()
    }

    fn add(&mut self, dispatch: &TimedDispatch, share: overlap::Share) {
        let work = dispatch.work.as_ref();
        let sizes = work.map_or_else(|| "".into(), |work| work.sizes.clone());
        let key = (dispatch.kernel.clone(), sizes);
        let (kernel, sizes) = key.clone();
        let total = self.kernels.entry(key).or_insert_with(|| KernelProfile {
            kernel,
            sizes,
            count: 0,
            seconds: 0.0,
            seconds_before: 0.0,
            bytes: 0.0,
            flops: 0.0,
        });
        total.count += 1;
        total.seconds += share.time / 1e9;
        total.seconds_before += share.before / 1e9;
        total.bytes += work.map_or(0.0, |work| work.bytes);
        total.flops += work.map_or(0.0, |work| work.flops);
    }
}

/// Profile of a model's steps.
#[derive(Clone, Default, Debug)]
pub struct Profile {
    /// Prompts.
    pub prompt: PhaseProfile,
    /// Decoding.
    pub decode: PhaseProfile,
    /// Dispatches in order, while a trace is recorded.
    pub dispatches: Vec<TimedDispatch>,
}

impl Profile {
    pub(crate) fn phase(&mut self, phase: Phase) -> &mut PhaseProfile {
        match phase {
            Phase::Prompt => &mut self.prompt,
            Phase::Decode => &mut self.decode,
        }
    }

    /// Adds the dispatches of a command buffer that ran from `start` to `end`.
    pub(crate) fn add(&mut self, start: Instant, end: Instant, dispatches: Vec<TimedDispatch>) {
        let times: Vec<_> = dispatches.iter().map(|dispatch| (dispatch.start, dispatch.end)).collect();
        let (shares, after) = overlap::shares(start, end, &times);
        for (dispatch, share) in dispatches.iter().zip(shares) {
            self.phase(dispatch.phase).add(dispatch, share);
        }
        if let Some(last) = dispatches.last() {
            self.phase(last.phase).seconds_after += after / 1e9;
        }
        if compute::trace::is_on() && self.dispatches.len() < MOST_DISPATCHES {
            self.dispatches.extend(dispatches);
        }
    }

    /// Adds time in which the device had no work.
    pub(crate) fn add_host_time(&mut self, phase: Phase, time: Duration) {
        self.phase(phase).host_seconds += time.as_secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_dispatches_by_kernel_and_sizes() {
        let origin = Instant::now();
        let at = |time: u64| origin + Duration::from_millis(time);
        let dispatch = |kernel: &str, sizes: Option<&str>, first: u64, last: u64, phase: Phase| TimedDispatch {
            kernel: kernel.into(),
            start: at(first),
            end: at(last),
            work: sizes.map(|sizes| DispatchWork { sizes: sizes.into(), bytes: 1e6, flops: 2e6 }),
            phase,
        };
        let mut profile = Profile::default();
        profile.add(
            at(0),
            at(100),
            vec![
                dispatch("gemv", Some("N=2"), 10, 20, Phase::Prompt),
                dispatch("norm", None, 20, 21, Phase::Decode),
                dispatch("gemv", Some("N=2"), 30, 50, Phase::Decode),
                dispatch("gemv", Some("N=4"), 50, 60, Phase::Decode),
                dispatch("gemv", Some("N=2"), 60, 90, Phase::Decode),
            ],
        );
        profile.add_host_time(Phase::Decode, Duration::from_millis(7));
        let rows: Vec<_> = profile.decode.kernels().into_iter().cloned().collect();
        let found: Vec<_> = rows.iter().map(|row| (&*row.kernel, &*row.sizes, row.count, row.bytes)).collect();
        assert_eq!(found, [("gemv", "N=2", 2, 2e6), ("gemv", "N=4", 1, 1e6), ("norm", "", 1, 0.0)]);
        let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one} {other}");
        close(rows[0].seconds, 0.050);
        close(rows[0].seconds_before, 0.009);
        close(profile.decode.seconds_after, 0.010);
        close(profile.decode.seconds_between(), 0.019);
        close(profile.decode.total_seconds(), 0.061 + 0.019 + 0.007);
        assert_eq!((profile.decode.dispatches(), profile.prompt.dispatches()), (4, 1));
        close(profile.prompt.total_seconds(), 0.020);
    }
}
