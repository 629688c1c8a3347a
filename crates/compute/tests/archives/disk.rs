//! A folder that processes share.

use crate::support::{SOURCE, TestFolder, device, factor, library, only, pipeline, run, times, with};
use metalworks_compute::{
    BinaryArchive, CompileOptions, Error, FolderOptions, FunctionConstantValues, FunctionDescriptor, MathMode,
    PipelineOrigin,
};
use std::process::{Child, Command, Stdio};

#[test]
fn a_folder_serves_the_next_time() {
    let place = TestFolder::new("next");
    let first = pipeline(&library(), &factor(3), &with(&place.folder())).expect("it compiles");
    assert_eq!(first.origin(), PipelineOrigin::Compiled);
    let folder = place.folder();
    let second = pipeline(&library(), &factor(3), &with(&folder)).expect("it is there");
    assert_eq!(second.origin(), PipelineOrigin::Archive);
    assert_eq!((second.reflection(), second.code_size()), (first.reflection(), first.code_size()));
    assert_eq!(run(&second, 32), times(3));
    let info = folder.info();
    assert_eq!((info.entries, info.damaged, info.targets.len()), (2, 0, 1));
    let bytes = place.files().iter().map(|path| std::fs::metadata(path).expect("it is there").len()).sum::<u64>();
    assert_eq!(info.bytes, bytes);
    assert!(info.oldest.is_some() && info.targets[0].target.starts_with("cpu "));
    assert_eq!(folder.clear(), 2);
    assert!(pipeline(&library(), &factor(3), &only(&folder)).is_err());
    assert_eq!(folder.problems(), Vec::<String>::new());
}

/// Each of these changes the code, and so the key.
#[test]
fn every_input_of_the_code_is_in_the_key() {
    let place = TestFolder::new("key");
    let folder = place.folder();
    let base = CompileOptions { defines: vec![("UNUSED".into(), None)], ..Default::default() };
    let origin = |source: &str, options: &CompileOptions, factor: &FunctionConstantValues| {
        let library = device().new_library_with_source(source, options).expect("it has no mistakes");
        pipeline(&library, factor, &with(&folder)).expect("it compiles").origin()
    };
    let mut by_index = FunctionConstantValues::new();
    by_index.set(0, metalworks_compute::ConstantValue::Uint(3));
    let cases = [
        (SOURCE.to_owned(), base.clone(), factor(3)),
        (SOURCE.replace("*=", "+="), base.clone(), factor(3)),
        (SOURCE.to_owned(), CompileOptions { math_mode: MathMode::Safe, ..base.clone() }, factor(3)),
        (SOURCE.to_owned(), CompileOptions { defines: Vec::new(), ..base.clone() }, factor(3)),
        (SOURCE.to_owned(), base.clone(), factor(4)),
        (SOURCE.to_owned(), base, by_index),
    ];
    for (source, options, factor) in &cases {
        assert_eq!(origin(source, options, factor), PipelineOrigin::Compiled);
    }
    for (source, options, factor) in &cases {
        assert_eq!(origin(source, options, factor), PipelineOrigin::Archive);
    }
    assert_eq!(folder.len(), 2 * cases.len());
}

#[test]
fn damaged_entries_are_compiled_again() {
    let place = TestFolder::new("damaged");
    let folder = place.folder();
    pipeline(&library(), &factor(3), &with(&folder)).expect("it compiles");
    let path = place.files().remove(0);
    let whole = std::fs::read(&path).expect("it is there");
    // The tests of the format show that every damaged byte is detected; this shows that the entry is replaced.
    for at in [0, 9, 20, 100, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        for bytes in [&damaged[..], &whole[..at]] {
            std::fs::write(&path, bytes).expect("it is ours");
            assert_eq!(folder.info().damaged, 1);
            assert!(matches!(pipeline(&library(), &factor(3), &only(&folder)), Err(Error::ArchiveMiss { .. })));
            std::fs::write(&path, bytes).expect("it is ours");
            let mended = pipeline(&library(), &factor(3), &with(&folder)).expect("it compiles");
            assert_eq!((mended.origin(), run(&mended, 32)), (PipelineOrigin::Compiled, times(3)));
            let again = pipeline(&library(), &factor(3), &only(&folder)).expect("it is there again");
            assert_eq!(again.origin(), PipelineOrigin::Archive);
        }
    }
}

#[test]
fn functions_of_a_metallib_are_keyed_by_their_hash() {
    let compilation = msl::compile_source("scale", SOURCE, &Default::default());
    let metallib = air::compile(&compilation, air::MathMode::Fast).expect("it compiles").library;
    let place = TestFolder::new("metallib");
    for expected in [PipelineOrigin::Compiled, PipelineOrigin::Archive] {
        let library = device().new_library_with_data(metallib.clone()).expect("it is one");
        let pipeline = pipeline(&library, &factor(3), &with(&place.folder())).expect("it compiles");
        assert_eq!((pipeline.origin(), run(&pipeline, 32)), (expected, times(3)));
    }
    let library = device().new_library_with_data(metallib).expect("it is one");
    let constants = FunctionConstantValues::new();
    let function = FunctionDescriptor { library: &library, name: "scales", constants: &constants };
    let problem = device().new_compute_pipeline_state_with_function_descriptor(&function, &with(&place.folder()));
    assert!(matches!(problem, Err(Error::NoFunction { similar: Some(_), .. })), "{problem:?}");
}

/// Set in child processes: their task and folder.
const TASK: &str = "METALWORKS_TEST_TASK";
const FOLDER: &str = "METALWORKS_TEST_FOLDER";

/// Runs a test of this program in a child process, which performs a task.
fn again(test: &str, task: &str, place: &TestFolder) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
    command.args(["--exact", &format!("disk::{test}"), "--nocapture"]).env(TASK, task).env(FOLDER, &place.0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn succeed(child: Child) {
    let output = child.wait_with_output().expect("it is ours");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The task and folder of a child process.
fn task() -> Option<(String, BinaryArchive)> {
    let folder = std::path::PathBuf::from(std::env::var_os(FOLDER)?).join("folder");
    // Small enough that they evict each other's files, too.
    Some((std::env::var(TASK).ok()?, BinaryArchive::folder(folder, FolderOptions { size_limit: 60_000 })))
}

#[test]
fn processes_share_a_folder() {
    if let Some((task, folder)) = task() {
        let offset: u32 = task.parse().expect("a number");
        for factor_value in (0..12).map(|number| number + offset) {
            let pipeline = pipeline(&library(), &factor(factor_value), &with(&folder)).expect("it compiles");
            assert_eq!(run(&pipeline, 24), times(factor_value));
        }
        assert_eq!(folder.problems(), Vec::<String>::new());
        return;
    }
    let place = TestFolder::new("processes");
    let children: Vec<Child> =
        (0..3).map(|process| again("processes_share_a_folder", &(4 * process).to_string(), &place)).collect();
    children.into_iter().for_each(succeed);
    let info = place.folder().info();
    assert!(info.entries > 0 && info.damaged == 0 && info.unfinished == 0, "{info:?}");
}

#[test]
fn another_process_finds_what_this_one_compiled() {
    if let Some((_, folder)) = task() {
        let pipeline = pipeline(&library(), &factor(3), &only(&folder)).expect("it is there");
        assert_eq!((pipeline.origin(), run(&pipeline, 32)), (PipelineOrigin::Archive, times(3)));
        return;
    }
    let place = TestFolder::new("another");
    pipeline(&library(), &factor(3), &with(&place.folder())).expect("it compiles");
    succeed(again("another_process_finds_what_this_one_compiled", "find", &place));
}

/// Simulates a full disk: after a few bytes of a file, writing fails.
#[test]
fn without_space_everything_is_compiled() {
    if let Some((_, folder)) = task() {
        // SAFETY: plain calls into the C library, in a process of this test.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let limit = libc::rlimit { rlim_cur: 1000, rlim_max: 1000 };
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
        }
        for _ in 0..2 {
            let pipeline = pipeline(&library(), &factor(3), &with(&folder)).expect("it compiles");
            assert_eq!((pipeline.origin(), run(&pipeline, 24)), (PipelineOrigin::Compiled, times(3)));
        }
        let problems = folder.problems();
        assert!(problems.len() == 1 && problems[0].contains("cannot write"), "{problems:?}");
        return;
    }
    let place = TestFolder::new("full");
    succeed(again("without_space_everything_is_compiled", "write", &place));
    assert_eq!(place.files(), Vec::<std::path::PathBuf>::new(), "no partial file is left");
}

#[test]
fn without_a_folder_everything_is_compiled() {
    let folder = BinaryArchive::folder("/proc/metalworks/pipelines", FolderOptions::default());
    for _ in 0..2 {
        let pipeline = pipeline(&library(), &factor(3), &with(&folder)).expect("it compiles");
        assert_eq!((pipeline.origin(), run(&pipeline, 32)), (PipelineOrigin::Compiled, times(3)));
    }
    let problems = folder.problems();
    assert!(problems.len() == 1 && problems[0].contains("cannot write to '/proc/metalworks"), "{problems:?}");
}
