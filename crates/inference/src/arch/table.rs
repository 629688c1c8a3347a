//! Table of architectures, by llama.cpp's names: an entry has what differs from Llama.

use super::{Architecture, ExpertKind, LocalRope, NormKind, NormPlaces, QkNorm, RotatedLayers, WindowedLayers};
use crate::metal::operations::{ExpertGate, GateFunction, Routing};

/// Supported architectures.
pub const ARCHITECTURES: &[Architecture] = &[
    LLAMA,
    QWEN2,
    QWEN2_MOE,
    QWEN3,
    QWEN3_MOE,
    GPT_OSS,
    QWEN35,
    QWEN35_MOE,
    QWEN3_NEXT,
    GEMMA,
    GEMMA2,
    GEMMA3,
    PHI3,
    SMOLLM3,
    OLMO2,
    OLMOE,
    GRANITE,
    GRANITE_MOE,
    GLM4,
    COMMAND_R,
    COHERE2,
    SEED_OSS,
    EXAONE,
    EXAONE4,
    INTERNLM2,
    ERNIE45,
];

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
    adjacent_heads: false,
    exact_yarn: false,
    sinks: false,
    experts: ExpertKind::USUAL,
};

/// Qwen 2 and 2.5.
pub const QWEN2: Architecture = Architecture { name: "qwen2", neox: true, qkv_bias: true, ..LLAMA };

/// Qwen 1.5 and 2 with experts.
pub const QWEN2_MOE: Architecture = Architecture {
    name: "qwen2moe",
    experts: ExpertKind { normalized: false, shared: true, ..ExpertKind::USUAL },
    ..QWEN2
};

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

/// Qwen 3.5 with experts.
pub const QWEN35_MOE: Architecture =
    Architecture { name: "qwen35moe", experts: ExpertKind { shared: true, ..ExpertKind::USUAL }, ..QWEN35 };

/// Qwen3-Next.
pub const QWEN3_NEXT: Architecture = Architecture { name: "qwen3next", adjacent_heads: true, ..QWEN35_MOE };

/// Gemma.
pub const GEMMA: Architecture =
    Architecture { name: "gemma", neox: true, gate: GateFunction::Gelu, scaled_embedding: true, ..LLAMA };

/// Gemma 2: every second layer sees all positions.
pub const GEMMA2: Architecture = Architecture {
    name: "gemma2",
    norms: NormPlaces::Around,
    wide_queries: Some(46),
    windows: WindowedLayers::AllBut(2),
    default_window: Some(4096),
    ..GEMMA
};

/// Gemma 3: every sixth layer sees all positions, with another rotation.
pub const GEMMA3: Architecture = Architecture {
    name: "gemma3",
    qk_norm: QkNorm::Heads,
    wide_queries: Some(62),
    windows: WindowedLayers::AllBut(6),
    default_window: None,
    local_rope: LocalRope::Base(10_000.0),
    ..GEMMA2
};

/// Phi 3 and 4.
pub const PHI3: Architecture = Architecture { name: "phi3", neox: true, fused_gate: true, ..LLAMA };

/// SmolLM 3.
pub const SMOLLM3: Architecture = Architecture { name: "smollm3", rope: RotatedLayers::AllBut(4), ..LLAMA };

/// OLMo 2 and 3.
pub const OLMO2: Architecture = Architecture {
    name: "olmo2",
    neox: true,
    qk_norm: QkNorm::Whole,
    norms: NormPlaces::After,
    windows: WindowedLayers::AllBut(4),
    local_rope: LocalRope::Unscaled,
    ..LLAMA
};

/// OLMoE.
pub const OLMOE: Architecture = Architecture {
    name: "olmoe",
    neox: true,
    qk_norm: QkNorm::Whole,
    experts: ExpertKind { normalized: false, ..ExpertKind::USUAL },
    ..LLAMA
};

/// Granite 3.
pub const GRANITE: Architecture = Architecture { name: "granite", divided_logits: true, ..LLAMA };

/// Granite 3 with experts.
pub const GRANITE_MOE: Architecture = Architecture { name: "granitemoe", ..GRANITE };

/// GLM 4.
pub const GLM4: Architecture = Architecture { name: "glm4", norms: NormPlaces::Around, fused_gate: true, ..LLAMA };

/// Command R.
pub const COMMAND_R: Architecture =
    Architecture { name: "command-r", norm: NormKind::Layer, norms: NormPlaces::Shared, ..LLAMA };

/// Command R7B and Command A: every fourth layer sees all positions, without RoPE.
pub const COHERE2: Architecture = Architecture {
    name: "cohere2",
    windows: WindowedLayers::AllBut(4),
    rope: RotatedLayers::Windowed,
    ..COMMAND_R
};

/// ByteDance's Seed-OSS.
pub const SEED_OSS: Architecture =
    Architecture { name: "seed_oss", feed_forward_norm: "post_attention_norm", ..QWEN2 };

/// EXAONE 3.
pub const EXAONE: Architecture = Architecture { name: "exaone", neox: true, ..LLAMA };

/// EXAONE 4: of models with windows, every fourth layer sees all positions, without RoPE.
pub const EXAONE4: Architecture = Architecture {
    name: "exaone4",
    neox: true,
    qk_norm: QkNorm::Heads,
    norms: NormPlaces::After,
    windows: WindowedLayers::AllBut(4),
    rope: RotatedLayers::WindowedIfAny,
    ..LLAMA
};

/// InternLM 2 and 2.5.
pub const INTERNLM2: Architecture = Architecture { name: "internlm2", ..LLAMA };

/// ERNIE 4.5.
pub const ERNIE45: Architecture = Architecture { name: "ernie4_5", ..LLAMA };

/// OpenAI's gpt-oss.
pub const GPT_OSS: Architecture = Architecture {
    name: "gpt-oss",
    neox: true,
    qkv_bias: true,
    feed_forward_norm: "post_attention_norm",
    windows: WindowedLayers::AllBut(2),
    exact_yarn: true,
    sinks: true,
    experts: ExpertKind {
        routing: Routing::SoftmaxOfUsed,
        normalized: false,
        gate: ExpertGate::ClampedSwiglu,
        biases: true,
        ..ExpertKind::USUAL
    },
    ..LLAMA
};
