//! Creation of many pipelines, one after the other and in parallel.

use super::folder::ArchiveFolder;
use super::report::{PerformanceTarget, Report, Timings};
use super::{Failure, defaults};
use compute::{Device, PipelineConfig};
use metalworks_inference::metal::{MetalDevice, PipelineSet};
use std::time::Instant;

const COUNT: usize = 32;

/// Returns configurations evenly spread over the library.
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
        &["kernels from all over the library, on a new device that has not read its sources: as when a model is loaded"],
    )?;
    let folder = ArchiveFolder::new("many");
    let (mut serial, mut parallel, mut archived) = (Timings::default(), Timings::default(), Timings::default());
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
        // Fill the archive in the first round.
        MetalDevice::with_device(Device::cpu()?, folder.archive())?.load(&plan, |_| {})?;
        let start = Instant::now();
        let kept = MetalDevice::with_device(Device::cpu()?, folder.archive())?;
        kept.load(&plan, |_| {})?;
        archived.add(start.elapsed(), 1);
        if kept.stats().compiled() > 0 {
            return Err(format!("compiled despite the archive: {}", kept.stats()).into());
        }
    }
    report.time(&format!("{} pipelines, one after the other", configs.len()), &serial, PerformanceTarget::None)?;
    report.time(&format!("{} pipelines, create_all", configs.len()), &parallel, PerformanceTarget::None)?;
    report.time(
        &format!("{} pipelines, create_all, from an archive on disk", configs.len()),
        &archived,
        PerformanceTarget::None,
    )?;
    report.number(
        "one after the other : create_all",
        serial.median() / parallel.median(),
        "x",
        PerformanceTarget::None,
    )
}
