//! Synthetic models run, with activations and logits of realistic magnitude.

use crate::plan::{EXACT, random_tokens};
use crate::tiny::{TinyModel, TinyShape};
use crate::{assert_logits, device, device_with, load_on, reference};
use metalworks_inference::formats::dequantize;
use metalworks_inference::formats::{Activation, CacheType, Format};
use metalworks_inference::metal::Tuning;
use metalworks_inference::plan::{Plan, PlanOptions};
use metalworks_inference::synthetic::SyntheticModel;
use std::collections::BTreeSet;

#[test]
fn synthetic_models_have_realistic_logits() {
    for name in ["llama-tiny:q4_0", "llama3-tiny:q6_k", "qwen2-tiny:f16", "qwen3-tiny:q4_k"] {
        let model: SyntheticModel = name.parse().expect("the name is valid");
        let file = model.open().expect("the model is valid");
        // f16 ends at 65504: activations that grow from layer to layer would overflow.
        let options = PlanOptions { activation: Activation::F16, cache: CacheType::F16, ..EXACT };
        let mut plan =
            Plan::load(device(), &file, &options, |_| ()).unwrap_or_else(|error| panic!("{name}: {error}"));
        plan.push(&random_tokens(384, 40, 3)).expect("there is room");
        let logits = plan.logits().expect("the model runs");
        let mean = logits.iter().sum::<f32>() / logits.len() as f32;
        let deviation =
            (logits.iter().map(|logit| (logit - mean).powi(2)).sum::<f32>() / logits.len() as f32).sqrt();
        assert!((2.0..4.5).contains(&deviation), "{name}: logits with mean {mean}, deviation {deviation}");
    }
}

/// Returns a synthetic model in the form that the reference takes.
fn tiny(name: &str, shape: TinyShape) -> TinyModel {
    let model: SyntheticModel = name.parse().expect("the name is valid");
    let file = model.open().expect("the model is valid");
    let weights = file.weights();
    let numbers = weights
        .tensors()
        .iter()
        .map(|tensor| (tensor.name.clone(), dequantize(tensor.format().expect("supported"), weights.data(tensor))));
    let numbers = numbers.collect();
    TinyModel { shape, file, numbers }
}

/// As in most files: formats differ between the tensors of a layer, and between layers for the same tensor.
#[test]
fn mixed_formats_match_the_reference() {
    let llama = TinyShape {
        layers: 2,
        width: 256,
        feed_forward: 512,
        head_dim: 64,
        vocabulary: 384,
        untied: true,
        ..TinyShape::new("llama")
    };
    let llama3 = TinyShape { untied: false, rope_base: 500_000.0, rope_factors: true, ..llama.clone() };
    for (name, shape, most) in
        [("llama-tiny:q4_k_m", llama, Format::Q4_K), ("llama3-tiny:q5_k_m", llama3, Format::Q5_K)]
    {
        let model = tiny(name, shape);
        let tensors = model.file.weights().tensors();
        let formats: BTreeSet<String> = tensors.iter().map(|tensor| tensor.format().unwrap().to_string()).collect();
        assert_eq!(formats, [Format::F32, most, Format::Q6_K].map(|format| format.to_string()).into(), "{name}");
        let tokens = random_tokens(384, 41, 5);
        let expected = reference::logits(&model, &tokens);
        for device in [device(), &device_with(Tuning::apple(9))] {
            let mut plan = load_on(device, &model, &EXACT);
            assert_logits(name, &mut plan, &tokens, 38, &expected, 5e-5);
        }
    }
}
