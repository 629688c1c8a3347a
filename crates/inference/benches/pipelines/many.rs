//! Creating many pipelines, one after the other and all at once.

use super::report::{Report, Target, Times};
use super::{Failure, defaults};
use compute::{Device, PipelineConfig};
use inference::metal::MetalDevice;
use std::time::Instant;

const COUNT: usize = 32;

/// Pipelines from all over the library.
fn configs() -> Vec<PipelineConfig> {
    let all = defaults::all();
    let step = (all.len() / COUNT).max(1);
    all.into_iter().step_by(step).take(COUNT).collect()
}

pub(crate) fn measure(report: &mut Report, quick: bool) -> Result<(), Failure> {
    let configs = configs();
    report.section(
        "creation of many pipelines without an archive",
        "kernels from all over the library, on a device that has read none of its sources: as when a model is loaded",
    )?;
    let (mut serial, mut parallel) = (Times::default(), Times::default());
    for _ in 0..if quick { 1 } else { 5 } {
        let one = MetalDevice::with_device(Device::cpu()?, None)?;
        let start = Instant::now();
        for config in &configs {
            one.pipelines().get_or_create(config)?;
        }
        serial.add(start.elapsed(), 1);
        let all = MetalDevice::with_device(Device::cpu()?, None)?;
        let start = Instant::now();
        all.pipelines().create_all(&configs, |_| {}).into_pipelines()?;
        parallel.add(start.elapsed(), 1);
    }
    report.time(&format!("{} pipelines, one after the other", configs.len()), &serial, Target::None)?;
    report.time(&format!("{} pipelines, create_all", configs.len()), &parallel, Target::None)?;
    report.number("one after the other : create_all", serial.median() / parallel.median(), "x", Target::None)
}
