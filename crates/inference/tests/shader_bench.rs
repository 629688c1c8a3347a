//! Runs the program `metal-shader-bench`.

use metalworks_inference::metal::kernels;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs the program, with an archive of compiled pipelines that later test runs share.
fn bench(arguments: &[&str]) -> Output {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("shader-bench-pipelines");
    let mut command = Command::new(env!("CARGO_BIN_EXE_metal-shader-bench"));
    command.args(arguments).env("METALWORKS_CACHE", cache).output().expect("the program starts")
}

fn file(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().expect("a path in UTF-8").into()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The program ends with this status, reports the problem, and prints no result.
#[track_caller]
fn fails(arguments: &[&str], status: i32, problem: &str) {
    let output = bench(arguments);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
    assert!(stderr.contains(problem), "{arguments:?}: {stderr}");
    assert_eq!(stdout, "", "{arguments:?}");
}

#[test]
fn wrong_arguments_have_clear_messages() {
    fails(
        &["run", "gemvq4_0_f32"],
        1,
        "'gemvq4_0_f32' names no case, operation, kernel, file or format; similar: 'gemv_q4_0_f32'",
    );
    fails(&["list", "zzz"], 1, "'metal-shader-bench list' has all names");
    fails(&["run", "softmax", "--shape", "M"], 1, "--shape: 'M' is not a letter and a size");
    fails(&["run", "softmax", "--shape", "M=0"], 1, "--shape: M=0: it must be 1 to 2147483647");
    fails(&["run", "softmax", "--shape", "K=4"], 1, "no case that was asked for has a size K; they have M, N");
    fails(&["run", "softmax", "--shape", "M=4", "--shape", "M=5"], 1, "--shape: M is there twice");
    fails(&["run", "softmax", "--baseline", "/no/such/file.json"], 1, "cannot read /no/such/file.json: ");
    fails(
        &["run", "softmax", "--baseline", "Cargo.toml"],
        1,
        "cannot read Cargo.toml: it is not what --json writes",
    );
    fails(&["run", "softmax", "--json", "/no/such/folder/file.json"], 2, "cannot write /no/such/folder/file.json");
    fails(&["run", "softmax", "--html", "/"], 2, "cannot write /");
    fails(&["run", "softmax", "--fail-on-regression"], 2, "--baseline <FILE>");
    fails(&["run", "softmax", "--model", "9b"], 2, "possible values: tiny, 135m, 1b, 8b");
    fails(&["run", "softmax", "--threads", "0"], 2, "0 is not in 1..=1024");
    fails(&["run", "softmax", "--min-time", "-1"], 2, "");
    fails(&["run", "softmax", "--min-time", "nan"], 2, "it must be a number of seconds, 0 to 3600");
    fails(&["run", "softmax", "--samples", "2"], 2, "2 is not in 3..");
    fails(&["run", "--wrong"], 2, "unexpected argument '--wrong'");
}

#[test]
fn rejects_impossible_shapes_with_the_reason() {
    for (arguments, problem) in [
        (["attention_decode_f32_kv_f16", "D=20"], "head_dim is 20: it must be 32 to 256"),
        (["attention_decode_f32_kv_f16", "H=5,G=3"], "5 heads cannot share 3 of the cache alike"),
        (["gemv_q4_K_f32", "K=64"], "64 columns are not whole blocks of q4_K"),
        (["gemv_f32_f32", "N=2000000000,K=2000000000"], "needs "),
        (["top_k", "N=10,C=11"], "11 are to be kept of 10"),
    ] {
        let output = bench(&["run", arguments[0], "--quick", "--model", "tiny", "--shape", arguments[1]]);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stdout.contains(problem), "{arguments:?}: {stdout}");
        assert!(stderr.contains("the shape that was asked for is not possible: 1 not run"), "{stderr}");
    }
    // A format that a model cannot have is not an error.
    let output = bench(&["run", "gemv_q4_K_f32", "--quick", "--model", "135m"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("576 columns are not whole blocks of q4_K"));
}

#[test]
fn every_case_runs_and_every_kernel_is_in_one() {
    let (json, html) = (file("all.json"), file("all.html"));
    let output = bench(&["run", "--quick", "--model", "tiny", "--json", &json, "--html", &html]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "no progress where there is no terminal");

    let run: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(run["not_run"], Value::Array(Vec::new()));
    let cases = run["cases"].as_array().unwrap();
    let listed = text(&bench(&["list"]).stdout);
    assert_eq!(listed.lines().count(), cases.len() + 1, "all that is listed ran");
    let mut ran = BTreeSet::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        assert!(case["time"]["median_ns"].as_f64().unwrap() > 0.0, "{name}");
        assert!(listed.contains(name), "{name}");
        ran.extend(case["kernels"].as_array().unwrap().iter().map(|kernel| kernel.as_str().unwrap()));
    }
    for kernel in kernels::ALL.iter() {
        let left_out = listed.lines().any(|line| line.starts_with(kernel.name) && line.contains("not measured: "));
        assert!(ran.contains(kernel.name) || left_out, "no case runs {}", kernel.name);
    }
    for field in ["device", "compiler", "date", "method", "build", "limits"] {
        assert!(!run[field].is_null(), "{field}");
    }
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.contains("<svg") && html.contains("attention_decode_f32_kv_f16"));
}

#[test]
fn runs_are_compared() {
    let before = file("before.json");
    let run = |more: &[&str]| {
        let output = bench(&[&["run", "rms_norm", "softmax", "--quick", "--model", "tiny"], more].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(run(&["--json", &before]).0, Some(0));

    // Changed so that one case is slower, one faster, one new and one too noisy to tell.
    let mut changed: Value = serde_json::from_str(&std::fs::read_to_string(&before).unwrap()).unwrap();
    for (case, factors) in [(0, [1e-6; 4]), (1, [1e6; 4]), (3, [1e-2, 1e-2, 1e-3, 1e9])] {
        let time = &mut changed["cases"][case]["time"];
        let median = time["median_ns"].as_f64().unwrap();
        for (field, factor) in ["median_ns", "min_ns", "low_ns", "high_ns"].into_iter().zip(factors) {
            time[field] = (median * factor).into();
        }
    }
    changed["cases"][2]["shape"] = "M=1 N=7".into();
    let changed_file = file("changed.json");
    std::fs::write(&changed_file, changed.to_string()).unwrap();

    let (status, stdout, stderr) = run(&["--baseline", &changed_file]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("SLOWER rms_norm_f32: "), "{stdout}");
    assert!(stdout.contains("faster rms_norm_f16: "), "{stdout}");
    assert!(stdout.contains("1 faster, 1 slower, 1 the same, 1 not in the earlier run"), "{stdout}");
    let (status, _, stderr) = run(&["--baseline", &changed_file, "--fail-on-regression"]);
    assert_eq!((status, stderr.as_str()), (Some(1), "error: slower than in the earlier run: 1\n"));
}

#[test]
fn runs_with_threads_and_cold_caches() {
    let json = file("cold.json");
    let output =
        bench(&["run", "add_f32", "--quick", "--model", "tiny", "--threads", "2", "--cold", "--json", &json]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let run: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((run["threads"].as_u64(), run["cold"].as_bool()), (Some(2), Some(true)));
    assert!(run["cases"][0]["time"]["repeats"].as_u64().unwrap() > 1);
}
