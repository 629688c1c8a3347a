//! Archives in one file: for this machine, for older ones, and not used for incompatible ones.

use crate::support::{SOURCE, TestFolder, device, factor, library, only, pipeline, run, times};
use metalworks_compute::{
    BinaryArchive, CompileOptions, CompileTarget, ComputePipelineDescriptor, Error, FunctionDescriptor,
    PipelineOrigin,
};
use std::path::PathBuf;

/// A file with the kernel for a target.
fn file(place: &TestFolder, target: &str) -> PathBuf {
    let archive = BinaryArchive::new();
    let constants = factor(3);
    let function = FunctionDescriptor { library: &library(), name: "scale", constants: &constants };
    let target: CompileTarget = target.parse().expect("a target");
    archive.add_compute_pipeline_function(&function, &target).expect("it compiles");
    let path = place.0.join(format!("{}.mwarchive", target.to_string().replace(':', "-")));
    archive.serialize(&path).expect("it is written");
    path
}

fn is_miss(result: metalworks_compute::Result<metalworks_compute::ComputePipelineState>) -> bool {
    matches!(result, Err(Error::ArchiveMiss { .. }))
}

#[test]
fn a_file_serves_threadgroups_of_all_sizes() {
    let place = TestFolder::new("portable");
    let archive = BinaryArchive::open(file(&place, "cpu")).expect("it is one");
    assert_eq!((archive.len(), archive.info().damaged), (2, 0));
    let pipeline = pipeline(&library(), &factor(3), &only(&archive)).expect("it is there");
    for threads in [32, 24, 40] {
        assert_eq!(run(&pipeline, threads), times(3));
    }
    assert_eq!(pipeline.origin(), PipelineOrigin::Archive);
    assert!(is_miss(crate::support::pipeline(&library(), &factor(4), &only(&archive))));
    let function = FunctionDescriptor { library: &library(), name: "scale", constants: &factor(4) };
    let problem = archive.add_compute_pipeline_function(&function, &CompileTarget::default()).expect_err("a file");
    assert!(problem.to_string().contains("does not accept new entries"), "{problem}");
}

/// Code for another kind of device is kept, and not taken for code of the CPU.
#[cfg(target_os = "linux")]
#[test]
fn code_for_gpus_is_beside_that_for_cpus() {
    let place = TestFolder::new("gpus");
    let archive = BinaryArchive::open(file(&place, "sm_80")).expect("it is one");
    assert_eq!((archive.len(), archive.info().damaged), (2, 0), "whole threadgroups, and any");
    let missing = pipeline(&library(), &factor(3), &only(&archive)).expect_err("it is for a GPU").to_string();
    assert!(missing.contains("not in any archive"), "{missing}");
}

#[test]
fn a_folder_becomes_a_file() {
    let place = TestFolder::new("serialize");
    let folder = place.folder();
    for number in 3..6 {
        pipeline(&library(), &factor(number), &crate::support::with(&folder)).expect("it compiles");
    }
    let path = place.0.join("all.mwarchive");
    folder.serialize(&path).expect("it is written");
    folder.serialize(&path).expect("it is replaced");
    let archive = BinaryArchive::open(&path).expect("it is one");
    for number in 3..6 {
        assert!(pipeline(&library(), &factor(number), &only(&archive)).is_ok());
    }
    let problem = folder.serialize(place.0.join("no/such/folder")).expect_err("there is no folder");
    assert!(matches!(problem, Error::Write { .. }), "{problem}");
}

#[cfg(target_os = "linux")]
#[test]
fn links_and_pipes_are_not_replaced() {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    let place = TestFolder::new("named");
    let archive = BinaryArchive::new();
    let (file, link) = (place.0.join("file"), place.0.join("link"));
    std::fs::write(&file, "old").expect("it is written");
    std::os::unix::fs::symlink("file", &link).expect("it is made");
    archive.serialize(&link).expect("it is written");
    assert!(link.is_symlink() && !file.is_symlink());
    assert!(BinaryArchive::open(&file).is_ok());

    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    archive.serialize(format!("/proc/self/fd/{}", writer.as_raw_fd())).expect("it is written");
    drop(writer);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("it is read");
    assert_eq!(bytes, std::fs::read(&file).expect("it is read"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn code_for_an_older_cpu_runs() {
    let place = TestFolder::new("older");
    let archive = BinaryArchive::open(file(&place, "cpu:x86-64-v3")).expect("it is one");
    let pipeline = pipeline(&library(), &factor(3), &only(&archive)).expect("it runs here");
    assert_eq!((run(&pipeline, 32), run(&pipeline, 24)), (times(3), times(3)));
    assert_eq!(archive.info().targets[0].target, "cpu x86_64 x86-64-v3");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn code_for_another_cpu_does_not_run() {
    let place = TestFolder::new("other");
    // No CPU has the extensions of both.
    let lacking = if std::arch::is_x86_feature_detected!("sse4a") { "cpu:sapphirerapids" } else { "cpu:znver4" };
    for target in [lacking, "cpu:apple-m1"] {
        let archive = BinaryArchive::open(file(&place, target)).expect("it is one");
        let problem = pipeline(&library(), &factor(3), &only(&archive)).expect_err("it is for another").to_string();
        let name = target.trim_start_matches("cpu:");
        assert!(problem.contains(name) && problem.contains("does not run on this machine"), "{problem}");
        // Nor does it prevent compiling.
        let compiled = pipeline(&library(), &factor(3), &crate::support::with(&archive)).expect("it compiles");
        assert_eq!((compiled.origin(), run(&compiled, 32)), (PipelineOrigin::Compiled, times(3)));
    }
}

#[test]
fn every_damaged_byte_is_detected() {
    let place = TestFolder::new("bytes");
    let whole = std::fs::read(file(&place, "cpu")).expect("it is there");
    let path = place.0.join("damaged.mwarchive");
    let (mut refused, mut missed, mut unharmed) = (0, 0, 0);
    // Every byte of the index, and some of the code; the tests of the format flip them all.
    let mut places: Vec<usize> = (0..whole.len().min(4096)).chain((4096..whole.len()).step_by(37)).collect();
    places.push(whole.len() - 1);
    for at in places {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &damaged).expect("it is ours");
        let Ok(archive) = BinaryArchive::open(&path) else {
            refused += 1;
            continue;
        };
        // One of the two entries is damaged; a pipeline of rows may need only the other.
        assert_eq!(archive.info().damaged, 1, "byte {at}");
        let rows = ComputePipelineDescriptor {
            thread_group_width_is_multiple_of_thread_execution_width: true,
            ..only(&archive)
        };
        assert!(is_miss(pipeline(&library(), &factor(3), &only(&archive))), "byte {at}");
        match pipeline(&library(), &factor(3), &rows) {
            Ok(_) => unharmed += 1,
            Err(problem) => {
                missed += 1;
                let problem = problem.to_string();
                let is_told =
                    problem.contains("it is damaged") && !problem.contains("does not run on this machine");
                assert!(is_told, "byte {at}: {problem}");
            }
        }
    }
    assert!(refused > 0 && missed > 0 && unharmed > 0, "{refused} {missed} {unharmed}");
    for len in (0..whole.len()).step_by(7) {
        std::fs::write(&path, &whole[..len]).expect("it is ours");
        let problem = BinaryArchive::open(&path).expect_err("it is too short");
        assert!(matches!(problem, Error::Library(_)), "{len} bytes: {problem}");
    }
}

#[test]
fn a_file_truncated_while_open_is_damaged() {
    let place = TestFolder::new("shortened");
    let path = file(&place, "cpu");
    let archive = BinaryArchive::open(&path).expect("it is one");
    std::fs::OpenOptions::new().write(true).open(&path).expect("it is ours").set_len(100).expect("it is ours");
    assert!(is_miss(pipeline(&library(), &factor(3), &only(&archive))));
    assert_eq!(archive.problems().len(), 1, "{:?}", archive.problems());
}

#[test]
fn rejects_files_that_are_not_archives() {
    let place = TestFolder::new("none");
    let problem = |name: &str, bytes: &[u8]| {
        std::fs::write(place.0.join(name), bytes).expect("it is ours");
        BinaryArchive::open(place.0.join(name)).expect_err("it is none").to_string()
    };
    assert!(problem("text", b"kernel void k() {}").contains("it is not an archive of compiled kernels"));
    assert!(problem("empty", b"").contains("it is not an archive of compiled kernels"));
    let missing = BinaryArchive::open(place.0.join("missing")).expect_err("it is not there");
    assert!(matches!(missing, Error::File { .. }), "{missing}");
    assert!(BinaryArchive::open(&place.0).is_err(), "a folder is no file");
}

#[test]
fn code_of_unknown_inputs_is_not_archived() {
    let source = format!("#if __has_include(\"other.h\")\n#endif\n{SOURCE}");
    let library = device().new_library_with_source(&source, &CompileOptions::default()).expect("no mistakes");
    let constants = factor(3);
    let function = FunctionDescriptor { library: &library, name: "scale", constants: &constants };
    let archive = BinaryArchive::new();
    let problem =
        archive.add_compute_pipeline_function(&function, &CompileTarget::default()).expect_err("not known");
    assert!(problem.to_string().contains("__has_include"), "{problem}");
    for _ in 0..2 {
        let pipeline = pipeline(&library, &constants, &crate::support::with(&archive)).expect("it compiles");
        assert_eq!(pipeline.origin(), PipelineOrigin::Compiled);
    }
    assert!(archive.is_empty());
}
