//! Tiny models with random weights.

use crate::random::Random;
use half::{bf16, f16};
use metalworks_inference::formats::Format;
use metalworks_inference::formats::dequantize;
use metalworks_inference::gguf::{Builder, Gguf};
use std::collections::BTreeMap;

/// Hyperparameters and formats of a tiny model.
#[derive(Clone, Debug)]
pub(crate) struct TinyShape {
    pub(crate) architecture: &'static str,
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) feed_forward: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_dim: usize,
    pub(crate) vocabulary: usize,
    pub(crate) rope_base: f64,
    /// Divisor of positions in RoPE.
    pub(crate) rope_scale: f64,
    /// The output matrix is not the embedding.
    pub(crate) untied: bool,
    /// RoPE frequencies are divided by factors, as in Llama 3.
    pub(crate) rope_factors: bool,
    /// Format of matrices except `v` and `up`. The embedding is F32 if its rows are not whole blocks.
    pub(crate) format: Format,
    /// Format of `v` and `up`, which mixed quantizations store in another format.
    pub(crate) other_format: Format,
}

impl TinyShape {
    pub(crate) fn new(architecture: &'static str) -> TinyShape {
        TinyShape {
            architecture,
            layers: 3,
            width: 96,
            feed_forward: 160,
            heads: 4,
            kv_heads: 2,
            head_dim: 32,
            vocabulary: 101,
            rope_base: 10_000.0,
            rope_scale: 1.0,
            untied: false,
            rope_factors: false,
            format: Format::F32,
            other_format: Format::F32,
        }
    }

    pub(crate) fn neox(&self) -> bool {
        self.architecture != "llama"
    }

    pub(crate) fn epsilon(&self) -> f32 {
        1e-5
    }
}

/// Model in memory.
pub(crate) struct TinyModel {
    pub(crate) shape: TinyShape,
    pub(crate) file: Gguf,
    /// Dequantized tensors.
    pub(crate) numbers: BTreeMap<String, Vec<f64>>,
}

/// Name, format, dimensions, bytes.
pub(crate) type RawTensor = (String, Format, Vec<u64>, Vec<u8>);

impl TinyModel {
    pub(crate) fn new(shape: &TinyShape, seed: u64) -> TinyModel {
        let tensors = tensors(shape, seed);
        let numbers =
            tensors.iter().map(|(name, format, _, bytes)| (name.clone(), dequantize(*format, bytes))).collect();
        TinyModel { shape: shape.clone(), file: file(keys(shape), &tensors), numbers }
    }

    pub(crate) fn tensor(&self, name: &str) -> &[f64] {
        &self.numbers[name]
    }
}

/// Builds the metadata.
pub(crate) fn keys(shape: &TinyShape) -> Builder {
    let key = |name: &str| format!("{}.{name}", shape.architecture);
    let mut builder = Builder::new();
    if shape.rope_scale != 1.0 {
        builder = builder
            .key(&key("rope.scaling.type"), "linear")
            .key(&key("rope.scaling.factor"), shape.rope_scale as f32);
    }
    builder
        .key("general.architecture", shape.architecture)
        .key(&key("block_count"), shape.layers as u32)
        .key(&key("embedding_length"), shape.width as u32)
        .key(&key("feed_forward_length"), shape.feed_forward as u32)
        .key(&key("attention.head_count"), shape.heads as u32)
        .key(&key("attention.head_count_kv"), shape.kv_heads as u32)
        .key(&key("attention.key_length"), shape.head_dim as u32)
        .key(&key("attention.value_length"), shape.head_dim as u32)
        .key(&key("attention.layer_norm_rms_epsilon"), shape.epsilon())
        .key(&key("rope.freq_base"), shape.rope_base as f32)
        .key(&key("context_length"), 512u32)
}

/// Returns a file with these tensors.
pub(crate) fn file(builder: Builder, tensors: &[RawTensor]) -> Gguf {
    Gguf::from_bytes(bytes(builder, tensors)).expect("the file can be read")
}

/// Returns the bytes of a file with these tensors.
pub(crate) fn bytes(mut builder: Builder, tensors: &[RawTensor]) -> Vec<u8> {
    for (name, format, dimensions, _) in tensors {
        builder = builder.tensor(name, format.tensor_type(), dimensions);
    }
    builder.to_bytes(|index, out| out.write_all(&tensors[index].3)).expect("the file can be written")
}

/// Returns the tensors of a model with random weights.
pub(crate) fn tensors(shape: &TinyShape, seed: u64) -> Vec<RawTensor> {
    let mut random = Random::new(seed);
    let mut tensors: Vec<RawTensor> = Vec::new();
    let (width, feed_forward) = (shape.width, shape.feed_forward);
    let (q_width, kv_width) = (shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim);
    let mut matrix = |name: &str, format: Format, columns: usize, rows: usize| {
        let bytes = blocks(format, rows * columns, 1.0 / (columns as f64).sqrt(), &mut random);
        tensors.push((name.into(), format, vec![columns as u64, rows as u64], bytes));
    };
    let embedding_format = if width.is_multiple_of(shape.format.block_len()) { shape.format } else { Format::F32 };
    matrix("token_embd.weight", embedding_format, width, shape.vocabulary);
    if shape.untied {
        matrix("output.weight", shape.format, width, shape.vocabulary);
    }
    for layer in 0..shape.layers {
        let name = |tensor: &str| format!("blk.{layer}.{tensor}.weight");
        matrix(&name("attn_q"), shape.format, width, q_width);
        matrix(&name("attn_k"), shape.format, width, kv_width);
        matrix(&name("attn_v"), shape.other_format, width, kv_width);
        matrix(&name("attn_output"), shape.format, q_width, width);
        matrix(&name("ffn_gate"), shape.format, width, feed_forward);
        matrix(&name("ffn_up"), shape.other_format, width, feed_forward);
        matrix(&name("ffn_down"), shape.format, feed_forward, width);
    }
    let mut vector = |name: String, size: usize, middle: f64, spread: f64| {
        let bytes = (0..size).flat_map(|_| ((middle + spread * random.normal()) as f32).to_le_bytes()).collect();
        tensors.push((name, Format::F32, vec![size as u64], bytes));
    };
    vector("output_norm.weight".into(), width, 1.0, 0.2);
    if shape.rope_factors {
        vector("rope_freqs.weight".into(), shape.head_dim / 2, 4.0, 0.5);
    }
    for layer in 0..shape.layers {
        let name = |tensor: &str| format!("blk.{layer}.{tensor}");
        vector(name("attn_norm.weight"), width, 1.0, 0.2);
        vector(name("ffn_norm.weight"), width, 1.0, 0.2);
        if shape.architecture == "qwen2" {
            vector(name("attn_q.bias"), q_width, 0.0, 0.5);
            vector(name("attn_k.bias"), kv_width, 0.0, 0.5);
            vector(name("attn_v.bias"), kv_width, 0.0, 0.5);
        }
        if shape.architecture == "qwen3" {
            vector(name("attn_q_norm.weight"), shape.head_dim, 1.0, 0.2);
            vector(name("attn_k_norm.weight"), shape.head_dim, 1.0, 0.2);
        }
    }
    tensors
}

/// Returns random weights of magnitude `size`.
fn blocks(format: Format, count: usize, size: f64, random: &mut Random) -> Vec<u8> {
    // Offsets of the scales in a block, and their values for weights of magnitude 1.
    let scales: &[(usize, f64)] = match format {
        Format::F32 => return (0..count).flat_map(|_| ((random.normal() * size) as f32).to_le_bytes()).collect(),
        Format::F16 => {
            return (0..count).flat_map(|_| f16::from_f64(random.normal() * size).to_le_bytes()).collect();
        }
        Format::BF16 => {
            return (0..count).flat_map(|_| bf16::from_f64(random.normal() * size).to_le_bytes()).collect();
        }
        Format::Q8_0 => &[(0, 1.0 / 64.0)],
        Format::AFFINE8 => &[(0, 1.0 / 64.0), (2, -2.0)],
        Format::Q4_0 => &[(0, 1.0 / 4.0)],
        Format::Q5_0 => &[(0, 1.0 / 8.0)],
        Format::Q4_1 => &[(0, 1.0 / 4.0), (2, -2.0)],
        Format::Q5_1 => &[(0, 1.0 / 8.0), (2, -2.0)],
        Format::Q4_K => &[(0, 1.0 / 200.0), (2, 1.0 / 25.0)],
        Format::Q5_K => &[(0, 1.0 / 400.0), (2, 1.0 / 25.0)],
        Format::Q6_K => &[(208, 1.0 / 1000.0)],
        Format::IQ4_NL => &[(0, 1.0 / 64.0)],
        Format::IQ4_XS => &[(0, 1.0 / 1000.0)],
        Format::Q2_K => &[(80, 1.0 / 25.0), (82, 1.5 / 25.0)],
        Format::Q3_K => &[(108, 1.0 / 40.0)],
        // Its scale is the exponent of a power of two.
        Format::MXFP4 => &[],
        other => panic!("no random weights in {other}"),
    };
    let mut bytes = Vec::new();
    for _ in 0..count / format.block_len() {
        let mut block: Vec<u8> = (0..format.block_size()).map(|_| random.bits() as u8).collect();
        for &(at, scale) in scales {
            block[at..at + 2].copy_from_slice(&f16::from_f64(scale * size).to_le_bytes());
        }
        if format == Format::MXFP4 {
            block[0] = (127.0 + (size / 3.0).log2().round()) as u8;
        }
        bytes.extend(block);
    }
    bytes
}
