//! `metalworks cache`, and the cache of compiled kernels in `metalworks exec`.
#![cfg(llvm)]

mod support;

use support::{Run, Scratch, metalworks_with_cache};

const ADD: &str = "exec examples/add_arrays.metal add_arrays --arg a=iota:f32:1024 --arg b=ones:f32:1024 --arg \
                   result=zeros:f32:1024 --print result";

/// A cache of a test's own.
struct Cache {
    scratch: Scratch,
    folder: String,
}

impl Cache {
    fn new() -> Cache {
        let scratch = Scratch::new();
        let folder = format!("{}/pipelines", scratch.path());
        Cache { scratch, folder }
    }

    fn run(&self, arguments: &str) -> Run {
        metalworks_with_cache(arguments.split_whitespace(), &self.folder, &[])
    }

    /// Runs the kernel with 1024 threads; where its code came from.
    fn origin(&self, flags: &str) -> String {
        let json = self.run(&format!("{ADD} --json --threads 1024 {flags}")).exits(0).json();
        assert_eq!(json["outputs"][0]["values"][7], 8.0);
        json["pipeline"]["origin"].as_str().expect("it is said").to_owned()
    }

    fn info(&self) -> serde_json::Value {
        self.run("cache info --json").exits(0).json()
    }
}

#[test]
fn the_second_run_compiles_nothing() {
    let cache = Cache::new();
    assert_eq!(cache.origin(""), "compiled");
    assert_eq!(cache.origin(""), "archive");
    // Threadgroups whose width is not a multiple of 32 need other code.
    assert_eq!(cache.origin("--threadgroup 24"), "compiled");
    assert_eq!(cache.origin("--threadgroup 24"), "archive");
    let text = cache.run(&format!("{ADD} --threads 1024 --time")).exits(0).stdout;
    let times: Vec<&str> = text.lines().rev().take(2).collect();
    assert!(times[1].contains("pipeline") && times[0].contains("archive"), "{text}");
}

#[test]
fn looks_up_only_the_needed_code() {
    let cache = Cache::new();
    assert_eq!(cache.origin("--threadgroup 16"), "compiled");
    assert_eq!(cache.info()["entries"], 1);
    assert_eq!(cache.origin("--threadgroup 16"), "archive");
    assert_eq!(cache.origin("--threadgroup 32"), "compiled");
    assert_eq!(cache.info()["entries"], 2);
}

#[test]
fn no_cache_does_not_touch_the_cache() {
    let cache = Cache::new();
    for _ in 0..2 {
        assert_eq!(cache.origin("--no-cache"), "compiled");
    }
    assert!(!std::path::Path::new(&cache.folder).exists());
}

#[test]
fn other_flags_make_other_code() {
    let cache = Cache::new();
    for _ in 0..2 {
        let first = cache.info()["entries"] == 0;
        for flags in ["", "--safe-math", "-D UNUSED", "--std metal3.0"] {
            assert_eq!(cache.origin(flags), if first { "compiled" } else { "archive" }, "{flags}");
        }
    }
}

#[test]
fn errors_are_the_same_with_and_without_a_cache() {
    let cache = Cache::new();
    cache.origin("");
    cache.run("exec examples/add_arrays.metal add_array --threads 1").exits(1).says("add_arrays");
    cache.run(&format!("{ADD} --threads 1024 --const 0=u32:1")).exits(1).says("function constants of kernel");
    cache.run("exec examples/add_arrays.metal add_arrays --threads 8 --arg a=iota:u32:8").exits(1).says("'a'");
}

#[test]
fn the_folder_is_shown_and_cleared() {
    let cache = Cache::new();
    assert_eq!(cache.run("cache path").exits(0).stdout, format!("{}\n", cache.folder));
    assert_eq!((cache.info()["entries"].as_u64(), cache.info()["oldest_use"].is_null()), (Some(0), true));
    cache.origin("");
    let info = cache.info();
    assert_eq!((&info["entries"], &info["damaged"]), (&1.into(), &0.into()));
    assert_eq!(info["size_limit"], 512 << 20);
    assert_eq!(info["targets"][0]["entries"], 1);
    let text = cache.run("cache info").exits(0).stdout;
    for part in [cache.folder.as_str(), "1 entry, ", " of 512.0 MiB; the oldest was used just now", "cpu "] {
        assert!(text.contains(part), "no '{part}' in:\n{text}");
    }
    assert!(cache.run("cache clear").exits(0).stdout.ends_with(": removed 1 file\n"));
    assert_eq!(cache.info()["entries"], 0);
    assert!(cache.run("cache clear").exits(0).stdout.ends_with(": removed 0 files\n"));
}

#[test]
fn a_damaged_file_is_reported_and_compiled_again() {
    let cache = Cache::new();
    cache.origin("");
    let target = std::fs::read_dir(&cache.folder).expect("it is there").next().expect("one").expect("ours").path();
    let file = std::fs::read_dir(target).expect("it is there").next().expect("one").expect("ours").path();
    let mut bytes = std::fs::read(&file).expect("it is there");
    *bytes.last_mut().expect("it is not empty") ^= 1;
    std::fs::write(&file, bytes).expect("it is ours");
    assert_eq!(cache.info()["damaged"], 1);
    assert!(cache.run("cache info").exits(0).stdout.contains("1 file damaged"));
    assert_eq!(cache.origin(""), "compiled");
    assert_eq!(cache.origin(""), "archive");
    assert_eq!(cache.info()["damaged"], 0);
}

#[test]
fn without_a_writable_folder_it_runs_with_one_warning() {
    let scratch = Scratch::new();
    let folder = format!("{}/below", scratch.file("a-file", "and no folder"));
    let arguments = format!("{ADD} --threads 1024 --threadgroup 40");
    let run = metalworks_with_cache(arguments.split_whitespace(), &folder, &[]).exits(0);
    let warning = format!("metalworks: warning: cannot write to '{folder}'");
    assert_eq!(run.stderr.matches(&warning).count(), 1, "{}", run.stderr);
}

#[test]
fn reports_a_cache_that_is_off() {
    for off in ["off", "0"] {
        metalworks_with_cache(["cache", "path"], off, &[]).exits(1).says("turned off by METALWORKS_CACHE");
    }
    let much = [("METALWORKS_CACHE_SIZE", "much")];
    metalworks_with_cache(["cache", "info"], "/nowhere", &much).exits(2).says("METALWORKS_CACHE_SIZE is 'much'");
    let cache = Cache::new();
    let small =
        metalworks_with_cache(["cache", "info", "--json"], &cache.folder, &[("METALWORKS_CACHE_SIZE", "64K")]);
    assert_eq!(small.exits(0).json()["size_limit"], 64 << 10);
    // An entry that is larger than the limit is not kept.
    let none = [("METALWORKS_CACHE_SIZE", "0")];
    metalworks_with_cache(format!("{ADD} --threads 32").split_whitespace(), &cache.folder, &none).exits(0);
    assert_eq!(cache.info()["entries"], 0);
    drop(cache.scratch);
}
