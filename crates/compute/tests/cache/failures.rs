//! Errors of the cache.

use super::{Log, cache, k, pipeline};
use metalworks_compute::{ConstantBits, Error, PipelineCache};
use std::sync::OnceLock;

#[test]
fn an_error_names_the_kernel_the_constants_and_the_cause() {
    let (cache, _) = cache();
    let constants: [(&str, ConstantBits); 2] = [("USE_BIAS", true.into()), ("K", 4096u32.into())];
    let error = cache.get_or_create_pso("bad", constants).expect_err("it is bad");
    assert_eq!(
        error.to_string(),
        "pipeline bad_k4096_bias1 (kernel 'bad', K = 4096 (uint), USE_BIAS = 1 (bool)): kernel 'bad': what it does is \
         not supported"
    );
    assert!(matches!(error, Error::Pipeline { cause, .. } if matches!(*cause, Error::Unsupported { .. })));
    let error = cache.get_or_create_pso("bad", ()).expect_err("it is bad");
    assert_eq!(error.to_string(), "pipeline bad (kernel 'bad'): kernel 'bad': what it does is not supported");
}

#[test]
fn a_panic_is_an_error() {
    let (cache, _) = cache();
    for _ in 0..2 {
        let error = cache.get_or_create_pso("panics", ()).expect_err("it panics");
        let text = "pipeline panics (kernel 'panics'): internal error: the compiler panicked: panics was asked for";
        assert_eq!(error.to_string(), text);
    }
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.failures, stats.hits, stats.waits, stats.pipelines), (2, 2, 0, 0, 0));
}

#[test]
fn a_panic_payload_may_panic_when_dropped() {
    struct Thrower;
    impl Drop for Thrower {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    let cache = PipelineCache::new(|_| std::panic::panic_any(Thrower));
    for _ in 0..2 {
        let error = cache.get_or_create_pso("k", ()).expect_err("it panics");
        assert!(error.to_string().ends_with("the compiler panicked: no message"), "{error}");
    }
}

#[test]
fn a_lookup_after_a_failure_tries_again() {
    let log = Log::default();
    let noted = log.clone();
    let cache = PipelineCache::new(move |config| match noted.note(config) {
        1 | 2 => Err(Error::OutOfMemory { what: "code".into(), bytes: 1 }),
        _ => Ok(pipeline()),
    });
    assert!(cache.get_or_create_pso("k", k(1)).is_err());
    assert!(cache.get_or_create_pso("k", k(1)).is_err());
    assert!(cache.get("k", k(1)).is_none());
    assert!(cache.get_or_create_pso("k", k(1)).is_ok());
    assert!(cache.get_or_create_pso("k", k(1)).is_ok());
    let stats = cache.stats();
    assert_eq!((log.total(), stats.misses, stats.failures, stats.hits), (3, 3, 2, 1));
}

#[test]
fn creating_a_pipeline_may_look_up_others_but_not_itself() {
    static CACHE: OnceLock<PipelineCache> = OnceLock::new();
    let cache = CACHE.get_or_init(|| {
        PipelineCache::new(|config| {
            let cache = CACHE.get().expect("it was asked");
            match config.key().kernel() {
                "itself" => cache.get_or_create_pso("itself", ()).cloned(),
                "other" => cache.get_or_create_pso("plain", ()).cloned(),
                _ => Ok(pipeline()),
            }
        })
    });
    assert!(cache.get_or_create_pso("other", ()).is_ok());
    assert!(cache.get("plain", ()).is_some());
    let error = cache.get_or_create_pso("itself", ()).expect_err("it waits for itself");
    assert!(error.to_string().ends_with("its creation needs the pipeline itself"), "{error}");
}
