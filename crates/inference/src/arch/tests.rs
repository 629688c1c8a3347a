//! Unit tests of hyperparameters: layers with windows and rotations, and factors.

use super::{AttentionLayer, Hyperparameters, RopeKind, RopeScaling};
use crate::gguf::{Array, Builder, Gguf, Value};
use crate::weights::TensorType;

/// A file with the keys of a tiny model, these keys, an embedding, and a tensor for each layer.
fn file(architecture: &str, layers: u32, keys: &[(&str, Value)]) -> Gguf {
    let key = |name: &str| format!("{architecture}.{name}");
    let builder = Builder::new()
        .key("general.architecture", architecture)
        .key(&key("block_count"), layers)
        .key(&key("context_length"), 512u32)
        .key(&key("embedding_length"), 128u32)
        .key(&key("feed_forward_length"), 256u32)
        .key(&key("attention.head_count"), 2u32)
        .key(&key("attention.key_length"), 32u32)
        .key(&key("attention.value_length"), 32u32)
        .key(&key("attention.layer_norm_epsilon"), 1e-5f32)
        .key(&key("attention.layer_norm_rms_epsilon"), 1e-5f32)
        .tensor("token_embd.weight", TensorType::F32, &[128, 8]);
    let norm = |layer: u32| format!("blk.{layer}.ffn_norm.weight");
    let builder =
        (0..layers).fold(builder, |builder, layer| builder.tensor(&norm(layer), TensorType::F32, &[128, 8]));
    let builder = keys.iter().fold(builder, |builder, (name, value)| builder.key(&key(name), value.clone()));
    let bytes = builder.to_bytes(|_, out| out.write_all(&[0; 128 * 8 * 4])).expect("memory can be written to");
    Gguf::from_bytes(bytes).expect("the file is valid")
}

fn read(architecture: &str, layers: u32, keys: &[(&str, Value)]) -> Hyperparameters {
    Hyperparameters::read(&file(architecture, layers, keys)).unwrap_or_else(|error| panic!("{error}"))
}

fn layers(model: &Hyperparameters) -> Vec<AttentionLayer> {
    model.attention_layers().copied().collect()
}

fn windows(architecture: &str, keys: &[(&str, Value)]) -> Vec<Option<usize>> {
    layers(&read(architecture, 6, keys)).iter().map(|layer| layer.window).collect()
}

const WINDOW: &str = "attention.sliding_window";
const PATTERN: &str = "attention.sliding_window_pattern";

#[test]
fn windows_follow_the_architecture_or_the_file() {
    let (some, size) = (Some(64), (WINDOW, Value::from(64u32)));
    let none = [None; 6];
    assert_eq!(windows("llama", &[]), none);
    assert_eq!(windows("llama", &[(WINDOW, Value::from(0u32))]), none);
    assert_eq!(windows("llama", std::slice::from_ref(&size)), [some; 6]);
    assert_eq!(windows("gemma2", &[]), [Some(4096), None].repeat(3));
    assert_eq!(windows("gemma3", &[]), none);
    assert_eq!(windows("gemma3", std::slice::from_ref(&size)), [some, some, some, some, some, None]);
    assert_eq!(windows("gemma3", &[size.clone(), (PATTERN, Value::from(3u32))]), [some, some, None].repeat(2));
    assert_eq!(windows("gemma3", &[size.clone(), (PATTERN, Value::from(0u32))]), [some; 6]);
    let flags = vec![true, false, false, true, true, false];
    let expected: Vec<Option<usize>> = flags.iter().map(|flag| flag.then_some(64)).collect();
    let flags = (PATTERN, Value::Array(Array::Bool(flags)));
    assert_eq!(windows("cohere2", &[size.clone(), flags.clone()]), expected);
    let error = Hyperparameters::read(&file("cohere2", 4, &[size, flags])).unwrap_err().to_string();
    let message = "the model (cohere2): 'cohere2.attention.sliding_window_pattern' has 6 flags for 4 layers";
    assert_eq!(error, message);
}

#[test]
fn layers_have_their_rotation() {
    let ropes = |architecture: &str| -> Vec<Option<RopeKind>> {
        let model = read(architecture, 8, &[(WINDOW, Value::from(64u32))]);
        layers(&model).iter().map(|layer| layer.rope).collect()
    };
    let (global, local) = (Some(RopeKind::Global), Some(RopeKind::Local));
    assert_eq!(ropes("gemma2"), [local, global].repeat(4));
    assert_eq!(ropes("cohere2"), [local, local, local, None].repeat(2));
    assert_eq!(ropes("smollm3")[2..4], [local, None]);
    assert_eq!(ropes("exaone4"), [local, local, local, None].repeat(2));
    let unlimited = layers(&read("exaone4", 8, &[]));
    assert!(unlimited.iter().all(|layer| layer.rope == global), "EXAONE 4 without windows rotates all layers");
    let scaled = [("rope.freq_base", Value::from(1e6f32)), ("rope.scaling.factor", Value::from(8.0f32))];
    let model = read("gemma3", 6, &scaled);
    let local = model.rope(RopeKind::Local);
    assert_eq!((model.rope.base, model.rope.scaling), (1e6, RopeScaling::Linear(8.0)));
    assert_eq!((local.base, local.scaling), (10_000.0, RopeScaling::Linear(1.0)));
    let model = read("gemma2", 6, &scaled);
    assert_eq!(model.rope(RopeKind::Local), &model.rope);
}

#[test]
fn a_refused_architecture_names_the_missing_part() {
    let message = |name: &str| Hyperparameters::read(&file(name, 2, &[])).unwrap_err().to_string();
    let (found, unknown) = (message("apertus"), message("nobody-knows"));
    let expected =
        "the architecture 'apertus' is not supported (networks with the function xIELU are missing), only";
    assert!(found.starts_with(expected), "{found}");
    assert!(unknown.starts_with("the architecture 'nobody-knows' is not supported, only llama"), "{unknown}");
}

#[test]
fn the_largest_gemmas_scale_queries_by_their_share_of_the_width() {
    for (architecture, layers, dim) in
        [("gemma2", 46, 64), ("gemma2", 42, 32), ("gemma3", 62, 64), ("llama", 46, 32)]
    {
        let model = read(architecture, layers, &[]);
        let scale = model.attention_layers().next().map(|layer| layer.scale);
        assert_eq!(scale, Some(1.0 / (dim as f32).sqrt()), "{architecture} with {layers} layers");
    }
}

#[test]
fn a_factor_of_the_residual_stream_becomes_one_of_embedding_and_epsilon() {
    let keys = [("residual_scale", Value::from(0.25f32)), ("embedding_scale", Value::from(12.0f32))];
    let model = read("granite", 2, &keys);
    assert_eq!((model.embedding_scale, model.epsilon, model.stream_epsilon), (48.0, 1e-5, 1.6e-4));
    let model = read("granite", 2, &[("logit_scale", Value::from(8.0f32))]);
    assert_eq!(model.logit_scale, Some(0.125), "Granite divides");
    let model = read("command-r", 2, &[("logit_scale", Value::from(8.0f32))]);
    assert_eq!(model.logit_scale, Some(8.0));
    let error = Hyperparameters::read(&file("command-r", 2, &[("logit_scale", Value::from(-1.0f32))]));
    let message = "the model (command-r): 'command-r.logit_scale' is -1: it must be above 0";
    assert_eq!(error.unwrap_err().to_string(), message);
}

#[test]
fn old_files_of_minicpm_have_its_factors() {
    let model = read("minicpm", 4, &[]);
    let given =
        [("residual_scale", 0.7f32), ("embedding_scale", 12.0), ("logit_scale", model.width as f32 / 256.0)];
    let explicit = read("minicpm", 4, &given.map(|(key, factor)| (key, Value::from(factor))));
    assert_eq!((model.embedding_scale, model.logit_scale), (explicit.embedding_scale, explicit.logit_scale));
    assert!((model.embedding_scale - 12.0 / 0.7).abs() < 1e-5);
    assert_eq!(read("granite", 4, &[]).embedding_scale, 1.0);
}

#[test]
fn yarn_keeps_high_frequencies_and_divides_low_ones() {
    let keys = [
        ("rope.scaling.type", Value::from("yarn")),
        ("rope.scaling.factor", Value::from(4.0f32)),
        ("rope.scaling.original_context_length", Value::from(4096u32)),
    ];
    let (plain, yarn) = (read("llama", 1, &[]).rope, read("llama", 1, &keys).rope);
    let ratios: Vec<f32> =
        plain.frequencies(None).iter().zip(yarn.frequencies(None)).map(|(plain, yarn)| plain / yarn).collect();
    assert_eq!((ratios[0], ratios[15]), (1.0, 4.0));
    assert!(ratios.is_sorted(), "{ratios:?}");
    assert_eq!(yarn.magnitude(), (1.0 + 0.1 * 4f64.ln()) as f32);
    assert_eq!(plain.magnitude(), 1.0);
}
