//! Whole models: tiny ones with random weights, compared with a reference in plain Rust, in f64.
//!
//! ```text
//! TinyShape ── TinyModel: a GGUF file in memory, and its dequantized weights
//!                ├─ Plan: on the device
//!                └─ reference: from the formulas
//! ```

#[path = "../kernels/random.rs"]
mod random;
#[path = "../../../compute/tests/until_exit/mod.rs"]
mod until_exit;

mod architectures;
mod cache;
mod errors;
mod every_architecture;
mod generate;
// Uses a CPU device.
#[cfg(llvm)]
mod memory;
mod own_memory;
mod packed;
mod plan;
mod recurrent;
mod reference;
mod sampling;
mod sequences;
mod smollm2;
mod staging;
mod synthetic;
mod tiny;
mod tuning;

use compute::{BinaryArchive, Device};
use metalworks_inference::metal::{MetalDevice, Tuning};
use metalworks_inference::plan::{Plan, PlanOptions};
use std::sync::OnceLock;
use until_exit::until_exit;

/// Device shared by all tests, with its pipelines. Compiled kernels go to the user's cache, unless the environment
/// disables it.
fn device() -> &'static MetalDevice {
    static DEVICE: OnceLock<&MetalDevice> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let archive = BinaryArchive::user_cache().expect("the cache can be found");
        let device = Device::system_default().unwrap_or_else(|error| panic!("{error}"));
        until_exit(MetalDevice::with_device(device, archive).expect("the shader library is valid"))
    })
}

/// The same device with another tuning.
fn device_with(tuning: Tuning) -> MetalDevice {
    let archive = BinaryArchive::user_cache().expect("the cache can be found");
    MetalDevice::with_tuning(device().device().clone(), archive, tuning).expect("the shader library is valid")
}

/// Loads a model.
fn load(model: &tiny::TinyModel, options: &PlanOptions) -> Plan {
    load_on(device(), model, options)
}

/// Loads a model on a device.
fn load_on(device: &MetalDevice, model: &tiny::TinyModel, options: &PlanOptions) -> Plan {
    Plan::load(device, &model.file, options, |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Evaluates `prompt` tokens at once and the rest one by one, and compares the logits after each.
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

/// Compares numbers; `tolerance` is relative to the largest expected one.
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
