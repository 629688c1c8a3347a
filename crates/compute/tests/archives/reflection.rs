//! Reflection of archived kernels, without loading their code.

use crate::support::{TestFolder, device, factor, library, pipeline, with};
use metalworks_compute::reflect::Kernel;
use metalworks_compute::{
    BinaryArchive, CompileOptions, CompileTarget, ComputePipelineDescriptor, FunctionConstantValues,
    FunctionDescriptor, Library,
};

fn archived(library: &Library, constants: &FunctionConstantValues, archives: &[BinaryArchive]) -> Option<Kernel> {
    let function = FunctionDescriptor { library, name: "scale", constants };
    device().archived_reflection(&function, archives)
}

#[test]
fn an_archived_kernel_has_its_reflection() {
    let archive = BinaryArchive::new();
    let compiled = pipeline(&library(), &factor(3), &with(&archive)).expect("it compiles");
    let (entries, size) = (archive.len(), archive.size());
    let found = archived(&library(), &factor(3), &[BinaryArchive::new(), archive.clone()]);
    assert_eq!(found.as_ref(), Some(compiled.reflection()));
    assert_eq!((archive.len(), archive.size()), (entries, size), "nothing is compiled");
}

#[test]
fn folders_and_files_have_it_too() {
    let place = TestFolder::new("reflection");
    let compiled = pipeline(&library(), &factor(3), &with(&place.folder())).expect("it compiles");
    let path = place.0.join("one.mwarchive");
    place.folder().serialize(&path).expect("it is written");
    for archive in [place.folder(), BinaryArchive::open(&path).expect("it is one")] {
        assert_eq!(archived(&library(), &factor(3), &[archive]).as_ref(), Some(compiled.reflection()));
    }
}

#[test]
fn a_kernel_in_no_archive_has_none() {
    let archive = BinaryArchive::new();
    pipeline(&library(), &factor(3), &with(&archive)).expect("it compiles");
    assert_eq!(archived(&library(), &factor(3), &[]), None);
    assert_eq!(archived(&library(), &factor(3), &[BinaryArchive::new()]), None);
    assert_eq!(archived(&library(), &factor(4), std::slice::from_ref(&archive)), None);
    let (library, constants) = (library(), factor(3));
    let function = FunctionDescriptor { library: &library, name: "scales", constants: &constants };
    assert_eq!(device().archived_reflection(&function, std::slice::from_ref(&archive)), None);
    let mistake = "kernel void scale(device uint *x [[buffer(0)]]) { mistake; }";
    let wrong = device().new_library_with_checked_source(mistake, &CompileOptions::default());
    assert_eq!(archived(&wrong, &constants, &[archive]), None);
}

#[test]
fn one_variant_is_enough() {
    let archive = BinaryArchive::new();
    let descriptor = ComputePipelineDescriptor {
        thread_group_width_is_multiple_of_thread_execution_width: true,
        ..with(&archive)
    };
    let compiled = pipeline(&library(), &factor(3), &descriptor).expect("it compiles");
    assert_eq!(archive.len(), 1);
    let found = archived(&library(), &factor(3), std::slice::from_ref(&archive));
    assert_eq!(found.as_ref(), Some(compiled.reflection()));
    assert_eq!(archive.len(), 1);
}

#[test]
fn code_for_another_machine_does_not_count() {
    let archive = BinaryArchive::new();
    let (library, constants) = (library(), factor(3));
    let function = FunctionDescriptor { library: &library, name: "scale", constants: &constants };
    let other = if cfg!(target_arch = "x86_64") { "cpu:apple-m1" } else { "cpu:x86-64-v3" };
    let target: CompileTarget = other.parse().expect("a target");
    archive.add_compute_pipeline_function(&function, &target).expect("it compiles");
    assert_eq!(archived(&library, &constants, std::slice::from_ref(&archive)), None);
    archive.add_compute_pipeline_function(&function, &CompileTarget::default()).expect("it compiles");
    assert!(archived(&library, &constants, &[archive]).is_some());
}
