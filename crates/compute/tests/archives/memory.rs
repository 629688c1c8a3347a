//! What pipeline states take from archives, and give to them.

use crate::support::{SOURCE, device, factor, library, only, pipeline, run, times, with};
use compute::{BinaryArchive, CompileOptions, ComputePipelineDescriptor, Error, PipelineOrigin, Size};

#[test]
fn what_was_compiled_once_comes_from_the_archive() {
    let archive = BinaryArchive::new();
    let (descriptor, library) = (with(&archive), library());
    let first = pipeline(&library, &factor(3), &descriptor).expect("it compiles");
    assert_eq!(first.origin(), PipelineOrigin::Compiled);
    assert_eq!(run(&first, 32), times(3));
    assert!(first.code_size() > 0);
    let len = archive.len();
    assert!(len >= 1 && archive.size() > 0);

    let second = pipeline(&library, &factor(3), &descriptor).expect("it is there");
    assert_eq!(second.origin(), PipelineOrigin::Archive);
    assert_eq!(second.reflection(), first.reflection());
    assert_eq!(run(&second, 32), times(3));
    assert_eq!(archive.len(), len);
    let other = pipeline(&library, &factor(4), &descriptor).expect("it compiles");
    assert_eq!(other.origin(), PipelineOrigin::Compiled);
    assert_eq!(run(&other, 32), times(4));
}

#[test]
fn code_that_is_needed_later_is_kept_too() {
    let archive = BinaryArchive::new();
    let (descriptor, library) = (with(&archive), library());
    let first = pipeline(&library, &factor(3), &descriptor).expect("it compiles");
    assert_eq!(archive.len(), 1);
    assert_eq!(run(&first, 24), times(3));
    assert_eq!(archive.len(), 2);
    let second = pipeline(&library, &factor(3), &descriptor).expect("it is there");
    assert_eq!(run(&second, 24), times(3));
    assert_eq!(second.origin(), PipelineOrigin::Archive);
}

#[test]
fn only_what_threadgroups_need_is_compiled() {
    let archive = BinaryArchive::new();
    let with = |threads| ComputePipelineDescriptor {
        binary_archives: vec![archive.clone()],
        threads_per_threadgroup: Some(Size::linear(threads)),
        ..Default::default()
    };
    let library = library();
    for (threads, len) in [(16, 1), (64, 2), (40, 2)] {
        pipeline(&library, &factor(3), &with(threads)).expect("it compiles");
        assert_eq!(archive.len(), len, "{threads}");
    }
    let problem = pipeline(&library, &factor(3), &with(0)).expect_err("no threads");
    assert!(matches!(problem, Error::Usage(_)), "{problem}");
}

#[test]
fn a_miss_can_be_an_error() {
    let problem =
        pipeline(&library(), &factor(3), &only(&BinaryArchive::new())).expect_err("it is not there").to_string();
    for part in ["'scale'", "FACTOR=uint:3", "full simdgroups", "an archive in memory"] {
        assert!(problem.contains(part), "{problem}");
    }
}

#[test]
fn mistakes_in_checked_source_come_with_the_pipeline_state() {
    let library = device().new_library_with_checked_source("kernel void scale( {", &CompileOptions::default());
    let problem = pipeline(&library, &factor(3), &ComputePipelineDescriptor::default()).expect_err("a mistake");
    assert!(matches!(problem, Error::Source { .. }), "{problem}");
    assert!(library.function_names().is_empty());
    assert_eq!(crate::support::library().function_names(), ["scale"]);
}

#[test]
fn functions_and_their_descriptors_share_code() {
    let archive = BinaryArchive::new();
    let descriptor = with(&archive);
    let eager = device().new_library_with_source(SOURCE, &CompileOptions::default()).expect("it has no mistakes");
    let function = eager.new_function("scale", &factor(3)).expect("a function");
    let first = device().new_compute_pipeline_state_with_descriptor(&function, &descriptor).expect("it compiles");
    assert_eq!(first.origin(), PipelineOrigin::Compiled);
    let second = pipeline(&library(), &factor(3), &descriptor).expect("it is there");
    assert_eq!(second.origin(), PipelineOrigin::Archive);
}
