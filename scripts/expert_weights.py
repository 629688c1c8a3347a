"""Configuration and weights of mixtures of experts in transformers, for transformers-reference.py."""

SHARED_NAMES = {
    "ffn_gate_inp_shexp": "mlp.shared_expert_gate", "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
    "ffn_up_shexp": "mlp.shared_expert.up_proj", "ffn_down_shexp": "mlp.shared_expert.down_proj",
}
# Experts that all tokens use, without a factor.
PLAIN_NAMES = {
    "ffn_gate_shexp": "mlp.shared_experts.gate_proj", "ffn_up_shexp": "mlp.shared_experts.up_proj",
    "ffn_down_shexp": "mlp.shared_experts.down_proj", "exp_probs_b": "mlp.gate.e_score_correction_bias!",
}
HUNYUAN_NAMES = {
    "ffn_gate_inp": "mlp.gate.wg", "ffn_gate_shexp": "mlp.shared_mlp.gate_proj",
    "ffn_up_shexp": "mlp.shared_mlp.up_proj", "ffn_down_shexp": "mlp.shared_mlp.down_proj",
}
# gpt-oss calls the norm before its experts as others call the one after attention.
GPT_OSS_NAMES = {"ffn_gate_inp": "mlp.router", "attn_sinks": "self_attn.sinks"}


def parameters(values):
    """The parameters that all mixtures have."""
    return {
        "num_experts_per_tok": values["expert_used_count"], "intermediate_size": values["expert_feed_forward_length"],
        "num_local_experts": values["expert_count"], "experts_implementation": "eager",
    }


def qwen3_moe(values):
    return {
        **parameters(values), "num_experts": values["expert_count"], "norm_topk_prob": True,
        "moe_intermediate_size": values["expert_feed_forward_length"], "head_dim": values["attention.key_length"],
    }


def shared(values):
    """The parameters of models with an expert that all tokens use."""
    return {**qwen3_moe(values), "shared_expert_intermediate_size": values["expert_shared_feed_forward_length"]}


def olmoe(values):
    return {**parameters(values), "num_experts": values["expert_count"], "norm_topk_prob": False}


def hunyuan(values):
    return {
        "num_experts": values["expert_count"], "moe_topk": values["expert_used_count"],
        "intermediate_size": values["expert_feed_forward_length"], "experts_implementation": "eager",
    }


def sigmoid_router(values):
    return {
        "n_routed_experts": values["expert_count"], "n_shared_experts": values["expert_shared_count"],
        "num_experts_per_tok": values["expert_used_count"], "norm_topk_prob": values["expert_weights_norm"],
        "moe_intermediate_size": values["expert_feed_forward_length"], "experts_implementation": "eager",
        "first_k_dense_replace": values["leading_dense_block_count"],
        "routed_scaling_factor": values["expert_weights_scale"],
    }


def exaone(values):
    return {
        **sigmoid_router(values), "num_experts": values["expert_count"],
        "num_shared_experts": values["expert_shared_count"],
    }


def hunyuan3(values):
    dense = values["leading_dense_block_count"]
    return {
        "num_experts": values["expert_count"], "num_experts_per_tok": values["expert_used_count"],
        "num_shared_experts": values["expert_shared_count"], "router_scaling_factor": values["expert_weights_scale"],
        "moe_intermediate_size": values["expert_feed_forward_length"], "experts_implementation": "eager",
        "mlp_layer_types": ["dense"] * dense + ["sparse"] * (values["block_count"] - dense),
        "enable_moe_fp32_combine": False,
    }


def ernie(values):
    return {
        "moe_num_experts": values["expert_count"], "moe_k": values["expert_used_count"],
        "moe_num_shared_experts": values["expert_shared_count"], "experts_implementation": "eager",
        "moe_intermediate_size": values["expert_feed_forward_length"],
        "moe_layer_start_index": values["leading_dense_block_count"],
    }


def plain_shared(values, normalized):
    """Shared experts without a factor, by a class that has one."""
    dense = list(range(values.get("leading_dense_block_count", 0)))
    return {
        **shared(values), "intermediate_size": values["feed_forward_length"], "norm_topk_prob": normalized,
        "mlp_only_layers": dense, "qkv_bias": False,
    }


def add_factors(weights, values):
    """Adds factors of 1/2, the sigmoid of 0, and doubles what they halve."""
    import torch

    for layer in range(values.get("leading_dense_block_count", 0), values["block_count"]):
        name = f"model.layers.{layer}.mlp.shared_expert"
        weights[f"{name}_gate.weight"] = torch.zeros(1, values["embedding_length"], dtype=torch.float64)
        weights[f"{name}.down_proj.weight"] *= 2


def gpt_oss(values, rope, windows):
    # The limits of YaRN are not rounded.
    return {**parameters(values), **windows, "rope_parameters": {**rope, "truncate": False}}


def join(weights, parts, architecture, layers):
    """Adds the matrices of experts as transformers has them: gate and up projections are one tensor."""
    import torch

    for layer in range(layers):
        def take(end):
            return parts.pop(f"blk.{layer}.{end}")

        if f"blk.{layer}.ffn_up_exps.weight" not in parts:
            continue
        gate, up, down = (take(f"ffn_{part}_exps.weight") for part in ["gate", "up", "down"])
        block = "block_sparse_moe" if architecture == "granitemoe" else "mlp"
        to = f"model.layers.{layer}.{block}.experts."
        if architecture != "gpt-oss":
            weights[to + "gate_up_proj"] = torch.cat([gate, up], dim=1)
            weights[to + "down_proj"] = down
            continue
        # Rows are columns here, and those of gate and up alternate.
        alternating = torch.stack([gate, up], dim=2).flatten(1, 2)
        weights[to + "gate_up_proj"] = alternating.transpose(1, 2).contiguous()
        weights[to + "down_proj"] = down.transpose(1, 2).contiguous()
        gate, up, down = (take(f"ffn_{part}_exps.bias") for part in ["gate", "up", "down"])
        weights[to + "gate_up_proj_bias"] = torch.stack([gate, up], dim=2).flatten(1, 2)
        weights[to + "down_proj_bias"] = down
    assert not parts, parts.keys()
