//! Gated delta-nets of synthetic models.

use super::tensors::{Content, Tensor};
use crate::formats::Format;
use crate::gguf::Builder;
use crate::metal::operations::CONV_WIDTH;

/// Shape of the gated delta-nets of a model.
#[derive(Debug)]
pub(super) struct DeltaNetShape {
    /// Value heads.
    pub(super) heads: u64,
    /// Heads of queries, and of keys.
    pub(super) key_heads: u64,
    pub(super) head_size: u64,
    /// Every layer with this number has attention instead.
    pub(super) interval: u32,
    /// The matrices of both gates are one, as in Qwen3-Next.
    pub(super) fused_gates: bool,
}

impl DeltaNetShape {
    /// True if a layer has a gated delta-net.
    pub(super) fn is_mixer(&self, layer: u32) -> bool {
        !(layer + 1).is_multiple_of(self.interval)
    }

    fn width(&self) -> u64 {
        self.heads * self.head_size
    }

    fn channels(&self) -> u64 {
        (2 * self.key_heads + self.heads) * self.head_size
    }

    /// Names, columns, rows and gains of the matrices.
    pub(super) fn matrices(&self, width: u64, layer_gain: f64) -> Vec<(&'static str, u64, u64, f64)> {
        let gates: &[(&str, u64)] = match self.fused_gates {
            true => &[("ssm_ba.weight", 2)],
            false => &[("ssm_beta.weight", 1), ("ssm_alpha.weight", 1)],
        };
        let mut matrices =
            vec![("attn_qkv.weight", width, self.channels(), 1.0), ("attn_gate.weight", width, self.width(), 1.0)];
        matrices.extend(gates.iter().map(|&(name, rows)| (name, width, rows * self.heads, 1.0)));
        // The gate about halves the activations.
        matrices.push(("ssm_out.weight", self.width(), width, 2.0 * layer_gain));
        matrices
    }
}

/// The tensors that are never quantized.
pub(super) fn vectors(shape: &DeltaNetShape, name: &impl Fn(&str) -> String) -> [Tensor; 4] {
    let tensor = |end: &str, dimensions: Vec<u64>, content: Content| Tensor {
        name: name(end),
        dimensions,
        format: Format::F32,
        content,
    };
    let random = |mean, deviation| Content::Random { mean, deviation };
    // Some heads remember many tokens, others few.
    let decay = |head: u64| -(0.02 + 2.0 * head as f32 / shape.heads as f32);
    [
        tensor("ssm_conv1d.weight", vec![CONV_WIDTH as u64, shape.channels()], random(0.0, 0.5)),
        tensor("ssm_dt.bias", vec![shape.heads], random(0.0, 0.5)),
        tensor("ssm_a", vec![shape.heads], Content::Exactly((0..shape.heads).map(decay).collect())),
        tensor("ssm_norm.weight", vec![shape.head_size], random(1.0, 0.1)),
    ]
}

/// Adds the metadata.
pub(super) fn metadata(
    shape: &DeltaNetShape,
    builder: Builder,
    rotary: u64,
    key: impl Fn(&str) -> String,
) -> Builder {
    // Pairs that rotate by time, height and width, which are the same for text.
    let third = (rotary as u32 / 2).div_ceil(3);
    let sections = vec![third, third, rotary as u32 / 2 - 2 * third, 0];
    builder
        .key(&key("rope.dimension_sections"), sections)
        .key(&key("ssm.conv_kernel"), CONV_WIDTH as u32)
        .key(&key("ssm.state_size"), shape.head_size as u32)
        .key(&key("ssm.group_count"), shape.key_heads as u32)
        .key(&key("ssm.time_step_rank"), shape.heads as u32)
        .key(&key("ssm.inner_size"), shape.width() as u32)
        .key(&key("full_attention_interval"), shape.interval)
}
