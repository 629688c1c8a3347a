//! Profiles and timelines, shared by the subcommands that run models.

use std::path::PathBuf;

use clap::Args;
use compute::trace;
use inference::metal::MetalDevice;
use inference::plan::Plan;
use inference::profile::{Bandwidth, KernelProfile, PhaseProfile, Profile, TimelineFile, measure_bandwidth};
use serde_json::{Value, json};

use crate::output;
use crate::table::{Align, Table};

#[derive(Args)]
#[command(next_help_heading = "Profile")]
pub(crate) struct ProfileFlags {
    /// Print where the time goes, by kernel
    ///
    /// For each kernel and its sizes: dispatches, time, bytes that it must move at least, and these as a part of the
    /// bandwidth that plain reads (on a GPU, a copy) reach in the same run; gap is idle time before its dispatches.
    #[arg(long)]
    profile: bool,

    /// Write a timeline for Chrome or Perfetto
    ///
    /// JSON with a lane for each thread. Open it in ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// A profile that is being taken.
pub(crate) struct Profiling {
    timeline: Option<TimelineFile>,
}

/// A profile with the limits of its device.
pub(crate) struct Profiled {
    profile: Profile,
    limit: Bandwidth,
}

impl ProfileFlags {
    /// True if the model is to be profiled.
    pub(crate) fn is_on(&self) -> bool {
        self.profile || self.trace.is_some()
    }

    /// Checks the flags, before the model is loaded. The error is for the user.
    pub(crate) fn open(&self) -> Result<Profiling, String> {
        let open = |path: &PathBuf| {
            TimelineFile::new(path).map_err(|error| format!("cannot write {}: {error}", path.display()))
        };
        Ok(Profiling { timeline: self.trace.as_ref().map(open).transpose()? })
    }
}

impl Profiling {
    /// Begins the profile.
    pub(crate) fn begin(&self, plan: &mut Plan) {
        plan.set_profiling(true);
        if self.timeline.is_some() {
            trace::start();
        }
    }

    /// Ends the profile. Writes the timeline, and measures the limits if a profile is wanted. The error is for the
    /// user.
    pub(crate) fn finish(
        self,
        flags: &ProfileFlags,
        plan: &mut Plan,
        device: &MetalDevice,
        threads: usize,
    ) -> Result<Option<Profiled>, String> {
        let profile = plan.take_profile().unwrap_or_default();
        plan.set_profiling(false);
        if let (Some(timeline), Some(path)) = (self.timeline, &flags.trace) {
            let trace = trace::finish();
            timeline
                .write(&device.device().name(), &trace, &profile.dispatches)
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            if trace.dropped > 0 {
                let spans = output::count(trace.dropped, "span");
                let _ = output::warning(&format!("the timeline is full: it lacks the last {spans}"));
            }
        }
        if !flags.profile {
            return Ok(None);
        }
        let weights = plan.weight_memory();
        let bytes = usize::try_from(weights.copied + weights.mapped).unwrap_or(usize::MAX);
        let limit = measure_bandwidth(device, threads, bytes).map_err(|error| error.to_string())?;
        Ok(Some(Profiled { profile, limit }))
    }
}

impl Profiled {
    /// Both phases as tables.
    pub(crate) fn to_text(&self) -> String {
        let Profile { prompt, decode, .. } = &self.profile;
        let phases = [("prompt", prompt, 1), ("decode", decode, decode.tokens.max(1))];
        let mut text = String::new();
        for (name, phase, steps) in phases.into_iter().filter(|(_, phase, _)| !phase.is_empty()) {
            text += &format!("\n{}\n{}", self.heading(name, phase, steps), self.table(phase, steps as f64));
        }
        if text.is_empty() { "\nthe device reports no times of dispatches\n".into() } else { text }
    }

    fn heading(&self, name: &str, phase: &PhaseProfile, steps: usize) -> String {
        let what = match name {
            "prompt" => output::count(phase.tokens, "token"),
            _ => format!("a token, mean of {steps}"),
        };
        let seconds = phase.total_seconds();
        format!(
            "{name}: {what}: {:.3} ms, {:.1} tokens/s; limit: {:.1} GB/s, {}",
            seconds / steps as f64 * 1e3,
            phase.tokens as f64 / seconds,
            self.limit.bytes_per_second / 1e9,
            self.accesses(),
        )
    }

    /// The accesses that the limit was measured with.
    fn accesses(&self) -> String {
        let what = format!("{} of {}", self.limit.accesses(), output::size(self.limit.bytes as u64));
        match self.limit.threads {
            Some(threads) => format!("{what} by {}", output::count(threads, "thread")),
            None => what,
        }
    }

    /// The kernels of a step; the phase has this many.
    fn table(&self, phase: &PhaseProfile, steps: f64) -> String {
        let right = |heading: &'static str| (heading, Align::Right);
        let numbers = ["count", "ms", "share", "MB", "GB/s", "limit", "GFLOP/s", "gap ms"].map(right);
        let mut table =
            Table::new([[("kernel", Align::Left), ("sizes", Align::Left)].as_slice(), &numbers].concat());
        let total = phase.total_seconds();
        let milliseconds = |seconds: f64| format!("{:.3}", seconds / steps * 1e3);
        let share = |seconds: f64| format!("{:.1}%", 100.0 * seconds / total);
        let count = |count: usize| {
            let each = count as f64 / steps;
            if each.fract() == 0.0 { format!("{each}") } else { format!("{each:.1}") }
        };
        for kernel in phase.kernels() {
            let [bytes, bandwidth, limit, flops] = self.rates(kernel, steps);
            table.row([
                kernel.kernel.to_string(),
                kernel.sizes.to_string(),
                count(kernel.count),
                milliseconds(kernel.seconds),
                share(kernel.seconds),
                bytes,
                bandwidth,
                limit,
                flops,
                milliseconds(kernel.seconds_before),
            ]);
        }
        let none = String::new;
        for (name, seconds) in [("between dispatches", phase.seconds_between()), ("host", phase.host_seconds)] {
            let (time, share) = (milliseconds(seconds), share(seconds));
            table.row([name.into(), none(), none(), time, share, none(), none(), none(), none(), none()]);
        }
        let bandwidth = phase.bytes() / total;
        table.row([
            "total".into(),
            none(),
            count(phase.dispatches()),
            milliseconds(total),
            share(total),
            format!("{:.2}", phase.bytes() / steps / 1e6),
            format!("{:.1}", bandwidth / 1e9),
            format!("{:.0}%", 100.0 * bandwidth / self.limit.bytes_per_second),
            none(),
            milliseconds(phase.seconds_between()),
        ]);
        table.render("")
    }

    /// Bytes, bandwidth, its part of the limit, and arithmetic; empty if the kernel has none.
    fn rates(&self, kernel: &KernelProfile, steps: f64) -> [String; 4] {
        if kernel.bytes == 0.0 || kernel.seconds == 0.0 {
            return Default::default();
        }
        let bandwidth = kernel.bytes / kernel.seconds;
        [
            format!("{:.2}", kernel.bytes / steps / 1e6),
            format!("{:.1}", bandwidth / 1e9),
            format!("{:.0}%", 100.0 * bandwidth / self.limit.bytes_per_second),
            format!("{:.1}", kernel.flops / kernel.seconds / 1e9),
        ]
    }

    pub(crate) fn to_json(&self) -> Value {
        let Profile { prompt, decode, .. } = &self.profile;
        let limit = json!({
            "accesses": self.limit.accesses(),
            "bytes": self.limit.bytes,
            "threads": self.limit.threads,
            "bytes_per_second": self.limit.bytes_per_second,
        });
        let phase = |phase: &PhaseProfile| (!phase.is_empty()).then(|| self.phase_json(phase));
        json!({ "limit": limit, "prompt": phase(prompt), "decode": phase(decode) })
    }

    fn phase_json(&self, phase: &PhaseProfile) -> Value {
        let total = phase.total_seconds();
        let kernels: Vec<Value> = phase
            .kernels()
            .into_iter()
            .map(|kernel| {
                json!({
                    "kernel": &*kernel.kernel,
                    "sizes": &*kernel.sizes,
                    "count": kernel.count,
                    "seconds": kernel.seconds,
                    "share": kernel.seconds / total,
                    "bytes": kernel.bytes,
                    "flops": kernel.flops,
                    "share_of_limit": kernel.bytes / kernel.seconds / self.limit.bytes_per_second,
                    "seconds_before": kernel.seconds_before,
                })
            })
            .collect();
        json!({
            "tokens": phase.tokens,
            "seconds": total,
            "dispatches": phase.dispatches(),
            "seconds_between": phase.seconds_between(),
            "host_seconds": phase.host_seconds,
            "bytes": phase.bytes(),
            "kernels": kernels,
        })
    }
}
