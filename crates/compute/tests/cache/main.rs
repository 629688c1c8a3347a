//! The pipeline cache.
#![cfg(llvm)]

mod allocations;
mod asynchronous;
mod batches;
#[path = "../common/mod.rs"]
mod common;
#[cfg(llvm)]
mod compiled;
mod failures;
mod keys;
mod sealed;
mod simultaneous;

use common::RustKernel;
use metalworks_compute::{ComputePipelineState, ConstantBits, Error, PipelineCache, PipelineConfig};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Number of creations per pipeline, by the text of its key.
#[derive(Clone, Default)]
struct Log {
    created: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Log {
    fn note(&self, config: &PipelineConfig) -> usize {
        let mut created = self.created.lock().expect("nobody panics with it");
        let count = created.entry(config.key().to_string()).or_default();
        *count += 1;
        *count
    }

    fn count(&self, key: &str) -> usize {
        self.created.lock().expect("nobody panics with it").get(key).copied().unwrap_or(0)
    }

    fn total(&self) -> usize {
        self.created.lock().expect("nobody panics with it").values().sum()
    }
}

/// A pipeline that does nothing, shared by all tests.
fn pipeline() -> ComputePipelineState {
    use std::sync::OnceLock;
    unsafe extern "C" fn nothing(
        _: *const abi::Dispatch,
        _: *const abi::Threadgroup,
        _: *const abi::Simdgroup,
        _: u32,
    ) {
    }
    static PIPELINE: OnceLock<ComputePipelineState> = OnceLock::new();
    let create = || RustKernel::new(nothing, nothing, 0).pipeline(&common::device(1)).expect("it is right");
    PIPELINE.get_or_init(create).clone()
}

/// A cache whose pipelines take a moment to create; kernels `bad…` fail, `panics…` panic.
fn cache() -> (PipelineCache, Log) {
    let log = Log::default();
    let noted = log.clone();
    let cache = PipelineCache::new(move |config| {
        noted.note(config);
        std::thread::sleep(Duration::from_millis(5));
        let kernel = config.key().kernel();
        assert!(!kernel.starts_with("panics"), "{kernel} was asked for");
        if kernel.starts_with("bad") {
            return Err(Error::Unsupported { kernel: kernel.into(), what: "what it does".into() });
        }
        Ok(pipeline())
    });
    (cache, log)
}

/// A list with one constant.
fn k(value: u32) -> [(&'static str, ConstantBits); 1] {
    [("K", value.into())]
}
