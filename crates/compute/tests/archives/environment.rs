//! `METALWORKS_CACHE` and `METALWORKS_CPU`. The environment is per process, so these tests run themselves again.

use crate::support::{TestFolder, factor, library, pipeline, with};
use metalworks_compute::BinaryArchive;
use std::process::Command;

const CHILD: &str = "METALWORKS_TEST_CHILD";

/// Runs a test again with environment variables.
fn again(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
    command.args(["--exact", &format!("environment::{test}")]).env(CHILD, "1");
    // Variables that a test does not set are removed.
    for name in ["METALWORKS_CACHE", "METALWORKS_CACHE_SIZE", "METALWORKS_CPU", "XDG_CACHE_HOME"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{variables:?}: {}", String::from_utf8_lossy(&output.stdout));
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn the_environment_sets_the_users_cache() {
    let test = "the_environment_sets_the_users_cache";
    if is_child() {
        let cache = BinaryArchive::user_cache().expect("it is a folder");
        pipeline(&library(), &factor(3), &with(&cache)).expect("it compiles");
        let is_off = std::env::var("METALWORKS_CACHE").is_ok_and(|value| value == "off");
        assert_eq!((cache.len(), cache.path().is_none()), if is_off { (0, true) } else { (2, false) });
        assert_eq!(cache.info().off.is_some(), is_off);
        return;
    }
    let place = TestFolder::new("user");
    let [own, xdg] = ["own", "xdg"].map(|name| place.0.join(name).display().to_string());
    again(test, &[("METALWORKS_CACHE", &own), ("HOME", "/nowhere")]);
    again(test, &[("METALWORKS_CACHE", "off"), ("HOME", "/nowhere")]);
    again(test, &[("METALWORKS_CACHE", ""), ("XDG_CACHE_HOME", &xdg), ("HOME", "/nowhere")]);
    assert!(place.0.join("own").is_dir() && place.0.join("xdg/metalworks/pipelines").is_dir());
}

#[test]
fn a_bad_limit_is_reported() {
    if is_child() {
        let problem = BinaryArchive::user_cache().expect_err("no number").to_string();
        assert!(problem.contains("METALWORKS_CACHE_SIZE is 'much'"), "{problem}");
        return;
    }
    again("a_bad_limit_is_reported", &[("METALWORKS_CACHE_SIZE", "much")]);
}

/// A CPU that is treated as an older one uses code compiled for that, and none that the older one cannot run.
#[cfg(target_arch = "x86_64")]
#[test]
fn code_for_one_cpu_is_not_that_for_another() {
    use crate::support::{only, run, times};
    use metalworks_compute::PipelineOrigin;

    let test = "code_for_one_cpu_is_not_that_for_another";
    if is_child() {
        let folder = BinaryArchive::user_cache().expect("it is a folder");
        let before = folder.len();
        let first = pipeline(&library(), &factor(3), &with(&folder)).expect("it compiles");
        assert_eq!((first.origin(), run(&first, 32)), (PipelineOrigin::Compiled, times(3)));
        assert_eq!(folder.len(), before + 2);
        let second = pipeline(&library(), &factor(3), &only(&folder)).expect("it is there");
        assert_eq!(run(&second, 32), times(3));
        return;
    }
    let place = TestFolder::new("cpus");
    let folder = place.0.join("folder").display().to_string();
    again(test, &[("METALWORKS_CACHE", &folder)]);
    again(test, &[("METALWORKS_CACHE", &folder), ("METALWORKS_CPU", "haswell")]);
    again(test, &[("METALWORKS_CACHE", &folder), ("METALWORKS_CPU", "x86-64-v3")]);
    assert_eq!(place.folder().info().targets.len(), 3);
}
