//! Cache misses: a pipeline is compiled, or comes from an archive.

use super::folder::ArchiveFolder;
use super::report::{PerformanceTarget, Report, Timings};
use super::{Failure, defaults};
use compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, Device, FunctionDescriptor, Library, PipelineCache,
    PipelineConfig, PipelineOrigin, Simdgroups,
};
use metalworks_inference::metal::kernels;
use metalworks_inference::metal::library::Shader;
use std::time::{Duration, Instant};

/// Returns the time of one miss, and the origin of the code.
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
        let descriptor = ComputePipelineDescriptor {
            thread_group_width_is_multiple_of_thread_execution_width: key.simdgroups() == Simdgroups::Rows,
            binary_archives: binary_archives.clone(),
            ..Default::default()
        };
        device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
    });
    let start = Instant::now();
    let pipeline = cache.get_or_create(config)?;
    Ok((start.elapsed(), pipeline.origin()))
}

/// Returns a library, and the time that the front end took to read it.
fn read(device: &Device, shader: &Shader) -> (Library, Duration) {
    let options = CompileOptions { name: format!("{}.metal", shader.name), ..CompileOptions::default() };
    let library = device.new_library_with_checked_source(shader.source, &options);
    let start = Instant::now();
    library.function_names();
    (library, start.elapsed())
}

/// Returns the times of one kernel: compiled, and from an archive.
fn kernel(
    device: &Device,
    library: &Library,
    config: &PipelineConfig,
    folder: &ArchiveFolder,
    runs: usize,
) -> Result<(Timings, Timings), Failure> {
    let (mut cold, mut archived) = (Timings::default(), Timings::default());
    // The first run fills the archive.
    miss(device, library, config, Some(&folder.archive()))?;
    for _ in 0..runs {
        cold.add(miss(device, library, config, None)?.0, 1);
        // Cheap enough for more runs.
        for _ in 0..4 {
            let (time, origin) = miss(device, library, config, Some(&folder.archive()))?;
            if origin != PipelineOrigin::Archive {
                return Err(format!("{config} was compiled despite the archive").into());
            }
            archived.add(time, 1);
        }
    }
    Ok((cold, archived))
}

pub(crate) fn measure(report: &mut Report, quick: bool) -> Result<(), Failure> {
    report.section(
        "cache miss: compiled, and from an archive on disk",
        &[
            "every kernel of the library with default constants, code for rows of simdgroups; the archive is opened anew for",
            "each run; the front end is not counted: it reads a file once for all of its kernels, and an archive makes it",
            "unnecessary",
        ],
    )?;
    let device = Device::cpu()?;
    let folder = ArchiveFolder::new("miss");
    let runs = if quick { 1 } else { 3 };
    let mut all: Vec<(Timings, Timings)> = Vec::new();
    let mut failed = 0u32;
    for shader in kernels::SHADERS {
        let (library, front_end) = read(&device, shader);
        report.note(&format!("{}.metal (front end {:.1} ms)", shader.name, front_end.as_secs_f64() * 1e3))?;
        for defaults::KernelDefaults { config, guessed } in defaults::of_shader(shader)? {
            match kernel(&device, &library, &config, &folder, runs) {
                Ok((cold, archived)) => {
                    let remark = match guessed.is_empty() {
                        true => String::new(),
                        false => format!("  (guessed: {})", guessed.join(", ")),
                    };
                    report.kernel(config.key().kernel(), &cold, &archived, &remark)?;
                    all.push((cold, archived));
                }
                Err(error) => {
                    report.note(&format!("  FAILED: {error}"))?;
                    failed += 1;
                }
            }
        }
    }
    report.number("kernels that failed", f64::from(failed), "", PerformanceTarget::Below(1.0))?;
    summary(report, &all)
}

fn summary(report: &mut Report, all: &[(Timings, Timings)]) -> Result<(), Failure> {
    let sum = |number: &dyn Fn(&(Timings, Timings)) -> f64| all.iter().map(number).sum::<f64>();
    let count = all.len();
    let (cold, archived) = (sum(&|times| times.0.median()), sum(&|times| times.1.median()));
    report.number(&format!("all {count} kernels, cold"), cold / 1e6, "ms", PerformanceTarget::None)?;
    report.number(
        &format!("all {count} kernels, from the archive"),
        archived / 1e6,
        "ms",
        PerformanceTarget::None,
    )?;
    report.number(
        "cold : archive, all kernels, medians",
        cold / archived,
        "x",
        PerformanceTarget::AtLeast(20.0),
    )?;
    // Load on the machine affects long runs more than short ones: the fastest cold run is the fair one.
    let least = sum(&|times| times.0.min()) / archived;
    report.number("cold : archive, all kernels, fastest cold run", least, "x", PerformanceTarget::AtLeast(20.0))?;
    let worst = all.iter().map(|(cold, archived)| cold.min() / archived.median()).fold(f64::INFINITY, f64::min);
    report.number("cold : archive, worst kernel, fastest cold run", worst, "x", PerformanceTarget::AtLeast(20.0))
}
