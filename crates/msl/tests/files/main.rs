//! Shaders that carry their own expectations, by language area: every folder of `tests/files` is one test.
//!
//! The first line of a `.metal` file says what to test, the second may give options:
//!
//! ```text
//! // test check                                  // test reflect
//! // options: -D TILE=8 -I include               kernel void k(device float *x) {}
//! kernel void k(constant int *n) {
//!   *n = 1;  // error: read-only                 // reflect: { "kernels": […], … }
//! }
//! ```
//!
//! * `check`: the shader is accepted, unless a line is marked. `// error: text` expects an error on its line with
//!   `text` somewhere in the message, `// warning: text` a warning (with the option `-W`); two on a line are written
//!   one after the other. Every diagnostic must be expected, and every expectation met.
//! * `reflect`: it is accepted, and [`metalworks_msl::Compilation::reflect`] gives the JSON at the end of the file,
//!   which leaves out null, false and empty values. `BLESS=1` writes that JSON anew.
//!
//! Options are `-D name[=value]`, `-I dir` (from the file's own folder), `--std version` and `-W`. A file that is
//! neither a shader nor included by one is an orphan and fails.

#[path = "../filetest/mod.rs"]
mod filetest;

use filetest::{Tally, files_dir};
use std::collections::BTreeSet;

macro_rules! areas {
    ($($area:ident)*) => {
        const AREAS: &[&str] = &[$(stringify!($area)),*];
        $(
            #[test]
            fn $area() {
                let tally = Tally::of_area(stringify!($area));
                report(&tally.to_string());
                assert!(tally.failures.is_empty(), "{}", tally.failure_report());
            }
        )*
    };
}

areas! {
    address_spaces
    arrays
    as_clang
    atomics
    attributes
    bit_casts
    builtins
    class_templates
    classes
    constant_expressions
    control_flow
    conversions
    declarations
    enums
    expressions
    function_constants
    function_templates
    functions
    globals
    graphics
    instantiation
    kernels
    lambdas
    limits
    matrices
    namespaces
    overloads
    packed_vectors
    preprocessor
    reflection
    simdgroup_matrices
    stdlib
    syntax
    traits
    unsupported
    variable_and_alias_templates
    vectors
    volatile
}

#[test]
fn every_folder_is_an_area() {
    let entries = std::fs::read_dir(files_dir()).expect("tests/files is there");
    let folders: BTreeSet<String> = entries
        .map(|entry| entry.expect("it can be listed"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(folders, AREAS.iter().map(|&area| area.to_owned()).collect());
}

#[test]
fn the_runner_refuses_what_it_does_not_know() {
    let refused = |text: &str| filetest::Case::parse(text).expect_err("it is refused");
    assert_eq!(refused("kernel void k() {}"), "the first line is not `// test …`");
    assert_eq!(refused("// test compile\n"), "unknown test 'compile'");
    assert_eq!(refused("// test check\n// options: -O2\n"), "unknown option '-O2'");
    assert_eq!(refused("// test check\n// options: -D\n"), "option '-D' without a value");
    assert_eq!(refused("// test check\n// options: --std metal9.9\n"), "unknown version 'metal9.9'");
    assert_eq!(refused("// test check\nint x; // eror: no\n"), "line 2: unknown expectation 'eror'");
    assert_eq!(refused("// test check\nint x; // error: \n"), "line 2: an expectation without a text");
    assert_eq!(refused("// test reflect\nint x; // error: no\n"), "line 2: `test reflect` expects no diagnostics");
    assert_eq!(refused("// test check\n// reflect: {}\n"), "line 2: `test check` has no reflection");
    assert_eq!(refused("// test check\n\n// options: -W\n"), "line 3: options belong into the second line");
}

#[allow(clippy::print_stdout, reason = "the counts show that the files ran")]
fn report(line: &str) {
    println!("{line}");
}
