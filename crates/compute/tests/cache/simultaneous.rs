//! Concurrent lookups.

use super::{cache, k, pipeline};
use metalworks_compute::{ComputePipelineState, PipelineCache, Result};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

/// The results of 64 threads that start at the same moment.
fn ask<'a>(ask: impl Fn(u32) -> Result<&'a ComputePipelineState> + Sync) -> Vec<Result<&'a ComputePipelineState>> {
    let start = Barrier::new(64);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|number| {
                let (start, ask) = (&start, &ask);
                scope.spawn(move || {
                    start.wait();
                    ask(number)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

#[test]
fn one_pipeline_is_created_once() {
    let (cache, log) = cache();
    let pipelines = ask(|_| cache.get_or_create_pso("gemv", k(64)));
    let first = cache.get("gemv", k(64)).expect("it is there");
    assert!(pipelines.iter().all(|pipeline| std::ptr::eq(*pipeline.as_ref().expect("it is right"), first)));
    assert_eq!(log.count("gemv_k64"), 1);
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.hits + stats.waits, stats.failures, stats.pipelines), (1, 63, 0, 1));
}

#[test]
fn different_pipelines_are_created_each_once() {
    let (cache, log) = cache();
    for round in 0..3 {
        let pipelines = ask(|number| cache.get_or_create_pso("gemv", k(number % 16)));
        assert!(pipelines.iter().all(Result::is_ok));
        let stats = cache.stats();
        assert_eq!((log.total(), stats.misses, stats.pipelines), (16, 16, 16));
        assert_eq!(stats.hits + stats.waits, 64 * (round + 1) - 16);
    }
    assert_eq!(cache.keys().len(), 16);
}

#[test]
fn failures_are_independent() {
    let (cache, log) = cache();
    let pipelines = ask(|number| match number % 4 {
        0 => cache.get_or_create_pso("bad", k(1)),
        1 => cache.get_or_create_pso("panics", k(1)),
        other => cache.get_or_create_pso("good", k(other)),
    });
    for (number, pipeline) in pipelines.iter().enumerate() {
        assert_eq!(pipeline.is_err(), number % 4 < 2, "{number}: {pipeline:?}");
    }
    assert_eq!((log.count("good_k2"), log.count("good_k3")), (1, 1));
    // A thread that came after a failed attempt has tried again.
    let stats = cache.stats();
    let attempts = log.count("bad_k1") + log.count("panics_k1");
    assert_eq!((stats.failures, stats.misses), (attempts as u64, attempts as u64 + 2));
    assert_eq!(stats.hits + stats.misses + stats.waits, 64);
    assert_eq!(stats.pipelines, 2);
}

#[test]
fn waiting_threads_get_the_same_error() {
    let (cache, log) = cache();
    let errors = ask(|_| cache.get_or_create_pso("bad", k(1)));
    let texts: Vec<String> = errors.into_iter().map(|error| error.expect_err("it is bad").to_string()).collect();
    assert!(texts.iter().all(|text| *text == texts[0]));
    let stats = cache.stats();
    assert_eq!((stats.failures, stats.misses), (log.total() as u64, log.total() as u64));
    assert!(stats.waits > 0 && stats.waits + stats.misses == 64, "{stats}");
}

#[test]
fn a_growing_table_can_be_read() {
    const KEYS: u32 = 1000;
    let created: Arc<AtomicU64> = Arc::default();
    let counted = created.clone();
    let cache = PipelineCache::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(pipeline())
    });
    // Each thread visits all keys in its own order. Pipelines are identified by their addresses.
    let visit = |step: u32| -> Vec<usize> {
        let mut found = vec![0; KEYS as usize];
        for number in 0..KEYS {
            let key = number * step % KEYS;
            let pipeline = cache.get_or_create_pso("gemv", k(key)).expect("it is right");
            found[key as usize] = std::ptr::from_ref(pipeline).addr();
        }
        found
    };
    let visit = &visit;
    let all: Vec<Vec<usize>> = std::thread::scope(|scope| {
        let threads = [1, 3, 7, 9, 11, 13, 17, 19].map(|step| scope.spawn(move || visit(step)));
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    assert!(all.iter().all(|found| *found == all[0]));
    assert_eq!(all[0].iter().collect::<BTreeSet<_>>().len(), KEYS as usize);
    let (keys, stats) = (u64::from(KEYS), cache.stats());
    assert_eq!((created.load(Ordering::Relaxed), stats.misses, stats.pipelines), (keys, keys, keys));
    assert_eq!(stats.hits + stats.waits, keys * 7);
}
