//! Creating many pipelines, one after the other and all at once.

use super::folder::Folder;
use super::report::{Report, Target, Times};
use super::{Failure, defaults};
use compute::{Device, PipelineConfig};
use inference::metal::{MetalDevice, PipelineSet};
use std::time::Instant;

const COUNT: usize = 32;

/// Pipelines from all over the library.
fn configs() -> Result<Vec<PipelineConfig>, Failure> {
    let all = defaults::all()?;
    let step = (all.len() / COUNT).max(1);
    Ok(all.into_iter().step_by(step).take(COUNT).collect())
}

pub(crate) fn measure(report: &mut Report, quick: bool) -> Result<(), Failure> {
    let configs = configs()?;
    let plan: PipelineSet = configs.iter().cloned().collect();
    report.section(
        "creation of many pipelines",
        &["kernels from all over the library, on a device that has read none of its sources: as when a model is loaded"],
    )?;
    let folder = Folder::new("many");
    let (mut serial, mut parallel, mut archived) = (Times::default(), Times::default(), Times::default());
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
        // The first time fills it.
        MetalDevice::with_device(Device::cpu()?, folder.archive())?.load(&plan, |_| {})?;
        let start = Instant::now();
        let kept = MetalDevice::with_device(Device::cpu()?, folder.archive())?;
        kept.load(&plan, |_| {})?;
        archived.add(start.elapsed(), 1);
        if kept.stats().compiled() > 0 {
            return Err(format!("compiled in spite of the archive: {}", kept.stats()).into());
        }
    }
    report.time(&format!("{} pipelines, one after the other", configs.len()), &serial, Target::None)?;
    report.time(&format!("{} pipelines, create_all", configs.len()), &parallel, Target::None)?;
    report.time(
        &format!("{} pipelines, create_all, from an archive on disk", configs.len()),
        &archived,
        Target::None,
    )?;
    report.number("one after the other : create_all", serial.median() / parallel.median(), "x", Target::None)
}
