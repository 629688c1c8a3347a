//! The default model, downloaded by `metalworks pull smollm2`.

use metalworks_inference::formats::dequantize;
use metalworks_inference::gguf::{Gguf, Strings};
use metalworks_inference::models;
use metalworks_inference::weights::{FileErrorKind, TensorType};

fn model() -> Gguf {
    let path = models::default_model().unwrap_or_else(|error| panic!("{error}"));
    Gguf::open(path).expect("the model is valid")
}

#[test]
#[ignore = "needs the default model; run by make models"]
fn default_model_has_the_published_shape() {
    let model = model();
    assert_eq!((model.version(), model.architecture(), model.parameters()), (3, Ok("llama"), 134_515_008));
    for (key, value) in [
        ("llama.block_count", 30),
        ("llama.embedding_length", 576),
        ("llama.attention.head_count", 9),
        ("llama.attention.head_count_kv", 3),
        ("llama.feed_forward_length", 1536),
        ("llama.context_length", 8192),
    ] {
        assert_eq!(model.get::<usize>(key), Ok(value), "{key}");
    }
    assert_eq!(model.get("tokenizer.ggml.pre"), Ok("smollm"));
    let tokens: Vec<&str> = model.get("tokenizer.ggml.tokens").expect("all are UTF-8");
    let merges: &Strings = model.get("tokenizer.ggml.merges").expect("the key exists");
    assert_eq!((tokens.len(), merges.len(), tokens[2]), (49_152, 48_900, "<|im_end|>"));
    assert!(model.get::<&str>("tokenizer.chat_template").expect("the key exists").contains("<|im_start|>"));
    let kinds = |kind: TensorType| model.weights().tensors().iter().filter(|tensor| tensor.kind == kind).count();
    assert_eq!((kinds(TensorType::Q4_1), kinds(TensorType::F32), kinds(TensorType::Q8_0)), (210, 61, 1));
    assert!(model.weights().find("output.weight").is_none());
}

#[test]
#[ignore = "needs the default model; run by make models"]
fn default_model_has_plausible_weights() {
    let model = model();
    for tensor in model.weights().tensors() {
        let numbers = dequantize(tensor.format().expect("kernels read every type"), model.weights().data(tensor));
        assert_eq!(numbers.len() as u64, tensor.elements(), "{}", tensor.name);
        let largest = numbers.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
        assert!(largest > 0.01 && largest < 1000.0, "{}: {largest}", tensor.name);
    }
}

#[test]
#[ignore = "needs the default model; run by make models"]
fn rejects_prefixes_of_the_default_model() {
    let model = model();
    let bytes = model.weights().files()[0].bytes();
    let data = model.weights().tensors()[0].range.start as usize;
    // Some places in the header, the middle of the data, and the end of the last tensor.
    for len in (0..data).step_by(data / 40).chain([data, bytes.len() / 2, bytes.len() - 1000]) {
        let error = Gguf::from_bytes(bytes[..len].to_vec()).expect_err("the file is truncated");
        assert!(matches!(error.kind(), FileErrorKind::Damaged | FileErrorKind::NotAModel), "{len}: {error}");
    }
}
