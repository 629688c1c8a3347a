//! Creating a pipeline that is not there: compiled, and from an archive.

use super::report::{Report, Target, Times};
use super::{Failure, defaults};
use compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, Device, FolderOptions, FunctionDescriptor, Library,
    PipelineCache, PipelineConfig, PipelineOrigin,
};
use inference::metal::kernels;
use inference::metal::library::Shader;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A folder that is gone afterwards.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The time of one miss, and where the code came from.
fn miss(
    device: &Device,
    library: &Library,
    config: &PipelineConfig,
    archive: Option<&BinaryArchive>,
) -> Result<(Duration, PipelineOrigin), Failure> {
    let (device, library) = (device.clone(), library.clone());
    let binary_archives: Vec<BinaryArchive> = archive.into_iter().cloned().collect();
    let cache = PipelineCache::new(move |config| {
        let key = config.key();
        let function = FunctionDescriptor { library: &library, name: key.kernel(), constants: &key.constants()? };
        let descriptor =
            ComputePipelineDescriptor { binary_archives: binary_archives.clone(), ..Default::default() };
        device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
    });
    let start = Instant::now();
    let pipeline = cache.get_or_create(config)?;
    Ok((start.elapsed(), pipeline.origin()))
}

/// A library, and how long the front end took to read it.
fn read(device: &Device, shader: &Shader) -> (Library, Duration) {
    let options = CompileOptions { name: format!("{}.metal", shader.name), ..CompileOptions::default() };
    let library = device.new_library_with_checked_source(shader.source, &options);
    let start = Instant::now();
    library.function_names();
    (library, start.elapsed())
}

/// The times of one kernel.
fn kernel(
    device: &Device,
    library: &Library,
    config: &PipelineConfig,
    folder: &Folder,
    runs: usize,
) -> Result<(Times, Times), Failure> {
    let (mut cold, mut archived) = (Times::default(), Times::default());
    // The first run fills the archive. An archive that is opened anew knows nothing but what is on disk.
    let open = || BinaryArchive::folder(&folder.0, FolderOptions::default());
    miss(device, library, config, Some(&open()))?;
    for _ in 0..runs {
        cold.add(miss(device, library, config, None)?.0, 1);
        // It takes so little time that more runs cost nothing.
        for _ in 0..4 {
            let (time, origin) = miss(device, library, config, Some(&open()))?;
            if origin != PipelineOrigin::Archive {
                return Err(format!("{config} was compiled in spite of the archive").into());
            }
            archived.add(time, 1);
        }
    }
    Ok((cold, archived))
}

pub(crate) fn measure(report: &mut Report, quick: bool) -> Result<(), Failure> {
    report.section(
        "cache miss: compiled, and from an archive on disk",
        "every kernel of the library with default constants, code for full simdgroups; the front end is not counted: it \
         reads a file once for all of its kernels, and an archive needs it not at all; the archive is opened anew \
         each time",
    )?;
    let device = Device::cpu()?;
    let folder = Folder(std::env::temp_dir().join(format!("metalworks-bench-{}", std::process::id())));
    let runs = if quick { 1 } else { 3 };
    let (mut cold_total, mut archived_total, mut below, mut failed) = (0.0, 0.0, 0u32, 0u32);
    let mut ratios: Vec<f64> = Vec::new();
    for shader in kernels::SHADERS {
        let (library, front_end) = read(&device, shader);
        report.note(&format!("{}.metal (front end {:.1} ms)", shader.name, front_end.as_secs_f64() * 1e3))?;
        for config in defaults::configs(shader) {
            let measured = config.map_err(Failure::from).and_then(|config| {
                let times = kernel(&device, &library, &config, &folder, runs)?;
                Ok((config, times))
            });
            let (config, (cold, archived)) = match measured {
                Ok(measured) => measured,
                Err(error) => {
                    report.note(&format!("  FAILED: {error}"))?;
                    failed += 1;
                    continue;
                }
            };
            let ratio = cold.median() / archived.median();
            let line = format!(
                "  {:<32} cold {:>8.2} ms   archive {:>8.3} ms   {ratio:>6.0}x",
                config.key().kernel(),
                cold.median() / 1e6,
                archived.median() / 1e6
            );
            report.note(&line)?;
            cold_total += cold.median();
            archived_total += archived.median();
            ratios.push(ratio);
            below += u32::from(ratio < 20.0);
        }
    }
    let count = ratios.len();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios.get((ratios.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    report.number(&format!("all {count} kernels, cold"), cold_total / 1e6, "ms", Target::None)?;
    report.number(&format!("all {count} kernels, from the archive"), archived_total / 1e6, "ms", Target::None)?;
    report.number("cold : archive, all kernels", cold_total / archived_total, "x", Target::AtLeast(20.0))?;
    report.number("cold : archive, median kernel", at(0.5), "x", Target::AtLeast(20.0))?;
    report.number("cold : archive, worst kernel", at(0.0), "x", Target::AtLeast(20.0))?;
    report.number("kernels below 20x", f64::from(below), "", Target::None)?;
    report.number("kernels that failed", f64::from(failed), "", Target::Below(1.0))
}
