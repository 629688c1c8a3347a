//! Batches of pipelines.

use super::{cache, k};
use metalworks_compute::{Error, PipelineConfig, PipelineKey, PipelineProgress, Simdgroups};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn configs() -> Vec<PipelineConfig> {
    let mut configs: Vec<_> = (0..12).map(|number| PipelineConfig::new("gemv", k(number % 8))).collect();
    configs.insert(3, PipelineConfig::new("bad", k(1)));
    configs.insert(7, PipelineConfig::new("panics", ()));
    configs
}

#[test]
fn results_are_in_order_and_failures_are_independent() {
    let (cache, log) = cache();
    let mut seen = Vec::new();
    let progress = |progress: &PipelineProgress<'_>| {
        assert_eq!(progress.total, 10);
        seen.push((progress.done, progress.failed, progress.key.to_string(), progress.outcome.is_ok()));
    };
    let results = cache.create_all(&configs(), progress);
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result.is_err(), index == 3 || index == 7, "{index}: {result:?}");
    }
    assert_eq!(results.len(), 14);
    assert_eq!(seen.iter().map(|seen| seen.0).collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
    assert_eq!(seen.last().map(|seen| seen.1), Some(2));
    let mut keys: Vec<&str> = seen.iter().map(|seen| seen.2.as_str()).collect();
    keys.sort_unstable();
    let expected =
        ["bad_k1", "gemv_k0", "gemv_k1", "gemv_k2", "gemv_k3", "gemv_k4", "gemv_k5", "gemv_k6", "gemv_k7"];
    assert_eq!((&keys[..9], keys[9]), (&expected[..], "panics"));
    assert_eq!(log.total(), 10);
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.failures, stats.pipelines, stats.hits, stats.waits), (10, 2, 8, 0, 0));
    let texts: Vec<String> = results.failures().map(Error::to_string).collect();
    assert!(texts[0].starts_with("pipeline bad_k1 ") && texts[1].starts_with("pipeline panics "), "{texts:?}");
    let error = results.into_pipelines().expect_err("two failed").to_string();
    assert!(error.starts_with("2 of 14 pipelines could not be created\npipeline bad_k1 "), "{error}");
}

#[test]
fn an_empty_batch_is_done() {
    let (cache, _) = cache();
    let results = cache.create_all(&[], |_| panic!("there is no progress"));
    assert!(results.is_empty() && results.into_pipelines().expect("there are none").is_empty());
    assert!(cache.create_all_async(&[]).is_done());
}

#[test]
fn existing_pipelines_are_reused() {
    let (cache, log) = cache();
    let configs: Vec<_> = (0..4).map(|number| PipelineConfig::new("gemv", k(number))).collect();
    cache.create_all(&configs, |_| {}).into_pipelines().expect("they are right");
    let pipelines = cache.create_all(&configs, |_| {}).into_pipelines().expect("they are right");
    assert_eq!((pipelines.len(), log.total(), cache.stats().hits), (4, 4, 4));
}

#[test]
fn each_promise_is_a_pipeline_of_its_own() {
    let (cache, log) = cache();
    let config = PipelineConfig::new("gemv", k(1));
    let [full, rows] = [Simdgroups::Full, Simdgroups::Rows].map(|promise| config.clone().with_simdgroups(promise));
    let configs = [config.clone(), full, rows.clone(), config, rows];
    let results = cache.create_all(&configs, |_| {});
    assert_eq!((results.into_pipelines().expect("they are right").len(), log.total()), (5, 3));
    for simdgroups in [Simdgroups::Any, Simdgroups::Full, Simdgroups::Rows] {
        cache.get_or_create_pso_with("gemv", k(1), simdgroups).expect("it is there");
    }
    assert_eq!((log.total(), cache.stats().hits), (3, 3));
    let keys: Vec<String> = cache.keys().iter().map(PipelineKey::to_string).collect();
    assert_eq!(keys, ["gemv_k1", "gemv_k1_full", "gemv_k1_rows"]);
}

#[test]
fn progress_handlers_may_use_the_cache() {
    let (cache, log) = cache();
    let configs: Vec<_> = (0..6).map(|number| PipelineConfig::new("gemv", k(number))).collect();
    let results = cache.create_all(&configs, |progress| {
        // All of them, including those in progress and those not yet begun.
        for number in 0..6 {
            assert!(cache.get_or_create_pso("gemv", k(number)).is_ok());
        }
        let inner = cache.create_all(&[PipelineConfig::new("inner", k(progress.done as u32))], |_| {});
        assert!(inner.into_pipelines().is_ok());
    });
    assert!(results.into_pipelines().is_ok());
    assert_eq!(log.total(), 12);
}

#[test]
fn a_panicking_progress_handler_does_not_stop_the_batch() {
    let (cache, log) = cache();
    let configs: Vec<_> = (0..6).map(|number| PipelineConfig::new("gemv", k(number))).collect();
    let panicked = catch_unwind(AssertUnwindSafe(|| cache.create_all(&configs, |_| panic!("I have seen it"))));
    assert!(panicked.is_err());
    assert!(cache.create_all(&configs, |_| {}).into_pipelines().is_ok());
    assert_eq!(log.total(), 6);
}

#[test]
fn a_batch_can_be_left_to_itself() {
    let (cache, log) = cache();
    let configs: Vec<_> = (0..6).map(|number| PipelineConfig::new("gemv", k(number))).collect();
    let pending = cache.create_all_async(&configs);
    assert_eq!(pending.total(), 6);
    while !pending.is_done() {
        assert!(pending.done() <= 6);
        std::thread::yield_now();
    }
    let mut told = 0;
    let results = pending.wait_with_progress(|_| told += 1);
    assert_eq!((results.into_pipelines().expect("they are right").len(), told, log.total()), (6, 6, 6));
}

#[test]
fn a_waiting_thread_helps() {
    let (cache, _) = cache();
    let configs: Vec<_> = (0..40).map(|number| PipelineConfig::new("gemv", k(number))).collect();
    let pending: Vec<_> = (0..8).map(|_| cache.create_all_async(&configs)).collect();
    for pending in pending {
        assert!(pending.wait().into_pipelines().is_ok());
    }
    assert_eq!(cache.stats().misses, 40);
}
