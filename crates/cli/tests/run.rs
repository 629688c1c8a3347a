//! `metalworks run`, `bench` and `perplexity`, on synthetic models.
#![cfg(llvm)]

mod support;

use std::path::PathBuf;

use support::{Run, Scratch, metalworks, metalworks_with_cache, metalworks_with_stdin};

const MODEL: [&str; 2] = ["--synthetic", "llama-tiny:q4_0"];
/// Makes all tokens about as probable.
const ANYTHING: [&str; 8] = ["--temp", "1000", "--top-k", "0", "--top-p", "1", "--min-p", "0"];

/// Shared by the tests, so that kernels are compiled once.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels-of-models");

/// Runs a subcommand with the tiny model.
fn run(command: &str, flags: &[&str]) -> Run {
    metalworks_with_cache([command].iter().chain(&MODEL).chain(flags), CACHE, &[])
}

#[test]
fn a_model_answers_and_the_same_seed_gives_the_same_answer() {
    // The end of a text differs between CPUs: sums are rounded differently.
    let flags = ["-p", "hello", "-n", "12", "--ignore-eos", "--temp", "1.5"];
    let answer = |seed: &str| run("run", &[&flags[..], &["--seed", seed]].concat()).exits(0).stdout;
    let text = answer("1");
    assert!(text.ends_with('\n') && text.len() > 5, "{text:?}");
    assert_eq!(answer("1"), text);
    assert_ne!(answer("2"), text);
    let greedy = |flags: &[&str]| {
        run("run", &[&["-p", "hello", "-n", "12", "--ignore-eos"], flags].concat()).exits(0).stdout
    };
    let best = greedy(&["--temp", "0"]);
    assert_eq!(greedy(&["--top-k", "1", "-s", "5"]), best);
    assert_eq!(greedy(&["--min-p", "1", "-s", "6"]), best);
    assert_eq!(greedy(&["--temp", "0", "-t", "1", "-c", "64"]), best);
    assert_ne!(greedy(&["--temp", "0", "--system", "Be brief."]), best, "a system message is read");
    assert_ne!(greedy(&["--temp", "0", "--raw"]), best, "the template is left out");
    assert_ne!(greedy(&["--temp", "0", "--repeat-penalty", "0.01"]), best, "repetition is rewarded");
}

#[test]
fn reads_a_prompt_from_a_pipe() {
    let flags = ["--temp", "0", "-n", "4"];
    let piped = metalworks_with_stdin(["run"].iter().chain(&MODEL).chain(&flags), b"hello\n").exits(0);
    assert_eq!(piped.stdout, run("run", &[&flags[..], &["-p", "hello"]].concat()).exits(0).stdout);
}

#[test]
fn arguments_without_flags_are_model_and_prompt() {
    let flags = ["--temp", "0", "-n", "4"];
    let expected = run("run", &[&flags[..], &["-p", "hello"]].concat()).exits(0).stdout;
    assert_eq!(run("run", &[&flags[..], &["hello"]].concat()).exits(0).stdout, expected);
    let scratch = Scratch::new();
    let file = format!("{}/tiny.gguf", scratch.path());
    metalworks(["synthesize", "llama-tiny:q4_0", "-o", &file]).exits(0);
    let named = [&["run", &file, "hello"], &flags[..]].concat();
    assert_eq!(metalworks_with_cache(named, CACHE, &[]).exits(0).stdout, expected);
    run("run", &["model.gguf", "hello"]).exits(2).says("the model is named twice");
    run("run", &["hello", "-p", "hello"]).exits(2).says("there are two prompts");
}

#[test]
fn piped_text_follows_the_prompt() {
    let flags = ["--temp", "0", "-n", "4", "-p"];
    let piped = ["run"].iter().chain(&MODEL).chain(&flags).chain(&["Repeat:"]);
    let piped = metalworks_with_stdin(piped, b"one\ntwo\n").exits(0);
    let expected = run("run", &[&flags[..], &["Repeat:\n\none\ntwo"]].concat()).exits(0);
    assert_eq!(piped.stdout, expected.stdout);
    metalworks_with_stdin(["run"].iter().chain(&MODEL), b"\n").exits(1).says("the prompt is empty");
    metalworks(["run", "hello"]).exits(1).says("the prompt is empty").says("'hello' is taken as the model");
}

#[test]
fn events_are_lines_of_json() {
    let flags = ["--temp", "0", "-n", "4", "-p", "hello", "--ignore-eos"];
    let text = run("run", &flags).exits(0).stdout;
    let events = run("run", &[&flags[..], &["--json"]].concat()).exits(0).stdout;
    let events: Vec<serde_json::Value> =
        events.lines().map(|line| serde_json::from_str(line).expect("a JSON object in each line")).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().expect("a kind")).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("start", "end"), "{kinds:?}");
    let said: String = events.iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(said + "\n", text);
    let end = &events[events.len() - 1];
    assert_eq!((&end["stop"], &end["tokens"]), (&"max_tokens".into(), &4.into()));
    let failed = run("run", &["--json", "-c", "4", "-p", "a long prompt"]).exits(1).stdout;
    assert!(failed.lines().last().is_some_and(|line| line.contains("\"event\":\"error\"")), "{failed}");
}

#[test]
fn a_context_beyond_training_is_warned_of() {
    let flags = ["-p", "hello", "-n", "1", "-c"];
    run("run", &[&flags[..], &["2048"]].concat()).exits(0).does_not_say("training");
    let warned = run("run", &[&flags[..], &["2049"]].concat()).exits(0);
    warned.says("the context of 2049 tokens exceeds the 2048 of training");
}

#[test]
fn memory_and_cache_that_are_not_there_are_reported() {
    let refused = run("run", &["-p", "x", "-c", "10000000000000"]).exits(2);
    refused.says("for a context of 10000000000000 tokens").says("a smaller --context needs less memory");
    let flags = ["run"].iter().chain(&MODEL).chain(&["-p", "x", "-n", "1"]);
    let run = metalworks_with_cache(flags, "/dev/null/cache", &[]).exits(0);
    run.says("warning: compiled kernels are not kept for the next start").says("/dev/null/cache");
}

#[test]
fn a_cache_that_cannot_be_read_is_one_warning() {
    let scratch = Scratch::new();
    let cache = format!("{}/cache", scratch.path());
    let run = || {
        let flags = ["run"].iter().chain(&MODEL).chain(&["-p", "x", "-n", "1"]);
        metalworks_with_cache(flags, &cache, &[]).exits(0)
    };
    run().does_not_say("warning");
    // Folders in place of files cannot be read by any user.
    let mut folders = vec![PathBuf::from(&cache)];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("it is ours").flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == "mwarchive") {
                std::fs::remove_file(&path).expect("it is ours");
                std::fs::create_dir(&path).expect("it is ours");
            } else if path.is_dir() {
                folders.push(path);
            }
        }
    }
    let warned = run().says("more problem");
    assert_eq!(warned.stderr.matches("are not kept").count(), 1, "{}", warned.stderr);
}

#[test]
fn statistics_go_to_stderr() {
    let quiet = run("run", &["-p", "hello", "-n", "6", "--temp", "0"]).exits(0);
    assert_eq!(quiet.stderr, "");
    let loud = run("run", &["-p", "hello", "-n", "6", "--temp", "0", "--stats"]).exits(0);
    assert_eq!(loud.stdout, quiet.stdout);
    loud.says("loaded in ").says("first token after ").says("prompt: ").says("answer: ").says(" tokens/s)");
}

#[test]
fn activations_are_exact_or_rounded_to_eight_bits() {
    let flags = ["--device", "cpu", "-p", "hello", "-n", "2", "--temp", "0", "--stats"];
    run("run", &flags).exits(0).says("activations: q8 in products with quantized weights");
    for name in ["f32", "q8"] {
        let said = format!("activations: {name} in products");
        run("run", &[&flags[..], &["--activations", name]].concat()).exits(0).says(&said);
    }
    run("run", &["-p", "hello", "--activations", "q4"]).exits(2).says("possible values: f32, q8");
}

#[test]
fn the_type_of_the_kv_cache_is_chosen() {
    let flags = ["-p", "hello", "-n", "4", "--temp", "0", "--stats", "-c", "64"];
    // Two layers of keys and values, two heads of 64 numbers.
    for (kv, size) in [
        ("f32", "128.0 KiB"),
        ("f16", "64.0 KiB"),
        ("q8_0", "34.0 KiB"),
        ("q4_0", "18.0 KiB"),
        ("k=q8_0,v=f16", "49.0 KiB"),
        ("k=q8_0,v=q4_0", "26.0 KiB"),
    ] {
        let said = format!("KV cache: {size} in {kv}\n");
        run("run", &[&flags[..], &["--kv", kv]].concat()).exits(0).says(&said);
    }
    run("run", &flags).exits(0).says("in f16\n");
    let refused = run("run", &["-p", "hello", "--kv", "q5_0"]).exits(2);
    refused.says("'q5_0' is not a type of the KV cache: it must be f32, f16, q8_0 or q4_0");
    let refused = run("run", &["-p", "hello", "--kv", "k=q4_0,v=f16"]).exits(2);
    refused.says("or for keys and values k=f16,v=q8_0, k=f16,v=q4_0, k=q8_0,v=f16, k=q8_0,v=q4_0");
    for kv in ["q8_0", "k=q8_0,v=f16"] {
        let json = run("bench", &["-p", "0", "-n", "2", "-r", "1", "--json", "--kv", kv]).exits(0).json();
        assert_eq!(json["kv_cache"], kv);
    }
}

#[test]
fn a_full_context_is_explained_or_shifted() {
    let flags = ["--raw", "-p", "hello", "-c", "32", "--temp", "0", "--ignore-eos"];
    let text = run("run", &flags).exits(0).says("the context of 32 tokens is full; use a larger one with -c");
    let longer = run("run", &[&flags[..], &["--context-shift", "-n", "60"]].concat()).exits(0);
    // The last character may be half of one that the longer text has as a whole.
    let text = text.stdout.trim_end().trim_end_matches(char::REPLACEMENT_CHARACTER);
    assert!(!text.is_empty() && longer.stdout.starts_with(text), "{} {text}", longer.stdout);
    longer.does_not_say("full");
    let long = "hello ".repeat(100);
    run("run", &["--raw", "-p", &long, "-c", "32"])
        .exits(1)
        .says("the prompt has ")
        .says("more than the context of 32");
}

#[test]
fn ignore_eos_continues_after_the_end() {
    // Two of the 384 tokens are end tokens: 4000 random tokens contain some, whatever the rounding.
    let flags = ["--raw", "-p", "hello", "-n", "4000", "--context-shift", "--stats", "--seed", "1"];
    let text = [&flags[..], &ANYTHING].concat();
    run("run", &text).exits(0).says("answer: ").does_not_say("answer: 4000 tokens");
    run("run", &[&text[..], &["--ignore-eos"]].concat()).exits(0).says("answer: 4000 tokens");
}

#[test]
fn explains_prompts_and_models_that_cannot_run() {
    metalworks(["run", "-m", "no-such-model.gguf", "-p", "x"])
        .exits(2)
        .says("there is no file 'no-such-model.gguf'");
    metalworks(["run", "-m", "smolm2", "-p", "x"]).exits(2).says("did you mean 'smollm2'?");
    metalworks(["info", "smolm2"]).exits(2).says("did you mean 'smollm2'?");
    metalworks(["run", "What is a compiler?"]).exits(2).says("pass a prompt with -p");
    metalworks(["run", "-m", "Cargo.toml", "-p", "x"]).exits(1).says("Cargo.toml");
    metalworks(["run", "--synthetic", "llama-huge:q4_0", "-p", "x"])
        .exits(2)
        .says("there is no shape 'llama-huge'");
    run("run", &["-p", "x", "--temp", "-1"]).exits(2).says("the temperature is -1: it must be 0 or above");
    run("run", &["-p", "x", "-n", "-1"]).exits(2).says("invalid value '-1' for '--tokens <TOKENS>'");
    run("run", &["-p", "x", "--top-p", "2"]).exits(2).says("top-p is 2");
    run("run", &["--raw", "-p", ""]).exits(1).says("the prompt is empty");
    run("run", &["-p", " \t\n"]).exits(1).says("the prompt is empty");
    run("run", &["--raw", "-p", " ", "-n", "1"]).exits(0);
    for flags in [["-c", "0"], ["-c", "-1"], ["-t", "0"], ["-t", "many"]] {
        run("run", &[&["-p", "x"][..], &flags].concat()).exits(2).says("it must be a whole number, 1 or above");
    }
    for flags in [["--seed", "-1"], ["--top-k", "1.5"]] {
        run("run", &[&["-p", "x"][..], &flags].concat()).exits(2).says("it must be a whole number, 0 or above");
    }
}

/// Starts an endless answer of random tokens, so that it cannot get stuck in tokens that are not printed.
#[cfg(unix)]
fn endless_answer() -> (std::process::Child, std::process::ChildStdout) {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_metalworks"))
        .arg("run")
        .args(MODEL)
        .args(["--raw", "-p", "hello", "--context-shift", "--ignore-eos"])
        .args(ANYTHING)
        .env("METALWORKS_CACHE", CACHE)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdout = child.stdout.take().expect("stdout is piped");
    std::io::Read::read_exact(&mut stdout, &mut [0; 16]).expect("an answer begins");
    (child, stdout)
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_the_answer_and_not_the_program() {
    let (child, mut stdout) = endless_answer();
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success());
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut stdout, &mut rest).expect("the answer ends");
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(rest.ends_with(b"\n"), "the line is ended");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "(interrupted)\n");
}

#[test]
#[cfg(unix)]
fn a_closed_stdout_ends_the_answer() {
    let (child, stdout) = endless_answer();
    drop(stdout);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn speed_is_measured() {
    let text = run("bench", &["-p", "16", "-n", "8", "-r", "2", "-t", "1"]).exits(0).stdout;
    assert!(text.starts_with("llama-tiny:q4_0 on CPU"), "{text}");
    assert!(text.contains("\npp16 ") && text.contains("\ntg8 "), "{text}");
    let flags = ["-p", "0", "-n", "8", "-r", "4", "-d", "20", "--steps", "3", "--json"];
    let json = run("bench", &flags).exits(0).json();
    let tests = json["tests"].as_array().expect("there are tests");
    assert_eq!(tests.len(), 1);
    assert_eq!((&tests[0]["test"], &tests[0]["tokens"]), (&"tg8 @ 20".into(), &8.into()));
    let all: Vec<f64> =
        tests[0]["samples"].as_array().unwrap().iter().map(|speed| speed.as_f64().unwrap()).collect();
    assert_eq!(all.len(), 4);
    let (median, expected) = (tests[0]["tokens_per_second"].as_f64().unwrap(), (all[1] + all[2]) / 2.0);
    assert!((median - expected).abs() <= 1e-9 * expected, "{median} of {all:?}");
}

#[test]
fn sequences_are_measured_together() {
    let flags = ["-p", "0", "-n", "4", "-r", "1", "--sequences", "1,3"];
    let text = run("bench", &flags).exits(0).stdout;
    // Columns are as wide as their numbers, which depend on the machine.
    let has_header =
        text.lines().any(|line| line.split_whitespace().eq(["sequences", "tokens/s", "each", "scaling"]));
    assert!(has_header, "{text}");
    let json = run("bench", &[&flags[..], &["--json"]].concat()).exits(0).json();
    let sequences = json["sequences"].as_array().expect("there are numbers of sequences");
    let counts: Vec<u64> = sequences.iter().map(|one| one["sequences"].as_u64().unwrap()).collect();
    assert_eq!(counts, [1, 3]);
    let number = |index: usize, name: &str| sequences[index][name].as_f64().unwrap();
    let (total, each) = (number(1, "tokens_per_second"), number(1, "tokens_per_second_each"));
    assert!((total - 3.0 * each).abs() <= 1e-9 * total, "{total} and {each}");
    let scaling = total / number(0, "tokens_per_second");
    assert!((number(1, "scaling") - scaling).abs() <= 1e-9 * scaling, "{scaling}");
    run("bench", &["--sequences", "0"]).exits(2).says("--sequences");
}

#[test]
fn speed_beyond_the_context_is_refused_before_loading() {
    let refused = run("bench", &["-p", "9999999"]).exits(1);
    refused.says("the model's context of 2048 tokens is too small: 9999999 are needed; exceed it with -c 10000000");
    run("bench", &["-n", "2000", "-d", "100"]).exits(1).says("2100 are needed");
    run("bench", &["-d", &usize::MAX.to_string()]).exits(1).says("is too small");
    let refused = run("bench", &["-c", "64", "-p", "64", "-n", "0"]).exits(1);
    refused.says("the context of 64 tokens is too small: 65 are needed; set a larger one with -c");
    run("bench", &["-p", "0", "-n", "0"]).exits(2).says("there is nothing to measure: -p and -n are 0");
    // A length that was not trained is measured on request.
    run("bench", &["-c", "2101", "-d", "2090", "-p", "0", "-n", "10", "-r", "1"]).exits(0);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn an_unknown_cpu_is_reported_once() {
    let run =
        metalworks_with_cache(["bench"].iter().chain(&MODEL), CACHE, &[("METALWORKS_CPU", "pentium")]).exits(2);
    assert_eq!(run.stderr.matches("pentium").count(), 1, "{}", run.stderr);
    run.says("METALWORKS_CPU is 'pentium': it must be one of x86-64-v3, haswell,");
}

#[test]
fn perplexity_is_measured() {
    let scratch = Scratch::new();
    let file = scratch.file("text.txt", "The quick brown fox jumps over the lazy dog. ".repeat(30));
    let text = run("perplexity", &["-f", &file, "-c", "64"]).exits(0).stdout;
    assert!(text.starts_with("perplexity ") && text.contains("windows of 64"), "{text}");
    let json = run("perplexity", &["-f", &file, "-c", "64", "--json"]).exits(0).json();
    let (value, window) = (json["perplexity"].as_f64().unwrap(), json["window"].as_u64());
    assert!(value > 1.0 && window == Some(64), "{json}");
    // Of 64 tokens, positions 32 to 62 predict the next one.
    let windows = json["tokens"].as_u64().unwrap() / 64;
    assert_eq!(json["tokens_predicted"].as_u64(), Some(windows * 31), "{json}");
    let short = scratch.file("short.txt", "a");
    run("perplexity", &["-f", &short]).exits(1).says("the text is too short: it has ");
    run("perplexity", &["-f", &file, "-c", "2"]).exits(1).says("a window must have 4 to");
    run("perplexity", &["-f", "no-such-file"]).exits(2).says("cannot read 'no-such-file'");
}

#[test]
fn numbers_out_of_range_are_explained() {
    let run = |flags: &[&str]| metalworks([&["run", "--synthetic", "llama-tiny:q4_0", "-p", "x"], flags].concat());
    run(&["-n", "-1"]).exits(2).says("it must be 0 or above; leave out the flag for no limit");
    run(&["-n", "many"]).exits(2).says("it is not a number of tokens");
    run(&["--temp", "-1"]).exits(2).says("the temperature is -1: it must be 0 or above");
    // More than any machine has.
    run(&["-c", "10000000000000"])
        .exits(2)
        .says("for a context of 10000000000000 tokens")
        .says("a smaller --context");
}
