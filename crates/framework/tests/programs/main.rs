//! Programs that compute with Metal, compiled by clang: with the framework's headers, and with metal-cpp.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// clang 22: `METALWORKS_CLANG`, or where packages install it.
fn clang() -> PathBuf {
    if let Some(named) = std::env::var_os("METALWORKS_CLANG") {
        return named.into();
    }
    let folder = std::env::var_os("LLVM_SYS_221_PREFIX").map_or("/usr/lib/llvm-22".into(), PathBuf::from);
    let installed = folder.join("bin/clang");
    if installed.exists() { installed } else { "clang-22".into() }
}

/// Compiles a program of this folder.
fn build(name: &str, flags: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Tests that build the same program at the same time must not replace each other's.
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    let number = BUILT.fetch_add(1, Ordering::Relaxed);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}_{number}", name.replace('.', "_")));
    let this = std::env::current_exe().expect("this program");
    let library = this.parent().expect("its folder").display();
    let output = Command::new(clang())
        .args(["-fblocks", "-Wall", "-Werror", "-o"])
        .arg(&program)
        .arg(root.join("tests/programs").join(name))
        .arg("-I")
        .arg(root.join("include"))
        .args(flags)
        .args([format!("-L{library}"), "-lmetal_framework".into(), format!("-Wl,-rpath,{library}")])
        .output()
        .expect("clang 22 is installed");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    run_with(program, arguments, "1")
}

fn run_with(program: &Path, arguments: &[&str], layer: &str) -> Output {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("MTL_DEBUG_LAYER", layer)
        .env("METALWORKS_CACHE", "off")
        .env("METALWORKS_LEAKS", "1");
    command.env_remove("LD_LIBRARY_PATH").output().expect("it runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Both programs do the same: they check themselves, and make the mistake that their argument names.
fn check(program: &Path) {
    let output = run(program, &[]);
    assert!(output.status.success(), "{:?}\n{}", output.status, text(&output));
    let said = text(&output);
    assert!(said.contains("5 7 9 11") && said.contains("binding x 0"), "{said}");
    assert!(said.contains("error: ") && said.contains("undeclared identifier 'y'"), "{said}");
    let mistake = run(program, &["commit twice"]);
    assert!(!mistake.status.success(), "{}", text(&mistake));
    assert!(text(&mistake).contains("commit an already committed command buffer"), "{}", text(&mistake));
}

const OBJECTIVE_C: [&str; 2] = ["-fobjc-runtime=gnustep-2.0", "-fconstant-string-class=NSConstantString"];

#[test]
fn objective_c_computes() {
    let program = build("compute.m", &OBJECTIVE_C);
    check(&program);
    // Programs share memory that is not aligned, which a Mac does not forbid without the layer.
    let mistake = text(&run(&program, &["unaligned"]));
    assert!(mistake.contains("byte aligned"), "{mistake}");
    let tolerated = run_with(&program, &["unaligned"], "0");
    assert!(tolerated.status.success() && text(&tolerated).contains("hared"), "{}", text(&tolerated));
}

/// Shader validation is a setting of the environment, and needs nothing of the program.
#[test]
fn kernels_of_objective_c_are_validated() {
    let program = build("compute.m", &OBJECTIVE_C);
    let validated = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env("METALWORKS_VALIDATION", "shader").env("METALWORKS_CACHE", "off");
        text(&command.env_remove("LD_LIBRARY_PATH").output().expect("it runs"))
    };
    let said = validated(&["too many threads"]);
    let expected = "error: out-of-bounds write: 4 bytes at offset 16 of 'x' (buffer(0), 16 bytes) (kernel 'add'";
    assert!(said.contains(expected) && said.contains("[out-of-bounds-read]"), "{said}");
    let said = validated(&["without barrier"]);
    assert!(said.contains("race between dispatches") && said.contains("[race-between-dispatches]"), "{said}");
    let said = validated(&[]);
    assert!(said.contains("5 7 9 11") && !said.contains("out-of-bounds") && !said.contains("race"), "{said}");
}

#[test]
fn objective_c_uses_foundation() {
    let output = run(&build("foundation.m", &OBJECTIVE_C), &[]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for line in [
        "names gemv norm",
        "sorted 1,1,2,3 sum 9 last 3",
        "total 12 equal 1",
        "Runner note: {2, 3} 1",
        "later 1",
        "caught NSInternalInconsistencyException: Invalid parameter not satisfying: name",
        "main com.apple.main-thread 0",
        "times 1 counters timestamp",
    ] {
        assert!(said.contains(line), "{line} is missing:\n{said}");
    }
}

/// Programs that check themselves, and leave no object.
fn passes(program: &Path) {
    let output = run(program, &[]);
    let said = text(&output);
    assert!(output.status.success() && said.contains("0 failures") && !said.contains("leak:"), "{said}");
}

#[test]
fn objective_c_encodes_argument_buffers() {
    let program = build("arguments.m", &[OBJECTIVE_C[0], OBJECTIVE_C[1], "-fobjc-arc"]);
    passes(&program);
    for (mistake, expected) in [
        ("no target", "no argument buffer has been set."),
        ("offset", "offset(16) + encodedLength(56) must be <= the buffer's length(64)."),
        ("index", "index(3) is not in the argument buffer."),
        ("value", "index(5) is a value."),
        ("plain", "the buffer 'out' is not an argument buffer."),
    ] {
        let output = run(&program, &[mistake]);
        let said = text(&output);
        assert!(!output.status.success() && said.contains(expected), "{mistake}: {said}");
    }
}

#[test]
fn objective_c_uses_values_and_exceptions() {
    let program = build("values.m", &[OBJECTIVE_C[0], OBJECTIVE_C[1], "-fobjc-arc", "-fobjc-arc-exceptions"]);
    let output = run(&program, &[]);
    // An exception that a loop throws leaves objects behind, as on a Mac.
    assert!(output.status.success() && text(&output).contains("0 failures"), "{}", text(&output));
    assert!(!text(&output).contains("OS_dispatch"), "{}", text(&output));
}

#[test]
fn objective_c_describes_kernels() {
    let program = build("kernels.m", &OBJECTIVE_C);
    passes(&program);
    for (mistake, message) in [
        ("nil buffer", "missing Buffer binding at index 0 for x[0]."),
        ("too many threads", "(128) must be <= 64."),
        ("after the end", "useResource:usage:]: failed assertion `Command encoding has already ended."),
        (
            "unknown message",
            "'-[MTLDebugDevice newTextureViewPoolWithDescriptor:error:]: unrecognized selector sent to instance",
        ),
    ] {
        let output = run(&program, &[mistake]);
        assert!(!output.status.success() && text(&output).contains(message), "{mistake}: {}", text(&output));
    }
}

#[test]
fn objects_have_the_documented_states() {
    passes(&build("states.m", &[OBJECTIVE_C[0], OBJECTIVE_C[1], "-fobjc-arc"]));
}

/// Functions of `atexit` and destructors of C++ run when the main thread's pools are gone.
#[test]
fn objects_can_be_used_at_the_end_of_the_process() {
    let program = build("exit.m", &OBJECTIVE_C);
    let ended = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env("METALWORKS_LEAKS", "fail").env("METALWORKS_CACHE", "off");
        command.env_remove("LD_LIBRARY_PATH").output().expect("it runs")
    };
    let output = ended(&[]);
    assert!(output.status.success(), "{:?} {}", output.status, text(&output));
    assert!(text(&output).contains("at the end: number 7, status 4"), "{}", text(&output));
    // The report of what is left does not swallow what the program printed.
    let output = ended(&["leave a buffer"]);
    assert_eq!(output.status.code(), Some(86), "{}", text(&output));
    assert!(
        text(&output).contains("left: 1") && text(&output).contains("leak: 1 of MTLDebugBuffer"),
        "{}",
        text(&output)
    );
}

#[test]
fn objective_cpp_handles_exceptions() {
    let flags = [OBJECTIVE_C[0], OBJECTIVE_C[1], "-std=c++17", "-lstdc++"];
    passes(&build("handlers.mm", &flags));
}

/// Prints the time, with the command that docs/framework.md gives.
#[test]
#[ignore = "measures"]
#[allow(clippy::print_stderr, reason = "the result of a measurement")]
fn time_of_start() {
    let this = std::env::current_exe().expect("this program");
    let library = this.parent().expect("its folder").join("libmetal_framework.so");
    let program = build("start.c", &["-ldl", "-Wl,--as-needed"]);
    let mut times: Vec<(f64, f64)> = (0..21)
        .map(|_| {
            let said = text(&run(&program, &[&library.display().to_string()]));
            let numbers: Vec<f64> = said.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            assert_eq!(numbers.len(), 2, "{said}");
            (numbers[0], numbers[1])
        })
        .collect();
    times.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (best, median) = (times[0], times[times.len() / 2]);
    eprintln!(
        "loading the library and making the device: {:.1} ms, at best {:.1} ms; {:.1} ms of CPU time",
        median.0, best.0, median.1
    );
}

/// A selector that docs/framework.md lists as working is one that the headers declare.
#[test]
fn headers_declare_what_works() {
    let table = include_str!("../../../../docs/framework.md");
    let selectors: BTreeSet<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("Works: "))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .map(|selector| selector.trim_start_matches('+'))
        .collect();
    assert!(selectors.len() > 500, "{} selectors", selectors.len());
    let uses: String = selectors.iter().map(|selector| format!("  use(@selector({selector}));\n")).collect();
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("selectors.m");
    let includes = "#import <Foundation/Foundation.h>\n#import <Metal/Metal.h>\nvoid use(SEL selector);\n";
    std::fs::write(&source, format!("{includes}void all(void) {{\n{uses}}}\n")).expect("room for a file");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let output = Command::new(clang())
        .args(["-fblocks", "-fsyntax-only", "-Wall", "-Werror", "-Wundeclared-selector", "-ferror-limit=0", "-I"])
        .args([&include, &source])
        .args(OBJECTIVE_C)
        .output()
        .expect("clang 22 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "needs metal-cpp: METALWORKS_METAL_CPP names the folder of its headers"]
fn metal_cpp_computes() {
    let headers = std::env::var("METALWORKS_METAL_CPP").expect("METALWORKS_METAL_CPP names metal-cpp's headers");
    // Its headers compare enumerations with others.
    let flags = ["-std=c++17", "-isystem", &headers, "-lstdc++", "-ldl"];
    check(&build("compute.cpp", &flags));
}
