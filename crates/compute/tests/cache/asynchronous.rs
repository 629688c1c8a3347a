//! Completion handlers.

use super::{cache, k};
use metalworks_compute::PipelineConfig;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Timeout, longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn handlers_are_called_once_each() {
    let (cache, log) = cache();
    let (sender, receiver) = mpsc::channel();
    let caller = std::thread::current().id();
    for number in 0..20u32 {
        let sender = sender.clone();
        let kernel = if number % 5 == 4 { "bad" } else { "gemv" };
        cache.create_async(PipelineConfig::new(kernel, k(number % 5)), move |result| {
            assert_ne!(std::thread::current().id(), caller);
            sender.send((number, result.map(drop).map_err(|error| error.to_string()))).expect("it is awaited");
        });
    }
    drop(sender);
    let mut numbers: Vec<u32> = Vec::new();
    while let Ok((number, result)) = receiver.recv_timeout(LONG) {
        numbers.push(number);
        match result {
            Ok(()) => assert_ne!(number % 5, 4),
            Err(text) => assert!(text.starts_with("pipeline bad_k4 "), "{text}"),
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<u32>>());
    assert_eq!(cache.stats().pipelines, 4);
    assert_eq!(log.total(), 4 + log.count("bad_k4"));
}

#[test]
fn a_panicking_handler_does_not_affect_others() {
    let (cache, _) = cache();
    let (sender, receiver) = mpsc::channel::<()>();
    for number in 0..8 {
        let sender = sender.clone();
        cache.create_async(PipelineConfig::new("gemv", k(number)), move |_| {
            let _sender = sender;
            panic!("handler {number}");
        });
    }
    drop(sender);
    // All handlers have unwound, and dropped their captures.
    assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    let (sender, receiver) = mpsc::channel();
    cache.create_async(PipelineConfig::new("panics", ()), move |result| {
        sender.send(result.is_err()).expect("it is awaited");
    });
    assert_eq!(receiver.recv_timeout(LONG), Ok(true));
    assert_eq!(cache.stats().pipelines, 8);
}

#[test]
fn handlers_may_wait_for_other_pipelines() {
    let (cache, _) = cache();
    let (sender, receiver) = mpsc::channel();
    // More handlers than threads, each waiting for work that the threads do.
    for number in 0..16u32 {
        let (own, sender) = (cache.clone(), sender.clone());
        cache.create_async(PipelineConfig::new("gemv", k(number)), move |_| {
            let configs: Vec<_> = (100..104).map(|number| PipelineConfig::new("gemv", k(number))).collect();
            assert!(own.create_all(&configs, |_| {}).into_pipelines().is_ok());
            assert!(own.create_all_async(&configs).wait().into_pipelines().is_ok());
            sender.send(()).expect("it is awaited");
        });
    }
    for _ in 0..16 {
        assert_eq!(receiver.recv_timeout(LONG), Ok(()));
    }
    assert_eq!(cache.stats().misses, 20);
}
