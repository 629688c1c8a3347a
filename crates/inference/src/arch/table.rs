//! Table of architectures, by llama.cpp's names: an entry has what differs from Llama.

use super::{Architecture, ExpertKind, LocalRope, NormKind, NormPlaces, QkNorm, RotatedLayers, WindowedLayers};
use crate::metal::operations::GateFunction;

/// Supported architectures.
pub const ARCHITECTURES: &[Architecture] = &[LLAMA, QWEN2, QWEN3, QWEN3_MOE, QWEN35];

/// Llama, Mistral, and the many models with their structure.
pub const LLAMA: Architecture = Architecture {
    name: "llama",
    neox: false,
    qkv_bias: false,
    qk_norm: QkNorm::None,
    norm: NormKind::Rms,
    norms: NormPlaces::Before,
    feed_forward_norm: "ffn_norm",
    fused_gate: false,
    gate: GateFunction::Silu,
    scaled_embedding: false,
    divided_logits: false,
    wide_queries: None,
    windows: WindowedLayers::All,
    default_window: None,
    rope: RotatedLayers::All,
    local_rope: LocalRope::Global,
    gated_attention: false,
    delta_net: false,
    experts: ExpertKind::USUAL,
};

/// Qwen 2 and 2.5.
pub const QWEN2: Architecture = Architecture { name: "qwen2", neox: true, qkv_bias: true, ..LLAMA };

/// Qwen 3.
pub const QWEN3: Architecture = Architecture { name: "qwen3", neox: true, qk_norm: QkNorm::Heads, ..LLAMA };

/// Qwen 3 with experts.
pub const QWEN3_MOE: Architecture = Architecture { name: "qwen3moe", ..QWEN3 };

/// Qwen 3.5.
pub const QWEN35: Architecture = Architecture {
    name: "qwen35",
    feed_forward_norm: "post_attention_norm",
    gated_attention: true,
    delta_net: true,
    ..QWEN3
};
