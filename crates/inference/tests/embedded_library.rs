//! The libraries that the build embeds hold the bitcode that the embedded sources give at run time.
//!
//! Compiled code is cached under the digest of the source, whichever of the two it came from: a difference would let a
//! cache mix them up.

#![cfg(not(target_os = "macos"))]

use air::metallib::Library;
use compute::{CompileOptions, LibraryCompiler, MathMode};
use metalworks_inference::metal::kernels::{ALL, SHADERS};
use metalworks_inference::metal::library::Shader;

type Kernels = Vec<(String, Vec<u8>)>;

/// The kernels of the embedded library, with their bitcode.
fn embedded(shader: &Shader) -> Kernels {
    let library = shader.metallib.expect("the build has compiled it");
    assert_eq!(library.compiler, LibraryCompiler::Metalworks);
    let library = Library::parse(library.data).expect("a library");
    let kernels = library.functions().iter();
    kernels.map(|kernel| (kernel.name().to_owned(), kernel.bitcode().expect("bitcode").to_vec())).collect()
}

/// The same by lowering the embedded source, with the options that a device gets at run time.
fn lowered(shader: &Shader) -> Kernels {
    let options = CompileOptions::default();
    let front_end = msl::Options { std: options.language_version, warnings: false, ..msl::Options::default() };
    let compilation = msl::compile_source(&format!("{}.metal", shader.name), shader.source, &front_end);
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let math = match options.math_mode {
        MathMode::Fast => air::MathMode::Fast,
        MathMode::Relaxed => air::MathMode::Relaxed,
        MathMode::Safe => air::MathMode::Safe,
    };
    let lower = |entry: &msl::program::EntryPoint| {
        let source = air::ProgramSource::from(&compilation);
        let kernel = air::compile_kernel(source, entry, math).expect("it can be lowered");
        (entry.name.to_string(), kernel.bitcode().expect("bitcode").to_vec())
    };
    compilation.program.kernels().map(lower).collect()
}

fn compare_all() {
    let mut compared = 0;
    for shader in SHADERS {
        let (embedded, lowered) = (embedded(shader), lowered(shader));
        assert_eq!(embedded.len(), lowered.len(), "{}", shader.name);
        for ((name, bitcode), (expected_name, expected)) in embedded.iter().zip(&lowered) {
            assert_eq!(name, expected_name, "{}", shader.name);
            assert!(bitcode == expected, "{}: the bitcode of '{name}' is not that of its source", shader.name);
            compared += 1;
        }
    }
    assert_eq!(compared, ALL.len());
}

#[test]
fn libraries_hold_the_bitcode_of_their_sources() {
    // As it was when this was built.
    if option_env!("METALWORKS_METALLIB") == Some("0") {
        assert!(SHADERS.iter().all(|shader| shader.metallib.is_none()), "METALWORKS_METALLIB=0 leaves them out");
        return;
    }
    // Lowering recurses, deeper than the stack of a test.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(compare_all).expect("a thread");
    thread.join().expect("they are the same");
}
