//! `metalworks check`, flag by flag.

mod support;

use support::{Scratch, metalworks, metalworks_with_stdin};

const ADD_ARRAYS: &str = "examples/add_arrays.metal";
const GEMV: &str = "examples/gemv.metal";

/// One error, in its second line.
const MISTAKE: &str = "\
kernel void scale(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  flaot factor = 2.0f;
  data[i] = data[i] * factor;
}
";

#[test]
fn an_accepted_file_is_named_with_its_kernels() {
    let run = metalworks(["check", ADD_ARRAYS]).exits(0);
    assert_eq!(run.stdout, "examples/add_arrays.metal: ok, 1 kernel\n");
    assert_eq!(run.stderr, "");
}

#[test]
fn several_files_have_a_total() {
    let run = metalworks(["check", ADD_ARRAYS, GEMV]).exits(0);
    assert_eq!(
        run.stdout,
        "examples/add_arrays.metal: ok, 1 kernel\n\
         examples/gemv.metal: ok, 1 kernel\n\
         total: 2 files ok, 2 kernels\n"
    );
}

#[test]
fn an_error_is_on_stderr_with_its_place_and_a_count() {
    let scratch = Scratch::new();
    let file = scratch.file("scale.metal", MISTAKE);
    let run = metalworks(["check", &file]).exits(1);
    assert_eq!(run.stdout, "");
    run.says(&format!("{file}:2:3: error: ")).says("'flaot'").says("1 error generated.");
}

#[test]
fn the_other_files_are_checked_after_an_error() {
    let scratch = Scratch::new();
    let file = scratch.file("scale.metal", MISTAKE);
    let run = metalworks(["check", &file, GEMV]).exits(1);
    assert_eq!(run.stdout, "examples/gemv.metal: ok, 1 kernel\ntotal: 1 file ok, 1 kernel, 1 file with errors\n");
}

#[test]
fn stdin_is_a_dash() {
    let run = metalworks_with_stdin(["check", "-"], b"kernel void nothing() {}\n").exits(0);
    assert_eq!(run.stdout, "<stdin>: ok, 1 kernel\n");
    metalworks_with_stdin(["check", "-"], MISTAKE.as_bytes()).exits(1).says("<stdin>:2:3: error: ");
    metalworks_with_stdin(["check", "-"], b"// \xff\n").exits(2).says("UTF-8");
}

#[test]
fn a_library_is_no_source() {
    let scratch = Scratch::new();
    let library = scratch.file("k.metallib", b"MTLB\x01\x80\x02\0\x09\0\0\x81");
    metalworks(["check", &library])
        .exits(2)
        .says("k.metallib': it is a compiled library (.metallib), not a source");
}

#[test]
fn a_missing_file_is_not_an_error_in_it() {
    let run = metalworks(["check", "no/such/file.metal"]).exits(2);
    assert_eq!(run.stdout, "");
    run.says("no/such/file.metal").does_not_say("generated");
}

#[test]
fn a_missing_file_outweighs_an_error_and_stops_nothing() {
    let scratch = Scratch::new();
    let mistake = scratch.file("scale.metal", MISTAKE);
    let run = metalworks(["check", "missing.metal", &mistake, GEMV]).exits(2);
    assert_eq!(
        run.stdout,
        "examples/gemv.metal: ok, 1 kernel\n\
         total: 1 file ok, 1 kernel, 1 file with errors, 1 file not read\n"
    );
}

#[test]
fn a_directory_is_refused() {
    metalworks(["check", "examples"]).exits(2).says("examples").says("directory");
}

#[test]
fn a_file_that_is_not_utf8_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.file("latin1.metal", b"// caf\xe9\nkernel void k() {}\n");
    metalworks(["check", &file]).exits(2).says(&file).says("UTF-8");
}

#[test]
fn include_directories_are_searched() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "shaders/scale.metal",
        "#include \"factor.h\"\nkernel void scale(device float *data [[buffer(0)]]) { data[0] *= FACTOR; }\n",
    );
    scratch.file("first/other.h", "");
    scratch.file("second/factor.h", "#define FACTOR 2.0f\n");
    metalworks(["check", &file]).exits(1).says("factor.h");
    let (first, second) = (format!("{}/first", scratch.path()), format!("{}/second", scratch.path()));
    metalworks(["check", &file, "-I", &first, "-I", &second]).exits(0);
    metalworks(["check", &file, &format!("-I{second}")]).exits(0);
}

#[test]
fn macros_are_defined() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "width.metal",
        "kernel void k(device int *out [[buffer(0)]]) { int values[WIDTH]; values[0] = 1; out[0] = values[0]; }\n",
    );
    metalworks(["check", &file]).exits(1).says("'WIDTH'");
    metalworks(["check", &file, "-D", "WIDTH=4"]).exits(0);
    metalworks(["check", &file, "-DWIDTH"]).exits(0);
    metalworks(["check", &file, "-D", "WIDTH=TWICE(2)", "-D", "TWICE(x)=((x) * 2)"]).exits(0);
    metalworks(["check", &file, "-D", "4=WIDTH"]).exits(2).says("'4' is not a macro name");
    metalworks(["check", &file, "-D", "TWICE(x=2"]).exits(2).says("'TWICE(x' is not a macro name");
}

#[test]
fn the_language_version_decides_the_version_macro() {
    let scratch = Scratch::new();
    let file =
        scratch.file("version.metal", "#if __METAL_VERSION__ < 320\n#error too old\n#endif\nkernel void k() {}\n");
    metalworks(["check", &file, "--std", "metal3.1"]).exits(1).says("too old");
    metalworks(["check", &file, "--std", "metal3.2"]).exits(0);
    metalworks(["check", &file, "--std", "metal0.5"]).exits(2).says("metal0.5");
}

#[test]
fn warnings_are_off_by_default_and_change_no_status() {
    let scratch = Scratch::new();
    let file = scratch.file("unused.metal", "kernel void k() { int unused = 0; }\n");
    metalworks(["check", &file]).exits(0).does_not_say("warning");
    for flag in ["-W", "--warnings"] {
        let run = metalworks(["check", &file, flag]).exits(0);
        assert_eq!(run.stdout, format!("{file}: ok, 1 kernel\n"));
        run.says("warning: ").says("'unused'").says("1 warning generated.");
    }
}

#[test]
fn json_holds_everything() {
    let scratch = Scratch::new();
    let mistake = scratch.file("scale.metal", MISTAKE);
    let run = metalworks(["check", "--format", "json", &mistake, GEMV, "missing.metal"]).exits(2);
    assert_eq!(run.stderr, "");
    let files = &run.json()["files"];
    assert_eq!(files.as_array().expect("a list").len(), 3);

    assert_eq!(files[0]["file"], mistake.as_str());
    assert_eq!((&files[0]["ok"], &files[0]["errors"]), (&false.into(), &1.into()));
    assert_eq!(files[0]["kernels"], serde_json::Value::Null);
    let diagnostic = &files[0]["diagnostics"][0];
    assert_eq!(diagnostic["severity"], "error");
    assert!(diagnostic["message"].as_str().expect("a message").contains("'flaot'"));

    assert_eq!((&files[1]["ok"], &files[1]["kernels"]), (&true.into(), &1.into()));
    assert_eq!(files[1]["diagnostics"], serde_json::json!([]));
    assert_eq!(files[1].get("milliseconds"), None);

    assert_eq!(files[2]["ok"], false);
    assert!(files[2]["unreadable"].as_str().expect("a message").contains("missing.metal"));
}

#[test]
fn text_is_the_default_format() {
    let named = metalworks(["check", "--format", "text", GEMV]).exits(0);
    assert_eq!(named.stdout, metalworks(["check", GEMV]).stdout);
    metalworks(["check", "--format", "xml", GEMV]).exits(2).says("xml");
}

#[test]
fn times_are_printed_for_each_stage() {
    let run = metalworks(["check", "--time", GEMV]).exits(0);
    assert_eq!(run.stdout, "examples/gemv.metal: ok, 1 kernel\n");
    let line = run.stderr.strip_prefix("examples/gemv.metal: ").expect("the file is named");
    let stages: Vec<&str> = line.trim_end().split(", ").filter_map(|stage| stage.split(' ').next()).collect();
    assert_eq!(stages, ["preprocess", "parse", "check", "total"]);
    assert!(line.trim_end().split(", ").all(|stage| stage.ends_with(" ms")), "{line}");
}

#[test]
fn times_are_in_json_too() {
    let run = metalworks(["check", "--time", "--format", "json", GEMV]).exits(0);
    let times = &run.json()["files"][0]["milliseconds"];
    for stage in ["preprocess", "parse", "check", "total"] {
        assert!(times[stage].is_f64(), "{stage} in {times}");
    }
}

#[test]
fn colour_is_for_terminals_or_on_demand() {
    let scratch = Scratch::new();
    let file = scratch.file("scale.metal", MISTAKE);
    metalworks(["check", &file]).exits(1).does_not_say("\x1b[");
    metalworks(["check", "--color", "auto", &file]).exits(1).does_not_say("\x1b[");
    metalworks(["check", "--color", "never", &file]).exits(1).does_not_say("\x1b[");
    metalworks(["check", "--color", "always", &file]).exits(1).says("\x1b[");
}
