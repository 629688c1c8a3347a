//! The device of a model: libraries, loading, running.
#![cfg(llvm)]

use compute::{
    BinaryArchive, CompileOptions, ConstantBits, Device, Error, LateMisses, LibraryOrigin, PipelineOrigin, Result,
    Size,
};
use inference::metal::{MetalDevice, PipelineSet};

fn device() -> MetalDevice {
    MetalDevice::with_device(Device::cpu().expect("there is a processor"), None).expect("the library is right")
}

/// Something small to add.
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
fn the_shader_library_is_there() -> Result<()> {
    let names = device().kernel_names();
    assert_eq!(names.len(), inference::metal::kernels::ALL.len());
    assert!(names.iter().any(|name| name == "add_f32"), "{names:?}");
    Ok(())
}

#[test]
fn libraries_say_where_their_kernels_come_from() -> Result<()> {
    let device = with_own_library(None)?;
    let origins = device.library_origins();
    assert_eq!(origins.get("own"), Some(&LibraryOrigin::Source));
    for shader in inference::metal::kernels::SHADERS {
        let expected = if shader.metallib.is_some() { LibraryOrigin::Metallib } else { LibraryOrigin::Source };
        assert_eq!(origins.get(shader.name), Some(&expected), "{}", shader.name);
    }
    assert_eq!(origins.len(), 1 + inference::metal::kernels::SHADERS.len());
    Ok(())
}

#[test]
fn kernels_of_ones_own_run() -> Result<()> {
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
fn a_name_is_in_one_library_only() -> Result<()> {
    let device = with_own_library(None)?;
    let count = device.kernel_names().len();
    let source = "kernel void other(device uint *x [[buffer(0)]]) { x[0] = 1; }
                  kernel void times(device uint *x [[buffer(0)]]) { x[0] = 2; }";
    let second = device.device().new_library_with_source(source, &CompileOptions::default())?;
    let error = device.add_library("second", &second).expect_err("'times' is there");
    let text = "kernel 'times' of the library 'second' is in the library 'own' already: host names must differ";
    assert_eq!(error, Error::Usage(text.into()));
    assert_eq!(device.kernel_names().len(), count);
    Ok(())
}

#[test]
fn a_wrong_name_is_an_error_with_a_hint() {
    let error = device().get_or_create_pso("add_f", ()).expect_err("there is none").to_string();
    let text = "pipeline add_f (kernel 'add_f'): the library has no kernel 'add_f'; did you mean 'add_f16'?";
    assert_eq!(error, text);
}

#[test]
fn a_plan_is_loaded_and_sealed() -> Result<()> {
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
    let error = device.get_or_create_pso("plus", factor(2)).expect_err("it was not declared").to_string();
    assert!(error.contains("declare kernel 'plus' with FACTOR = 2 (uint) in the plan"), "{error}");
    let stats = device.stats();
    assert_eq!((stats.pipelines, stats.misses, stats.failures, stats.late_misses, stats.hits), (3, 4, 1, 1, 1));
    assert!(stats.code_bytes > 0 && !stats.compile_time.is_zero());
    // Another model.
    let mut second = PipelineSet::new();
    second.declare("times", factor(1)).declare("plus", factor(2));
    device.load(&second, |_| {})?;
    assert!(device.get_or_create_pso("plus", factor(2)).is_ok());
    assert_eq!(device.stats().pipelines, 4);
    Ok(())
}

#[test]
fn a_plan_with_mistakes_names_all_of_them() -> Result<()> {
    let device = with_own_library(None)?;
    let mut plan = PipelineSet::new();
    plan.declare("times", factor(1)).declare("times", ()).declare("tims", ());
    let error = device.load(&plan, |_| {}).expect_err("two are wrong").to_string();
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
fn a_plan_is_loaded_in_the_background() -> Result<()> {
    let device = with_own_library(None)?;
    let mut plan = PipelineSet::new();
    plan.declare("times", factor(1)).declare("plus", factor(1)).declare("times", factor(2));
    let pending = device.begin_load(&plan);
    // Nobody waits for them, and they are created all the same.
    let start = std::time::Instant::now();
    while !pending.is_done() {
        assert!(start.elapsed().as_secs() < 120, "{pending:?}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(!device.pipelines().is_sealed(), "the loading has not ended");
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
fn a_plan_with_mistakes_that_is_loaded_in_the_background_names_them() -> Result<()> {
    let device = with_own_library(None)?;
    let mut plan = PipelineSet::new();
    plan.declare("times", factor(1)).declare("tims", ());
    let error = device.begin_load(&plan).finish(|_| {}).expect_err("one is wrong").to_string();
    assert_eq!(
        error,
        "1 of 2 pipelines could not be created\npipeline tims (kernel 'tims'): the library has no kernel 'tims'"
    );
    assert!(!device.pipelines().is_sealed());
    Ok(())
}

#[test]
fn an_archive_saves_compiling() -> Result<()> {
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

/// The folder of the archive, and how many pipelines are to come from it. Set for the processes of the next test only.
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
#[ignore = "a_second_process_compiles_nothing runs it, in processes of its own"]
fn loads_from_the_users_cache() -> Result<()> {
    let expected: u64 = std::env::var(FROM_ARCHIVE).ok().and_then(|text| text.parse().ok()).expect("it is set");
    let device = MetalDevice::system_default()?;
    let mut plan = PipelineSet::new();
    plan.declare("silu_f32", ()).declare("silu_f16", ()).declare("add_f32", ()).declare("copy_f16_f32", ());
    device.load(&plan, |_| {})?;
    let stats = device.stats();
    assert_eq!((stats.misses, stats.from_archive, stats.compiled()), (4, expected, 4 - expected), "{stats}");
    Ok(())
}
