//! What cannot be run is refused, by name.

use crate::plan::EXACT;
use crate::tiny::{RawTensor, Shape, Tiny, file, keys, tensors};
use crate::{device, load};
use inference::formats::Format;
use inference::generate::Sampling;
use inference::gguf::{Builder, Gguf};
use inference::plan::{Plan, PlanOptions};

fn refused(file: &Gguf) -> String {
    Plan::load(device(), file, &EXACT, |_| ()).expect_err("it must be refused").to_string()
}

fn with_tensors(change: impl FnOnce(&mut Vec<RawTensor>)) -> Gguf {
    let shape = Shape::new("llama");
    let mut tensors = tensors(&shape, 1);
    change(&mut tensors);
    file(keys(&shape), &tensors)
}

#[test]
fn tensors_are_named() {
    let message = refused(&with_tensors(|tensors| tensors.retain(|tensor| tensor.0 != "blk.1.ffn_up.weight")));
    assert!(message.contains("no tensor 'blk.1.ffn_up.weight'"), "{message}");
    let message = refused(&with_tensors(|tensors| {
        let tensor = tensors.iter_mut().find(|tensor| tensor.0 == "blk.2.attn_k.weight").unwrap();
        tensor.2 = vec![64, 96];
    }));
    assert_eq!(
        message,
        "tensor 'blk.2.attn_k.weight' is 64×96, but by the metadata of the model (llama) it must be 96×64"
    );
    let message = refused(&with_tensors(|tensors| {
        tensors.push(("blk.0.attn_sinks.weight".into(), Format::F32, vec![4], vec![0; 16]));
    }));
    assert!(message.starts_with("tensor 'blk.0.attn_sinks.weight' has no place in a model"), "{message}");
    // Some of the biases are no biases.
    let message = refused(&with_tensors(|tensors| {
        tensors.push(("blk.0.attn_q.bias".into(), Format::F32, vec![128], vec![0; 512]));
    }));
    assert!(message.contains("no tensor 'blk.0.attn_k.bias'"), "{message}");
}

#[test]
fn metadata_is_named() {
    let shape = Shape::new("llama");
    let tensors = tensors(&shape, 1);
    let changed = |change: &dyn Fn(Builder) -> Builder| refused(&file(change(keys(&shape)), &tensors));
    for (message, expected) in [
        (
            changed(&|keys| keys.key("general.architecture", "mamba")),
            "the model is of the architecture 'mamba'; those that run here are llama, qwen2, qwen3",
        ),
        (
            changed(&|keys| keys.key("llama.attention.head_count_kv", 3u32)),
            "the model (llama): 4 heads of queries cannot share 3 of keys alike",
        ),
        (
            changed(&|keys| keys.key("llama.block_count", 0u32)),
            "the model (llama): 'llama.block_count' is 0: it must be 1 to 16777216",
        ),
        (
            changed(&|keys| keys.key("llama.attention.value_length", 64u32)),
            "the model (llama): values have 64 numbers in a head, but keys have 32",
        ),
        (
            changed(&|keys| keys.key("llama.rope.scaling.type", "yarn").key("llama.rope.scaling.factor", 4.0f32)),
            "the model (llama): its rotations are scaled by 'yarn', which does not run yet",
        ),
        (
            changed(&|keys| keys.key("llama.expert_count", 8u32)),
            "the model (llama): it is a mixture of 8 experts, which do not run here yet",
        ),
    ] {
        assert_eq!(message, expected);
    }
    let message = refused(&file(Builder::new().key("general.architecture", "qwen2"), &tensors));
    assert!(message.contains("no key 'qwen2.embedding_length'"), "{message}");
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let model = Tiny::new(&Shape::new("llama"), 1);
    let mut plan = load(&model, &PlanOptions { context: Some(20), ..EXACT });
    assert_eq!(plan.logits().unwrap_err().to_string(), "there are no tokens to go on from; push some first");
    assert_eq!(plan.push(&[1, 101]).unwrap_err().to_string(), "token 101 is not one of the 101 of the vocabulary");
    plan.push(&[1; 15]).unwrap();
    let full = "the context has room for 20 tokens, 15 are there, and 6 are to come; take a larger one";
    assert_eq!(plan.push(&[1; 6]).unwrap_err().to_string(), full);
    let mut tokens = Vec::new();
    assert_eq!(plan.generate(6, &mut tokens).unwrap_err().to_string(), full);
    // To the last position, and what was refused has left no trace.
    plan.generate(5, &mut tokens).unwrap();
    assert_eq!((tokens.len(), plan.len()), (5, 20));
    plan.logits().unwrap();
    let error = plan.set_sampling(&Sampling { top_p: 1.5, ..Sampling::GREEDY }).unwrap_err().to_string();
    assert_eq!(error, "top-p is 1.5: it must be above 0 and at most 1");
}
