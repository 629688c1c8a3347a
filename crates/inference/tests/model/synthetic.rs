//! Models that are made up run, with numbers like those of real ones.

use crate::device;
use crate::plan::{EXACT, random_tokens};
use inference::metal::format::Activation;
use inference::plan::{Plan, PlanOptions};
use inference::synthetic::SyntheticModel;

#[test]
fn made_up_models_of_every_architecture_score_tokens_differently() {
    for name in ["llama-tiny:q4_0", "llama3-tiny:q6_k", "qwen2-tiny:f16", "qwen3-tiny:q4_k"] {
        let model: SyntheticModel = name.parse().expect("there is such a model");
        let file = model.open().expect("it is whole");
        // Half numbers, which end at 65504: what grows from layer to layer would show.
        let options = PlanOptions { activation: Activation::F16, cache: Activation::F16, ..EXACT };
        let mut plan =
            Plan::load(device(), &file, &options, |_| ()).unwrap_or_else(|error| panic!("{name}: {error}"));
        plan.push(&random_tokens(384, 40, 3)).expect("there is room");
        let logits = plan.logits().expect("it runs");
        let mean = logits.iter().sum::<f32>() / logits.len() as f32;
        let deviation =
            (logits.iter().map(|logit| (logit - mean).powi(2)).sum::<f32>() / logits.len() as f32).sqrt();
        assert!((2.0..4.5).contains(&deviation), "{name}: scores of {mean} and {deviation} around it");
    }
}
