//! Synthetic models: deterministic, complete, with weights of realistic magnitude.

use std::collections::HashSet;

use metalworks_inference::chat::{ChatTemplate, Message, RenderOptions};
use metalworks_inference::formats::Format;
use metalworks_inference::formats::dequantize;
use metalworks_inference::gguf::Gguf;
use metalworks_inference::synthetic::SyntheticModel;
use metalworks_inference::tokenizer::{EncodeOptions, Tokenizer, Vocabulary};

fn model(name: &str) -> SyntheticModel {
    name.parse().expect("the name is valid")
}

fn bytes(model: SyntheticModel) -> Vec<u8> {
    let mut bytes = Vec::new();
    model.write(&mut bytes, &mut |_, _| {}).expect("memory can be written to");
    bytes
}

fn numbers(model: &Gguf, tensor: &str) -> Vec<f64> {
    let tensor = model.weights().tensor(tensor).expect("it exists");
    dequantize(tensor.format().expect("supported"), model.weights().data(tensor))
}

fn deviation(numbers: &[f64]) -> f64 {
    (numbers.iter().map(|number| number * number).sum::<f64>() / numbers.len() as f64).sqrt()
}

#[test]
fn a_seed_determines_the_model() {
    let tiny = model("llama-tiny:q4_0");
    let first = bytes(tiny);
    assert!(first == bytes(tiny), "the same seed");
    assert_eq!(tiny.size().expect("the shape is valid"), first.len() as u64);
    assert!(first != bytes(tiny.with_seed(1)), "another seed");
    // Other formats have the same weights, up to rounding.
    let [exact, rounded] =
        ["llama-tiny:f32", "llama-tiny:q8_0"].map(|name| model(name).open().expect("the model is valid"));
    for tensor in ["token_embd.weight", "blk.1.ffn_down.weight"] {
        let pairs = numbers(&exact, tensor).into_iter().zip(numbers(&rounded, tensor));
        let difference: Vec<f64> = pairs.map(|(exact, rounded)| exact - rounded).collect();
        assert!(deviation(&difference) < 0.01 * deviation(&numbers(&exact, tensor)), "{tensor}");
    }
}

#[test]
fn every_architecture_has_its_tensors_in_every_format() {
    for architecture in ["llama", "qwen2", "qwen3"] {
        for format in Format::in_gguf() {
            let name = format!("{architecture}-tiny:{format}");
            let model = model(&name).open().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(model.architecture(), Ok(architecture));
            let has = |tensor: &str| model.weights().find(tensor).is_some();
            assert_eq!(has("blk.1.attn_q.bias"), architecture == "qwen2");
            assert_eq!(has("blk.1.attn_k_norm.weight"), architecture == "qwen3");
            assert_eq!(has("output.weight"), architecture == "llama");
            for part in [
                "attn_norm",
                "attn_q",
                "attn_k",
                "attn_v",
                "attn_output",
                "ffn_norm",
                "ffn_gate",
                "ffn_up",
                "ffn_down",
            ] {
                assert!(has(&format!("blk.0.{part}.weight")), "{name}: {part}");
            }
            let gate = model.weights().tensor("blk.0.ffn_gate.weight").expect("it exists");
            assert_eq!((gate.format(), gate.dimensions.as_slice()), (Ok(format), &[256, 512][..]));
        }
    }
}

#[test]
fn mixtures_have_the_formats_of_llama_cpp() {
    let file = model("llama-tiny:q4_k_m").open().expect("the model is valid");
    assert_eq!(file.get::<u32>("general.file_type"), Ok(15));
    let format = |name: &str| file.weights().tensor(name).expect("it exists").format();
    for (part, layers) in
        [("attn_q", [Format::Q4_K; 2]), ("attn_v", [Format::Q4_K, Format::Q6_K]), ("ffn_up", [Format::Q4_K; 2])]
    {
        assert_eq!([0, 1].map(|layer| format(&format!("blk.{layer}.{part}.weight"))), layers.map(Ok), "{part}");
    }
    assert_eq!((format("blk.1.ffn_down.weight"), format("output.weight")), (Ok(Format::Q6_K), Ok(Format::Q6_K)));
    assert_eq!(format("token_embd.weight"), Ok(Format::Q4_K));
}

fn check_vocabulary(model: &Gguf) {
    let tokens: Vec<&str> = model.get("tokenizer.ggml.tokens").expect("it exists");
    let table = model.weights().tensor("token_embd.weight").expect("it exists");
    assert_eq!(table.dimensions[1], tokens.len() as u64);
    assert_eq!(tokens.iter().collect::<HashSet<_>>().len(), tokens.len());
    let end: usize = model.get("tokenizer.ggml.eos_token_id").expect("it exists");
    assert_eq!(tokens[end], "<|im_end|>");
    let types: Vec<i32> = model.get("tokenizer.ggml.token_type").expect("it exists");
    assert_eq!((types.len(), types[end], types[0]), (tokens.len(), 3, 1));
}

#[test]
fn vocabulary_and_embedding_have_the_same_size() {
    for name in ["llama-tiny:q8_0", "qwen2-tiny:q8_0", "qwen3-tiny:q8_0"] {
        check_vocabulary(&model(name).open().expect("the model is valid"));
    }
}

#[test]
fn text_round_trips_and_the_template_renders() {
    for name in ["llama-tiny:q8_0", "llama3-tiny:q8_0", "qwen2-tiny:q8_0"] {
        let model = model(name).open().expect("the model is valid");
        let vocabulary = Vocabulary::from_metadata(model.metadata()).expect("the keys exist");
        let tokenizer = Tokenizer::new(&vocabulary).expect("the vocabulary is valid");
        let encode =
            |text: &str| tokenizer.encode(text, EncodeOptions { parse_special: true, ..Default::default() });
        let text = "the fox\n\n thinks: 1234 Größen, \u{1f98a}\0\t!";
        assert_eq!(tokenizer.decode(&encode(text), true).as_deref(), Ok(text), "{name}");
        assert!(encode(" the other morning").len() < 8, "{name}: words are merged");

        let template = ChatTemplate::from_metadata(model.metadata(), &tokenizer).expect("the template is valid");
        let options = RenderOptions { add_generation_prompt: true, ..Default::default() };
        let chat = template.render(&[Message::new("user", "hello")], &options).expect("the messages are valid");
        assert_eq!(chat, "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n");
        assert_eq!(encode(&chat)[0], 382, "{name}");
        assert!(encode(&chat).iter().any(|&token| tokenizer.ends_generation(token)), "{name}");
    }
}

/// Large matrices are assembled from pieces, but no two rows of the embedding are equal.
#[test]
fn smollm2_shape_has_the_published_size_and_distinct_embedding_rows() {
    let model = model("smollm2-135m:q4_1").open().expect("the model is valid");
    assert_eq!(model.parameters(), 134_515_008);
    let kinds =
        |kind: Format| model.weights().tensors().iter().filter(|tensor| tensor.format() == Ok(kind)).count();
    assert_eq!((kinds(Format::Q4_1), kinds(Format::F32), kinds(Format::Q8_0)), (210, 61, 1));
    let table = model.weights().tensor("token_embd.weight").expect("it exists");
    let rows: HashSet<&[u8]> = model.weights().data(table).chunks_exact(612).collect();
    assert_eq!(rows.len(), 49_152, "rows that differ");
    check_vocabulary(&model);
}

#[test]
fn matrices_preserve_the_magnitude_of_activations() {
    for name in ["llama-tiny:q4_0", "qwen3-tiny:q6_k"] {
        let model = model(name).open().expect("the model is valid");
        let gain = |tensor: &str| deviation(&numbers(&model, tensor)) * 16.0;
        assert!((0.9..1.1).contains(&gain("blk.0.attn_q.weight")), "{name}: {}", gain("blk.0.attn_q.weight"));
        let norm = numbers(&model, "blk.0.attn_norm.weight");
        assert!(norm.iter().all(|weight| (0.5..1.5).contains(weight)), "{name}");
    }
}

#[test]
fn llama_3_scales_low_rope_frequencies() {
    let factors = numbers(&model("llama3-tiny:f16").open().expect("the model is valid"), "rope_freqs.weight");
    assert_eq!((factors.len(), factors[0], factors[31]), (32, 1.0, 8.0));
    assert!(factors.is_sorted() && factors.iter().any(|&factor| factor > 1.0 && factor < 8.0), "{factors:?}");
}

#[test]
fn error_of_an_unknown_name_lists_valid_ones() {
    let says = |name: &str, part: &str| {
        let error = name.parse::<SyntheticModel>().expect_err("the name is invalid").to_string();
        assert!(error.contains(part), "{error}");
    };
    says("llama-8b", "name it like llama-8b:q4_0");
    says("lama:q4_0", "there is no shape 'lama'; there are llama-tiny, llama3-tiny");
    says("llama-tiny:q9_k", "there is no format 'q9_k'; there are f32, f16, bf16, q8_0");
    assert_eq!(model("llama-tiny:Q4_K").to_string(), "llama-tiny:q4_k");
    assert_eq!(model("llama-tiny:Q4_K_M").to_string(), "llama-tiny:q4_k_m");
}

#[test]
fn write_file_leaves_no_partial_file() {
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("synthetic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder can be created");
    let path = folder.join("tiny.gguf");
    let mut steps = Vec::new();
    model("qwen2-tiny:q5_1")
        .write_file(&path, &mut |done, total| steps.push((done, total)))
        .expect("the folder is writable");
    assert!(steps.is_sorted() && steps.last().is_some_and(|(done, total)| done <= total), "{steps:?}");
    assert_eq!(Gguf::open(&path).expect("the model is valid").architecture(), Ok("qwen2"));
    let nowhere = folder.join("missing/tiny.gguf");
    model("qwen2-tiny:q5_1").write_file(&nowhere, &mut |_, _| {}).expect_err("there is no such folder");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder exists").count(), 1, "nothing else is left");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
