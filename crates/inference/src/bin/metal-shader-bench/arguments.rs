//! The command line.

use crate::measure::Clock;
use clap::{Args, Parser, Subcommand, ValueEnum};
use compute::{CpuOptions, Device, DeviceKind};
use metalworks_inference::cases::{LETTERS, MODELS, Model};
use metalworks_inference::metal::find_device;
use std::path::PathBuf;

/// Measure the Metal kernels of the shader library.
#[derive(Parser)]
#[command(name = "metal-shader-bench", version, arg_required_else_help = true)]
#[command(max_term_width = 79, after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_STATUS: &str = "Exit status: 0 success, 1 wrong input or (with --fail-on-regression) a slower case, 2 the \
    run could not be tried.";

const EXAMPLE: &str = "Examples:
  metal-shader-bench run 'gemv_q4*' --shape M=8
  metal-shader-bench run attention.metal --model 1b --json before.json
  metal-shader-bench run attention.metal --model 1b --baseline before.json \\
    --html report.html";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List cases with their shader and their shape
    List(ListArguments),

    /// Measure cases
    ///
    /// Runs each operation through the function that inference calls, after measuring the limits of the device. Prints
    /// median and fastest time, half the interquartile range, samples, rates, and the fraction of the limit.
    #[command(after_long_help = EXAMPLE)]
    Run(RunArguments),
}

#[derive(Args)]
pub(crate) struct ListArguments {
    /// Cases, operations, kernels, files or formats to list, with * and ?
    pub(crate) names: Vec<String>,

    /// Take shapes from this model
    #[arg(long, value_enum, default_value_t = ModelName::Llama8b)]
    model: ModelName,
}

impl ListArguments {
    pub(crate) fn model(&self) -> &'static Model {
        self.model.model()
    }
}

#[derive(Args)]
pub(crate) struct RunArguments {
    /// Cases, operations, kernels, files or formats to run, with * and ?; all by default
    pub(crate) names: Vec<String>,

    /// Take shapes from this model
    #[arg(long, value_enum, default_value_t = ModelName::Llama8b, help_heading = "Cases")]
    model: ModelName,

    /// Change sizes, such as M=8,N=4096,K=4096
    #[arg(long, value_name = "SIZES", help_heading = "Cases", long_help = shape_help())]
    pub(crate) shape: Vec<String>,

    /// Rotate through 256 MiB of buffers, so that weights come from memory
    #[arg(long, help_heading = "Cases")]
    pub(crate) cold: bool,

    /// Skip cases that need more memory
    #[arg(long, value_name = "MIB", default_value_t = 1536, help_heading = "Cases")]
    max_memory: usize,

    /// Select the device: cpu, cuda, metal, metal:1; default METALWORKS_DEVICE, or the best one
    #[arg(long, value_name = "NAME", help_heading = "Measurement")]
    pub(crate) device: Option<String>,

    /// Use this many CPU threads; default 1
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Measurement")]
    threads: Option<u16>,

    /// Measure each case for at least this long
    #[arg(long, value_name = "SECONDS", default_value_t = 0.2, value_parser = seconds, help_heading = "Measurement")]
    pub(crate) min_time: f64,

    /// Take at least this many samples; slow cases get three
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(3..), help_heading = "Measurement")]
    samples: u16,

    /// Measure wall-clock time, or CPU time on a shared machine
    #[arg(long, value_enum, default_value_t = ClockName::Wall, help_heading = "Measurement")]
    pub(crate) clock: ClockName,

    /// Take three short samples of each case, as a smoke test
    #[arg(long, help_heading = "Measurement")]
    pub(crate) quick: bool,

    /// Write the results to a file
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) json: Option<PathBuf>,

    /// Write a report with a roofline plot
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) html: Option<PathBuf>,

    /// Compare with an earlier run that --json wrote
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub(crate) baseline: Option<PathBuf>,

    /// Exit with status 1 if a case is slower, beyond the spread of both runs
    #[arg(long, requires = "baseline", help_heading = "Results")]
    pub(crate) fail_on_regression: bool,
}

impl RunArguments {
    pub(crate) fn model(&self) -> &'static Model {
        self.model.model()
    }

    pub(crate) fn max_memory(&self) -> usize {
        self.max_memory.saturating_mul(1 << 20)
    }

    /// The requested device; a CPU runs one thread by default.
    pub(crate) fn find_device(&self) -> compute::Result<Device> {
        let device = find_device(self.device.as_deref(), self.threads.map(usize::from))?;
        match device.kind() {
            DeviceKind::Cpu => Device::cpu_with_options(&CpuOptions { threads: Some(self.threads()) }),
            DeviceKind::Cuda | DeviceKind::Metal | DeviceKind::Other(_) => Ok(device),
        }
    }

    /// Number of CPU threads, also for the Rust loops beside another device.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or(1).into()
    }

    pub(crate) fn clock(&self) -> Clock {
        match self.clock {
            ClockName::Wall => Clock::Wall,
            ClockName::Cpu => Clock::Cpu,
        }
    }

    pub(crate) fn samples(&self) -> usize {
        self.samples.into()
    }
}

fn shape_help() -> String {
    format!("Change sizes of the cases that have them, such as M=8,N=4096,K=4096: {LETTERS}")
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("it must be a number of seconds, 0 to 3600".into()),
    }
}

/// Clock of the measurements.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockName {
    /// Wall-clock time
    Wall,
    /// CPU time of the process, for one thread
    Cpu,
}

impl ClockName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ClockName::Wall => "wall",
            ClockName::Cpu => "cpu",
        }
    }
}

/// Models with known shapes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModelName {
    /// Small sizes, for smoke tests
    #[value(name = "tiny")]
    Tiny,
    /// SmolLM2-135M: 576 wide, 9 and 3 heads of 64
    #[value(name = "135m")]
    SmolLm135m,
    /// Llama-3.2-1B: 2048 wide, 32 and 8 heads of 64
    #[value(name = "1b")]
    Llama1b,
    /// Llama-3-8B: 4096 wide, 32 and 8 heads of 128
    #[value(name = "8b")]
    Llama8b,
}

impl ModelName {
    fn model(self) -> &'static Model {
        &MODELS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
        for name in ModelName::value_variants() {
            assert_eq!(name.to_possible_value().unwrap().get_name(), name.model().name);
        }
    }
}
