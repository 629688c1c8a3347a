//! Metal libraries, functions, pipeline states and archives, on a Mac or over the framework for Linux.
#![cfg(metal)]

use metalworks_compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, ConstantValue, Device, Error,
    FolderOptions, FunctionConstantValues, FunctionDescriptor, Library, LibraryCompiler, PipelineCache,
    PipelineConfig, PipelineOrigin, PrecompiledLibrary, Result, log,
};
use std::path::PathBuf;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

const SOURCE: &str = "
    #include <metal_stdlib>
    using namespace metal;
    constant uint K [[function_constant(0)]];
    constant bool BIAS [[function_constant(1)]];
    constant uint OTHER [[function_constant(2)]];
    struct Params { uint n; float4 scale; };
    kernel void gemv(device const float *x [[buffer(0)]], device float4 *y [[buffer(1)]],
                     constant Params &p [[buffer(2)]],
                     device const float *bias [[buffer(3), function_constant(BIAS)]],
                     threadgroup float *tile [[threadgroup(0)]],
                     uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
        tile[t] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        y[i] = p.scale * tile[t] * K + (BIAS ? bias[i] : 0.0f);
    }
    kernel void other(device uint *y [[buffer(0)]]) { *y = OTHER; }";

fn metal() -> Device {
    Device::named("metal").expect("a Mac has a GPU")
}

fn library() -> Library {
    metal().new_library_with_source(SOURCE, &CompileOptions::default()).expect("it has no mistakes")
}

fn constants(bias: bool) -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set_named("K", ConstantValue::Uint(3)).set(1, ConstantValue::Bool(bias));
    constants.set_named("OTHER", ConstantValue::Uint(0));
    constants
}

fn pipeline(library: &Library, bias: bool, archives: Vec<BinaryArchive>) -> Result<ComputePipelineState> {
    let constants = constants(bias);
    let function = FunctionDescriptor { library, name: "gemv", constants: &constants };
    let descriptor = ComputePipelineDescriptor { binary_archives: archives, ..Default::default() };
    metal().new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
}

fn arguments(pipeline: &ComputePipelineState) -> Vec<(&str, u64)> {
    let arguments = pipeline.reflection().arguments.iter();
    arguments.map(|argument| (argument.name.as_str(), argument.element_size)).collect()
}

/// A folder of a test, removed when it is dropped.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str) -> TestFolder {
        let path = std::env::temp_dir().join(format!("metalworks-metal-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        TestFolder(path)
    }

    fn archive(&self) -> BinaryArchive {
        BinaryArchive::folder(&self.0, FolderOptions::default())
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.0.join("metal")).into_iter().flatten();
        files.map(|file| file.expect("it can be listed").path()).collect()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn metal_and_the_front_end_have_the_same_reflection() {
    let device = metal();
    device.set_validation(true);
    let mut names = library().function_names();
    names.sort();
    assert_eq!(names, ["gemv", "other"]);
    let with = pipeline(&library(), true, vec![]).expect("it is compiled");
    let without = pipeline(&library(), false, vec![]).expect("it is compiled");
    assert_eq!(arguments(&without), [("x", 4), ("y", 16), ("p", 32), ("tile", 4)]);
    assert_eq!(arguments(&with), [("x", 4), ("y", 16), ("p", 32), ("bias", 4), ("tile", 4)]);
    assert_eq!((with.origin(), with.thread_execution_width()), (PipelineOrigin::Compiled, 32));
    let function = library().new_function("gemv", &constants(false)).expect("a function");
    let names: Vec<&str> = function.reflection().arguments.iter().map(|argument| argument.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "p", "tile"]);
    assert!(device.new_compute_pipeline_state(&function).is_ok());
}

#[test]
fn source_errors_have_locations() {
    let options = CompileOptions { name: "wrong.metal".into(), ..CompileOptions::default() };
    let problem = metal().new_library_with_source("kernel void k() {\n    y = 1;\n}\n", &options).expect_err("y");
    let Error::Source { errors: 1, diagnostics } = &problem else { panic!("{problem:?}") };
    assert!(diagnostics.starts_with("wrong.metal:2:5: error: "), "{problem}");
    let checked = metal().new_library_with_checked_source("kernel void k() { y = 1; }", &options);
    assert!(matches!(pipeline(&checked, true, vec![]), Err(Error::Source { .. })));
}

#[test]
fn options_reach_the_compiler() {
    let text = "kernel void k(device float *x [[buffer(0)]]) { *x = SCALE; }
                #if __METAL_VERSION__ != 310\n#error another version\n#endif\n";
    let defines = vec![("SCALE".to_owned(), Some("2.0f".to_owned()))];
    let options = CompileOptions { defines, ..CompileOptions::default() };
    metal().new_library_with_source(text, &options).expect("the name is defined");
    assert!(metal().new_library_with_source(text, &CompileOptions::default()).is_err());
}

#[test]
fn files_are_included() {
    let place = TestFolder::new("include");
    std::fs::create_dir_all(&place.0).expect("a folder");
    std::fs::write(place.0.join("scale.h"), "#pragma once\nconstant float SCALE = wrong;\n").expect("a header");
    let text = "#include <metal_stdlib>\n#include \"scale.h\"\nkernel void k(device float *x [[buffer(0)]]) \
                { *x = SCALE; }\n";
    std::fs::write(place.0.join("k.metal"), text).expect("a file");
    let open = || metal().new_library_with_source_file(place.0.join("k.metal"), &CompileOptions::default());
    let problem = open().expect_err("a mistake in a header").to_string();
    assert!(problem.contains("scale.h:2:24: error: "), "{problem}");
    std::fs::write(place.0.join("scale.h"), "#pragma once\nconstant float SCALE = 2.0f;\n").expect("a header");
    assert_eq!(open().expect("it is right").function_names(), ["k"]);
}

#[test]
fn constants_are_checked_by_name_and_type() {
    let problem = |constants: &FunctionConstantValues| {
        library().new_function("gemv", constants).expect_err("it is wrong").to_string()
    };
    assert_eq!(
        problem(&FunctionConstantValues::new()),
        "function constants of kernel 'gemv': function constants not set: 'K' (index 0, uint), 'BIAS' (index 1, bool)"
    );
    let mut wrong = constants(true);
    wrong.set_named("BIAS", ConstantValue::Int(1));
    assert!(problem(&wrong).ends_with("'BIAS' (index 1) is a bool, and its value is a int"), "{}", problem(&wrong));
    let mut unknown = constants(true);
    unknown.set(9, ConstantValue::Bool(true));
    assert!(problem(&unknown).contains("no function constant with index 9"), "{}", problem(&unknown));
    let problem = library().new_function("Gemv", &constants(true)).expect_err("no such kernel");
    assert_eq!(problem.to_string(), "the library has no kernel 'Gemv'; did you mean 'gemv'?");
}

#[test]
fn constants_of_every_type() {
    use half::f16;
    let vector = |value: ConstantValue, len: usize| ConstantValue::Vector(vec![value; len]);
    for value in [
        ConstantValue::Bool(true),
        ConstantValue::Char(-2),
        ConstantValue::Uchar(200),
        ConstantValue::Short(-300),
        ConstantValue::Ushort(65535),
        ConstantValue::Int(-1),
        ConstantValue::Uint(u32::MAX),
        ConstantValue::Long(i64::MIN),
        ConstantValue::Ulong(u64::MAX),
        ConstantValue::Half(f16::ONE),
        ConstantValue::Float(0.5),
        vector(ConstantValue::Float(0.5), 3),
        vector(ConstantValue::Uint(7), 4),
        vector(ConstantValue::Bool(true), 2),
        vector(ConstantValue::Ulong(1), 4),
    ] {
        let ty = value.type_name();
        let text = format!(
            "#include <metal_stdlib>\nusing namespace metal;\nconstant {ty} C [[function_constant(5)]];\n\
             kernel void k(device {ty} *x [[buffer(0)]]) {{ *x = C; }}\n"
        );
        let library = metal().new_library_with_source(&text, &CompileOptions::default()).expect(&ty);
        let mut by_index = FunctionConstantValues::new();
        let mut by_name = FunctionConstantValues::new();
        by_index.set(5, value.clone());
        by_name.set_named("C", value);
        for constants in [by_index, by_name] {
            let function = library.new_function("k", &constants).unwrap_or_else(|error| panic!("{ty}: {error}"));
            metal().new_compute_pipeline_state(&function).unwrap_or_else(|error| panic!("{ty}: {error}"));
        }
    }
}

#[test]
fn a_refused_metallib_is_replaced_by_its_source() {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    log::set_handler(|line| LINES.lock().expect("nobody panics").push(line.into()));
    let options = CompileOptions { name: "gemv.metal".into(), ..CompileOptions::default() };
    let metallib = PrecompiledLibrary { data: b"no library", compiler: LibraryCompiler::Apple };
    let library = metal().new_library_with_metallib_or_source(Some(metallib), SOURCE, &options);
    assert!(LINES.lock().expect("nobody panics").is_empty(), "nothing is opened before it is needed");
    pipeline(&library, true, vec![]).expect("it is compiled from its source");
    let lines = LINES.lock().expect("nobody panics").clone();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("gemv.metal is compiled from its source"), "{lines:?}");
    assert!(matches!(metal().new_library_with_data(b"no library".to_vec()), Err(Error::Library(_))));
    let path = std::env::temp_dir().join("metalworks-no-such-file.metallib");
    assert!(matches!(metal().new_library_with_file(path), Err(Error::File { .. })));
}

#[test]
fn the_next_process_finds_compiled_code() {
    let place = TestFolder::new("next");
    let first = pipeline(&library(), true, vec![place.archive()]).expect("it is compiled");
    assert_eq!(first.origin(), PipelineOrigin::Compiled);
    // The archive is flushed when it is dropped, with the last pipeline state that holds it.
    drop(first);
    assert_eq!(place.files().len(), 1, "{:?}", place.archive().problems());
    let archive = place.archive();
    assert_eq!((archive.len(), archive.info().entries, archive.info().damaged), (1, 1, 0));
    let found = pipeline(&library(), true, vec![archive.clone()]).expect("it is found");
    assert_eq!((found.origin(), arguments(&found).len()), (PipelineOrigin::Archive, 5), "{:?}", archive.problems());
    let other = pipeline(&library(), false, vec![archive]).expect("it is compiled");
    assert_eq!(other.origin(), PipelineOrigin::Compiled);
    drop((found, other));
    // The earlier code is still there.
    for bias in [true, false] {
        let found = pipeline(&library(), bias, vec![place.archive()]).expect("it is found");
        assert_eq!(found.origin(), PipelineOrigin::Archive);
    }
}

#[test]
fn a_damaged_archive_is_set_aside() {
    let place = TestFolder::new("damaged");
    drop(pipeline(&library(), true, vec![place.archive()]).expect("it is compiled"));
    std::fs::write(&place.files()[0], "torn").expect("it can be damaged");
    let archive = place.archive();
    let compiled = pipeline(&library(), true, vec![archive.clone()]).expect("it is compiled again");
    assert_eq!((compiled.origin(), archive.problems().len()), (PipelineOrigin::Compiled, 1));
    assert!(archive.problems()[0].contains("is set aside"), "{:?}", archive.problems());
    archive.flush();
    assert_eq!(place.files().len(), 2);
}

#[test]
fn archives_in_memory_and_misses() {
    let archive = BinaryArchive::new();
    let origin = || pipeline(&library(), true, vec![archive.clone()]).expect("it is there").origin();
    assert_eq!([origin(), origin()], [PipelineOrigin::Compiled, PipelineOrigin::Archive]);
    let (library, constants) = (library(), constants(false));
    let function = FunctionDescriptor { library: &library, name: "gemv", constants: &constants };
    let descriptor = ComputePipelineDescriptor {
        binary_archives: vec![archive.clone()],
        fail_on_binary_archive_miss: true,
        ..Default::default()
    };
    let missed = metal().new_compute_pipeline_state_with_function_descriptor(&function, &descriptor);
    assert!(matches!(missed, Err(Error::ArchiveMiss { .. })), "{missed:?}");
}

#[test]
fn completion_handlers_are_called_once() {
    let (sender, receiver) = mpsc::channel::<Result<ComputePipelineState>>();
    let library = library();
    for (name, constants) in
        [("gemv", constants(true)), ("gemv", FunctionConstantValues::new()), ("no", constants(true))]
    {
        let function = FunctionDescriptor { library: &library, name, constants: &constants };
        let sender = sender.clone();
        metal().new_compute_pipeline_state_with_completion_handler(&function, &Default::default(), move |result| {
            sender.send(result).expect("it is awaited");
        });
    }
    drop(sender);
    let mut results = Vec::new();
    // The channel closes when all handlers are dropped: none was called twice, and no block leaks.
    while let Ok(result) = receiver.recv_timeout(Duration::from_secs(60)) {
        results.push(result);
    }
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(results.iter().filter(|result| matches!(result, Err(Error::Constants { .. }))).count(), 1);
    assert_eq!(results.iter().filter(|result| matches!(result, Err(Error::NoFunction { .. }))).count(), 1);
    assert!(matches!(receiver.recv_timeout(Duration::ZERO), Err(mpsc::RecvTimeoutError::Disconnected)));
}

#[test]
fn a_cache_flushes_the_archive_when_all_is_created() {
    let place = TestFolder::new("cache");
    let (library, archive) = (library(), place.archive());
    let cache = PipelineCache::new({
        let archive = archive.clone();
        move |config: &PipelineConfig| {
            let constants = config.key().constants()?;
            let function =
                FunctionDescriptor { library: &library, name: config.key().kernel(), constants: &constants };
            let descriptor =
                ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() };
            metal().new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
        }
    });
    let configs: Vec<PipelineConfig> =
        (1..5u32).map(|other| PipelineConfig::new("other", [("OTHER", other.into())])).collect();
    cache.create_all(&configs, |_| {}).into_pipelines().expect("all are created");
    assert_eq!(place.files().len(), 1, "{:?}", archive.problems());
    cache.seal();
    assert!(cache.get("other", [("OTHER", 4u32.into())]).is_some());
}

#[test]
fn a_library_works_with_the_device_that_opened_it() {
    let cpu = Device::cpu().expect("a CPU");
    let of_cpu = cpu.new_library_with_checked_source(SOURCE, &CompileOptions::default());
    assert!(matches!(pipeline(&of_cpu, true, vec![]), Err(Error::Usage(_))));
    let (of_metal, constants) = (library(), constants(true));
    let function = FunctionDescriptor { library: &of_metal, name: "gemv", constants: &constants };
    let made = cpu.new_compute_pipeline_state_with_function_descriptor(&function, &Default::default());
    assert!(matches!(made, Err(Error::Usage(_))), "{made:?}");
}
