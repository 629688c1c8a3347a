//! Table of architectures, by llama.cpp's names: an entry has what differs from Llama.

use super::{
    Architecture, ExpertKind, LocalRope, NormKind, NormPlaces, QkNorm, RotatedLayers, SharedExpert, WindowedLayers,
};
use crate::metal::operations::{ExpertGate, GateFunction, Routing, UnaryFunction};

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
    ERNIE45_MOE,
    QWEN2_VL,
    QWEN3_VL,
    QWEN3_VL_MOE,
    STABLELM,
    STARCODER2,
    NEMOTRON,
    ARCEE,
    MINICPM,
    CHATGLM,
    XVERSE,
    ORION,
    HUNYUAN,
    HUNYUAN_MOE,
    DOTS1,
    GLM4_MOE,
    DEEPSEEK,
    BAILING_MOE,
    MINIMAX_M2,
    CODESHELL,
    JAIS2,
    PANGU,
    MAINCODER,
    PADDLE_OCR,
    HUNYUAN_VL,
    MELLUM,
    EXAONE_MOE,
    HUNYUAN3,
    OPENELM,
];

/// Llama, Mistral, and the many models with their structure.
pub const LLAMA: Architecture = Architecture {
    name: "llama",
    neox: false,
    qkv_bias: false,
    qk_norm: QkNorm::None,
    norm_after_rope: false,
    norm: NormKind::Rms,
    norms: NormPlaces::Before,
    feed_forward_norm: "ffn_norm",
    fused_gate: false,
    gate: GateFunction::Silu,
    ungated: None,
    scaled_embedding: false,
    divided_logits: false,
    has_default_factors: false,
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
    experts: ExpertKind { normalized: false, shared: SharedExpert::Factored, ..ExpertKind::USUAL },
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
pub const QWEN35_MOE: Architecture = Architecture {
    name: "qwen35moe",
    experts: ExpertKind { shared: SharedExpert::Factored, ..ExpertKind::USUAL },
    ..QWEN35
};

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
pub const GRANITE_MOE: Architecture = Architecture { name: "granitemoe", experts: SHARING, ..GRANITE };

/// Experts beside one that all tokens use, without a factor.
const SHARING: ExpertKind = ExpertKind { shared: SharedExpert::Plain, ..ExpertKind::USUAL };

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

/// ERNIE 4.5 with experts.
pub const ERNIE45_MOE: Architecture = Architecture { name: "ernie4_5-moe", experts: SHARING, ..ERNIE45 };

/// The language model of Qwen 2 VL and 2.5 VL. Without images, its positions in three dimensions are all the same.
pub const QWEN2_VL: Architecture = Architecture { name: "qwen2vl", ..QWEN2 };

/// The language model of Qwen 3 VL.
pub const QWEN3_VL: Architecture = Architecture { name: "qwen3vl", ..QWEN3 };

/// The language model of Qwen 3 VL with experts.
pub const QWEN3_VL_MOE: Architecture = Architecture { name: "qwen3vlmoe", ..QWEN3_MOE };

/// StableLM 2, except its model of 12 billion weights.
pub const STABLELM: Architecture = Architecture { name: "stablelm", neox: true, norm: NormKind::Layer, ..LLAMA };

/// StarCoder 2.
pub const STARCODER2: Architecture =
    Architecture { name: "starcoder2", qkv_bias: true, ungated: Some(UnaryFunction::Gelu), ..STABLELM };

/// Nemotron 3 and 4, and Minitron.
pub const NEMOTRON: Architecture =
    Architecture { name: "nemotron", ungated: Some(UnaryFunction::ReluSquared), ..STABLELM };

/// Arcee's AFM.
pub const ARCEE: Architecture = Architecture { name: "arcee", ungated: Some(UnaryFunction::ReluSquared), ..LLAMA };

/// MiniCPM 1, 2 and 4.
pub const MINICPM: Architecture = Architecture { name: "minicpm", has_default_factors: true, ..GRANITE };

/// GLM 3, and the first GLM 4.
pub const CHATGLM: Architecture = Architecture { name: "chatglm", fused_gate: true, ..LLAMA };

/// XVERSE.
pub const XVERSE: Architecture = Architecture { name: "xverse", ..LLAMA };

/// Orion.
pub const ORION: Architecture = Architecture { name: "orion", ..STABLELM };

/// Hunyuan.
pub const HUNYUAN: Architecture =
    Architecture { name: "hunyuan-dense", neox: true, qk_norm: QkNorm::Heads, norm_after_rope: true, ..LLAMA };

/// Hunyuan with experts.
pub const HUNYUAN_MOE: Architecture = Architecture { name: "hunyuan-moe", experts: SHARING, ..HUNYUAN };

/// dots.llm1.
pub const DOTS1: Architecture = Architecture {
    name: "dots1",
    experts: ExpertKind { routing: Routing::Sigmoid, normalized: false, ..SHARING },
    ..QWEN3_MOE
};

/// GLM 4.5, 4.6 and 4.7.
pub const GLM4_MOE: Architecture = Architecture {
    name: "glm4moe",
    neox: true,
    qk_norm: QkNorm::HeadsIfAny,
    feed_forward_norm: "post_attention_norm",
    experts: DOTS1.experts,
    ..LLAMA
};

/// DeepSeek's first model with experts.
pub const DEEPSEEK: Architecture =
    Architecture { name: "deepseek", experts: ExpertKind { normalized: false, ..SHARING }, ..LLAMA };

/// Ling.
pub const BAILING_MOE: Architecture = Architecture { name: "bailingmoe", ..DEEPSEEK };

/// MiniMax M2.
pub const MINIMAX_M2: Architecture = Architecture {
    name: "minimax-m2",
    neox: true,
    qk_norm: QkNorm::Whole,
    experts: ExpertKind { routing: Routing::Sigmoid, ..ExpertKind::USUAL },
    ..LLAMA
};

/// CodeShell.
pub const CODESHELL: Architecture = Architecture { name: "codeshell", ..STARCODER2 };

/// Jais 2.
pub const JAIS2: Architecture = Architecture { name: "jais2", ..NEMOTRON };

/// openPangu Embedded.
pub const PANGU: Architecture = Architecture { name: "pangu-embedded", neox: true, ..LLAMA };

/// Maincoder.
pub const MAINCODER: Architecture = Architecture { name: "maincoder", neox: false, ..HUNYUAN };

/// The language model of PaddleOCR-VL.
pub const PADDLE_OCR: Architecture = Architecture { name: "paddleocr", qkv_bias: false, ..QWEN2_VL };

/// The language model of Hunyuan VL.
pub const HUNYUAN_VL: Architecture = Architecture { name: "hunyuan_vl", ..HUNYUAN };

/// Mellum 2: every fourth layer sees all positions.
pub const MELLUM: Architecture = Architecture {
    name: "mellum",
    windows: WindowedLayers::AllBut(4),
    local_rope: LocalRope::Unscaled,
    ..QWEN3_MOE
};

/// K-EXAONE: every fourth layer sees all positions, without RoPE.
pub const EXAONE_MOE: Architecture = Architecture {
    name: "exaone-moe",
    norms: NormPlaces::Before,
    default_window: Some(128),
    rope: RotatedLayers::Windowed,
    experts: DOTS1.experts,
    ..EXAONE4
};

/// Hunyuan 3.
pub const HUNYUAN3: Architecture = Architecture {
    name: "hy_v3",
    experts: ExpertKind { normalized: true, selection_bias: "exp_probs_b", ..DOTS1.experts },
    ..QWEN3_MOE
};

/// OpenELM, whose layers have different numbers of heads.
pub const OPENELM: Architecture = Architecture { name: "openelm", ..QWEN3 };

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
