//! `metalworks doctor`: its findings, and that it detects problems.

mod support;

use serde_json::Value;
use std::process::Command;

use support::{Run, Scratch, metalworks, metalworks_with_cache};

/// Compiled kernels, shared with the tests of the library.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-self-tests");

fn doctor(flags: &[&str], variables: &[(&str, &str)]) -> Run {
    metalworks_with_cache(["doctor"].iter().chain(flags), CACHE, variables)
}

/// The problems of a run, as `severity: what`.
fn problems(json: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let problems = json["problems"].as_array().expect("a list").iter();
    problems.map(|problem| format!("{}: {}", text(&problem["severity"]), text(&problem["what"]))).collect()
}

#[track_caller]
fn has_problem(json: &Value, text: &str) {
    let problems = problems(json);
    assert!(problems.iter().any(|problem| problem.contains(text)), "no '{text}' in {problems:#?}");
}

#[test]
fn without_kernels_it_looks_at_the_machine() {
    let json = doctor(&["--quick", "--json"], &[("MTL_DEBUG_LAYER", "1")]).exits(0).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["program"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["program"]["llvm"].is_string(), cfg!(llvm));
    assert_eq!(json["self_test"], Value::Null);
    assert_eq!(json["toolchain"]["kernels"], inference::metal::kernels::ALL.len());
    let (shaders, compiler) = libraries();
    assert_eq!(
        (&json["toolchain"]["metallibs"], &json["toolchain"]["compiler"]),
        (&shaders.into(), &compiler.into())
    );
    assert_eq!(json["environment"]["MTL_DEBUG_LAYER"], "1");
    assert_eq!(json["cache"]["writable"], true);
    assert!(json["system"]["cores"].as_u64() > Some(0) && json["system"]["os"].is_string(), "{json}");
    let devices = json["devices"].as_array().expect("a list");
    let cpu = devices.iter().find(|device| device["id"] == "cpu").expect("the CPU is always there");
    assert_eq!((&cpu["simdgroup_matrix"], &cpu["max_threads_per_threadgroup"][0]), (&true.into(), &1024.into()));
    has_problem(&json, "note: MTL_DEBUG_LAYER is set");

    let text = doctor(&["--quick", "--device", "cpu"], &[]).exits(0).stdout;
    for part in
        ["metalworks  0.", "\nshaders     ", "\nvariable    METALWORKS_CACHE=", "\nchosen: cpu (--device cpu)\n"]
    {
        assert!(text.contains(part), "no '{part}' in:\n{text}");
    }
    // Either there is a GPU, or the reason why there is none.
    #[cfg(target_os = "linux")]
    assert!(text.contains("\ncuda:0 ") || text.contains("\nno cuda device: NVIDIA's driver "), "{text}");
    let line = text.lines().find(|line| line.starts_with("shaders ")).expect("found above");
    let expected = match libraries().1 {
        Some("metalworks") => "kernels, compiled by Metalworks, and as source",
        Some(_) => "kernels, compiled by Apple's compiler, and as source",
        None => "kernels, as source",
    };
    assert!(line.ends_with(expected), "{line}");
    doctor(&["--quick", "--kernel", "softmax"], &[]).exits(2).says("--quick");
}

/// Number of shaders compiled by the build, and their compiler; on a Mac Apple's or none.
fn libraries() -> (usize, Option<&'static str>) {
    let shaders = inference::metal::kernels::SHADERS;
    let apples = shaders.iter().filter(|shader| shader.metallib.is_some()).count();
    match (cfg!(target_os = "macos"), cfg!(llvm) && option_env!("METALWORKS_METALLIB") != Some("0")) {
        (true, _) => (apples, (apples > 0).then_some("apple")),
        (false, true) => (shaders.len(), Some("metalworks")),
        (false, false) => (0, None),
    }
}

#[test]
#[cfg(llvm)]
#[ignore = "compiles all kernels: make models runs it, optimized"]
fn every_kernel_passes() {
    let models = [("METALWORKS_MODELS", env!("CARGO_TARGET_TMPDIR"))];
    let json = doctor(&["--device", "cpu", "--no-speed", "--json"], &models).exits(0).json();
    let test = &json["self_test"];
    assert_eq!((&test["device"], &test["reference"]), (&"cpu".into(), &"formula".into()));
    assert_eq!((&test["failed"], &test["not_run"]), (&0.into(), &0.into()));
    let (compiled, all) = (libraries().0, inference::metal::kernels::SHADERS.len());
    let used = (&test["shaders_from_library"], &test["shaders_from_source"]);
    assert_eq!(used, (&compiled.into(), &(all - compiled).into()), "the path that was taken");
    let kernels = test["kernels"].as_array().expect("a list");
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel["kernel"].as_str().expect("a name")).collect();
    let all: Vec<&str> = inference::metal::kernels::ALL.iter().map(|kernel| kernel.name).collect();
    assert_eq!(names, all, "every kernel of the library, each once");
    for kernel in kernels {
        assert_eq!((&kernel["status"], kernel["error"].is_number()), (&"passed".into(), true), "{kernel}");
    }
    assert_eq!(test["failures"], Value::Array(Vec::new()));
    assert!(problems(&json).iter().all(|problem| problem.starts_with("note: ")), "{:?}", problems(&json));
}

/// The file says what is in the JSON, every field of it.
#[test]
#[cfg(llvm)]
fn the_json_is_documented() {
    let scratch = Scratch::new();
    let wrong = scratch.file("recorded.txt", wrong_softmax());
    let json = doctor(&["-k", "softmax", "--reference", &wrong, "--json"], &[]).exits(1).json();
    let page = std::fs::read_to_string(support::root().join("docs/doctor.md")).expect("the page is there");
    let mut missing = Vec::new();
    fields("", &json, &mut |path| {
        let known = page.lines().any(|line| line.starts_with(&format!("| `{path}` |")));
        if !known && !path.starts_with("environment.") {
            missing.push(path.to_owned());
        }
    });
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "docs/doctor.md has no row for {missing:?}");
}

/// Calls for each field: `devices[].id`.
#[cfg(llvm)]
fn fields(path: &str, value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                each(&path);
                fields(&path, value, each);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(&format!("{path}[]"), item, each)),
        _ => {}
    }
}

#[test]
#[cfg(llvm)]
fn times_are_taken() {
    let json = doctor(&["--device", "cpu", "-k", "softmax", "--json"], &[]).exits(0).json();
    for kernel in json["self_test"]["kernels"].as_array().expect("a list") {
        let speed = &kernel["speed"];
        assert_eq!(speed["shape"], "M=32 N=4096");
        assert!(speed["microseconds"].as_f64() > Some(0.0) && speed["gigabytes_per_second"].as_f64() > Some(0.0));
    }
    let text = doctor(&["--device", "cpu", "-k", "softmax.metal", "-v"], &[]).exits(0).stdout;
    assert!(text.contains("\nsoftmax_f32  pass") && text.contains("  M=32 N=4096\n"), "{text}");
    assert!(text.contains("\n2 of 2 kernels pass ("), "{text}");
}

/// Another CPU adds in another order.
#[test]
#[cfg(all(llvm, target_arch = "x86_64"))]
fn another_cpu_computes_the_same() {
    let flags =
        ["--device", "cpu", "--no-speed", "--json", "-k", "gemv_q4_0_f32", "-k", "attention_decode", "-k", "norm"];
    let json = doctor(&flags, &[("METALWORKS_CPU", "haswell"), ("METALWORKS_THREADS", "3")]).exits(0).json();
    assert_eq!((&json["self_test"]["failed"], &json["self_test"]["not_run"]), (&0.into(), &0.into()));
    assert_eq!(json["environment"]["METALWORKS_CPU"], "haswell");
}

/// Recorded results of the CPU for softmax, with one wrong number in those of f32.
#[cfg(llvm)]
fn wrong_softmax() -> String {
    use inference::{cases, metal::MetalDevice, selftest::Record};
    let archive = compute::BinaryArchive::folder(CACHE, compute::FolderOptions::default());
    let cpu = compute::Device::cpu().expect("it is always there");
    let cpu = MetalDevice::with_device(cpu, archive).expect("the library is right");
    let cases = cases::select(cases::checked().expect("the table is right"), &["softmax".into()]);
    let mut record = Record::of(&cpu, &cases.expect("there are some")).expect("all run");
    assert_eq!(record.checks[0].name, "softmax_f32");
    // The sign, and so it is far off.
    record.checks[0].outputs[0].samples[47] ^= 1 << 31;
    record.to_text()
}

#[test]
#[cfg(llvm)]
fn a_wrong_result_is_reported_in_full() {
    let scratch = Scratch::new();
    let wrong = scratch.file("recorded.txt", wrong_softmax());
    let run = |flags: &[&str]| {
        doctor(&[&["--device", "cpu", "-k", "softmax", "--no-speed", "--reference", &wrong], flags].concat(), &[])
    };
    let text = run(&[]).exits(1).stdout;
    for part in [
        &format!("\nself-test on cpu against the results in '{wrong}'; kernels "),
        "\nFAIL softmax_f32 M=3 N=401\n  softmax_f32",
        "\n    y: 1 of 48 numbers are off; the normalized mean square error is ",
        "\n      y[",
        "\n1 of 2 kernels pass, 1 fail (",
        "\nerror: 1 kernel fails on cpu: ",
    ] {
        assert!(text.contains(part), "no '{part}' in:\n{text}");
    }
    let json = run(&["--json"]).exits(1).json();
    let failures = json["self_test"]["failures"].as_array().expect("a list");
    assert_eq!(failures.len(), 1);
    assert_eq!((&failures[0]["check"], &failures[0]["status"]), (&"softmax_f32".into(), &"failed".into()));
    assert_eq!(failures[0]["kernels"][0], "softmax_f32");
    // Other references find nothing.
    for reference in ["cpu", "formula"] {
        doctor(&["--device", "cpu", "-k", "softmax", "--no-speed", "--reference", reference], &[]).exits(0);
    }
}

#[test]
fn a_damaged_file_of_results_is_not_tried() {
    let scratch = Scratch::new();
    let text = "metalworks self-test results, version 1\n\
        check softmax_f32 inputs=00000001 M=1 N=2\n\
        y f32 2 3ff0000000000000 3f0000003f000\n";
    let damaged = scratch.file("recorded.txt", text);
    doctor(&["--reference", &damaged], &[])
        .exits(2)
        .says("line 3 of the recorded results: no result, or one that is cut off");
    doctor(&["--reference", "Cargo.toml"], &[]).exits(2).says("cannot read 'Cargo.toml': line 1");
    doctor(&["--reference", "no-such-file"], &[]).exits(2).says("cannot read 'no-such-file'");
}

#[test]
fn unknown_kernels_and_devices_are_explained() {
    doctor(&["-k", "gemvq4_0_f32"], &[]).exits(2).says("similar: 'gemv_q4_0_f32'");
    doctor(&["-k", "zzz"], &[]).exits(2).says("'metalworks doctor -v' prints all kernels");
    // The other findings are still there.
    for (flags, variable) in [(&["--device", "cuda:7"][..], ""), (&[], "cuda:7")] {
        let run = doctor(&[flags, &["--json"]].concat(), &[("METALWORKS_DEVICE", variable)]).exits(2);
        let json = run.json();
        assert_eq!((&json["chosen"]["id"], &json["self_test"]), (&Value::Null, &Value::Null));
        assert!(!json["devices"].as_array().expect("a list").is_empty());
        has_problem(&json, "there is no device 'cuda:7'");
    }
    let text = doctor(&["--device", "cuda:7"], &[]).exits(2).stdout;
    assert!(
        text.contains("\nchosen: none (--device cuda:7)\n") && text.contains("\nerror: there is no device"),
        "{text}"
    );
    let json = doctor(&["--quick", "--json"], &[("METALWORKS_VALIDATION", "maybe")]).exits(2).json();
    has_problem(&json, "METALWORKS_VALIDATION is 'maybe'");
}

#[test]
fn unusable_folders_are_reported() {
    let scratch = Scratch::new();
    let below_a_file = format!("{}/below", scratch.file("a-file", "and no folder"));
    let run = metalworks_with_cache(["doctor", "--quick", "--json"], &below_a_file, &[]).exits(0);
    assert_eq!(run.json()["cache"]["writable"], false);
    has_problem(&run.json(), &format!("warning: compiled kernels cannot be cached in '{below_a_file}'"));

    // As on a full disk, files can be created, but not written.
    let run = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 0; exec \"$0\" doctor --quick --json",
            env!("CARGO_BIN_EXE_metalworks"),
        ])
        .env("METALWORKS_CACHE", format!("{}/full", scratch.path()))
        .output()
        .expect("there is a shell");
    let json = serde_json::from_slice(&run.stdout).expect("it is JSON");
    has_problem(&json, &format!("warning: compiled kernels cannot be cached in '{}/full'", scratch.path()));

    let off = metalworks(["doctor", "--quick", "--json"]).exits(0).json();
    assert_eq!(off["cache"]["path"], Value::Null);
    has_problem(&off, "note: compiled kernels are not cached: turned off by METALWORKS_CACHE");

    let much = doctor(&["--quick", "--json"], &[("METALWORKS_CACHE_SIZE", "much")]).exits(1).json();
    has_problem(&much, "error: METALWORKS_CACHE_SIZE is 'much'");

    let models = scratch.file("models", "no folder");
    let json = doctor(&["--quick", "--json"], &[("METALWORKS_MODELS", &models)]).exits(0).json();
    has_problem(&json, "warning: the models folder");
    let folder = scratch.path();
    scratch.file("hub/one.gguf", [0; 10]);
    let json = doctor(&["--quick", "--json"], &[("METALWORKS_MODELS", &folder)]).exits(0).json();
    assert_eq!((&json["models"]["files"], &json["models"]["bytes"]), (&1.into(), &10.into()));
}

#[test]
#[cfg(llvm)]
fn a_damaged_cache_is_reported_and_repaired() {
    let scratch = Scratch::new();
    let folder = format!("{}/pipelines", scratch.path());
    let run =
        |flags: &[&str]| metalworks_with_cache(["doctor", "--json"].iter().chain(flags), &folder, &[]).exits(0);
    let test = ["--device", "cpu", "--no-speed", "-k", "take_row_f32"];
    for from_cache in [0, 1] {
        let json = run(&test).json();
        assert_eq!((&json["self_test"]["passed"], &json["self_test"]["pipelines"]), (&1.into(), &1.into()));
        assert_eq!(json["self_test"]["pipelines_from_cache"], from_cache);
    }
    let target = std::fs::read_dir(&folder).expect("it is there").next().expect("one").expect("ours").path();
    let file = std::fs::read_dir(target).expect("it is there").next().expect("one").expect("ours").path();
    std::fs::write(&file, "damaged").expect("it is ours");
    let damaged = run(&["--quick"]).json();
    assert_eq!((&damaged["cache"]["entries"], &damaged["cache"]["damaged"]), (&0.into(), &1.into()));
    has_problem(&damaged, "warning: 1 file of the cache is damaged");
    assert_eq!(run(&test).json()["self_test"]["passed"], 1);
    assert_eq!(run(&["--quick"]).json()["cache"]["damaged"], 0);
}

/// The CPU needs LLVM.
#[test]
#[cfg(not(llvm))]
fn without_a_compiler_kernels_are_not_run() {
    let scratch = Scratch::new();
    let flags = ["doctor", "--device", "cpu", "-k", "softmax", "--json"];
    let json = metalworks_with_cache(flags, &scratch.path(), &[]).exits(2).json();
    assert_eq!((&json["self_test"]["not_run"], &json["self_test"]["failed"]), (&2.into(), &0.into()));
    has_problem(&json, "error: 2 kernels could not be run on cpu");
}
