//! `--profile` and `--trace` of the subcommands that run models.
#![cfg(llvm)]

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use support::{Run, Scratch, metalworks_with_cache};

const MODEL: [&str; 4] = ["--synthetic", "llama-tiny:q4_0", "--device", "cpu"];

/// Shared with other tests, so that kernels are compiled once.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-models");

fn run(command: &str, flags: &[&str]) -> Run {
    metalworks_with_cache([command].iter().chain(&MODEL).chain(flags), CACHE, &[])
}

#[test]
fn a_profile_has_every_dispatch_of_prompt_and_decode() {
    let flags = ["-p", "40", "-n", "6", "-d", "3", "-r", "1", "--json"];
    assert!(run("bench", &flags).exits(0).json().get("profile").is_none());
    let json = run("bench", &[&flags[..], &["--profile"]].concat()).exits(0).json();
    let profile = &json["profile"];
    assert_eq!((&profile["decode"]["tokens"], &profile["prompt"]["tokens"]), (&6.into(), &40.into()));
    let per_token = json["dispatches_per_token"].as_u64().unwrap();
    assert_eq!(profile["decode"]["dispatches"], 6 * per_token);
    assert_eq!(profile["limit"]["accesses"], "plain reads");
    assert!(profile["limit"]["bytes_per_second"].as_f64().unwrap() > 0.0);
    for phase in ["prompt", "decode"] {
        let phase = &profile[phase];
        let kernels = phase["kernels"].as_array().unwrap();
        let sum = |field: &str| -> f64 { kernels.iter().map(|kernel| kernel[field].as_f64().unwrap()).sum() };
        assert_eq!(sum("count"), phase["dispatches"].as_f64().unwrap());
        let number = |field: &str| phase[field].as_f64().unwrap();
        let parts = sum("seconds") + number("seconds_between") + number("host_seconds");
        assert!((parts / number("seconds") - 1.0).abs() < 1e-6, "the parts are the whole: {phase}");
        let times: Vec<f64> = kernels.iter().map(|kernel| kernel["seconds"].as_f64().unwrap()).collect();
        assert!(times.is_sorted_by(|one, other| one >= other), "{times:?}");
    }
    // Two layers. Attention sees 4 to 9 positions: keys and values of two heads of 64 in f16, and 4 heads of f32.
    let kernels = profile["decode"]["kernels"].as_array().unwrap();
    let of =
        |name: &str| kernels.iter().find(|kernel| kernel["kernel"].as_str().unwrap().starts_with(name)).unwrap();
    let attention = of("attention_decode");
    let bytes: u64 = (4..=9).map(|length| 2 * (2 * length * 2 * 64 * 2 + 2 * 4 * 64 * 4)).sum();
    assert_eq!((&attention["count"], attention["bytes"].as_f64()), (&12.into(), Some(bytes as f64)));
    assert_eq!(of("lm_head_q")["count"], 6);
}

#[test]
fn a_profile_is_a_table_for_each_phase() {
    let text = run("bench", &["-p", "9", "-n", "4", "-r", "1", "-t", "2", "--profile"]).exits(0).stdout;
    let sections: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(sections.len(), 3, "{text}");
    for (section, start) in sections[1..].iter().zip(["prompt: 9 tokens: ", "decode: a token, mean of 4: "]) {
        assert!(section.starts_with(start), "{section}");
        assert!(section.contains("plain reads of 16.0 MiB by 2 threads"), "{section}");
        let lines: Vec<&str> = section.lines().collect();
        assert!(lines[1].starts_with("kernel ") && lines[1].ends_with("gap ms"), "{section}");
        let names = lines[lines.len() - 3..].iter().map(|line| line.split("  ").next().unwrap());
        assert!(names.eq(["between dispatches", "host", "total"]), "{section}");
    }
    // The model's text is the only result of `run`.
    let flags = ["-p", "hello", "-n", "4", "--temp", "0"];
    let quiet = run("run", &flags).exits(0);
    let loud = run("run", &[&flags[..], &["--profile"]].concat()).exits(0);
    assert_eq!(loud.stdout, quiet.stdout);
    loud.says("prompt: ").says("decode: a token, mean of 3: ").says("gemv_gated_q4_0");
}

/// A span of a timeline, in nanoseconds.
#[derive(Clone, PartialEq, Debug)]
struct Span {
    name: String,
    start: u64,
    end: u64,
    arguments: Value,
}

/// The lanes of a timeline, by process and name.
fn timeline(path: &str) -> BTreeMap<(u64, String), Vec<Span>> {
    let text = std::fs::read_to_string(path).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let lane = |event: &Value| (event["pid"].as_u64().unwrap(), event["tid"].as_u64());
    let names: BTreeMap<_, _> = events
        .iter()
        .filter(|event| event["ph"] == "M" && event["name"] == "thread_name")
        .map(|event| (lane(event), event["args"]["name"].as_str().unwrap().to_owned()))
        .collect();
    let mut lanes = BTreeMap::<_, Vec<Span>>::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let nanoseconds = |field: &str| (event[field].as_f64().unwrap() * 1000.0).round() as u64;
        let start = nanoseconds("ts");
        let name = event["name"].as_str().unwrap().to_owned();
        let span = Span { name, start, end: start + nanoseconds("dur"), arguments: event["args"].clone() };
        lanes.entry((event["pid"].as_u64().unwrap(), names[&lane(event)].clone())).or_default().push(span);
    }
    lanes
}

/// Checks that the spans are in order, and that each is inside another or beside it.
fn check_nesting(lane: &[Span]) {
    let mut open: Vec<&Span> = Vec::new();
    assert!(lane.is_sorted_by_key(|span| span.start), "{lane:?}");
    for span in lane {
        while open.last().is_some_and(|outer| outer.end <= span.start) {
            open.pop();
        }
        if let Some(outer) = open.last() {
            assert!(span.end <= outer.end, "{span:?} begins in {outer:?}, and ends after it");
        }
        open.push(span);
    }
}

#[test]
fn a_timeline_has_lanes_for_host_device_and_threads() {
    let scratch = Scratch::new();
    let path = &format!("{}/trace.json", scratch.path());
    let flags = ["-p", "40", "-n", "6", "-r", "1", "-t", "2", "--json", "--trace", path];
    let json = run("bench", &flags).exits(0).json();
    assert!(json.get("profile").is_none(), "only --profile adds it");
    let lanes = timeline(path);
    lanes.values().for_each(|lane| check_nesting(lane));

    let host = &lanes[&(1, "main".into())];
    for name in ["generate", "encode", "run", "read tokens"] {
        let outer = host.iter().filter(|span| span.name == "generate");
        let is_inside = |span: &&Span| outer.clone().any(|o| o.start <= span.start && span.end <= o.end);
        assert!(host.iter().filter(|span| span.name == name).any(|span| is_inside(&span)), "{name}: {host:?}");
    }
    // Dispatches in order, and the threadgroups of each kernel inside of its dispatches.
    let dispatches: Vec<&Span> =
        lanes.iter().filter(|((_, name), _)| name.starts_with("dispatches")).flat_map(|(_, lane)| lane).collect();
    let per_token = json["dispatches_per_token"].as_u64().unwrap() as usize;
    assert!(dispatches.len() > 7 * per_token, "{} dispatches", dispatches.len());
    let threads = lanes.iter().filter(|((process, name), _)| *process == 2 && !name.starts_with("dispatches"));
    let mut kernels = 0;
    for span in threads.flat_map(|(_, lane)| lane).filter(|span| span.name != "wait") {
        assert!(span.arguments["threadgroups"].as_u64().unwrap() > 0, "{span:?}");
        let overlaps = |other: &&&Span| other.start <= span.end && span.start <= other.end;
        assert!(dispatches.iter().filter(overlaps).any(|other| other.name == span.name), "{span:?}");
        kernels += 1;
    }
    assert!(kernels >= dispatches.len(), "{kernels} of {}", dispatches.len());
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1, "no other file is left");

    let flags = ["--raw", "-p", "hello", "-n", "4", "--temp", "0", "--ignore-eos", "--trace", path];
    run("run", &flags).exits(0);
    let lanes = timeline(path);
    lanes.values().for_each(|lane| check_nesting(lane));
    for name in ["tokenize", "generate", "encode", "run", "read tokens", "detokenize"] {
        assert!(lanes[&(1, "main".into())].iter().any(|span| span.name == name), "{name}");
    }
}

#[test]
fn a_timeline_that_cannot_be_written_is_an_error_before_loading() {
    let scratch = Scratch::new();
    for command in ["bench", "run"] {
        for path in [&format!("{}/none/trace.json", scratch.path()), &scratch.path()] {
            let flags = ["--synthetic", "llama-tiny:q4_0", "--trace", path];
            let prompt: &[&str] = if command == "run" { &["-p", "hello"] } else { &[] };
            let run = metalworks_with_cache([command].iter().chain(&flags).chain(prompt), CACHE, &[]).exits(2);
            run.says(&format!("error: cannot write {path}: "));
        }
    }
}
