//! Damaged libraries and bitcode: an error each, and the process goes on.
#![cfg(llvm)]

use abi::{ConstantValue, Constants};
use metalworks_air::metallib::{Function, FunctionKind, Header, Library};
use metalworks_air::reflect::{LibraryError, reflect_library};
use metalworks_air::{MathMode, specialize};

/// A library of one kernel. (LLVM writes to stderr what is wrong with damaged debug metadata: there are none.)
fn gemv() -> Vec<u8> {
    let source = include_str!("../../../examples/gemv.metal");
    let compilation = msl::compile_source("gemv.metal", source, &msl::Options::default());
    let source = metalworks_air::ProgramSource::from(&compilation);
    let compiled = metalworks_air::compile(source, MathMode::Fast).unwrap_or_else(|error| panic!("{error}"));
    assert!(compiled.left_out.is_empty(), "{:?}", compiled.left_out);
    compiled.library
}

fn constants() -> Constants {
    let mut constants = Constants::new();
    constants.set(0, ConstantValue::Uint(128)).set(1, ConstantValue::Bool(true));
    constants
}

/// Changes a few bits or bytes of `bytes`, or cuts it off: something else for each `seed`.
fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as usize % bound
    };
    let mut bytes = bytes.to_vec();
    match next(8) {
        0 => bytes.truncate(next(bytes.len())),
        1..=5 => {
            for _ in 0..1 + next(4) {
                let at = next(bytes.len());
                bytes[at] ^= 1 << next(8);
            }
        }
        _ => {
            let at = next(bytes.len());
            let end = (at + 1 + next(16)).min(bytes.len());
            bytes[at..end].fill_with(|| next(256) as u8);
        }
    }
    bytes
}

/// LLVM's reader crashes on about two of a hundred of these.
#[test]
fn bitcode() {
    let file = gemv();
    let library = Library::parse(&file).expect("we wrote it");
    let bitcode = library.function("gemv").expect("it is there").bitcode().expect("its hash is right");
    let (mut specialized, mut refused) = (0, 0);
    for seed in 0..1000 {
        match specialize(&damaged(bitcode, seed), "gemv", &constants()) {
            Ok(_) => specialized += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(specialized > 100 && refused > 100, "{specialized} specialized, {refused} refused");
    assert!(specialize(bitcode, "gemv", &constants()).is_ok());
}

/// Damage by accident: LLVM never sees it, because the hash is wrong.
#[test]
fn libraries() {
    let file = gemv();
    let sound = reflect_library(&Library::parse(&file).expect("we wrote it"), |_| true).expect("it is sound");
    let mut refused = 0;
    for seed in 0..1000 {
        let bytes = damaged(&file, seed);
        let Ok(library) = Library::parse(&bytes) else {
            refused += 1;
            continue;
        };
        match reflect_library(&library, |_| true) {
            // The damage is in what only a loader reads, such as the version of the system, or in the kind of function.
            Ok(found) => {
                let has_kernel = library.functions().iter().any(|function| function.kind == FunctionKind::Kernel);
                assert!(found == sound || !has_kernel, "{seed}: {found:?}");
            }
            Err(LibraryError::Container(_)) => refused += 1,
            Err(error) => panic!("{seed}: {error}"),
        }
    }
    assert!(refused > 500, "only {refused} refused");
}

/// Damage on purpose: the hash is that of the damaged bitcode.
#[test]
fn libraries_with_the_right_hash() {
    let file = gemv();
    let library = Library::parse(&file).expect("we wrote it");
    let bitcode = library.function("gemv").expect("it is there").bitcode().expect("its hash is right");
    for seed in 0..500 {
        let function = Function::new("gemv", FunctionKind::Kernel, &damaged(bitcode, seed));
        let mut library = Library::new(Header::default());
        library.add(function).expect("it is the first");
        let bytes = library.write().expect("it can be written");
        if let Ok(library) = Library::parse(&bytes) {
            let _ = reflect_library(&library, |_| true);
        }
    }
}
