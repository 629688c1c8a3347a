//! `MetalDevice`: libraries, loading of pipelines, dispatch.
#![cfg(llvm)]

use compute::{
    BinaryArchive, CompileOptions, ConstantBits, Device, Error, LateMisses, LibraryOrigin, PipelineOrigin, Result,
    Size,
};
use metalworks_inference::metal::{MetalDevice, PipelineSet};

fn device() -> MetalDevice {
    MetalDevice::with_device(Device::cpu().expect("there is a CPU"), None).expect("the shader library is valid")
}

/// Small library to add to a device.
const OWN: &str = "
    constant uint FACTOR [[function_constant(0)]];
    kernel void times(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= FACTOR; }
    kernel void plus(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += FACTOR; }";

fn factor(value: u32) -> [(&'static str, ConstantBits); 1] {
    [("FACTOR", value.into())]
}

fn with_own_library(archive: Option<BinaryArchive>) -> Result<MetalDevice> {
    let device = MetalDevice::with_device(Device::cpu()?, archive)?;
    let own = device.device().new_library_with_source(OWN, &CompileOptions::default())?;
    device.add_library("own", &own)?;
    Ok(device)
}

#[test]
fn a_device_has_all_kernels_of_the_shaders() -> Result<()> {
    let names = device().kernel_names();
    assert_eq!(names.len(), metalworks_inference::metal::kernels::ALL.len());
    assert!(names.iter().any(|name| name == "add_f32"), "{names:?}");
    Ok(())
}

#[test]
fn library_origins_name_source_or_metallib() -> Result<()> {
    let device = with_own_library(None)?;
    let origins = device.library_origins();
    assert_eq!(origins.get("own"), Some(&LibraryOrigin::Source));
    for shader in metalworks_inference::metal::kernels::SHADERS {
        let expected = if shader.metallib.is_some() { LibraryOrigin::Metallib } else { LibraryOrigin::Source };
        assert_eq!(origins.get(shader.name), Some(&expected), "{}", shader.name);
    }
    assert_eq!(origins.len(), 1 + metalworks_inference::metal::kernels::SHADERS.len());
    Ok(())
}

#[test]
fn kernels_of_an_added_library_run() -> Result<()> {
    let device = with_own_library(None)?;
    let buffer = device.device().new_buffer_with_bytes(&[1, 0, 0, 0, 2, 0, 0, 0])?;
    let commands = device.command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    for kernel in ["times", "plus"] {
        encoder.set_compute_pipeline_state(device.get_or_create_pso(kernel, factor(5))?)?;
        encoder.set_buffer(0, &buffer, 0)?;
        encoder.dispatch_threads(Size::linear(2), Size::linear(32))?;
    }
    encoder.end_encoding()?;
    commands.commit()?;
    commands.wait_until_completed()?;
    assert_eq!(*buffer.read::<u32>(), [10, 15]);
    Ok(())
}

#[test]
fn rejects_duplicate_kernel_names() -> Result<()> {
    let device = with_own_library(None)?;
    let count = device.kernel_names().len();
    let source = "kernel void other(device uint *x [[buffer(0)]]) { x[0] = 1; }
                  kernel void times(device uint *x [[buffer(0)]]) { x[0] = 2; }";
    let second = device.device().new_library_with_source(source, &CompileOptions::default())?;
    let error = device.add_library("second", &second).expect_err("'times' exists");
    let text = "kernel 'times' of the library 'second' is in the library 'own' already: host names must differ";
    assert_eq!(error, Error::Usage(text.into()));
    assert_eq!(device.kernel_names().len(), count);
    Ok(())
}

#[test]
fn error_of_an_unknown_kernel_suggests_a_similar_one() {
    let error = device().get_or_create_pso("add_f", ()).expect_err("the name is misspelled").to_string();
    let text = "pipeline add_f (kernel 'add_f'): the library has no kernel 'add_f'; did you mean 'add_f16'?";
    assert_eq!(error, text);
}

#[test]
fn loading_a_pipeline_set_seals_the_cache() -> Result<()> {
    let device = with_own_library(None)?;
    let mut plan = PipelineSet::new();
    assert!(plan.is_empty());
    plan.declare("times", factor(1)).declare("plus", factor(1)).declare("times", factor(2));
    plan.declare("times", factor(1));
    assert_eq!(plan.len(), 3);
    let mut seen = Vec::new();
    device.load(&plan, |progress| seen.push((progress.done, progress.key.to_string())))?;
    seen.sort_unstable();
    assert_eq!(seen.iter().map(|seen| seen.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(device.get_or_create_pso("times", factor(2))?.label(), Some("times_factor2"));
    device.pipelines().seal_with(LateMisses::Refuse);
    let error = device.get_or_create_pso("plus", factor(2)).expect_err("the pipeline was not declared").to_string();
    assert!(error.contains("declare kernel 'plus' with FACTOR = 2 (uint) in the plan"), "{error}");
    let stats = device.stats();
    assert_eq!((stats.pipelines, stats.misses, stats.failures, stats.late_misses, stats.hits), (3, 4, 1, 1, 1));
    assert!(stats.code_bytes > 0 && !stats.compile_time.is_zero());
    // The pipelines of a second model.
    let mut second = PipelineSet::new();
    second.declare("times", factor(1)).declare("plus", factor(2));
    device.load(&second, |_| {})?;
    assert!(device.get_or_create_pso("plus", factor(2)).is_ok());
    assert_eq!(device.stats().pipelines, 4);
    Ok(())
}

#[test]
fn error_of_a_pipeline_set_names_all_failures() -> Result<()> {
    let device = with_own_library(None)?;
    let mut plan = PipelineSet::new();
    plan.declare("times", factor(1)).declare("times", ()).declare("tims", ());
    let error = device.load(&plan, |_| {}).expect_err("two pipelines are invalid").to_string();
    assert_eq!(
        error,
        "2 of 3 pipelines could not be created\n\
         pipeline times (kernel 'times'): function constants of kernel 'times': function constant not set: 'FACTOR' \
         (index 0, uint)\n\
         pipeline tims (kernel 'tims'): the library has no kernel 'tims'"
    );
    assert!(!device.pipelines().is_sealed());
    assert!(device.get_or_create_pso("times", factor(1)).is_ok());
    Ok(())
}

#[test]
fn pipelines_load_in_the_background() -> Result<()> {
    let device = with_own_library(None)?;
    let mut plan = PipelineSet::new();
    plan.declare("times", factor(1)).declare("plus", factor(1)).declare("times", factor(2));
    let pending = device.begin_load(&plan);
    // They are created without a call that waits for them.
    let start = std::time::Instant::now();
    while !pending.is_done() {
        assert!(start.elapsed().as_secs() < 120, "{pending:?}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(!device.pipelines().is_sealed(), "loading is not finished");
    let (this, mut done) = (std::thread::current().id(), 0);
    pending.finish(|progress| {
        assert_eq!(std::thread::current().id(), this);
        done = progress.done;
    })?;
    assert_eq!((done, device.stats().pipelines), (3, 3));
    assert!(device.pipelines().is_sealed());
    Ok(())
}

#[test]
fn background_loading_reports_failures() -> Result<()> {
    let device = with_own_library(None)?;
    let mut plan = PipelineSet::new();
    plan.declare("times", factor(1)).declare("tims", ());
    let error = device.begin_load(&plan).finish(|_| {}).expect_err("one pipeline is invalid").to_string();
    assert_eq!(
        error,
        "1 of 2 pipelines could not be created\npipeline tims (kernel 'tims'): the library has no kernel 'tims'"
    );
    assert!(!device.pipelines().is_sealed());
    Ok(())
}

#[test]
fn archived_pipelines_are_not_compiled_again() -> Result<()> {
    let archive = BinaryArchive::new();
    let mut plan = PipelineSet::new();
    plan.declare("times", factor(1)).declare("plus", factor(1)).declare("silu_f32", ());
    for (round, origin) in [PipelineOrigin::Compiled, PipelineOrigin::Archive].into_iter().enumerate() {
        let device = with_own_library(Some(archive.clone()))?;
        device.load(&plan, |_| {})?;
        let stats = device.stats();
        assert_eq!((stats.misses, stats.from_archive), (3, 3 * round as u64));
        assert_eq!(device.get_or_create_pso("silu_f32", ())?.origin(), origin);
        assert_eq!(stats.compiled(), 3 - stats.from_archive);
    }
    Ok(())
}

#[test]
fn many_threads_share_a_device() -> Result<()> {
    let device = with_own_library(None)?;
    let start = std::sync::Barrier::new(64);
    std::thread::scope(|scope| {
        for number in 0..64u32 {
            let (device, start) = (device.clone(), &start);
            scope.spawn(move || {
                start.wait();
                let result = match number % 4 {
                    0 => device.get_or_create_pso("times", factor(7)),
                    1 => device.get_or_create_pso("plus", factor(number % 8)),
                    2 => device.get_or_create_pso("silu_f32", ()),
                    _ => device.get_or_create_pso("times", ()),
                };
                assert_eq!(result.is_err(), number % 4 == 3, "{result:?}");
            });
        }
    });
    let stats = device.stats();
    assert_eq!((stats.pipelines, stats.misses - stats.failures), (4, 4));
    assert_eq!(stats.hits + stats.misses + stats.waits, 64);
    Ok(())
}

/// Environment variable with the number of pipelines that must come from the archive. The next test sets it for its
/// child processes.
const FROM_ARCHIVE: &str = "METALWORKS_TEST_FROM_ARCHIVE";

#[test]
fn a_second_process_compiles_nothing() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("device-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    for expected in ["0", "4"] {
        let output = std::process::Command::new(std::env::current_exe()?)
            .args(["--exact", "loads_from_the_users_cache", "--ignored"])
            .env("METALWORKS_CACHE", &folder)
            .env_remove("METALWORKS_CACHE_SIZE")
            .env(FROM_ARCHIVE, expected)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

#[test]
#[ignore = "a_second_process_compiles_nothing runs it in child processes"]
fn loads_from_the_users_cache() -> Result<()> {
    let expected: u64 =
        std::env::var(FROM_ARCHIVE).ok().and_then(|text| text.parse().ok()).expect("variable is set");
    let device = MetalDevice::system_default()?;
    let mut plan = PipelineSet::new();
    plan.declare("silu_f32", ()).declare("silu_f16", ()).declare("add_f32", ()).declare("copy_f16_f32", ());
    device.load(&plan, |_| {})?;
    let stats = device.stats();
    assert_eq!((stats.misses, stats.from_archive, stats.compiled()), (4, expected, 4 - expected), "{stats}");
    Ok(())
}
