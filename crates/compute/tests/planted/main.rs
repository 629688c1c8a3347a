//! Shader validation on kernels with one planted mistake each, of the kinds that real projects had.
//!
//! Each file begins with a sentence about the mistake and directives for its dispatch. Lines with a mistake end with
//! `// finding: KIND, KIND`; a kind with a question mark may be found there and need not be. With `FIXED` defined, the same
//! kernel is right, and nothing may be found.
#![cfg(llvm)]

mod directives;

use directives::{BufferData, Directives};
use metalworks_compute::{
    CompileOptions, ComputePipelineDescriptor, CpuOptions, Device, Finding, ShaderChecks, ShaderValidation, Size,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A kind of finding and its line.
type KindAndLine = (String, u32);

/// The expectations of a file.
#[derive(Default)]
struct Expected {
    needed: BTreeSet<KindAndLine>,
    allowed: BTreeSet<KindAndLine>,
}

impl Expected {
    fn new(source: &str) -> Expected {
        let mut expected = Expected::default();
        for (number, line) in (1..).zip(source.lines()) {
            let Some((_, kinds)) = line.split_once("// finding: ") else { continue };
            for kind in kinds.split(", ") {
                let name = kind.trim_end_matches('?');
                let is_known = metalworks_compute::FindingKind::ALL.iter().any(|known| known.id() == name);
                assert!(is_known, "line {number}: there is no kind '{name}'");
                expected.allowed.insert((name.into(), number));
                if name == kind {
                    expected.needed.insert((name.into(), number));
                }
            }
        }
        expected
    }
}

/// Runs the kernel of a file under validation.
fn run(path: &Path, source: &str, fixed: bool) -> Vec<Finding> {
    let directives = Directives::parse(source);
    let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU");
    let defaults = ShaderValidation::default();
    let validation = ShaderValidation {
        checks: ShaderChecks { nan: directives.nan, ..ShaderChecks::default() },
        step_budget: directives.steps.unwrap_or(defaults.step_budget),
        ..defaults
    };
    device.set_shader_validation(Some(validation)).expect("the CPU validates");
    let mut options = CompileOptions { name: path.display().to_string(), ..CompileOptions::default() };
    if fixed {
        options.defines.push(("FIXED".into(), None));
    }
    let library = device.new_library_with_source(source, &options).unwrap_or_else(|error| panic!("{error}"));
    let function = library.new_function("k", &directives.constants).expect("it is there");
    // Compiles only the code that the dispatch needs.
    let size = |[width, height, depth]: [usize; 3]| Size { width, height, depth };
    let descriptor = ComputePipelineDescriptor {
        threads_per_threadgroup: Some(size(directives.threadgroup)),
        ..ComputePipelineDescriptor::default()
    };
    let pipeline = device.new_compute_pipeline_state_with_descriptor(&function, &descriptor).expect("it compiles");
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("a pipeline state");
    let mut buffers = Vec::new();
    for (index, data) in &directives.buffers {
        let (buffer, offset) = match data {
            BufferData::Bytes(bytes) => {
                encoder.set_bytes(*index, bytes).expect("bytes");
                continue;
            }
            BufferData::Buffer { bytes, offset, is_uninitialized } => {
                let buffer = device.new_buffer_with_bytes(bytes).expect("memory");
                if *is_uninitialized {
                    device.declare_uninitialized(&buffer).expect("validation is on");
                }
                (buffer, *offset)
            }
            BufferData::SameAs(other) if fixed => {
                let other: &metalworks_compute::Buffer = &buffers[*other];
                (device.new_buffer(other.len()).expect("memory"), 0)
            }
            BufferData::SameAs(other) => (buffers[*other].clone(), 0),
        };
        encoder.set_buffer(*index, &buffer, offset).expect("a buffer");
        buffers.push(buffer);
    }
    for (index, bytes) in &directives.threadgroup_memory {
        encoder.set_threadgroup_memory_length(*index, *bytes).expect("threadgroup memory");
    }
    encoder.dispatch_threadgroups(size(directives.grid), size(directives.threadgroup)).expect("a grid");
    encoder.end_encoding().expect("an end");
    commands.commit().expect("it is complete");
    // A loop that does not end is an error, too.
    let _ = commands.wait_until_completed();
    device.take_findings()
}

/// The places of a finding: a race has two.
fn places(finding: &Finding) -> Vec<KindAndLine> {
    let places = std::iter::once(&finding.place).chain(finding.other.as_ref().map(|(place, _)| place));
    let line = |place: &metalworks_compute::CodePlace| place.locations.first().map_or(0, |location| location.line);
    places.map(|place| (finding.kind.id().into(), line(place))).collect()
}

/// Problems of one file.
fn check(path: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(path).expect("it is readable");
    let expected = Expected::new(&source);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    assert!(!expected.allowed.is_empty(), "{name} has no finding");
    let mut problems = Vec::new();
    let found = run(path, &source, false);
    let all: BTreeSet<KindAndLine> = found.iter().flat_map(places).collect();
    for (kind, line) in expected.needed.difference(&all) {
        problems.push(format!("{name}:{line}: {kind} is not found"));
    }
    if all.is_disjoint(&expected.allowed) {
        problems.push(format!("{name}: nothing is found that is expected"));
    }
    for finding in &found {
        if places(finding).iter().all(|place| !expected.allowed.contains(place)) {
            problems.push(format!("{name}: not expected: {finding}"));
        }
    }
    for finding in run(path, &source, true) {
        problems.push(format!("{name}, fixed: {finding}"));
    }
    problems
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planted");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it is readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "metal"));
    files.sort();
    files
}

#[test]
fn every_planted_mistake_is_found_and_no_twin_reported() {
    let mut files = files();
    assert!(files.len() >= 165, "{} files", files.len());
    // To look at some files alone while working on them.
    if let Ok(part) = std::env::var("METALWORKS_CASE") {
        files.retain(|file| file.to_string_lossy().contains(&part));
    }
    let problems: Vec<String> = files.iter().flat_map(|file| check(file)).collect();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
