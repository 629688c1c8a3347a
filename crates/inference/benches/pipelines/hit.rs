//! Cache hits.

use super::Failure;
use super::report::{PerformanceTarget, Report, Timings};
use compute::{
    ComputePipelineState, ConstantBits, ConstantName, Device, KernelConstants, PipelineCache, PipelineConfig,
};
use metalworks_inference::metal::MetalDevice;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Number of pipelines, looked up in turn.
const KEYS: u32 = 16;

/// Lookups of each pipeline in one run.
const ROUNDS: usize = 64;

/// Function constants of a typical kernel.
struct GemvConstants {
    k: u32,
    batch: u32,
    split: u32,
    use_bias: bool,
}

impl KernelConstants for GemvConstants {
    fn for_each(&self, mut each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        each(ConstantName::Name("K"), self.k.into());
        each(ConstantName::Name("BATCH"), self.batch.into());
        each(ConstantName::Name("SPLIT"), self.split.into());
        each(ConstantName::Name("USE_BIAS"), self.use_bias.into());
    }
}

fn constants(number: u32) -> GemvConstants {
    GemvConstants { k: 256 * number, batch: 1, split: 4, use_bias: number.is_multiple_of(2) }
}

/// Looks up a pipeline by its number.
type Lookup<'a> = &'a (dyn Fn(u32) + Sync);

fn run(lookup: Lookup<'_>) -> Duration {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for number in 0..KEYS {
            lookup(number);
        }
    }
    start.elapsed()
}

/// Times runs on two threads at once.
fn run_two(lookup: Lookup<'_>, runs: usize, times: &mut Timings) {
    let start = Barrier::new(2);
    let one = || {
        start.wait();
        (0..runs).map(|_| run(lookup)).collect::<Vec<Duration>>()
    };
    let both = std::thread::scope(|scope| {
        let other = scope.spawn(one);
        let mut times = one();
        times.extend(other.join().unwrap_or_default());
        times
    });
    both.into_iter().for_each(|time| times.add(time, ROUNDS * KEYS as usize));
}

/// Returns some pipeline: lookups do not depend on it.
fn pipeline() -> Result<ComputePipelineState, Failure> {
    let device = MetalDevice::with_device(Device::cpu()?, None)?;
    Ok(device.get_or_create_pso("add_f32", ())?.clone())
}

pub(crate) fn measure(report: &mut Report, quick: bool) -> Result<(), Failure> {
    report.section(
        "cache hit",
        &["16 pipelines of one kernel with 4 constants, looked up in turn, 64 times in a run; two threads look up", "the same ones"],
    )?;
    let made = pipeline()?;
    let cache = PipelineCache::new(move |_| Ok(made.clone()));
    let configs: Vec<_> = (0..KEYS).map(|number| PipelineConfig::new("gemv_q4_0_f16", constants(number))).collect();
    cache.create_all(&configs, |_| {}).into_pipelines()?;
    cache.seal();

    let by_constants = |number: u32| {
        let _ = black_box(cache.get_or_create_pso(black_box("gemv_q4_0_f16"), constants(black_box(number))));
    };
    let by_config = |number: u32| {
        let _ = black_box(cache.get_or_create(black_box(&configs[number as usize])));
    };
    let ways: [(&str, Lookup<'_>); 2] =
        [("kernel and typed constants", &by_constants), ("reused configuration", &by_config)];
    let mut times: [[Timings; 2]; 2] = Default::default();
    let turns = if quick { 20 } else { 200 };
    for _ in 0..turns {
        for ((_, lookup), [one, two]) in ways.iter().zip(&mut times) {
            for _ in 0..10 {
                one.add(run(*lookup), ROUNDS * KEYS as usize);
            }
            run_two(*lookup, 10, two);
        }
    }
    for ((name, _), [one, two]) in ways.iter().zip(&times) {
        report.time(&format!("{name}, 1 thread"), one, PerformanceTarget::Below(50.0))?;
        report.time(&format!("{name}, 2 threads"), two, PerformanceTarget::Below(200.0))?;
        report.number("  2 threads : 1 thread", two.median() / one.median(), "x", PerformanceTarget::Below(4.0))?;
    }
    Ok(())
}
