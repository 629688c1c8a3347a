"""Configuration and weights of mixtures of experts in transformers, for transformers-reference.py."""

SHARED_NAMES = {
    "ffn_gate_inp_shexp": "mlp.shared_expert_gate", "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
    "ffn_up_shexp": "mlp.shared_expert.up_proj", "ffn_down_shexp": "mlp.shared_expert.down_proj",
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


def gpt_oss(values, rope, windows):
    # The limits of YaRN are not rounded.
    return {**parameters(values), **windows, "rope_parameters": {**rope, "truncate": False}}


def join(weights, parts, architecture, layers):
    """Adds the matrices of experts as transformers has them: gate and up projections are one tensor."""
    import torch

    for layer in range(layers):
        def take(end):
            return parts.pop(f"blk.{layer}.{end}")

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
