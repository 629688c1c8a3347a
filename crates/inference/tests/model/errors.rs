//! Errors of unsupported models and invalid calls.

use crate::plan::EXACT;
use crate::tiny::{RawTensor, TinyModel, TinyShape, file, keys, tensors};
use crate::{device, load};
use metalworks_inference::formats::Format;
use metalworks_inference::generate::Sampling;
use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::plan::{Plan, PlanOptions};

fn load_error(file: &Gguf) -> String {
    Plan::load(device(), file, &EXACT, |_| ()).expect_err("the model is invalid").to_string()
}

fn with_tensors(change: impl FnOnce(&mut Vec<RawTensor>)) -> Gguf {
    let shape = TinyShape::new("llama");
    let mut tensors = tensors(&shape, 1);
    change(&mut tensors);
    file(keys(&shape), &tensors)
}

#[test]
fn rejects_missing_misshapen_and_extra_tensors() {
    let message = load_error(&with_tensors(|tensors| tensors.retain(|tensor| tensor.0 != "blk.1.ffn_up.weight")));
    assert!(message.contains("no tensor 'blk.1.ffn_up.weight'"), "{message}");
    let message = load_error(&with_tensors(|tensors| {
        let tensor = tensors.iter_mut().find(|tensor| tensor.0 == "blk.2.attn_k.weight").unwrap();
        tensor.2 = vec![64, 96];
    }));
    assert_eq!(
        message,
        "tensor 'blk.2.attn_k.weight' is 64×96, but the metadata of the model (llama) requires 96×64"
    );
    let message = load_error(&with_tensors(|tensors| {
        tensors.push(("blk.0.attn_sinks.weight".into(), Format::F32, vec![4], vec![0; 16]));
    }));
    assert!(message.starts_with("unexpected tensor 'blk.0.attn_sinks.weight' in a model"), "{message}");
    // One bias requires the other two.
    let message = load_error(&with_tensors(|tensors| {
        tensors.push(("blk.0.attn_q.bias".into(), Format::F32, vec![128], vec![0; 512]));
    }));
    assert!(message.contains("no tensor 'blk.0.attn_k.bias'"), "{message}");
}

#[test]
fn rejects_unsupported_hyperparameters() {
    let shape = TinyShape::new("llama");
    let tensors = tensors(&shape, 1);
    let changed = |change: &dyn Fn(Builder) -> Builder| load_error(&file(change(keys(&shape)), &tensors));
    let message = changed(&|keys| keys.key("general.architecture", "mamba"));
    assert!(
        message.starts_with(
            "the architecture 'mamba' is not supported (state-space layers are missing), only llama, qwen2, "
        ),
        "{message}"
    );
    for (message, expected) in [
        (
            changed(&|keys| keys.key("llama.attention.head_count_kv", 3u32)),
            "the model (llama): 4 query heads are not a multiple of 3 key heads",
        ),
        (
            changed(&|keys| keys.key("llama.block_count", 0u32)),
            "the model (llama): 'llama.block_count' is 0: it must be 1 to 16777216",
        ),
        (
            changed(&|keys| keys.key("llama.attention.value_length", 64u32)),
            "the model (llama): the value heads have dimension 64, but the key heads 32",
        ),
        (
            changed(&|keys| {
                keys.key("llama.rope.scaling.type", "dynamic").key("llama.rope.scaling.factor", 4.0f32)
            }),
            "the model (llama): RoPE scaling 'dynamic' is not supported",
        ),
        (
            changed(&|keys| keys.key("llama.expert_count", 8u32)),
            "there is no key 'llama.expert_used_count' (u64) in the metadata",
        ),
    ] {
        assert_eq!(message, expected);
    }
    let message = changed(&|keys| keys.key("llama.block_count", 1u32 << 24));
    assert_eq!(message, format!("the model (llama): it has 16777216 layers, but {} tensors", tensors.len()));
    let message = load_error(&file(Builder::new().key("general.architecture", "qwen2"), &tensors));
    assert!(message.contains("no key 'qwen2.embedding_length'"), "{message}");
}

#[test]
fn rejects_invalid_calls_without_side_effects() {
    let model = TinyModel::new(&TinyShape::new("llama"), 1);
    let mut plan = load(&model, &PlanOptions { context: Some(20), ..EXACT });
    assert_eq!(plan.logits().unwrap_err().to_string(), "the sequence is empty: push at least one token first");
    let error = plan.push(&[1, 101]).unwrap_err().to_string();
    assert_eq!(error, "token 101 is not in the vocabulary of 101 tokens");
    plan.push(&[1; 15]).unwrap();
    let full = "the context of 20 tokens is too small: it has 15, and 6 more are needed; use a larger context";
    assert_eq!(plan.push(&[1; 6]).unwrap_err().to_string(), full);
    let mut tokens = Vec::new();
    assert_eq!(plan.generate(6, &mut tokens).unwrap_err().to_string(), full);
    // The rejected calls changed nothing: decoding fills the context to the last position.
    plan.generate(5, &mut tokens).unwrap();
    assert_eq!((tokens.len(), plan.len()), (5, 20));
    plan.logits().unwrap();
    let error = plan.set_sampling(&Sampling { top_p: 1.5, ..Sampling::GREEDY }).unwrap_err().to_string();
    assert_eq!(error, "top-p is 1.5: it must be above 0 and at most 1");
}
