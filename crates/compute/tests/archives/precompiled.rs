//! Libraries compiled from the same source when the program was built.

use crate::support::{SOURCE, device, factor, only, pipeline, run, times, with};
use metalworks_compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, Error, FunctionConstantValues, Library,
    LibraryCompiler, LibraryOrigin, PipelineOrigin, PrecompiledLibrary,
};

/// The `.metallib` that the crate `air` makes of a source.
fn metallib(source: &str) -> Vec<u8> {
    let compilation = msl::compile_source("program_source", source, &Default::default());
    air::compile(&compilation, air::MathMode::Fast).expect("it compiles").library
}

fn library(metallib: Option<Vec<u8>>, compiler: LibraryCompiler, source: &'static str) -> Library {
    let metallib = metallib.map(|data| PrecompiledLibrary { data: data.leak(), compiler });
    device().new_library_with_metallib_or_source(metallib, source, &CompileOptions::default())
}

fn ours(metallib: Vec<u8>) -> Library {
    library(Some(metallib), LibraryCompiler::Metalworks, SOURCE)
}

fn from_source() -> Library {
    library(None, LibraryCompiler::Metalworks, SOURCE)
}

/// Flips a bit in the middle of a function's bitcode.
fn with_damaged_bitcode(mut metallib: Vec<u8>, kernel: &str) -> Vec<u8> {
    let parsed = air::metallib::Library::parse(&metallib).expect("it is one");
    let bitcode = parsed.function(kernel).expect("it is there").bitcode().expect("it is whole");
    let middle = bitcode.as_ptr().addr() - metallib.as_ptr().addr() + bitcode.len() / 2;
    metallib[middle] ^= 4;
    metallib
}

fn none() -> ComputePipelineDescriptor {
    ComputePipelineDescriptor::default()
}

#[test]
fn kernels_come_from_the_metallib() {
    let library = ours(metallib(SOURCE));
    assert_eq!(library.origin(), LibraryOrigin::Metallib);
    assert_eq!(library.function_names(), ["scale"]);
    let scale = pipeline(&library, &factor(3), &none()).expect("it compiles");
    assert_eq!((run(&scale, 32), run(&scale, 24)), (times(3), times(3)));
    let same = pipeline(&from_source(), &factor(3), &none()).expect("it compiles");
    assert_eq!(scale.reflection().arguments, same.reflection().arguments);
    assert_eq!(run(&same, 24), times(3));
    assert_eq!(library.reflection("scale", &factor(3)), from_source().reflection("scale", &factor(3)));
    let problem = |library: &Library, name: &str, constants: &FunctionConstantValues| {
        library.new_function(name, constants).expect_err("it is wrong")
    };
    for (name, constants) in [("Scale", factor(3)), ("scale", FunctionConstantValues::new())] {
        assert_eq!(problem(&library, name, &constants), problem(&from_source(), name, &constants));
    }
}

/// A source that differs shows the origin of a kernel.
#[test]
fn the_source_is_not_parsed_if_the_metallib_has_the_kernel() {
    const OTHER: &str = "kernel void scale(device uint *x [[buffer(0)]]) { mistake; }";
    let library = library(Some(metallib(SOURCE)), LibraryCompiler::Metalworks, OTHER);
    let scale = pipeline(&library, &factor(5), &none()).expect("it compiles");
    assert_eq!(run(&scale, 32), times(5));
}

#[test]
fn without_a_metallib_the_source_is_compiled() {
    let library = from_source();
    assert_eq!(library.origin(), LibraryOrigin::Source);
    assert_eq!(run(&pipeline(&library, &factor(3), &none()).expect("it compiles"), 24), times(3));
}

#[test]
fn a_damaged_metallib_is_replaced_by_its_source() {
    let whole = metallib(SOURCE);
    for damaged in [Vec::new(), b"not a library".to_vec(), whole[..whole.len() / 2].to_vec(), vec![0; whole.len()]]
    {
        let library = ours(damaged);
        assert_eq!(library.origin(), LibraryOrigin::Source);
        assert_eq!(library.function_names(), ["scale"]);
        assert_eq!(run(&pipeline(&library, &factor(3), &none()).expect("it compiles"), 24), times(3));
    }
}

#[test]
fn a_function_with_damaged_bitcode_is_compiled_from_the_source() {
    for compiler in [LibraryCompiler::Metalworks, LibraryCompiler::Apple] {
        let library = library(Some(with_damaged_bitcode(metallib(SOURCE), "scale")), compiler, SOURCE);
        assert_eq!(library.function_names(), ["scale"]);
        let scale = pipeline(&library, &factor(3), &none()).expect("it compiles");
        assert_eq!((run(&scale, 32), run(&scale, 24)), (times(3), times(3)));
        library.new_function("scale", &factor(3)).expect("a function");
        assert!(matches!(library.new_function("scales", &factor(3)), Err(Error::NoFunction { .. })));
    }
}

/// Bitcode that LLVM does not read, as of another compiler, under a valid hash.
#[test]
fn a_function_with_bitcode_of_another_kind_is_compiled_from_the_source() {
    use air::metallib::{Function, FunctionKind, Header};
    for bitcode in [&b"no bitcode at all"[..], &[0xff; 1000]] {
        let mut file = air::metallib::Library::new(Header::default());
        file.add(Function::new("scale", FunctionKind::Kernel, bitcode)).expect("it is the first");
        let library = ours(file.write().expect("it is written"));
        assert_eq!(library.origin(), LibraryOrigin::Metallib);
        let scale = pipeline(&library, &factor(3), &none()).expect("it compiles");
        assert_eq!(run(&scale, 24), times(3));
    }
}

#[test]
fn the_source_and_its_metallib_share_archived_code() {
    let whole = metallib(SOURCE);
    let libraries = || [from_source(), ours(whole.clone()), ours(b"damaged".to_vec())];
    for (position, first) in libraries().iter().enumerate() {
        let archive = BinaryArchive::new();
        let compiled = pipeline(first, &factor(3), &with(&archive)).expect("it compiles");
        assert_eq!(compiled.origin(), PipelineOrigin::Compiled);
        for other in libraries() {
            let found = pipeline(&other, &factor(3), &only(&archive)).expect("it is there");
            assert_eq!((found.origin(), run(&found, 24)), (PipelineOrigin::Archive, times(3)), "{position}");
        }
        assert_eq!(archive.len(), 2);
    }
}

/// Another compiler makes other AIR from the same source: its code is keyed by the bitcode.
#[test]
fn a_metallib_of_apples_compiler_has_keys_of_its_own() {
    let whole = metallib(SOURCE);
    let apples = || library(Some(whole.clone()), LibraryCompiler::Apple, SOURCE);
    let archive = BinaryArchive::new();
    pipeline(&from_source(), &factor(3), &with(&archive)).expect("it compiles");
    assert!(matches!(pipeline(&apples(), &factor(3), &only(&archive)), Err(Error::ArchiveMiss { .. })));
    let compiled = pipeline(&apples(), &factor(3), &with(&archive)).expect("it compiles");
    assert_eq!((compiled.origin(), archive.len()), (PipelineOrigin::Compiled, 4));
    let plain = device().new_library_with_data(whole.clone()).expect("it is one");
    for library in [apples(), plain] {
        let found = pipeline(&library, &factor(3), &only(&archive)).expect("it is there");
        assert_eq!((found.origin(), run(&found, 24)), (PipelineOrigin::Archive, times(3)));
    }
}
