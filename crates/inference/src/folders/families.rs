//! Families of models: how the names of `config.json` and of tensors are called in GGUF files.

/// A family of models with the same names.
#[derive(Debug)]
pub(super) struct Family {
    /// Values of `model_type`.
    pub(super) model_types: &'static [&'static str],
    /// Architecture in GGUF files.
    pub(super) architecture: &'static str,
    /// GGUF files have the rows of query and key heads interleaved, so that RoPE pairs neighbours; folders have halves.
    pub(super) interleaved: bool,
    /// A family whose keys and tensors this one has, too.
    pub(super) like: Option<&'static Family>,
    /// Keys, with the architecture as prefix, beyond [`KEYS`].
    pub(super) keys: &'static [KeyRule],
    /// Tensors of a layer beyond [`TENSORS`], which they override.
    pub(super) tensors: &'static [TensorRule],
    /// Constant that files leave out of the weights of norms.
    pub(super) norm_offset: f32,
    /// Names of the function of the gate in feed-forward networks.
    pub(super) activations: &'static [&'static str],
    /// Keys whose presence with another value than `false`, `null` or 0 is not supported.
    pub(super) unsupported: &'static [&'static str],
    /// Tensors with the matrices of all experts that are not quantized.
    pub(super) joined_experts: JoinedExperts,
}

/// Layout of a tensor with the matrices of all experts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JoinedExperts {
    /// Rows are outputs, as in other matrices.
    Rows,
    /// Rows are inputs.
    Columns,
    /// Rows are inputs, unless there are as many columns as inputs.
    ByShape,
}

/// A key of GGUF and its source in `config.json`.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyRule {
    pub(super) key: &'static str,
    /// The first of these keys that is there.
    pub(super) from: &'static [&'static str],
    pub(super) kind: KeyKind,
    pub(super) required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeyKind {
    Count,
    Number,
    /// 1 / √number.
    InverseRoot,
    /// Product of the counts of all keys.
    Product,
    /// False if it is not there, as in transformers.
    Flag,
}

/// A tensor of a layer by its names in folders and GGUF files: without `.weight` and `.bias` if it has these. `*` is the
/// number of an expert.
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorRule {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) change: Change,
}

/// Difference between a tensor of a folder and that of a GGUF file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Norms have an offset in some families.
    Usual,
    /// This norm has none.
    WithoutOffset,
    /// The name in GGUF files is whole, without `.weight`.
    WholeName,
    /// The same, and numbers x are −exp(x) there.
    MinusExponential,
    /// Rows of two matrices alternate; this is the first one, 0, or the second one, 1.
    Alternating(usize),
    /// Each expert has the rows of two matrices, one after the other.
    Half(usize),
}

const fn count(key: &'static str, from: &'static [&'static str]) -> KeyRule {
    KeyRule { key, from, kind: KeyKind::Count, required: true }
}

const fn number(key: &'static str, from: &'static [&'static str]) -> KeyRule {
    KeyRule { key, from, kind: KeyKind::Number, required: true }
}

const fn inverse_root(key: &'static str, from: &'static [&'static str]) -> KeyRule {
    KeyRule { key, from, kind: KeyKind::InverseRoot, required: true }
}

const fn flag(key: &'static str, from: &'static [&'static str]) -> KeyRule {
    KeyRule { key, from, kind: KeyKind::Flag, required: false }
}

const fn optional(rule: KeyRule) -> KeyRule {
    KeyRule { required: false, ..rule }
}

const fn tensor(from: &'static str, to: &'static str) -> TensorRule {
    TensorRule { from, to, change: Change::Usual }
}

const fn changed(from: &'static str, to: &'static str, change: Change) -> TensorRule {
    TensorRule { from, to, change }
}

/// Keys of all families.
pub(super) const KEYS: &[KeyRule] = &[
    count("block_count", &["num_hidden_layers"]),
    count("embedding_length", &["hidden_size"]),
    count("feed_forward_length", &["intermediate_size"]),
    count("attention.head_count", &["num_attention_heads"]),
    optional(count("attention.head_count_kv", &["num_key_value_heads"])),
    optional(count("attention.key_length", &["head_dim"])),
    optional(count("attention.value_length", &["head_dim"])),
    count("context_length", &["max_position_embeddings"]),
    number("attention.layer_norm_rms_epsilon", &["rms_norm_eps"]),
];

/// Tensors outside of layers.
pub(super) const WHOLE: &[TensorRule] =
    &[tensor("embed_tokens", "token_embd"), tensor("norm", "output_norm"), tensor("lm_head", "output")];

/// Tensors of a layer in most families.
pub(super) const TENSORS: &[TensorRule] = &[
    tensor("input_layernorm", "attn_norm"),
    tensor("self_attn.q_proj", "attn_q"),
    tensor("self_attn.k_proj", "attn_k"),
    tensor("self_attn.v_proj", "attn_v"),
    tensor("self_attn.o_proj", "attn_output"),
    tensor("self_attn.q_norm", "attn_q_norm"),
    tensor("self_attn.k_norm", "attn_k_norm"),
    tensor("post_attention_layernorm", "ffn_norm"),
    tensor("mlp.gate_proj", "ffn_gate"),
    tensor("mlp.up_proj", "ffn_up"),
    tensor("mlp.down_proj", "ffn_down"),
];

const LLAMA: Family = Family {
    model_types: &["llama", "mistral", "ministral", "cwm"],
    architecture: "llama",
    interleaved: true,
    like: None,
    keys: &[],
    tensors: &[],
    norm_offset: 0.0,
    activations: &["silu", "swish"],
    unsupported: &[],
    joined_experts: JoinedExperts::Rows,
};

const GEMMA: Family = Family {
    model_types: &["gemma"],
    architecture: "gemma",
    interleaved: false,
    norm_offset: 1.0,
    // Gemma's first files name the function that it was not trained with.
    activations: &["gelu_pytorch_tanh", "gelu"],
    ..LLAMA
};

/// Norms before and after both blocks.
const SANDWICH: &[TensorRule] = &[
    tensor("post_attention_layernorm", "post_attention_norm"),
    tensor("pre_feedforward_layernorm", "ffn_norm"),
    tensor("post_feedforward_layernorm", "post_ffw_norm"),
];

const GEMMA2: Family = Family {
    model_types: &["gemma2"],
    architecture: "gemma2",
    keys: &[
        optional(number("attn_logit_softcapping", &["attn_logit_softcapping"])),
        optional(number("final_logit_softcapping", &["final_logit_softcapping"])),
        inverse_root("attention.scale", &["query_pre_attn_scalar"]),
    ],
    tensors: SANDWICH,
    activations: &["gelu_pytorch_tanh"],
    ..GEMMA
};

const COHERE: Family = Family {
    model_types: &["cohere"],
    architecture: "command-r",
    interleaved: false,
    keys: &[
        optional(number("attention.layer_norm_rms_epsilon", &["rms_norm_eps"])),
        number("attention.layer_norm_epsilon", &["layer_norm_eps"]),
        number("logit_scale", &["logit_scale"]),
    ],
    unsupported: &["use_qk_norm"],
    ..LLAMA
};

/// Experts with a matrix each, and MLX's, which are one; the expert that all tokens use.
const EXPERTS: &[TensorRule] = &[
    tensor("mlp.gate", "ffn_gate_inp"),
    tensor("mlp.experts.*.gate_proj", "ffn_gate_exps"),
    tensor("mlp.experts.*.up_proj", "ffn_up_exps"),
    tensor("mlp.experts.*.down_proj", "ffn_down_exps"),
    tensor("mlp.switch_mlp.gate_proj", "ffn_gate_exps"),
    tensor("mlp.switch_mlp.up_proj", "ffn_up_exps"),
    tensor("mlp.switch_mlp.down_proj", "ffn_down_exps"),
    changed("mlp.experts.gate_up_proj", "ffn_gate_exps", Change::Half(0)),
    changed("mlp.experts.gate_up_proj", "ffn_up_exps", Change::Half(1)),
    tensor("mlp.experts.down_proj", "ffn_down_exps"),
    tensor("mlp.shared_expert_gate", "ffn_gate_inp_shexp"),
    tensor("mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
    tensor("mlp.shared_expert.up_proj", "ffn_up_shexp"),
    tensor("mlp.shared_expert.down_proj", "ffn_down_shexp"),
];

const MIXTRAL: Family = Family {
    model_types: &["mixtral"],
    keys: &[count("expert_count", &["num_local_experts"]), count("expert_used_count", &["num_experts_per_tok"])],
    tensors: &[
        tensor("block_sparse_moe.gate", "ffn_gate_inp"),
        tensor("block_sparse_moe.experts.*.w1", "ffn_gate_exps"),
        tensor("block_sparse_moe.experts.*.w2", "ffn_down_exps"),
        tensor("block_sparse_moe.experts.*.w3", "ffn_up_exps"),
        tensor("block_sparse_moe.switch_mlp.gate_proj", "ffn_gate_exps"),
        tensor("block_sparse_moe.switch_mlp.down_proj", "ffn_down_exps"),
        tensor("block_sparse_moe.switch_mlp.up_proj", "ffn_up_exps"),
    ],
    ..LLAMA
};

const QWEN3_MOE: Family = Family {
    model_types: &["qwen3_moe"],
    architecture: "qwen3moe",
    interleaved: false,
    keys: &[
        count("expert_count", &["num_experts", "num_local_experts"]),
        count("expert_used_count", &["num_experts_per_tok"]),
        count("expert_feed_forward_length", &["moe_intermediate_size"]),
        flag("expert_weights_norm", &["norm_topk_prob"]),
    ],
    tensors: EXPERTS,
    ..LLAMA
};

const QWEN2_MOE: Family = Family {
    model_types: &["qwen2_moe"],
    architecture: "qwen2moe",
    like: Some(&QWEN3_MOE),
    keys: &[count("expert_shared_feed_forward_length", &["shared_expert_intermediate_size"])],
    tensors: &[],
    ..QWEN3_MOE
};

const GPT_OSS: Family = Family {
    model_types: &["gpt_oss"],
    architecture: "gpt-oss",
    interleaved: false,
    keys: &[
        count("expert_count", &["num_local_experts"]),
        count("expert_used_count", &["num_experts_per_tok", "experts_per_token"]),
        count("expert_feed_forward_length", &["intermediate_size"]),
    ],
    tensors: &[
        tensor("post_attention_layernorm", "post_attention_norm"),
        tensor("self_attn.sinks", "attn_sinks"),
        tensor("mlp.router", "ffn_gate_inp"),
        changed("mlp.experts.gate_up_proj", "ffn_gate_exps", Change::Alternating(0)),
        changed("mlp.experts.gate_up_proj", "ffn_up_exps", Change::Alternating(1)),
        tensor("mlp.experts.down_proj", "ffn_down_exps"),
        // MLX's.
        tensor("mlp.experts.gate_proj", "ffn_gate_exps"),
        tensor("mlp.experts.up_proj", "ffn_up_exps"),
    ],
    joined_experts: JoinedExperts::Columns,
    ..LLAMA
};

const QWEN35_MOE: Family = Family {
    model_types: &["qwen3_5_moe_text"],
    architecture: "qwen35moe",
    like: Some(&QWEN35),
    keys: &[
        optional(count("feed_forward_length", &["intermediate_size"])),
        count("expert_count", &["num_experts"]),
        count("expert_used_count", &["num_experts_per_tok"]),
        count("expert_feed_forward_length", &["moe_intermediate_size"]),
        count("expert_shared_feed_forward_length", &["shared_expert_intermediate_size"]),
    ],
    tensors: EXPERTS,
    ..QWEN35
};

const QWEN35: Family = Family {
    model_types: &["qwen3_5_text"],
    architecture: "qwen35",
    interleaved: false,
    keys: &[
        count("ssm.conv_kernel", &["linear_conv_kernel_dim"]),
        count("ssm.state_size", &["linear_key_head_dim"]),
        count("ssm.group_count", &["linear_num_key_heads"]),
        count("ssm.time_step_rank", &["linear_num_value_heads"]),
        KeyRule {
            key: "ssm.inner_size",
            from: &["linear_num_value_heads", "linear_value_head_dim"],
            kind: KeyKind::Product,
            required: true,
        },
    ],
    tensors: &[
        tensor("post_attention_layernorm", "post_attention_norm"),
        tensor("linear_attn.in_proj_qkv", "attn_qkv"),
        tensor("linear_attn.in_proj_z", "attn_gate"),
        tensor("linear_attn.in_proj_a", "ssm_alpha"),
        tensor("linear_attn.in_proj_b", "ssm_beta"),
        tensor("linear_attn.conv1d", "ssm_conv1d"),
        changed("linear_attn.A_log", "ssm_a", Change::MinusExponential),
        changed("linear_attn.dt_bias", "ssm_dt.bias", Change::WholeName),
        changed("linear_attn.norm", "ssm_norm", Change::WithoutOffset),
        tensor("linear_attn.out_proj", "ssm_out"),
    ],
    norm_offset: 1.0,
    ..LLAMA
};

const OLMOE: Family = Family {
    model_types: &["olmoe"],
    architecture: "olmoe",
    keys: &[
        count("expert_count", &["num_experts"]),
        count("expert_used_count", &["num_experts_per_tok"]),
        count("expert_feed_forward_length", &["intermediate_size"]),
        flag("expert_weights_norm", &["norm_topk_prob"]),
    ],
    unsupported: &["clip_qkv"],
    ..QWEN3_MOE
};

const GRANITE: Family = Family {
    model_types: &["granite"],
    architecture: "granite",
    keys: &[
        number("embedding_scale", &["embedding_multiplier"]),
        number("residual_scale", &["residual_multiplier"]),
        number("attention.scale", &["attention_multiplier"]),
        number("logit_scale", &["logits_scaling"]),
    ],
    ..LLAMA
};

const GRANITE_MOE: Family = Family {
    model_types: &["granitemoe"],
    architecture: "granitemoe",
    like: Some(&GRANITE),
    keys: &[count("expert_count", &["num_local_experts"]), count("expert_used_count", &["num_experts_per_tok"])],
    tensors: &[
        tensor("block_sparse_moe.router.layer", "ffn_gate_inp"),
        changed("block_sparse_moe.input_linear", "ffn_gate_exps", Change::Half(0)),
        changed("block_sparse_moe.input_linear", "ffn_up_exps", Change::Half(1)),
        tensor("block_sparse_moe.output_linear", "ffn_down_exps"),
    ],
    ..GRANITE
};

/// Projections are one matrix, in which each key head has the rows of its queries, keys, values and so on.
const QWEN3_NEXT: Family = Family {
    model_types: &["qwen3_next"],
    architecture: "qwen3next",
    like: Some(&QWEN35_MOE),
    keys: &[flag("expert_weights_norm", &["norm_topk_prob"])],
    tensors: &[tensor("linear_attn.in_proj_qkvz", "ssm_in"), tensor("linear_attn.in_proj_ba", "ssm_ba")],
    ..QWEN35_MOE
};

/// Norms that subtract the mean.
const STABLELM: Family = Family {
    model_types: &["stablelm"],
    architecture: "stablelm",
    interleaved: false,
    keys: &[
        optional(number("attention.layer_norm_rms_epsilon", &["rms_norm_eps"])),
        number("attention.layer_norm_epsilon", &["layer_norm_eps", "norm_epsilon", "norm_eps"]),
    ],
    unsupported: &["use_parallel_residual", "qk_layernorm"],
    ..LLAMA
};

/// Keys of routers like that of DeepSeek.
const ROUTED: &[KeyRule] = &[
    count("expert_count", &["n_routed_experts"]),
    count("expert_used_count", &["num_experts_per_tok"]),
    count("expert_shared_count", &["n_shared_experts"]),
    count("expert_feed_forward_length", &["moe_intermediate_size"]),
    count("leading_dense_block_count", &["first_k_dense_replace"]),
    number("expert_weights_scale", &["routed_scaling_factor"]),
    flag("expert_weights_norm", &["norm_topk_prob"]),
    optional(count("expert_group_count", &["n_group"])),
];

/// Experts beside one that all tokens use.
const SHARED_EXPERTS: &[TensorRule] = &[
    tensor("mlp.gate", "ffn_gate_inp"),
    changed("mlp.gate.e_score_correction_bias", "exp_probs_b.bias", Change::WholeName),
    changed("mlp.moe_statics.e_score_correction_bias", "exp_probs_b.bias", Change::WholeName),
    tensor("mlp.experts.*.gate_proj", "ffn_gate_exps"),
    tensor("mlp.experts.*.up_proj", "ffn_up_exps"),
    tensor("mlp.experts.*.down_proj", "ffn_down_exps"),
    tensor("mlp.switch_mlp.gate_proj", "ffn_gate_exps"),
    tensor("mlp.switch_mlp.up_proj", "ffn_up_exps"),
    tensor("mlp.switch_mlp.down_proj", "ffn_down_exps"),
    tensor("mlp.shared_experts.gate_proj", "ffn_gate_shexp"),
    tensor("mlp.shared_experts.up_proj", "ffn_up_shexp"),
    tensor("mlp.shared_experts.down_proj", "ffn_down_shexp"),
];

const DOTS1: Family = Family {
    model_types: &["dots1"],
    architecture: "dots1",
    interleaved: false,
    keys: ROUTED,
    tensors: SHARED_EXPERTS,
    ..LLAMA
};

const GLM4_MOE: Family = Family {
    model_types: &["glm4_moe"],
    architecture: "glm4moe",
    like: Some(&DOTS1),
    keys: &[],
    tensors: &[tensor("post_attention_layernorm", "post_attention_norm")],
    ..DOTS1
};

const ERNIE45_MOE: Family = Family {
    model_types: &["ernie4_5_moe"],
    architecture: "ernie4_5-moe",
    keys: &[
        count("expert_count", &["moe_num_experts"]),
        count("expert_used_count", &["moe_k"]),
        count("expert_shared_count", &["moe_num_shared_experts"]),
        count("expert_feed_forward_length", &["moe_intermediate_size"]),
        count("leading_dense_block_count", &["moe_layer_start_index"]),
        optional(count("interleave_moe_layer_step", &["moe_layer_interval"])),
    ],
    unsupported: &["use_bias"],
    ..DOTS1
};

const MINIMAX_M2: Family = Family {
    model_types: &["minimax_m2"],
    architecture: "minimax-m2",
    interleaved: false,
    like: Some(&MIXTRAL),
    keys: &[count("expert_feed_forward_length", &["intermediate_size"])],
    tensors: &[changed("block_sparse_moe.e_score_correction_bias", "exp_probs_b.bias", Change::WholeName)],
    ..MIXTRAL
};

const HUNYUAN: Family = Family {
    model_types: &["hunyuan_v1_dense"],
    architecture: "hunyuan-dense",
    interleaved: false,
    tensors: &[
        tensor("self_attn.query_layernorm", "attn_q_norm"),
        tensor("self_attn.key_layernorm", "attn_k_norm"),
    ],
    unsupported: &["use_cla"],
    ..LLAMA
};

const HUNYUAN_MOE: Family = Family {
    model_types: &["hunyuan_v1_moe"],
    architecture: "hunyuan-moe",
    like: Some(&HUNYUAN),
    keys: &[
        count("expert_count", &["num_experts"]),
        count("expert_used_count", &["moe_topk"]),
        count("expert_feed_forward_length", &["moe_intermediate_size", "intermediate_size"]),
        count("expert_shared_feed_forward_length", &["intermediate_size"]),
    ],
    tensors: &[
        tensor("mlp.gate.wg", "ffn_gate_inp"),
        tensor("mlp.experts.*.gate_proj", "ffn_gate_exps"),
        tensor("mlp.experts.*.up_proj", "ffn_up_exps"),
        tensor("mlp.experts.*.down_proj", "ffn_down_exps"),
        tensor("mlp.shared_mlp.gate_proj", "ffn_gate_shexp"),
        tensor("mlp.shared_mlp.up_proj", "ffn_up_shexp"),
        tensor("mlp.shared_mlp.down_proj", "ffn_down_shexp"),
    ],
    ..HUNYUAN
};

const HUNYUAN3: Family = Family {
    model_types: &["hy_v3"],
    architecture: "hy_v3",
    like: Some(&HUNYUAN_MOE),
    keys: &[
        count("expert_used_count", &["num_experts_per_tok"]),
        KeyRule {
            key: "expert_shared_feed_forward_length",
            from: &["num_shared_experts", "moe_intermediate_size"],
            kind: KeyKind::Product,
            required: true,
        },
        count("expert_feed_forward_length", &["moe_intermediate_size"]),
        number("expert_weights_scale", &["router_scaling_factor"]),
    ],
    tensors: &[
        tensor("mlp.router.gate", "ffn_gate_inp"),
        changed("mlp.expert_bias", "exp_probs_b", Change::WholeName),
    ],
    ..HUNYUAN_MOE
};

const EXAONE_MOE: Family = Family {
    model_types: &["exaone_moe"],
    architecture: "exaone-moe",
    like: Some(&DOTS1),
    keys: &[count("expert_count", &["num_experts"]), count("expert_shared_count", &["num_shared_experts"])],
    tensors: &[changed("mlp.e_score_correction_bias", "exp_probs_b.bias", Change::WholeName)],
    ..DOTS1
};

const GRANITE_MOE_SHARED: Family = Family {
    model_types: &["granitemoeshared"],
    like: Some(&GRANITE_MOE),
    keys: &[count("expert_shared_feed_forward_length", &["shared_intermediate_size"])],
    tensors: &[
        changed("shared_mlp.input_linear", "ffn_gate_shexp", Change::Half(0)),
        changed("shared_mlp.input_linear", "ffn_up_shexp", Change::Half(1)),
        tensor("shared_mlp.output_linear", "ffn_down_shexp"),
    ],
    ..GRANITE_MOE
};

/// All families.
pub(super) const FAMILIES: &[Family] = &[
    LLAMA,
    Family { model_types: &["internlm3"], ..LLAMA },
    // Pairs of RoPE are neighbours in folders, too.
    Family { model_types: &["helium"], interleaved: false, ..LLAMA },
    Family { model_types: &["arcee"], architecture: "arcee", activations: &["relu2"], ..LLAMA },
    STABLELM,
    Family {
        model_types: &["starcoder2"],
        architecture: "starcoder2",
        tensors: &[tensor("mlp.c_fc", "ffn_up"), tensor("mlp.c_proj", "ffn_down")],
        activations: &["gelu_pytorch_tanh"],
        unsupported: &[],
        ..STABLELM
    },
    Family {
        model_types: &["nemotron"],
        architecture: "nemotron",
        norm_offset: 1.0,
        activations: &["relu2"],
        unsupported: &[],
        ..STABLELM
    },
    Family {
        model_types: &["jais2"],
        architecture: "jais2",
        activations: &["relu2"],
        unsupported: &[],
        ..STABLELM
    },
    Family { model_types: &["qwen2"], architecture: "qwen2", interleaved: false, ..LLAMA },
    // Positions of texts are the same in all dimensions.
    Family {
        model_types: &["qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"],
        architecture: "qwen2vl",
        interleaved: false,
        ..LLAMA
    },
    Family { model_types: &["qwen3_vl_text"], architecture: "qwen3vl", interleaved: false, ..LLAMA },
    Family {
        model_types: &["qwen3_vl_moe_text"],
        architecture: "qwen3vlmoe",
        // The weights of a token's experts are always divided by their sum.
        keys: &[
            count("expert_count", &["num_experts", "num_local_experts"]),
            count("expert_used_count", &["num_experts_per_tok"]),
            count("expert_feed_forward_length", &["moe_intermediate_size"]),
        ],
        tensors: &[
            changed("mlp.experts.gate_up_proj", "ffn_gate_exps", Change::Half(0)),
            changed("mlp.experts.gate_up_proj", "ffn_up_exps", Change::Half(1)),
            tensor("mlp.experts.down_proj", "ffn_down_exps"),
            tensor("mlp.gate", "ffn_gate_inp"),
            // MLX's.
            tensor("mlp.switch_mlp.gate_proj", "ffn_gate_exps"),
            tensor("mlp.switch_mlp.up_proj", "ffn_up_exps"),
            tensor("mlp.switch_mlp.down_proj", "ffn_down_exps"),
        ],
        joined_experts: JoinedExperts::ByShape,
        interleaved: false,
        ..LLAMA
    },
    Family { model_types: &["mellum"], architecture: "mellum", ..QWEN3_MOE },
    Family { model_types: &["paddleocr_vl_text"], architecture: "paddleocr", interleaved: false, ..LLAMA },
    Family { model_types: &["hunyuan_vl_text"], architecture: "hunyuan_vl", ..HUNYUAN },
    Family { model_types: &["qwen3"], architecture: "qwen3", interleaved: false, ..LLAMA },
    GEMMA,
    GEMMA2,
    Family {
        model_types: &["gemma3_text"],
        architecture: "gemma3",
        unsupported: &["use_bidirectional_attention"],
        ..GEMMA2
    },
    Family {
        model_types: &["phi3"],
        architecture: "phi3",
        interleaved: false,
        tensors: &[tensor("self_attn.qkv_proj", "attn_qkv"), tensor("mlp.gate_up_proj", "ffn_up")],
        ..LLAMA
    },
    Family { model_types: &["smollm3"], architecture: "smollm3", ..LLAMA },
    OLMOE,
    Family {
        model_types: &["seed_oss"],
        architecture: "seed_oss",
        interleaved: false,
        tensors: &[tensor("post_attention_layernorm", "post_attention_norm")],
        unsupported: &["mlp_bias"],
        ..LLAMA
    },
    Family { model_types: &["exaone4"], architecture: "exaone4", interleaved: false, tensors: SANDWICH, ..LLAMA },
    // Pairs of RoPE are neighbours in folders, too.
    Family {
        model_types: &["ernie4_5"],
        architecture: "ernie4_5",
        interleaved: false,
        unsupported: &["use_bias"],
        ..LLAMA
    },
    Family {
        model_types: &["olmo2", "olmo3"],
        architecture: "olmo2",
        interleaved: false,
        tensors: SANDWICH,
        ..LLAMA
    },
    GRANITE,
    GRANITE_MOE,
    GRANITE_MOE_SHARED,
    Family {
        model_types: &["glm4"],
        architecture: "glm4",
        interleaved: false,
        tensors: &[
            tensor("post_self_attn_layernorm", "post_attention_norm"),
            tensor("post_mlp_layernorm", "post_ffw_norm"),
            tensor("mlp.gate_up_proj", "ffn_up"),
        ],
        ..LLAMA
    },
    Family {
        model_types: &["glm"],
        architecture: "chatglm",
        interleaved: false,
        tensors: &[tensor("mlp.gate_up_proj", "ffn_up")],
        ..LLAMA
    },
    DOTS1,
    GLM4_MOE,
    ERNIE45_MOE,
    MINIMAX_M2,
    HUNYUAN,
    HUNYUAN_MOE,
    HUNYUAN3,
    EXAONE_MOE,
    COHERE,
    Family { model_types: &["cohere2"], architecture: "cohere2", ..COHERE },
    MIXTRAL,
    QWEN2_MOE,
    QWEN3_MOE,
    QWEN35,
    QWEN35_MOE,
    QWEN3_NEXT,
    GPT_OSS,
];

impl Family {
    /// The family of a `model_type`.
    pub(super) fn find(model_type: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.model_types.contains(&model_type))
    }

    /// The family, and those whose keys and tensors it has, too.
    fn relatives(&'static self) -> impl Iterator<Item = &'static Family> + Clone {
        std::iter::successors(Some(self), |family| family.like)
    }

    /// All keys; those of the family itself come first, and replace others.
    pub(super) fn keys(&'static self) -> impl Iterator<Item = &'static KeyRule> {
        let all = self.relatives().flat_map(|family| family.keys).chain(KEYS);
        let mut keys: Vec<&'static KeyRule> = Vec::new();
        for rule in all {
            if !keys.iter().any(|known| known.key == rule.key) {
                keys.push(rule);
            }
        }
        keys.into_iter()
    }

    /// Rules of a layer's tensor, two if it is two matrices in one; the expert if it is one of several.
    pub(super) fn layer_tensors(&'static self, name: &str) -> Vec<(&'static TensorRule, Option<usize>)> {
        let lists = self.relatives().map(|family| family.tensors).chain([TENSORS]);
        let found = |rules: &'static [TensorRule]| -> Vec<_> {
            rules.iter().filter_map(|rule| Some((rule, matches(rule.from, name)?))).collect()
        };
        lists.map(found).find(|rules| !rules.is_empty()).unwrap_or_default()
    }
}

/// Name in GGUF files of a tensor outside of layers.
pub(super) fn whole_tensor(name: &str) -> Option<&'static str> {
    WHOLE.iter().find(|rule| rule.from == name).map(|rule| rule.to)
}

/// Compares a name with a pattern. Returns the number in the place of `*`, if there is one.
fn matches(pattern: &str, name: &str) -> Option<Option<usize>> {
    let Some((before, after)) = pattern.split_once('*') else { return (pattern == name).then_some(None) };
    let number = name.strip_prefix(before)?.strip_suffix(after)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok().map(Some)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_numbers_only() {
        assert_eq!(matches("a.*.b", "a.12.b"), Some(Some(12)));
        assert_eq!(matches("a.b", "a.b"), Some(None));
        for name in ["a..b", "a.x.b", "a.1.c", "a.1.2.b", "a.99999999999999999999999.b"] {
            assert_eq!(matches("a.*.b", name), None, "{name}");
        }
    }

    #[test]
    fn model_types_are_unique() {
        let mut types: Vec<&str> = FAMILIES.iter().flat_map(|family| family.model_types).copied().collect();
        let count = types.len();
        types.sort_unstable();
        types.dedup();
        assert_eq!(types.len(), count);
    }
}
