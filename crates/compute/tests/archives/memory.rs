//! Pipeline states from and to archives.

use crate::support::{SOURCE, device, factor, library, only, pipeline, run, times, with};
use metalworks_compute::{BinaryArchive, CompileOptions, ComputePipelineDescriptor, Error, PipelineOrigin, Size};

#[test]
fn compiled_code_comes_from_the_archive() {
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

/// A descriptor with one archive that promises rows.
fn rows(archive: &BinaryArchive) -> ComputePipelineDescriptor {
    ComputePipelineDescriptor { thread_group_width_is_multiple_of_thread_execution_width: true, ..with(archive) }
}

#[test]
fn all_code_is_archived_when_the_pipeline_is_created() {
    let archive = BinaryArchive::new();
    let (descriptor, library) = (with(&archive), library());
    let first = pipeline(&library, &factor(3), &descriptor).expect("it compiles");
    assert_eq!(archive.len(), 2);
    for threads in [24, 32, 33, 64] {
        assert_eq!(run(&first, threads), times(3));
    }
    assert_eq!(archive.len(), 2, "no dispatch compiles");
    let second = pipeline(&library, &factor(3), &only(&archive)).expect("it is there");
    assert_eq!((second.origin(), run(&second, 24)), (PipelineOrigin::Archive, times(3)));
}

#[test]
fn a_pipeline_of_rows_has_only_their_code() {
    let archive = BinaryArchive::new();
    let library = library();
    let first = pipeline(&library, &factor(3), &rows(&archive)).expect("it compiles");
    assert_eq!((archive.len(), run(&first, 32)), (1, times(3)));
    let again = ComputePipelineDescriptor { fail_on_binary_archive_miss: true, ..rows(&archive) };
    let second = pipeline(&library, &factor(3), &again).expect("it is there");
    assert_eq!((second.origin(), run(&second, 64)), (PipelineOrigin::Archive, times(3)));

    // Without the promise, the other variant is needed, and missed at creation.
    let problem = pipeline(&library, &factor(3), &only(&archive)).expect_err("half of it is not there");
    assert!(matches!(problem, Error::ArchiveMiss { .. }), "{problem}");
    assert!(problem.to_string().contains("code for threadgroups whose width is not a multiple of 32"), "{problem}");
    assert_eq!(archive.len(), 1);
    let whole = pipeline(&library, &factor(3), &with(&archive)).expect("it compiles");
    assert_eq!((whole.origin(), archive.len()), (PipelineOrigin::Compiled, 2));
    assert_eq!((run(&whole, 24), run(&whole, 32)), (times(3), times(3)));
    let whole = pipeline(&library, &factor(3), &only(&archive)).expect("all of it is there");
    assert_eq!(whole.origin(), PipelineOrigin::Archive);
}

#[test]
fn a_promised_size_has_only_its_code() {
    // Rows only, others only, and both in one threadgroup.
    for (threads, pieces) in [(32, 1), (16, 1), (64, 1), (48, 2)] {
        let (archive, size) = (BinaryArchive::new(), Some(Size::linear(threads)));
        let descriptor = ComputePipelineDescriptor { threads_per_threadgroup: size, ..with(&archive) };
        let made = pipeline(&library(), &factor(3), &descriptor).expect("it compiles");
        assert_eq!(archive.len(), pieces, "{threads} threads");
        if 64 % threads == 0 {
            assert_eq!(run(&made, threads), times(3));
        }
    }
    let nothing = Some(Size::new(32, 0, 1));
    let descriptor = ComputePipelineDescriptor { threads_per_threadgroup: nothing, ..Default::default() };
    let problem = pipeline(&library(), &factor(3), &descriptor).expect_err("no threads").to_string();
    assert!(problem.contains("no dimension may be 0"), "{problem}");
}

#[test]
fn full_simdgroups_can_lie_in_several_rows() {
    let archive = BinaryArchive::new();
    let descriptor = ComputePipelineDescriptor {
        thread_group_size_is_multiple_of_thread_execution_width: true,
        ..with(&archive)
    };
    pipeline(&library(), &factor(3), &descriptor).expect("it compiles");
    assert_eq!(archive.len(), 2);
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
fn errors_in_checked_source_are_reported_by_the_pipeline_state() {
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
