//! Dynamic libraries: `compile --dynamic`, `compile --link` and `exec --link`.
#![cfg(llvm)]

mod support;

use support::{Scratch, metalworks};

const FUNCTIONS: &str = "float scale(float x) { return x * 3.0f; }\n\
                         static float hidden(float x) { return x; }\n\
                         namespace util { float shift(float x) { return hidden(x) + 1.0f; } }\n";

const KERNEL: &str = "float scale(float x);\nnamespace util { extern float shift(float x); }\n\
                      kernel void k(device float *x, uint i [[thread_position_in_grid]]) {\n\
                          x[i] = util::shift(scale(x[i]));\n\
                      }\n";

#[test]
fn a_kernel_calls_functions_of_a_dynamic_library() {
    let scratch = Scratch::new();
    let file = |name: &str| format!("{}/{name}", scratch.path());
    std::fs::write(file("f.metal"), FUNCTIONS).expect("a file");
    std::fs::write(file("k.metal"), KERNEL).expect("a file");
    let (f, k, kernels) = (file("f.metallib"), file("k.metal"), file("k.metallib"));
    let written = metalworks(["compile", &file("f.metal"), "--dynamic", "--install-name", "@rpath/f", "-o", &f]);
    assert!(written.exits(0).stdout.contains("dynamic library, 2 functions"));
    let dump = metalworks(["objdump", &f]).exits(0).stdout;
    assert!(dump.contains("install name @rpath/f") && dump.contains("_ZN4util5shiftEf"), "{dump}");

    let exec = |kernel: &str, link: &[&str]| {
        let mut arguments =
            vec!["exec", kernel, "k", "--arg", "0=iota:f32:4", "--threads", "4", "--print", "0", "--no-cache"];
        link.iter().for_each(|file| arguments.extend(["--link", file]));
        metalworks(arguments)
    };
    // The library, or its source; kernels from source, or from a library.
    metalworks(["compile", &k, "--link", &f, "-o", &kernels]).exits(0);
    for (kernel, link) in [(&k, &f), (&k, &file("f.metal")), (&kernels, &f)] {
        let out = exec(kernel, &[link]).exits(0).stdout;
        assert!(out.contains("1, 4, 7, 10") || out.contains("1 4 7 10"), "{out}");
    }
    exec(&k, &[]).exits(1).says("undefined symbols: 'scale' (_Z5scalef), 'util::shift' (_ZN4util5shiftEf)");
    exec(&kernels, &[]).exits(1).says("linked with @rpath/f");
    exec(&k, &[&kernels]).exits(1).says("executable");
}

#[test]
fn symbols_are_resolved_when_a_library_is_written() {
    let scratch = Scratch::new();
    let file = |name: &str| format!("{}/{name}", scratch.path());
    std::fs::write(file("f.metal"), "float scale(float x) { return x; }\n").expect("a file");
    std::fs::write(file("k.metal"), KERNEL).expect("a file");
    let f = file("f.metallib");
    metalworks(["compile", &file("f.metal"), "--dynamic", "-o", &f]).exits(0);
    metalworks(["compile", &file("k.metal"), "--link", &f, "-o", &file("k.metallib")])
        .exits(1)
        .says("function 'k': undefined symbol '_ZN4util5shiftEf'");
    metalworks(["compile", &file("k.metal"), "-o", &file("k.metallib")]).exits(1).says("never defined");
    // A dynamic library has no kernels, and needs functions.
    metalworks(["compile", &file("k.metal"), "--dynamic", "-o", &f]).exits(1).says("no function");
    metalworks(["compile", &f, "--dynamic", "-o", &file("g.metallib")]).exits(1).says("takes shaders");
}

#[test]
fn archives_hold_linked_kernels() {
    let scratch = Scratch::new();
    let file = |name: &str| format!("{}/{name}", scratch.path());
    std::fs::write(file("f.metal"), FUNCTIONS).expect("a file");
    std::fs::write(file("k.metal"), KERNEL).expect("a file");
    let (f, archive) = (file("f.metallib"), file("k.mwarchive"));
    metalworks(["compile", &file("f.metal"), "--dynamic", "-o", &f]).exits(0);
    metalworks(["compile", &file("k.metal"), "--link", &f, "--target", "cpu", "-o", &archive]).exits(0);
    let exec =
        ["exec", &file("k.metal"), "k", "--arg", "0=iota:f32:4", "--threads", "4", "--print", "0", "--no-cache"];
    let linked = metalworks(exec.into_iter().chain(["--archive", &archive, "--link", &f])).exits(0).stdout;
    assert!(linked.contains("1, 4, 7, 10") || linked.contains("1 4 7 10"), "{linked}");
}
