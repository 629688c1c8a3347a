//! Published shapes of real models, and tiny ones.

use crate::arch::{self, Architecture, NormKind};
use crate::gguf::Builder;

use super::delta_net::{self, DeltaNetShape};
use super::mixture::Mixture;
use KeyNumber::{Count, Counts, Flag, Real, Text};

/// Hyperparameters and vocabulary of a model.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) architecture: Architecture,
    pub(super) layers: u32,
    pub(super) width: u64,
    pub(super) feed_forward: u64,
    /// Experts instead of one feed-forward network.
    pub(super) experts: Option<Experts>,
    pub(super) heads: u64,
    pub(super) kv_heads: u64,
    pub(super) head_size: u64,
    /// Rotated dimensions of a head.
    pub(super) rotary: Option<u64>,
    /// Gated delta-nets.
    pub(super) delta_net: Option<DeltaNetShape>,
    pub(super) vocabulary: usize,
    pub(super) context: u32,
    pub(super) rope_base: f32,
    pub(super) epsilon: f32,
    /// The embedding is also the output matrix.
    pub(super) tied: bool,
    /// Scaling factor of low RoPE frequencies (Llama 3).
    pub(super) rope_stretch: Option<f64>,
    pub(super) pre_tokenizer: &'static str,
    /// Queries, keys and values are one matrix.
    pub(super) fused_qkv: bool,
    pub(super) biases: Biases,
    /// The RoPE frequencies have divisors for short and long contexts.
    pub(super) long_rope: bool,
    /// Further keys of the architecture; they replace those of the fields above.
    pub(super) keys: &'static [(&'static str, KeyNumber)],
}

/// Value of a metadata key.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyNumber {
    Count(u32),
    Real(f32),
    Flag(bool),
    Text(&'static str),
    Counts(&'static [u32]),
}

/// Experts of a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Experts {
    pub(super) count: u64,
    pub(super) used: u64,
    /// Width of the hidden layer of each.
    pub(super) width: u64,
    /// Width of the hidden layer of the expert that all tokens use.
    pub(super) shared: Option<u64>,
    /// Layers at the beginning that have none.
    pub(super) dense: u32,
    /// Scores have biases for the choice.
    pub(super) selection_bias: bool,
}

impl Experts {
    const USUAL: Experts = Experts { count: 8, used: 3, width: 256, shared: None, dense: 0, selection_bias: false };
}

/// Vectors that are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Biases {
    /// Those that the architecture requires.
    Required,
    /// In norms of the residual stream.
    Norms,
    /// Of queries, keys, values and the output of attention.
    Attention,
    /// In these norms, queries, keys and values; without a gate, also in the output of attention and in networks.
    All,
}

/// Base of the tiny models. Rows are whole blocks in every format.
const TINY: Shape = Shape {
    name: "llama-tiny",
    architecture: arch::LLAMA,
    layers: 2,
    width: 256,
    feed_forward: 512,
    experts: None,
    heads: 4,
    kv_heads: 2,
    head_size: 64,
    rotary: None,
    delta_net: None,
    vocabulary: 384,
    context: 2048,
    rope_base: 10_000.0,
    epsilon: 1e-5,
    tied: false,
    rope_stretch: None,
    pre_tokenizer: "gpt-2",
    fused_qkv: false,
    biases: Biases::Required,
    long_rope: false,
    keys: &[],
};

const SMOLLM2: Shape = Shape {
    name: "smollm2-135m",
    layers: 30,
    width: 576,
    feed_forward: 1536,
    heads: 9,
    kv_heads: 3,
    vocabulary: 49_152,
    context: 8192,
    rope_base: 100_000.0,
    tied: true,
    pre_tokenizer: "smollm",
    ..TINY
};

const LLAMA3: Shape = Shape {
    name: "llama-8b",
    layers: 32,
    width: 4096,
    feed_forward: 14_336,
    heads: 32,
    kv_heads: 8,
    head_size: 128,
    vocabulary: 128_256,
    context: 131_072,
    rope_base: 500_000.0,
    rope_stretch: Some(8.0),
    pre_tokenizer: "llama-bpe",
    ..TINY
};

const QWEN2: Shape = Shape {
    name: "qwen2-0.5b",
    architecture: arch::QWEN2,
    layers: 24,
    width: 896,
    feed_forward: 4864,
    heads: 14,
    kv_heads: 2,
    vocabulary: 151_936,
    context: 32_768,
    rope_base: 1_000_000.0,
    epsilon: 1e-6,
    tied: true,
    pre_tokenizer: "qwen2",
    ..TINY
};

const QWEN3: Shape = Shape {
    name: "qwen3-0.6b",
    architecture: arch::QWEN3,
    layers: 28,
    width: 1024,
    feed_forward: 3072,
    heads: 16,
    kv_heads: 8,
    head_size: 128,
    context: 40_960,
    ..QWEN2
};

const QWEN35_TINY: Shape = Shape {
    name: "qwen35-tiny",
    architecture: arch::QWEN35,
    layers: 4,
    rotary: Some(16),
    delta_net: Some(DeltaNetShape { heads: 4, key_heads: 2, head_size: 64, interval: 2, fused_gates: false }),
    rope_base: 10_000_000.0,
    epsilon: 1e-6,
    tied: true,
    pre_tokenizer: "qwen35",
    ..TINY
};

const QWEN35: Shape = Shape {
    name: "qwen3.5-0.8b",
    layers: 24,
    width: 1024,
    feed_forward: 3584,
    heads: 8,
    kv_heads: 2,
    head_size: 256,
    rotary: Some(64),
    delta_net: Some(DeltaNetShape { heads: 16, key_heads: 16, head_size: 128, interval: 4, fused_gates: false }),
    vocabulary: 248_320,
    context: 262_144,
    ..QWEN35_TINY
};

const QWEN3_MOE: Shape = Shape {
    name: "qwen3-30b-a3b",
    architecture: arch::QWEN3_MOE,
    layers: 48,
    width: 2048,
    feed_forward: 6144,
    experts: Some(Experts { count: 128, used: 8, width: 768, shared: None, ..Experts::USUAL }),
    heads: 32,
    kv_heads: 4,
    tied: false,
    ..QWEN3
};

const QWEN2_MOE: Shape = Shape {
    name: "qwen1.5-moe-a2.7b",
    architecture: arch::QWEN2_MOE,
    layers: 24,
    width: 2048,
    feed_forward: 5632,
    experts: Some(Experts { count: 60, used: 4, width: 1408, shared: Some(5632), ..Experts::USUAL }),
    heads: 16,
    kv_heads: 16,
    head_size: 128,
    context: 8192,
    tied: false,
    ..QWEN2
};

const QWEN35_MOE: Shape = Shape {
    name: "qwen3.5-35b-a3b",
    architecture: arch::QWEN35_MOE,
    layers: 40,
    width: 2048,
    feed_forward: 512,
    experts: Some(Experts { count: 256, used: 8, width: 512, shared: Some(512), ..Experts::USUAL }),
    heads: 16,
    delta_net: Some(DeltaNetShape { heads: 32, key_heads: 16, head_size: 128, interval: 4, fused_gates: false }),
    tied: false,
    ..QWEN35
};

const QWEN3_NEXT: Shape = Shape {
    name: "qwen3-next-80b-a3b",
    architecture: arch::QWEN3_NEXT,
    layers: 48,
    feed_forward: 5120,
    experts: Some(Experts { count: 512, used: 10, width: 512, shared: Some(512), ..Experts::USUAL }),
    delta_net: Some(DeltaNetShape { heads: 32, key_heads: 16, head_size: 128, interval: 4, fused_gates: true }),
    vocabulary: 151_936,
    pre_tokenizer: "qwen2",
    ..QWEN35_MOE
};

const MIXTRAL: Shape = Shape {
    name: "mixtral-8x7b",
    feed_forward: 14_336,
    experts: Some(Experts { count: 8, used: 2, width: 14_336, shared: None, ..Experts::USUAL }),
    vocabulary: 32_000,
    context: 32_768,
    rope_base: 1_000_000.0,
    rope_stretch: None,
    pre_tokenizer: "default",
    ..LLAMA3
};

const GEMMA2: Shape = Shape {
    name: "gemma-2-2b",
    architecture: arch::GEMMA2,
    layers: 26,
    width: 2304,
    feed_forward: 9216,
    heads: 8,
    kv_heads: 4,
    head_size: 256,
    vocabulary: 256_000,
    context: 8192,
    epsilon: 1e-6,
    tied: true,
    keys: &[
        ("attention.sliding_window", Count(4096)),
        ("attn_logit_softcapping", Real(50.0)),
        ("final_logit_softcapping", Real(30.0)),
    ],
    ..TINY
};

const GEMMA3: Shape = Shape {
    name: "gemma-3-1b",
    architecture: arch::GEMMA3,
    width: 1152,
    feed_forward: 6912,
    heads: 4,
    kv_heads: 1,
    vocabulary: 262_144,
    context: 32_768,
    rope_base: 1_000_000.0,
    keys: &[("attention.sliding_window", Count(512))],
    ..GEMMA2
};

const PHI4_MINI: Shape = Shape {
    name: "phi-4-mini",
    architecture: arch::PHI3,
    layers: 32,
    width: 3072,
    feed_forward: 8192,
    heads: 24,
    kv_heads: 8,
    head_size: 128,
    vocabulary: 200_064,
    context: 131_072,
    tied: true,
    rotary: Some(96),
    pre_tokenizer: "gpt-4o",
    fused_qkv: true,
    long_rope: true,
    keys: &[
        ("rope.scaling.original_context_length", Count(4096)),
        ("rope.scaling.attn_factor", Real(1.190_238)),
        ("attention.sliding_window", Count(262_144)),
    ],
    ..TINY
};

const SMOLLM3: Shape = Shape {
    name: "smollm3-3b",
    architecture: arch::SMOLLM3,
    layers: 36,
    width: 2048,
    feed_forward: 11_008,
    heads: 16,
    kv_heads: 4,
    head_size: 128,
    vocabulary: 128_256,
    context: 65_536,
    rope_base: 5_000_000.0,
    epsilon: 1e-6,
    tied: true,
    pre_tokenizer: "smaug-bpe",
    ..TINY
};

const OLMO2: Shape = Shape {
    name: "olmo-2-1b",
    architecture: arch::OLMO2,
    layers: 16,
    width: 2048,
    feed_forward: 8192,
    heads: 16,
    kv_heads: 16,
    head_size: 128,
    vocabulary: 100_352,
    context: 4096,
    rope_base: 500_000.0,
    epsilon: 1e-6,
    pre_tokenizer: "dbrx",
    ..TINY
};

const GRANITE: Shape = Shape {
    name: "granite-3-2b",
    architecture: arch::GRANITE,
    layers: 40,
    width: 2048,
    feed_forward: 8192,
    heads: 32,
    kv_heads: 8,
    vocabulary: 49_155,
    context: 131_072,
    rope_base: 5_000_000.0,
    tied: true,
    pre_tokenizer: "refact",
    keys: &[
        ("embedding_scale", Real(12.0)),
        ("residual_scale", Real(0.22)),
        ("attention.scale", Real(0.015_625)),
        ("logit_scale", Real(8.0)),
    ],
    ..TINY
};

const GPT_OSS: Shape = Shape {
    name: "gpt-oss-20b",
    architecture: arch::GPT_OSS,
    layers: 24,
    width: 2880,
    feed_forward: 2880,
    experts: Some(Experts { count: 32, used: 4, width: 2880, shared: None, ..Experts::USUAL }),
    heads: 64,
    kv_heads: 8,
    head_size: 64,
    vocabulary: 201_088,
    context: 131_072,
    rope_base: 150_000.0,
    rope_stretch: None,
    pre_tokenizer: "gpt-4o",
    keys: &[
        ("attention.sliding_window", Count(128)),
        ("rope.scaling.type", Text("yarn")),
        ("rope.scaling.factor", Real(32.0)),
        ("rope.scaling.original_context_length", Count(4096)),
    ],
    ..LLAMA3
};

/// Factors of the tiny models of Granite.
const GRANITE_FACTORS: &[(&str, KeyNumber)] = &[
    ("embedding_scale", Real(3.0)),
    ("residual_scale", Real(0.25)),
    ("attention.scale", Real(0.0625)),
    ("logit_scale", Real(2.0)),
];

/// Pairs of a rotation in each dimension of a position.
const SECTIONS: &[(&str, KeyNumber)] = &[("rope.dimension_sections", Counts(&[12, 10, 10, 0]))];

/// Two shared experts, and a router as GLM 4.5 has it.
const SIGMOID_ROUTER: &[(&str, KeyNumber)] = &[
    ("expert_shared_count", Count(2)),
    ("expert_gating_func", Count(2)),
    ("expert_weights_norm", Flag(true)),
    ("expert_weights_scale", Real(1.5)),
];

/// All shapes.
pub(super) const SHAPES: &[Shape] = &[
    TINY,
    Shape {
        name: "llama3-tiny",
        tied: true,
        rope_base: 500_000.0,
        rope_stretch: Some(8.0),
        pre_tokenizer: "llama-bpe",
        ..TINY
    },
    Shape {
        name: "qwen2-tiny",
        layers: 2,
        width: 256,
        feed_forward: 512,
        heads: 4,
        vocabulary: 384,
        context: 2048,
        ..QWEN2
    },
    Shape {
        name: "qwen3-tiny",
        layers: 2,
        width: 256,
        feed_forward: 512,
        heads: 4,
        kv_heads: 2,
        vocabulary: 384,
        context: 2048,
        ..QWEN3
    },
    QWEN35_TINY,
    Shape {
        name: "qwen35-equal-tiny",
        delta_net: Some(DeltaNetShape { heads: 4, key_heads: 4, head_size: 64, interval: 4, fused_gates: false }),
        ..QWEN35_TINY
    },
    Shape {
        name: "mixtral-tiny",
        feed_forward: 256,
        experts: Some(Experts { count: 4, used: 2, width: 256, shared: None, ..Experts::USUAL }),
        ..TINY
    },
    Shape {
        name: "qwen3-moe-tiny",
        layers: 2,
        width: 256,
        feed_forward: 512,
        experts: Some(Experts { count: 8, used: 3, width: 256, shared: None, ..Experts::USUAL }),
        heads: 4,
        kv_heads: 2,
        vocabulary: 384,
        context: 2048,
        ..QWEN3_MOE
    },
    Shape {
        name: "qwen2-moe-tiny",
        layers: 2,
        width: 256,
        feed_forward: 512,
        experts: Some(Experts { count: 8, used: 3, width: 256, shared: Some(512), ..Experts::USUAL }),
        heads: 4,
        kv_heads: 2,
        head_size: 64,
        vocabulary: 384,
        context: 2048,
        ..QWEN2_MOE
    },
    Shape {
        name: "qwen35-moe-tiny",
        architecture: arch::QWEN35_MOE,
        experts: Some(Experts { count: 8, used: 3, width: 256, shared: Some(256), ..Experts::USUAL }),
        tied: false,
        ..QWEN35_TINY
    },
    Shape {
        name: "qwen3next-tiny",
        architecture: arch::QWEN3_NEXT,
        experts: Some(Experts { count: 8, used: 3, width: 256, shared: Some(256), ..Experts::USUAL }),
        delta_net: Some(DeltaNetShape { heads: 4, key_heads: 2, head_size: 64, interval: 2, fused_gates: true }),
        tied: false,
        pre_tokenizer: "qwen2",
        ..QWEN35_TINY
    },
    // The windows are shorter than the texts of tests, and caps and factors large enough to show in the logits.
    Shape { name: "mistral-tiny", keys: &[("attention.sliding_window", Count(16))], ..TINY },
    Shape { name: "gemma-tiny", architecture: arch::GEMMA, epsilon: 1e-6, tied: true, ..TINY },
    Shape {
        name: "gemma2-tiny",
        architecture: arch::GEMMA2,
        epsilon: 1e-6,
        tied: true,
        keys: &[
            ("attention.sliding_window", Count(16)),
            ("attn_logit_softcapping", Real(5.0)),
            ("final_logit_softcapping", Real(10.0)),
        ],
        ..TINY
    },
    Shape {
        name: "gemma3-tiny",
        architecture: arch::GEMMA3,
        epsilon: 1e-6,
        tied: true,
        rope_base: 1_000_000.0,
        keys: &[
            ("attention.sliding_window", Count(16)),
            ("attention.sliding_window_pattern", Count(2)),
            ("rope.scaling.factor", Real(8.0)),
        ],
        ..TINY
    },
    Shape {
        name: "phi3-tiny",
        architecture: arch::PHI3,
        rotary: Some(48),
        tied: true,
        fused_qkv: true,
        long_rope: true,
        keys: &[("rope.scaling.original_context_length", Count(1024)), ("rope.scaling.attn_factor", Real(1.25))],
        ..TINY
    },
    Shape {
        name: "smollm3-tiny",
        architecture: arch::SMOLLM3,
        layers: 4,
        rope_base: 5_000_000.0,
        epsilon: 1e-6,
        tied: true,
        ..TINY
    },
    Shape { name: "olmo2-tiny", architecture: arch::OLMO2, rope_base: 500_000.0, epsilon: 1e-6, ..TINY },
    Shape { name: "granite-tiny", architecture: arch::GRANITE, tied: true, keys: GRANITE_FACTORS, ..TINY },
    Shape { name: "glm4-tiny", architecture: arch::GLM4, kv_heads: 1, rotary: Some(32), ..TINY },
    Shape {
        name: "command-r-tiny",
        architecture: arch::COMMAND_R,
        tied: true,
        keys: &[("logit_scale", Real(0.25))],
        ..TINY
    },
    Shape {
        name: "cohere2-tiny",
        architecture: arch::COHERE2,
        layers: 4,
        tied: true,
        keys: &[("attention.sliding_window", Count(16)), ("logit_scale", Real(0.25))],
        ..TINY
    },
    Shape {
        name: "olmoe-tiny",
        architecture: arch::OLMOE,
        kv_heads: 4,
        feed_forward: 256,
        experts: Some(Experts { count: 8, used: 3, width: 256, shared: None, ..Experts::USUAL }),
        ..TINY
    },
    Shape {
        name: "granite-moe-tiny",
        architecture: arch::GRANITE_MOE,
        feed_forward: 256,
        experts: Some(Experts { count: 8, used: 3, width: 256, shared: None, ..Experts::USUAL }),
        tied: true,
        keys: GRANITE_FACTORS,
        ..TINY
    },
    Shape { name: "seed-oss-tiny", architecture: arch::SEED_OSS, epsilon: 1e-6, ..TINY },
    Shape { name: "exaone-tiny", architecture: arch::EXAONE, rope_stretch: Some(8.0), ..TINY },
    Shape { name: "exaone4-tiny", architecture: arch::EXAONE4, layers: 4, tied: true, ..TINY },
    Shape { name: "internlm2-tiny", architecture: arch::INTERNLM2, ..TINY },
    Shape { name: "ernie-4.5-tiny", architecture: arch::ERNIE45, tied: true, ..TINY },
    Shape { name: "stablelm-tiny", architecture: arch::STABLELM, rotary: Some(16), biases: Biases::Norms, ..TINY },
    Shape { name: "starcoder2-tiny", architecture: arch::STARCODER2, tied: true, biases: Biases::All, ..TINY },
    Shape { name: "nemotron-tiny", architecture: arch::NEMOTRON, rotary: Some(32), biases: Biases::Norms, ..TINY },
    Shape { name: "orion-tiny", architecture: arch::ORION, biases: Biases::Norms, ..TINY },
    Shape { name: "arcee-tiny", architecture: arch::ARCEE, ..TINY },
    Shape { name: "xverse-tiny", architecture: arch::XVERSE, ..TINY },
    Shape {
        name: "minicpm-tiny",
        architecture: arch::MINICPM,
        tied: true,
        // Without a factor of attention, which llama.cpp does not read.
        keys: &[("embedding_scale", Real(3.0)), ("residual_scale", Real(0.25)), ("logit_scale", Real(2.0))],
        ..TINY
    },
    Shape {
        name: "chatglm-tiny",
        architecture: arch::CHATGLM,
        rotary: Some(32),
        fused_qkv: true,
        biases: Biases::All,
        ..TINY
    },
    Shape { name: "qwen2-vl-tiny", architecture: arch::QWEN2_VL, keys: SECTIONS, ..TINY },
    Shape { name: "qwen3-vl-tiny", architecture: arch::QWEN3_VL, keys: SECTIONS, ..TINY },
    Shape { name: "hunyuan-tiny", architecture: arch::HUNYUAN, tied: true, ..TINY },
    Shape {
        name: "hunyuan-moe-tiny",
        architecture: arch::HUNYUAN_MOE,
        feed_forward: 256,
        experts: Some(Experts { shared: Some(256), ..Experts::USUAL }),
        ..TINY
    },
    Shape {
        name: "dots1-tiny",
        architecture: arch::DOTS1,
        kv_heads: 4,
        experts: Some(Experts { shared: Some(512), dense: 1, selection_bias: true, ..Experts::USUAL }),
        keys: SIGMOID_ROUTER,
        ..TINY
    },
    Shape {
        name: "glm4-moe-tiny",
        architecture: arch::GLM4_MOE,
        rotary: Some(32),
        experts: Some(Experts { shared: Some(512), dense: 1, selection_bias: true, ..Experts::USUAL }),
        biases: Biases::All,
        keys: SIGMOID_ROUTER,
        ..TINY
    },
    Shape {
        name: "ernie-4.5-moe-tiny",
        architecture: arch::ERNIE45_MOE,
        experts: Some(Experts { shared: Some(512), dense: 1, selection_bias: true, ..Experts::USUAL }),
        tied: true,
        keys: &[("expert_shared_count", Count(2)), ("interleave_moe_layer_step", Count(1))],
        ..TINY
    },
    Shape {
        name: "deepseek-tiny",
        architecture: arch::DEEPSEEK,
        experts: Some(Experts { shared: Some(512), dense: 1, ..Experts::USUAL }),
        keys: &[("expert_shared_count", Count(2)), ("expert_weights_scale", Real(1.0))],
        ..TINY
    },
    Shape {
        name: "bailing-moe-tiny",
        architecture: arch::BAILING_MOE,
        experts: Some(Experts { shared: Some(512), ..Experts::USUAL }),
        keys: &[("expert_shared_count", Count(2)), ("expert_weights_norm", Flag(true))],
        ..TINY
    },
    Shape {
        name: "minimax-m2-tiny",
        architecture: arch::MINIMAX_M2,
        rotary: Some(32),
        feed_forward: 256,
        experts: Some(Experts { selection_bias: true, ..Experts::USUAL }),
        keys: &[("expert_gating_func", Count(2))],
        ..TINY
    },
    Shape { name: "codeshell-tiny", architecture: arch::CODESHELL, biases: Biases::All, ..TINY },
    Shape { name: "jais2-tiny", architecture: arch::JAIS2, biases: Biases::All, ..TINY },
    Shape { name: "pangu-tiny", architecture: arch::PANGU, biases: Biases::Attention, ..TINY },
    Shape { name: "maincoder-tiny", architecture: arch::MAINCODER, tied: true, ..TINY },
    Shape { name: "paddleocr-tiny", architecture: arch::PADDLE_OCR, keys: SECTIONS, ..TINY },
    Shape {
        name: "hunyuan-vl-tiny",
        architecture: arch::HUNYUAN_VL,
        tied: true,
        keys: &[("rope.dimension_sections", Counts(&[12, 10, 10, 0])), ("rope.scaling.alpha", Real(50.0))],
        ..TINY
    },
    Shape {
        name: "mellum-tiny",
        architecture: arch::MELLUM,
        layers: 4,
        experts: Some(Experts::USUAL),
        keys: &[
            ("attention.sliding_window", Count(16)),
            ("rope.scaling.type", Text("yarn")),
            ("rope.scaling.factor", Real(4.0)),
            ("rope.scaling.original_context_length", Count(64)),
        ],
        ..TINY
    },
    Shape {
        name: "exaone-moe-tiny",
        architecture: arch::EXAONE_MOE,
        layers: 4,
        experts: Some(Experts { shared: Some(256), dense: 1, selection_bias: true, ..Experts::USUAL }),
        keys: &[
            ("attention.sliding_window", Count(16)),
            ("expert_shared_count", Count(1)),
            ("expert_gating_func", Count(2)),
            ("expert_weights_norm", Flag(true)),
            ("expert_weights_scale", Real(2.5)),
        ],
        ..TINY
    },
    Shape {
        name: "hunyuan3-tiny",
        architecture: arch::HUNYUAN3,
        experts: Some(Experts { shared: Some(256), dense: 1, selection_bias: true, ..Experts::USUAL }),
        keys: &[
            ("expert_shared_count", Count(1)),
            ("expert_gating_func", Count(2)),
            ("expert_weights_norm", Flag(true)),
            ("expert_weights_scale", Real(2.826)),
        ],
        ..TINY
    },
    Shape { name: "openelm-tiny", architecture: arch::OPENELM, fused_qkv: true, tied: true, ..TINY },
    Shape {
        name: "gpt-oss-tiny",
        layers: 2,
        width: 256,
        feed_forward: 256,
        experts: Some(Experts { count: 8, used: 3, width: 256, shared: None, ..Experts::USUAL }),
        heads: 4,
        kv_heads: 2,
        vocabulary: 384,
        context: 2048,
        keys: &[
            ("attention.sliding_window", Count(16)),
            ("rope.scaling.type", Text("yarn")),
            ("rope.scaling.factor", Real(32.0)),
            ("rope.scaling.original_context_length", Count(64)),
        ],
        ..GPT_OSS
    },
    SMOLLM2,
    Shape { name: "smollm2-360m", layers: 32, width: 960, feed_forward: 2560, heads: 15, kv_heads: 5, ..SMOLLM2 },
    Shape {
        name: "llama-1b",
        layers: 16,
        width: 2048,
        feed_forward: 8192,
        head_size: 64,
        tied: true,
        rope_stretch: Some(32.0),
        ..LLAMA3
    },
    Shape {
        name: "llama-3b",
        layers: 28,
        width: 3072,
        feed_forward: 8192,
        heads: 24,
        tied: true,
        rope_stretch: Some(32.0),
        ..LLAMA3
    },
    LLAMA3,
    QWEN2,
    Shape { name: "qwen2-1.5b", layers: 28, width: 1536, feed_forward: 8960, heads: 12, head_size: 128, ..QWEN2 },
    QWEN3,
    Shape { name: "qwen3-1.7b", width: 2048, feed_forward: 6144, ..QWEN3 },
    QWEN3_MOE,
    GPT_OSS,
    Shape { name: "gpt-oss-20b-12-layers", layers: 12, ..GPT_OSS },
    // As many layers as fit into 8 GB.
    Shape { name: "qwen3-30b-a3b-16-layers", layers: 16, ..QWEN3_MOE },
    MIXTRAL,
    Shape { name: "qwen3-8b", layers: 36, width: 4096, feed_forward: 12_288, heads: 32, tied: false, ..QWEN3 },
    QWEN2_MOE,
    QWEN35_MOE,
    // As many layers as fit into 8 GB.
    Shape { name: "qwen3.5-35b-a3b-12-layers", layers: 12, ..QWEN35_MOE },
    QWEN3_NEXT,
    QWEN35,
    Shape { name: "qwen3.5-2b", width: 2048, feed_forward: 6144, ..QWEN35 },
    Shape {
        name: "mistral-7b",
        vocabulary: 32_768,
        context: 32_768,
        rope_base: 1_000_000.0,
        rope_stretch: None,
        pre_tokenizer: "gpt-2",
        ..LLAMA3
    },
    GEMMA2,
    GEMMA3,
    PHI4_MINI,
    SMOLLM3,
    OLMO2,
    GRANITE,
];

impl Shape {
    /// Returns a builder with the metadata of the model, without those of its tokenizer.
    pub(super) fn metadata(&self, mixture: Mixture) -> Builder {
        let key = |end: &str| format!("{}.{end}", self.architecture.name);
        let epsilon = match self.architecture.norm {
            NormKind::Rms => "attention.layer_norm_rms_epsilon",
            NormKind::Layer => "attention.layer_norm_epsilon",
        };
        let builder = Builder::new()
            .key("general.architecture", self.architecture.name)
            .key("general.type", "model")
            .key("general.file_type", mixture.file_type())
            .key("general.quantization_version", 2u32)
            .key(&key("vocab_size"), self.vocabulary as u32)
            .key(&key("context_length"), self.context)
            .key(&key("block_count"), self.layers)
            .key(&key("embedding_length"), self.width as u32)
            .key(&key("feed_forward_length"), self.feed_forward as u32)
            .key(&key("attention.head_count"), self.heads as u32)
            .key(&key("attention.head_count_kv"), self.kv_heads as u32)
            .key(&key("attention.key_length"), self.head_size as u32)
            .key(&key("attention.value_length"), self.head_size as u32)
            .key(&key(epsilon), self.epsilon)
            .key(&key("rope.dimension_count"), self.rotary.unwrap_or(self.head_size) as u32)
            .key(&key("rope.freq_base"), self.rope_base);
        let builder = match &self.delta_net {
            Some(shape) => delta_net::metadata(shape, builder, self.rotary.unwrap_or(self.head_size), key),
            None => builder,
        };
        let builder = match self.experts {
            Some(experts) => builder
                .key(&key("expert_count"), experts.count as u32)
                .key(&key("expert_used_count"), experts.used as u32)
                .key(&key("expert_feed_forward_length"), experts.width as u32),
            None => builder,
        };
        let builder = match self.experts.filter(|experts| experts.dense > 0) {
            Some(experts) => builder.key(&key("leading_dense_block_count"), experts.dense),
            None => builder,
        };
        let builder = match self.experts.and_then(|experts| experts.shared) {
            Some(width) => builder.key(&key("expert_shared_feed_forward_length"), width as u32),
            None => builder,
        };
        self.keys.iter().fold(builder, |builder, (name, number)| match *number {
            Count(count) => builder.key(&key(name), count),
            Real(number) => builder.key(&key(name), number),
            Flag(flag) => builder.key(&key(name), flag),
            Text(text) => builder.key(&key(name), text),
            Counts(counts) => builder.key(&key(name), counts.to_vec()),
        })
    }
}
