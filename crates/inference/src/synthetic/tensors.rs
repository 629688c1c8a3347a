//! Tensors of a synthetic model: names, shapes, formats, and the scale of their weights.

use std::f64::consts::TAU;
use std::io::{self, Write};

use super::delta_net;
use super::mixture::Mixture;
use super::numbers::Numbers;
use super::shapes::{Biases, Experts, Shape};
use crate::arch::{NormKind, NormPlaces, QkNorm, SharedExpert};
use crate::formats::Format;
use crate::formats::quantize;
use crate::quantize::fitting;

/// Number of weights generated for a tensor. A larger matrix is assembled from pieces of them: as good for benchmarks,
/// and much faster to generate.
const POOL: usize = 1 << 18;
/// Pieces per row. With one, some rows of the embedding would be equal, and so the logits of their tokens.
const PIECES: usize = 4;

/// Mean of the weights of norms after a block: all layers together should not outweigh the embedding.
const AFTER: f32 = 0.5;

/// Tensor to generate.
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) dimensions: Vec<u64>,
    pub(super) format: Format,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// Random weights with this mean and standard deviation.
    Random { mean: f32, deviation: f32 },
    /// These weights.
    Exactly(Vec<f32>),
}

/// Returns all tensors in file order.
pub(super) fn all(shape: &Shape, mixture: Mixture) -> Vec<Tensor> {
    let mut tensors = Vec::new();
    let format = mixture.most();
    let matrix = |name: String, columns: u64, rows: u64, format: Format, gain: f64| Tensor {
        name,
        dimensions: vec![columns, rows],
        format: fitting(format, columns),
        content: Content::Random { mean: 0.0, deviation: (gain / (columns as f64).sqrt()) as f32 },
    };
    let vector = |name: String, len: u64, mean: f32| Tensor {
        name,
        dimensions: vec![len],
        format: Format::F32,
        content: Content::Random { mean, deviation: 0.1 },
    };
    let norm = |name: String, mean: f32| {
        let is_biased = shape.architecture.norm == NormKind::Layer && shape.biases != Biases::Required;
        let bias = is_biased.then(|| vector(format!("{name}.bias"), shape.width, 0.0));
        std::iter::once(vector(format!("{name}.weight"), shape.width, mean)).chain(bias)
    };
    let experts = |name: String, columns: u64, rows: u64, count: u64, format: Format, gain: f64| {
        let one = matrix(name, columns, rows, format, gain);
        Tensor { dimensions: vec![columns, rows, count], ..one }
    };
    let (width, feed_forward, vocabulary) = (shape.width, shape.feed_forward, shape.vocabulary as u64);
    let (queries, keys) = (shape.heads * shape.head_size, shape.kv_heads * shape.head_size);
    // Logits should differ by more than noise, and all layers should contribute about equally to the residual stream.
    let score_gain = 3.0;
    let layer_gain = 1.0 / f64::from(2 * shape.layers).sqrt();
    let gain_of_table = if shape.tied { score_gain } else { (width as f64).sqrt() };

    tensors.push(matrix("token_embd.weight".into(), width, vocabulary, mixture.table(shape.tied), gain_of_table));
    if let Some(stretch) = shape.rope_stretch {
        tensors.push(rope_frequencies(shape, stretch));
    }
    if shape.long_rope {
        tensors.extend(long_rope_factors(shape));
    }
    let architecture = &shape.architecture;
    let (before, after) = match architecture.norms {
        NormPlaces::Before => (true, false),
        NormPlaces::Around => (true, true),
        NormPlaces::After => (false, true),
        NormPlaces::Shared => (false, false),
    };
    for layer in 0..shape.layers {
        let name = |end: &str| format!("blk.{layer}.{end}");
        let delicate = mixture.delicate(layer, shape.layers);
        if before || architecture.norms == NormPlaces::Shared {
            tensors.extend(norm(name("attn_norm"), 1.0));
        }
        let delta_net = shape.delta_net.as_ref().filter(|delta_net| delta_net.is_mixer(layer));
        if let Some(delta_net) = delta_net {
            tensors.extend(delta_net::vectors(delta_net, &name));
            for (part, columns, rows, gain) in delta_net.matrices(width, layer_gain) {
                tensors.push(matrix(name(part), columns, rows, format, gain));
            }
        }
        if shape.fused_qkv {
            tensors.push(matrix(name("attn_qkv.weight"), width, queries + 2 * keys, format, 1.0));
            if shape.biases == Biases::All {
                tensors.push(vector(name("attn_qkv.bias"), queries + 2 * keys, 0.0));
            }
        }
        let queries_and_gates = if architecture.gated_attention { 2 * queries } else { queries };
        let attention = [("q", queries_and_gates, format), ("k", keys, format), ("v", keys, delicate)];
        for (part, rows, format) in attention.into_iter().filter(|_| delta_net.is_none()) {
            if !shape.fused_qkv {
                tensors.push(matrix(name(&format!("attn_{part}.weight")), width, rows, format, 1.0));
            }
            let has_biases = matches!(shape.biases, Biases::All | Biases::Attention);
            if (architecture.qkv_bias || has_biases) && !shape.fused_qkv {
                tensors.push(vector(name(&format!("attn_{part}.bias")), rows, 0.0));
            }
            let norm_width = match architecture.qk_norm {
                QkNorm::None => continue,
                QkNorm::Heads | QkNorm::HeadsIfAny => shape.head_size,
                QkNorm::Whole => rows,
            };
            if part != "v" {
                tensors.push(vector(name(&format!("attn_{part}_norm.weight")), norm_width, 1.0));
            }
        }
        if delta_net.is_none() {
            tensors.push(matrix(name("attn_output.weight"), queries, width, format, layer_gain));
            let has_bias = match shape.biases {
                Biases::Required | Biases::Norms => architecture.sinks,
                Biases::Attention => true,
                Biases::All => architecture.ungated.is_some(),
            };
            if has_bias {
                tensors.push(vector(name("attn_output.bias"), width, 0.0));
            }
            if architecture.sinks {
                tensors.push(vector(name("attn_sinks.weight"), shape.heads, 0.5));
            }
        }
        if after {
            tensors.extend(norm(name("post_attention_norm"), AFTER));
        }
        if before {
            tensors.extend(norm(name(architecture.feed_forward_norm), 1.0));
        }
        let mixture_of_experts = shape.experts.filter(|experts| layer >= experts.dense);
        if let Some(Experts { count, width: hidden, shared, selection_bias, .. }) = mixture_of_experts {
            tensors.push(matrix(name("ffn_gate_inp.weight"), width, count, Format::F32, 2.0));
            if selection_bias {
                tensors.push(vector(name(architecture.experts.selection_bias), count, 0.0));
            }
            let parts =
                [("gate", width, hidden, format), ("up", width, hidden, format), ("down", hidden, width, delicate)];
            for (part, columns, rows, format) in parts {
                let gain = if part == "down" { 2.0 * layer_gain } else { 1.0 };
                tensors.push(experts(name(&format!("ffn_{part}_exps.weight")), columns, rows, count, format, gain));
                if architecture.experts.biases {
                    let bias = vector(name(&format!("ffn_{part}_exps.bias")), rows, 0.0);
                    tensors.push(Tensor { dimensions: vec![rows, count], ..bias });
                }
            }
            if architecture.experts.biases {
                tensors.push(vector(name("ffn_gate_inp.bias"), count, 0.0));
            }
            if let Some(hidden) = shared {
                if architecture.experts.shared == SharedExpert::Factored {
                    let factor = matrix(name("ffn_gate_inp_shexp.weight"), width, 1, Format::F32, 1.0);
                    tensors.push(Tensor { dimensions: vec![width], ..factor });
                }
                tensors.push(matrix(name("ffn_gate_shexp.weight"), width, hidden, format, 1.0));
                tensors.push(matrix(name("ffn_up_shexp.weight"), width, hidden, format, 1.0));
                tensors.push(matrix(name("ffn_down_shexp.weight"), hidden, width, delicate, 2.0 * layer_gain));
            }
            continue;
        }
        if architecture.fused_gate {
            tensors.push(matrix(name("ffn_up.weight"), width, 2 * feed_forward, format, 1.0));
        } else if architecture.ungated.is_some() {
            tensors.push(matrix(name("ffn_up.weight"), width, feed_forward, format, 1.0));
            if shape.biases == Biases::All {
                tensors.push(vector(name("ffn_up.bias"), feed_forward, 0.0));
                tensors.push(vector(name("ffn_down.bias"), width, 0.0));
            }
        } else {
            tensors.push(matrix(name("ffn_gate.weight"), width, feed_forward, format, 1.0));
            tensors.push(matrix(name("ffn_up.weight"), width, feed_forward, format, 1.0));
        }
        // The gate about halves the activations.
        tensors.push(matrix(name("ffn_down.weight"), feed_forward, width, delicate, 2.0 * layer_gain));
        if after {
            tensors.extend(norm(name("post_ffw_norm"), AFTER));
        }
    }
    tensors.extend(norm("output_norm".into(), 1.0));
    if !shape.tied {
        tensors.push(matrix("output.weight".into(), width, vocabulary, mixture.head(), score_gain));
    }
    tensors
}

/// Divisors of the RoPE frequencies for long contexts and for short ones, as LongRoPE has them: from 1 up.
fn long_rope_factors(shape: &Shape) -> [Tensor; 2] {
    let pairs = shape.rotary.unwrap_or(shape.head_size) / 2;
    [("long", 0.5), ("short", 0.01)].map(|(context, step)| Tensor {
        name: format!("rope_factors_{context}.weight"),
        dimensions: vec![pairs],
        format: Format::F32,
        content: Content::Exactly((0..pairs).map(|pair| 1.0 + step * pair as f32).collect()),
    })
}

/// Divisors of the RoPE frequencies: Llama 3.1's rule for an original context of 8192 positions.
fn rope_frequencies(shape: &Shape, stretch: f64) -> Tensor {
    let (trained, low, high) = (8192.0, 1.0, 4.0);
    let pairs = shape.head_size / 2;
    let factor = |pair: u64| {
        let wavelength = TAU * f64::from(shape.rope_base).powf(pair as f64 / pairs as f64);
        let turns = trained / wavelength;
        let smooth = ((turns - low) / (high - low)).clamp(0.0, 1.0);
        (1.0 / ((1.0 - smooth) / stretch + smooth)) as f32
    };
    Tensor {
        name: "rope_freqs.weight".into(),
        dimensions: vec![pairs],
        format: Format::F32,
        content: Content::Exactly((0..pairs).map(factor).collect()),
    }
}

impl Tensor {
    fn elements(&self) -> usize {
        self.dimensions.iter().product::<u64>() as usize
    }

    /// Size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.format.row_size(self.elements()).unwrap_or(0) as u64
    }

    /// Writes the bytes. They depend only on the seed, and on the name, shape, format and content of the tensor.
    pub(super) fn fill(&self, seed: u64, out: &mut dyn Write) -> io::Result<()> {
        let quantized = |numbers: &[f32]| {
            quantize(self.format, numbers)
                .ok_or_else(|| io::Error::other(format!("'{}' is no whole blocks", self.name)))
        };
        let (mean, deviation) = match &self.content {
            Content::Exactly(numbers) => return out.write_all(&quantized(numbers)?),
            Content::Random { mean, deviation } => (*mean, *deviation),
        };
        let mut numbers = Numbers::new(seed, &self.name);
        let mut pool = vec![0f32; self.elements().min(POOL)];
        pool.fill_with(|| mean + deviation * numbers.normal());
        let pool_bytes = quantized(&pool)?;
        if self.elements() <= POOL {
            return out.write_all(&pool_bytes);
        }
        let columns = self.dimensions.first().map_or(1, |&columns| columns as usize);
        let (blocks, block) = (columns / self.format.block_len(), self.format.block_size());
        let piece = blocks.div_ceil(PIECES).max(1);
        let places = (pool_bytes.len() / block).saturating_sub(piece) + 1;
        for _ in 0..self.elements() / columns {
            for done in (0..blocks).step_by(piece) {
                let start = numbers.below(places) * block;
                let bytes = pool_bytes.get(start..start + piece.min(blocks - done) * block);
                out.write_all(bytes.ok_or_else(|| io::Error::other("a piece of a row is larger than the pool"))?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::shapes::SHAPES;

    #[test]
    fn where_rows_are_no_whole_blocks_another_format_is_taken() {
        let shape = SHAPES.iter().find(|shape| shape.name == "smollm2-135m").expect("it is there");
        let tensors = all(shape, Mixture::Q4KM);
        let format = |name: &str| tensors.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.format);
        assert_eq!(format("blk.0.attn_q.weight"), Some(Format::Q5_0));
        assert_eq!(format("blk.0.ffn_down.weight"), Some(Format::Q6_K));
        assert_eq!(format("blk.5.ffn_down.weight"), Some(Format::Q6_K));
        assert_eq!(format("blk.6.ffn_down.weight"), Some(Format::Q4_K));
        assert_eq!(format("blk.0.attn_v.weight"), Some(Format::Q8_0));
    }

    #[test]
    fn every_shape_has_whole_blocks_and_a_size() {
        for shape in SHAPES {
            for mixture in Mixture::all() {
                assert!(all(shape, mixture).iter().all(|tensor| tensor.size() > 0), "{}:{mixture}", shape.name);
            }
        }
    }
}
