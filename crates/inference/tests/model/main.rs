//! Whole models: tiny ones with random weights, against the same computed in plain Rust, in f64.
//!
//! ```text
//! Shape ── Tiny: a GGUF file in memory, and its numbers
//!            ├─ Plan: on the device
//!            └─ reference: from the formulas
//! ```

#[path = "../kernels/random.rs"]
mod random;

mod generate;
// With a processor of its own.
#[cfg(llvm)]
mod memory;
mod own_memory;
mod plan;
mod reference;
mod refused;
mod sampling;
mod smollm2;
mod staging;
mod synthetic;
mod tiny;
mod tuning;

use compute::{BinaryArchive, Device};
use inference::metal::{MetalDevice, Tuning};
use inference::plan::{Plan, PlanOptions};
use std::sync::OnceLock;

/// The device, with its pipelines: all tests share them. What was compiled is kept from one run to the next, unless the
/// environment says otherwise.
fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let archive = BinaryArchive::user_cache().expect("the cache can be found");
        let device = Device::system_default().unwrap_or_else(|error| panic!("{error}"));
        MetalDevice::with_device(device, archive).expect("the library is right")
    })
}

/// The same device, used in another way.
fn device_with(tuning: Tuning) -> MetalDevice {
    let archive = BinaryArchive::user_cache().expect("the cache can be found");
    MetalDevice::with_tuning(device().device().clone(), archive, tuning).expect("the library is right")
}

/// A plan for a model.
fn load(model: &tiny::Tiny, options: &PlanOptions) -> Plan {
    load_on(device(), model, options)
}

/// A plan for a model, on another device.
fn load_on(device: &MetalDevice, model: &tiny::Tiny, options: &PlanOptions) -> Plan {
    Plan::load(device, &model.file, options, |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Takes so many tokens at once, and the rest one by one: the logits are as expected after each.
#[track_caller]
fn assert_logits(
    what: &str,
    plan: &mut Plan,
    tokens: &[u32],
    prompt: usize,
    expected: &[Vec<f64>],
    tolerance: f64,
) {
    plan.push(&tokens[..prompt]).unwrap();
    assert_close(&format!("prompt, {what}"), &plan.logits().unwrap(), &expected[prompt - 1], tolerance);
    for position in prompt..tokens.len() {
        plan.push(&tokens[position..=position]).unwrap();
        let what = format!("step {position}, {what}");
        assert_close(&what, &plan.logits().unwrap(), &expected[position], tolerance);
    }
}

/// The largest difference relative to the largest number.
#[track_caller]
fn assert_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0f64, |largest, number| largest.max(number.abs()));
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let difference = (f64::from(found) - expected).abs() / largest;
        assert!(
            difference <= tolerance,
            "{what}: [{index}] is {found}, expected {expected} (off by {difference:e})"
        );
    }
}
