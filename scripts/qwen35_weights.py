"""Weights and configuration of Qwen3.5 and Qwen3-Next for transformers, from those of a GGUF file. Part of transformers-reference.py."""

import expert_weights

NAMES = {
    "post_attention_norm": "post_attention_layernorm", "attn_qkv": "linear_attn.in_proj_qkv",
    "attn_gate": "linear_attn.in_proj_z", "ssm_beta": "linear_attn.in_proj_b", "ssm_alpha": "linear_attn.in_proj_a",
    "ssm_ba": "linear_attn.in_proj_ba", "ssm_conv1d": "linear_attn.conv1d", "ssm_norm": "linear_attn.norm", "ssm_out": "linear_attn.out_proj",
}


def configuration(values, tied):
    from transformers import Qwen3_5MoeTextConfig, Qwen3_5TextConfig, Qwen3NextConfig

    kind, more = Qwen3_5TextConfig, {"intermediate_size": values["feed_forward_length"]}
    if "expert_count" in values:
        kind = Qwen3NextConfig if values["general.architecture"] == "qwen3next" else Qwen3_5MoeTextConfig
        more = expert_weights.shared(values)
    size = values["attention.key_length"]
    rope = {
        "rope_type": "default", "rope_theta": values["rope.freq_base"],
        "partial_rotary_factor": values["rope.dimension_count"] / size,
    }
    sizes = dict(
        vocab_size=values["vocab_size"], hidden_size=values["embedding_length"], num_hidden_layers=values["block_count"],
        num_attention_heads=values["attention.head_count"],
        num_key_value_heads=values["attention.head_count_kv"], head_dim=size, max_position_embeddings=131_072,
        rms_norm_eps=values["attention.layer_norm_rms_epsilon"], rope_parameters=rope, tie_word_embeddings=tied,
        linear_num_key_heads=values["ssm.group_count"], linear_num_value_heads=values["ssm.time_step_rank"],
        linear_key_head_dim=values["ssm.state_size"], linear_value_head_dim=values["ssm.state_size"],
        linear_conv_kernel_dim=values["ssm.conv_kernel"], full_attention_interval=values["full_attention_interval"],
        attn_implementation="eager",
    )
    return kind(**(sizes | more))


def value_heads(rows, key_heads):
    """Permutes value heads: head p has the keys of head p % key_heads in files, of p // (heads / key_heads) in transformers."""
    return rows.reshape(-1, key_heads, *rows.shape[1:]).swapaxes(0, 1).reshape(rows.shape)


def convert(name, numbers, values, name_in_transformers):
    """Returns the name and the numbers of a tensor in transformers."""
    import numpy

    key_heads, heads, size = values["ssm.group_count"], values["ssm.time_step_rank"], values["ssm.state_size"]
    # Files of Qwen3-Next have the value heads in the order of transformers.
    if values["general.architecture"] == "qwen3next":
        key_heads = 1

    def value_rows(rows):
        return value_heads(rows.reshape(heads, size, -1), key_heads).reshape(heads * size, -1)

    numbers = numbers.astype(numpy.float64)
    layer, part = name.split(".")[1:3] if name.startswith("blk.") else (None, None)
    if part == "ssm_a":
        return f"model.layers.{layer}.linear_attn.A_log", value_heads(numpy.log(-numbers), key_heads)
    if part == "ssm_dt":
        return f"model.layers.{layer}.linear_attn.dt_bias", value_heads(numbers, key_heads)
    if part in ("ssm_alpha", "ssm_beta"):
        numbers = value_heads(numbers, key_heads)
    if part == "attn_gate":
        numbers = value_rows(numbers)
    if part in ("attn_qkv", "ssm_conv1d"):
        keys = 2 * values["ssm.group_count"] * size
        numbers = numpy.concatenate([numbers[:keys], value_rows(numbers[keys:])])
    if part == "ssm_conv1d":
        numbers = numbers[:, None, :]
    if part == "ssm_out":
        numbers = value_rows(numbers.T).T.copy()
    # transformers adds 1 to the weights of all norms but this.
    if name.endswith("norm.weight") and part != "ssm_norm":
        numbers = numbers - 1.0
    return name_in_transformers(name), numbers


def join_projections(weights, values):
    """Joins the projections of queries, keys and values with that of the gate, as Qwen3-Next has them: by key head."""
    import torch

    heads, size = values["ssm.group_count"], values["ssm.state_size"]
    for name in [name for name in weights if name.endswith("in_proj_qkv.weight")]:
        qkv, z = weights.pop(name), weights.pop(name.replace("_qkv.", "_z."))
        q, k, v = qkv.split([heads * size, heads * size, qkv.shape[0] - 2 * heads * size])
        parts = [part.reshape(heads, -1, part.shape[-1]) for part in (q, k, v, z)]
        weights[name.replace("_qkv.", "_qkvz.")] = torch.cat(parts, dim=1).flatten(0, 1)


def apart(tensors, values):
    """Names and bytes of tensors as metalworks reads them: the gates of Qwen3-Next are two matrices, after all others."""
    fused = [tensor for tensor in tensors if ".ssm_ba." in tensor.name]
    for tensor in tensors:
        if ".ssm_ba." not in tensor.name:
            yield tensor.name, tensor.data
    for tensor in fused:
        rows = tensor.data.reshape(values["ssm.group_count"], 2, -1, tensor.data.shape[-1])
        for index, gate in enumerate(["beta", "alpha"]):
            yield tensor.name.replace("_ba.", f"_{gate}."), rows[:, index]
