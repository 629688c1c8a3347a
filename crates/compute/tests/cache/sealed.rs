//! Sealed caches.

use super::{cache, k};
use metalworks_compute::{LateMisses, PipelineConfig};
use std::sync::{Arc, Mutex};

#[test]
fn a_late_miss_is_refused() {
    let (cache, log) = cache();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = told.clone();
    cache.on_late_miss(move |key| heard.lock().expect("nobody panics with it").push(key.to_string()));
    cache.get_or_create_pso("gemv", k(1)).expect("it is right");
    assert!(!cache.is_sealed());
    cache.seal_with(LateMisses::Refuse);
    assert!(cache.is_sealed());
    assert!(cache.get_or_create_pso("gemv", k(1)).is_ok());
    for _ in 0..2 {
        let error = cache.get_or_create_pso("gemv", k(2)).expect_err("it is too late");
        assert_eq!(
            error.to_string(),
            "pipeline gemv_k2 (kernel 'gemv', K = 2 (uint)): it is not among the pipelines that were created while \
             loading; declare kernel 'gemv' with K = 2 (uint) in the plan, or call `unseal` before it is first used"
        );
    }
    assert!(cache.get_or_create(&PipelineConfig::new("add", ())).is_err());
    let stats = cache.stats();
    assert_eq!((stats.late_misses, stats.misses, stats.failures, stats.hits, log.total()), (3, 4, 3, 1, 1));
    assert_eq!(*told.lock().expect("nobody panics with it"), ["gemv_k2", "add"]);
    cache.unseal();
    assert!(cache.get_or_create_pso("gemv", k(2)).is_ok());
    assert_eq!(cache.stats().late_misses, 3);
}

#[test]
fn a_late_miss_is_created_and_reported_once() {
    let (cache, log) = cache();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = told.clone();
    cache.on_late_miss(move |key| heard.lock().expect("nobody panics with it").push(key.to_string()));
    cache.seal_with(LateMisses::Create);
    for _ in 0..2 {
        assert!(cache.get_or_create_pso("gemv", k(2)).is_ok());
        assert!(cache.get_or_create_pso("bad", ()).is_err());
    }
    assert_eq!((log.count("gemv_k2"), log.count("bad")), (1, 2));
    assert_eq!(cache.stats().late_misses, 3);
    assert_eq!(*told.lock().expect("nobody panics with it"), ["gemv_k2", "bad"]);
}

#[test]
fn late_miss_handlers_may_panic_and_use_the_cache() {
    let (cache, _) = cache();
    let own = cache.clone();
    cache.on_late_miss(move |key| {
        assert!(own.get(key.kernel(), ()).is_some());
        panic!("it is told about {key}");
    });
    cache.seal_with(LateMisses::Create);
    assert!(cache.get_or_create_pso("gemv", ()).is_ok());
    assert_eq!(cache.stats().late_misses, 1);
}

#[test]
fn declared_pipelines_may_be_created_at_any_time() {
    let (cache, _) = cache();
    cache.seal_with(LateMisses::Refuse);
    let configs = [PipelineConfig::new("gemv", k(1)), PipelineConfig::new("gemv", k(2))];
    cache.create_all(&configs, |_| {}).into_pipelines().expect("they are declared");
    assert!(cache.get_or_create_pso("gemv", k(2)).is_ok());
    assert_eq!(cache.stats().late_misses, 0);
}

#[test]
fn debug_builds_refuse_late_misses() {
    let (cache, _) = cache();
    cache.seal();
    assert_eq!(cache.get_or_create_pso("gemv", k(1)).is_err(), cfg!(debug_assertions));
}
