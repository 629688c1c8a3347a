#!/usr/bin/env python3
"""Generates reference logits of tiny models of each architecture and format with Hugging Face transformers.

  scripts/transformers-reference.py [SHAPE]...   write crates/inference/tests/data/transformers, which is committed;
                                                 by default for all shapes

`metalworks synthesize` generates the models from a seed. The package gguf dequantizes their tensors, and a transformers
model with the same configuration runs them in f64, except norms, RoPE and softmax, which transformers computes in f32.

The packages (PACKAGES below) are installed into a virtual environment in the cache, not into the system's Python. On
Linux, torch does not load without the CUDA libraries, although this script does not use them: 3.1 GB to download, 5.6 GB
on disk. The cache is ${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import expert_weights
import programs
import qwen35_weights
from virtual_environment import enter

PACKAGES = {"transformers": "5.22.2", "torch": "2.15.0", "gguf": "0.19.0", "numpy": "2.4.6"}

DATA = programs.ROOT / "crates/inference/tests/data/transformers"

FORMATS = ["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k"]
# Formats that one shape has, in a file of its own.
MORE_FORMATS = ["iq4_nl", "mxfp4", "q2_k", "q3_k", "iq4_xs"]
TOKENS = 41
# Stride of the written logits; the best token is the best of all 384.
STRIDE = 3
# RoPE scaling of Llama 3.1. GGUF files have a tensor of factors instead.
LLAMA3_ROPE = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def heads(count, kv_count, size):
    return {
        "attention.head_count": count, "attention.head_count_kv": kv_count, "attention.key_length": size,
        "attention.value_length": size, "rope.dimension_count": size,
    }


# Shapes: seed, formats, and variants: format, number of tokens, overridden keys. ε is large enough to show in the logits;
# long texts show the scaling of low RoPE frequencies.
EPSILON = {"attention.layer_norm_rms_epsilon": 0.03125}
LAYER_EPSILON = {"attention.layer_norm_epsilon": 0.03125}
YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 64}
# Formats of architectures that share the products with those of all formats.
FEW = ["f32", "q4_k"]
SHAPES = {
    "llama-tiny": (1, FORMATS, [
        ("f32", TOKENS, {**heads(8, 4, 32), **EPSILON, "rope.freq_base": 700.0}),
        ("q4_0", TOKENS, {**heads(2, 1, 128), "rope.scaling.type": "linear", "rope.scaling.factor": 4.0}),
    ]),
    "more-formats": (5, MORE_FORMATS, []),
    "llama3-tiny": (2, FORMATS, [("f32", 700, {}), ("q8_0", TOKENS, EPSILON)]),
    "qwen2-tiny": (3, FORMATS, [
        ("f16", 300, {**heads(8, 4, 32), **EPSILON}), ("q8_0", TOKENS, {**heads(2, 1, 128), "rope.freq_base": 1500.0}),
    ]),
    "qwen3-tiny": (4, FORMATS, [("q6_k", 300, {**EPSILON, "rope.freq_base": 1500.0})]),
    "qwen35-tiny": (5, ["f32", "q8_0"], [("f32", 150, {**EPSILON, "rope.freq_base": 1500.0})]),
    "qwen35-equal-tiny": (6, ["f32"], []),
    "mistral-tiny": (5, FEW, [("f32", 300, {**YARN, "attention.sliding_window": 100})]),
    "gemma-tiny": (6, FEW, []),
    "gemma2-tiny": (7, FEW, [("f32", TOKENS, EPSILON)]),
    "gemma3-tiny": (8, FEW, [("f32", 300, {**EPSILON, "attention.sliding_window": 100})]),
    "phi3-tiny": (9, FEW, [
        ("f32", TOKENS, {"rope.scaling.original_context_length": 32, "attention.sliding_window": 16, **EPSILON}),
    ]),
    "smollm3-tiny": (10, FEW, [("f32", 300, {**EPSILON, **YARN})]),
    "olmo2-tiny": (11, FEW, [("f32", 300, {**EPSILON, **YARN})]),
    "granite-tiny": (12, FEW, [("f32", TOKENS, EPSILON)]),
    "glm4-tiny": (13, FEW, [("f32", TOKENS, EPSILON)]),
    "command-r-tiny": (14, FEW, [("f32", TOKENS, LAYER_EPSILON)]),
    "cohere2-tiny": (15, FEW, [("f32", TOKENS, LAYER_EPSILON)]),
    "mixtral-tiny": (20, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "qwen3-moe-tiny": (21, ["f32"], [("q4_k", TOKENS, {"expert_used_count": 1}), ("f16", TOKENS, EPSILON)]),
    "qwen2-moe-tiny": (23, ["f32"], [("q4_k", TOKENS, {"expert_used_count": 2}), ("f16", TOKENS, EPSILON)]),
    "qwen35-moe-tiny": (24, ["f32"], [("q8_0", 150, EPSILON)]),
    "qwen3next-tiny": (25, ["f32"], [("q8_0", 150, EPSILON)]),
    "gpt-oss-tiny": (22, ["f32", "mxfp4"], [("q8_0", 300, EPSILON)]),
    "olmoe-tiny": (26, ["f32"], [("q4_k", TOKENS, EPSILON)]),
    "granite-moe-tiny": (27, ["f32"], [("q4_k", TOKENS, EPSILON)]),
    "seed-oss-tiny": (28, FEW, [("f32", TOKENS, EPSILON)]),
    "exaone-tiny": (29, FEW, [("f32", TOKENS, EPSILON)]),
    "exaone4-tiny": (30, FEW, [("f32", TOKENS, {**EPSILON, "attention.sliding_window": 16})]),
    "internlm2-tiny": (31, FEW, [("f32", TOKENS, EPSILON)]),
    "ernie-4.5-tiny": (32, FEW, [("f32", TOKENS, EPSILON)]),
    "stablelm-tiny": (33, ["f32"], [("q4_k", TOKENS, LAYER_EPSILON)]),
    "starcoder2-tiny": (34, ["f32"], [("q4_k", TOKENS, LAYER_EPSILON)]),
    "nemotron-tiny": (35, ["f32"], [("q4_k", TOKENS, LAYER_EPSILON)]),
    "orion-tiny": (36, ["f32"], []),
    "arcee-tiny": (37, ["f32"], [("q4_k", TOKENS, EPSILON)]),
    "xverse-tiny": (38, ["f32"], []),
    "minicpm-tiny": (39, ["f32"], []),
    "chatglm-tiny": (40, ["f32"], [("q4_k", TOKENS, EPSILON)]),
    "qwen2-vl-tiny": (41, ["f32"], []),
    "qwen3-vl-tiny": (42, ["f32"], []),
    "hunyuan-tiny": (43, ["f32"], [("q4_k", 150, EPSILON)]),
    "hunyuan-moe-tiny": (44, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "dots1-tiny": (45, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "glm4-moe-tiny": (46, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "ernie-4.5-moe-tiny": (47, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "deepseek-tiny": (48, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "bailing-moe-tiny": (49, ["f32"], []),
    "minimax-m2-tiny": (50, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "codeshell-tiny": (51, ["f32"], [("q4_k", TOKENS, LAYER_EPSILON)]),
    "jais2-tiny": (52, ["f32"], [("q4_k", TOKENS, LAYER_EPSILON)]),
    "pangu-tiny": (53, ["f32"], []),
    "maincoder-tiny": (54, ["f32"], [("q4_k", 150, EPSILON)]),
    "paddleocr-tiny": (55, ["f32"], []),
    "hunyuan-vl-tiny": (56, ["f32"], [("f32", 150, EPSILON)]),
    "mellum-tiny": (57, ["f32"], [("q8_0", 150, EPSILON)]),
    "exaone-moe-tiny": (58, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "hunyuan3-tiny": (59, ["f32"], [("q8_0", TOKENS, EPSILON)]),
    "openelm-tiny": (60, ["f32"], [("q4_k", TOKENS, EPSILON)]),
}

# Shapes of files that are not named after theirs.
OTHER_NAMES = {"more-formats": "llama-tiny"}


def random_tokens(vocabulary, count):
    """Returns pseudorandom tokens, the same as in the test."""
    state, tokens = 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        tokens.append((state >> 33) % vocabulary)
    return tokens


def rope_parameters(shape, values):
    """The rotation of most layers."""
    rope = {"rope_type": values.get("rope.scaling.type", "default"), "rope_theta": values["rope.freq_base"]}
    if values.get("rope.scaling.factor") and rope["rope_type"] == "default":
        rope["rope_type"] = "linear"
    if rope["rope_type"] in ("linear", "yarn"):
        rope["factor"] = values["rope.scaling.factor"]
    if rope["rope_type"] == "yarn":
        rope["original_max_position_embeddings"] = values["rope.scaling.original_context_length"]
    if shape in ("llama3-tiny", "exaone-tiny"):
        rope |= {"rope_type": "llama3", **LLAMA3_ROPE}
    if "rope_factors" in values:
        rope |= {
            "rope_type": "longrope", **values["rope_factors"], "attention_factor": values["rope.scaling.attn_factor"],
            "original_max_position_embeddings": values["rope.scaling.original_context_length"],
        }
    rotated = values["rope.dimension_count"] / values["attention.key_length"]
    return rope if rotated == 1 else {**rope, "partial_rotary_factor": rotated}


def windows(values, every):
    """Types of layers of which every n-th sees all positions."""
    every = values.get("attention.sliding_window_pattern", every)
    if "attention.sliding_window" not in values:
        return {"sliding_window": None, "layer_types": ["full_attention"] * values["block_count"]}
    kinds = ["full_attention" if (i + 1) % every == 0 else "sliding_attention" for i in range(values["block_count"])]
    return {"sliding_window": values["attention.sliding_window"], "layer_types": kinds}


def granite(values):
    return {
        "embedding_multiplier": values["embedding_scale"], "residual_multiplier": values["residual_scale"],
        "attention_multiplier": values.get("attention.scale", values["attention.key_length"] ** -0.5), "logits_scaling": values["logit_scale"],
    }


def specific(shape, values, rope):
    """Class of the configuration, and the parameters that only some architectures have."""
    import transformers

    scale = values["attention.key_length"]
    window = values.get("attention.sliding_window")
    kind, more = {
        "llama": lambda: {
            "mistral-tiny": ("Mistral", {"sliding_window": window}),
        }.get(shape, ("Mixtral", expert_weights.parameters(values)) if "expert_count" in values else ("Llama", {})),
        "qwen2": lambda: ("Qwen2", {}),
        "qwen2moe": lambda: ("Qwen2Moe", {**expert_weights.shared(values), "norm_topk_prob": False}),
        "qwen3": lambda: ("Qwen3", {}),
        "qwen3moe": lambda: ("Qwen3Moe", expert_weights.qwen3_moe(values)),
        "gpt-oss": lambda: ("GptOss", expert_weights.gpt_oss(values, rope, windows(values, 2))),
        "olmoe": lambda: ("Olmoe", {**expert_weights.olmoe(values), "pad_token_id": 0}),
        "granitemoe": lambda: ("GraniteMoe", {**granite(values), **expert_weights.parameters(values)}),
        "stablelm": lambda: ("StableLm", {}),
        "orion": lambda: ("StableLm", {"rope_parameters": {**rope, "partial_rotary_factor": 1.0}}),
        "starcoder2": lambda: ("Starcoder2", {"norm_epsilon": values["attention.layer_norm_epsilon"]}),
        "nemotron": lambda: ("Nemotron", {"norm_eps": values["attention.layer_norm_epsilon"]}),
        "arcee": lambda: ("Arcee", {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}),
        "xverse": lambda: ("Llama", {}),
        "minicpm": lambda: ("Granite", granite(values)),
        "chatglm": lambda: ("Glm", {"attention_bias": True, "pad_token_id": 0}),
        "qwen2vl": lambda: ("Qwen2", {}),
        "qwen3vl": lambda: ("Qwen3", {}),
        "hunyuan-dense": lambda: ("HunYuanDenseV1", {}),
        "hunyuan-moe": lambda: ("HunYuanMoEV1", expert_weights.hunyuan(values)),
        "dots1": lambda: ("Dots1", {**expert_weights.sigmoid_router(values), "sliding_window": None}),
        "glm4moe": lambda: ("Glm4Moe", {
            **expert_weights.sigmoid_router(values), "use_qk_norm": True, "attention_bias": True,
        }),
        "ernie4_5-moe": lambda: ("Ernie4_5_Moe", expert_weights.ernie(values)),
        "deepseek": lambda: ("Qwen2Moe", expert_weights.plain_shared(values, False)),
        "bailingmoe": lambda: ("Qwen2Moe", expert_weights.plain_shared(values, True)),
        "minimax-m2": lambda: ("MiniMaxM2", {
            **expert_weights.parameters(values), "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0,
        }),
        "codeshell": lambda: ("Starcoder2", {"norm_epsilon": values["attention.layer_norm_epsilon"]}),
        "jais2": lambda: ("Jais2", {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}),
        "pangu-embedded": lambda: ("Llama", {"attention_bias": True}),
        "maincoder": lambda: ("HunYuanDenseV1", {}),
        "paddleocr": lambda: ("Llama", {}),
        "hunyuan_vl": lambda: ("HunYuanDenseV1", {"rope_parameters": {
            **rope, "rope_theta": rope["rope_theta"] * values["rope.scaling.alpha"] ** (scale / (scale - 2)),
        }}),
        "mellum": lambda: ("Mellum", {
            **expert_weights.qwen3_moe(values), **windows(values, 4), "rope_parameters": {
                "full_attention": rope, "sliding_attention": {"rope_type": "default", "rope_theta": rope["rope_theta"]},
            },
        }),
        "exaone-moe": lambda: ("ExaoneMoe", {**expert_weights.exaone(values), **windows(values, 4)}),
        "hy_v3": lambda: ("HYV3", expert_weights.hunyuan3(values)),
        "openelm": lambda: ("Qwen3", {}),
        "seed_oss": lambda: ("SeedOss", {"pad_token_id": 0}),
        # Both are Llama with other names.
        "exaone": lambda: ("Llama", {}),
        "internlm2": lambda: ("Llama", {}),
        "exaone4": lambda: ("Exaone4", windows(values, 4)),
        "ernie4_5": lambda: ("Ernie4_5", {}),
        "gemma": lambda: ("Gemma", {}),
        "gemma2": lambda: ("Gemma2", {
            **windows(values, 2), "query_pre_attn_scalar": scale,
            "attn_logit_softcapping": values["attn_logit_softcapping"],
            "final_logit_softcapping": values["final_logit_softcapping"],
        }),
        "gemma3": lambda: ("Gemma3Text", {
            **windows(values, 6), "query_pre_attn_scalar": scale,
            "rope_parameters": {
                "full_attention": rope, "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            },
        }),
        "phi3": lambda: ("Phi3", {
            "sliding_window": window, "pad_token_id": 0,
            "original_max_position_embeddings": values["rope.scaling.original_context_length"],
        }),
        "smollm3": lambda: ("SmolLM3", {"no_rope_layer_interval": 4, "pad_token_id": 0}),
        "olmo2": lambda: ("Olmo2", {}),
        "granite": lambda: ("Granite", granite(values)),
        "glm4": lambda: ("Glm4", {"attention_bias": False, "pad_token_id": 0}),
        "command-r": lambda: ("Cohere", {"logit_scale": values["logit_scale"]}),
        "cohere2": lambda: ("Cohere2", {**windows(values, 4), "logit_scale": values["logit_scale"]}),
    }[values["general.architecture"]]()
    return getattr(transformers, f"{kind}Config"), more


def configuration(shape, values, tied):
    """Converts the metadata of a file to a transformers configuration."""
    if values["general.architecture"] in QWEN35:
        return qwen35_weights.configuration(values, tied)
    rope = rope_parameters(shape, values)
    kind, more = specific(shape, values, rope)
    sizes = dict(
        vocab_size=values["vocab_size"], hidden_size=values["embedding_length"], num_hidden_layers=values["block_count"],
        intermediate_size=values["feed_forward_length"], num_attention_heads=values["attention.head_count"],
        num_key_value_heads=values["attention.head_count_kv"], max_position_embeddings=131_072,
    )
    if "attention.layer_norm_epsilon" in values:
        sizes["layer_norm_eps"] = values["attention.layer_norm_epsilon"]
    else:
        sizes["rms_norm_eps"] = values["attention.layer_norm_rms_epsilon"]
    # Some configurations have no head dimension.
    if hasattr(kind, "head_dim"):
        sizes["head_dim"] = values["attention.key_length"]
    elif "head_dim" not in more:
        assert values["attention.key_length"] * sizes["num_attention_heads"] == sizes["hidden_size"]
    parameters = {**sizes, "rope_parameters": rope, **more}
    return kind(**parameters, tie_word_embeddings=tied, attn_implementation="eager")


NAMES = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm", "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_qkv": "self_attn.qkv_proj", "ffn_gate_inp": "mlp.gate",
    "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
}
SANDWICH = {"ffn_norm": "pre_feedforward_layernorm"}
HUNYUAN = {"attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"}
# Names that differ in an architecture. Those that end with ! have no further part.
OTHER_NAMES = {
    "qwen35": qwen35_weights.NAMES, "qwen35moe": qwen35_weights.NAMES | expert_weights.SHARED_NAMES,
    "qwen3next": qwen35_weights.NAMES | expert_weights.SHARED_NAMES,
    "granitemoe": {"ffn_gate_inp": "block_sparse_moe.router"},
    "qwen2moe": expert_weights.SHARED_NAMES, "gpt-oss": expert_weights.GPT_OSS_NAMES, "gemma2": SANDWICH, "gemma3": SANDWICH, "phi3": {"ffn_up": "mlp.gate_up_proj"},
    "starcoder2": {"ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}, "chatglm": {"ffn_up": "mlp.gate_up_proj"},
    "codeshell": {"ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}, "maincoder": HUNYUAN, "hunyuan_vl": HUNYUAN,
    "exaone-moe": expert_weights.PLAIN_NAMES,
    "hy_v3": expert_weights.PLAIN_NAMES | {"exp_probs_b": "mlp.e_score_correction_bias!"},
    "hunyuan-dense": HUNYUAN, "hunyuan-moe": HUNYUAN | expert_weights.HUNYUAN_NAMES,
    "dots1": expert_weights.PLAIN_NAMES, "glm4moe": expert_weights.PLAIN_NAMES,
    "ernie4_5-moe": expert_weights.PLAIN_NAMES | {"exp_probs_b": "mlp.gate.moe_statics.e_score_correction_bias!"},
    "minimax-m2": {"exp_probs_b": "mlp.e_score_correction_bias!"},
    "deepseek": expert_weights.SHARED_NAMES, "bailingmoe": expert_weights.SHARED_NAMES,
    "glm4": {
        "post_attention_norm": "post_self_attn_layernorm", "post_ffw_norm": "post_mlp_layernorm", "ffn_up": "mlp.gate_up_proj",
    },
}
QKV_HEADS = ("attention.head_count", "attention.head_count_kv", "attention.head_count_kv")
QWEN35 = ("qwen35", "qwen35moe", "qwen3next")
# Architectures whose files pair neighbours in RoPE, while transformers pairs the two halves of a head.
PERMUTED = (
    "llama", "smollm3", "granite", "granitemoe", "internlm2", "arcee", "xverse", "minicpm", "deepseek", "bailingmoe",
    "maincoder",
)


def name_in_transformers(name, architecture):
    whole = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    # Hunyuan 3 has no further part here.
    name, kind = (name if not name.endswith("exp_probs_b") else f"{name}.bias").rsplit(".", 1)
    if name in whole:
        return f"{whole[name]}.{kind}"
    _, layer, part = name.split(".")
    own = (NAMES | OTHER_NAMES.get(architecture, {}))[part]
    return f"model.layers.{layer}." + (own[:-1] if own.endswith("!") else f"{own}.{kind}")


def pairs_to_halves(rows, head_count):
    """Permutes rows from pairs of neighbours in RoPE to pairs of the two halves of a head."""
    heads = rows.reshape(head_count, -1, 2, *rows.shape[1:])
    return heads.swapaxes(1, 2).reshape(rows.shape)


def load(shape, path, keys):
    """Loads a file with overridden keys into transformers. Returns the model, the vocabulary size and the tensors' SHA-256."""
    import torch
    from gguf import GGUFReader
    from gguf.quants import dequantize
    from transformers import AutoModelForCausalLM

    reader = GGUFReader(path)
    architecture = reader.get_field("general.architecture").contents()
    values = {name.removeprefix(architecture + "."): field.contents() for name, field in reader.fields.items()} | keys
    weights, experts = {}, {}
    for tensor in reader.tensors:
        # transformers computes these factors itself.
        if tensor.name == "rope_freqs.weight":
            continue
        numbers = dequantize(tensor.data, tensor.tensor_type).reshape([int(size) for size in reversed(tensor.shape)])
        if tensor.name.startswith("rope_factors_"):
            context = tensor.name.removeprefix("rope_factors_").removesuffix(".weight")
            values.setdefault("rope_factors", {})[f"{context}_factor"] = [float(number) for number in numbers]
            continue
        if architecture in PERMUTED and ".attn_q." in tensor.name:
            numbers = pairs_to_halves(numbers, values["attention.head_count"])
        if architecture in PERMUTED and ".attn_k." in tensor.name:
            numbers = pairs_to_halves(numbers, values["attention.head_count_kv"])
        # Weights of norms after RoPE.
        if architecture == "maincoder" and tensor.name.endswith(("attn_q_norm.weight", "attn_k_norm.weight")):
            numbers = pairs_to_halves(numbers, 1)
        if "_exps." in tensor.name:
            experts[tensor.name] = torch.tensor(numbers, dtype=torch.float64)
            continue
        if architecture in QWEN35:
            name, numbers = qwen35_weights.convert(
                tensor.name, numbers, values, lambda name: name_in_transformers(name, architecture)
            )
        else:
            # Sinks have no parts.
            name = name_in_transformers(tensor.name, architecture).replace("sinks.weight", "sinks")
        # transformers has a matrix with one row.
        if ".ffn_gate_inp_shexp." in tensor.name:
            numbers = numbers[None, :]
        weight = torch.tensor(numbers, dtype=torch.float64)
        # These norms multiply by 1 + w; files have the sum.
        if architecture.startswith(("gemma", "nemotron")) and tensor.name.endswith("norm.weight"):
            weight -= 1
        if architecture == "ernie4_5-moe" and "exp_probs_b" in tensor.name:
            weight = weight[None, :]
        if ".attn_qkv." in tensor.name and architecture in ("chatglm", "openelm"):
            sizes = [values["attention.key_length"] * values[key] for key in QKV_HEADS]
            for part, rows in zip("qkv", weight.split(sizes)):
                weights[name.replace("qkv_proj", f"{part}_proj")] = rows
            continue
        weights[name] = weight
    if architecture == "qwen3next":
        qwen35_weights.join_projections(weights, values)
    if architecture in ("deepseek", "bailingmoe"):
        expert_weights.add_factors(weights, values)
    if experts:
        expert_weights.join(weights, experts, architecture, values["block_count"])
    tied = "lm_head.weight" not in weights
    if tied:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model = AutoModelForCausalLM.from_config(configuration(shape, values, tied)).to(torch.float64).eval()
    model.load_state_dict(weights, strict=True)
    # Hash the tensors only: the results do not depend on the vocabulary, which may change.
    sha256 = hashlib.sha256()
    for name, numbers in qwen35_weights.apart(reader.tensors, values):
        sha256.update(name.encode() + numbers.tobytes())
    return model, values["vocab_size"], sha256.hexdigest()


def case(shape, format, seed, count, keys, folder):
    """Returns the logits of some tokens and the best token, after the first, the middle and the last token of a text."""
    import torch

    path = Path(folder) / "model.gguf"
    programs.synthesize(f"{shape}:{format}", seed, path)
    model, vocabulary, sha256 = load(shape, path, keys)
    with torch.no_grad():
        logits = model(torch.tensor([random_tokens(vocabulary, count)])).logits[0]
    positions = [0, count // 2, count - 1]
    best = logits[positions].topk(2)
    return {
        "model": f"{shape}:{format}", "seed": seed, "sha256_of_tensors": sha256, "keys": keys,
        "positions": positions, "best": best.indices[:, 0].tolist(),
        "margins": [round(float(pair[0] - pair[1]), 5) for pair in best.values],
        "logits": [[round(float(number), 5) for number in logits[position, ::STRIDE]] for position in positions],
    }


def text(cases):
    """Formats one line per value of a case, and per row of logits, for readable diffs."""
    def line(value):
        return json.dumps(value, separators=(",", ":"))

    def value_lines(key, value):
        rows = "[\n   " + ",\n   ".join(map(line, value)) + "\n  ]" if key == "logits" else line(value)
        return f"  {line(key)}: {rows}"

    made_by = line({"script": "scripts/transformers-reference.py", **PACKAGES})
    bodies = [" {\n" + ",\n".join(value_lines(*item) for item in case.items()) + "\n }" for case in cases]
    return f'{{"made_by": {made_by},\n"stride": {STRIDE},\n"cases": [\n' + ",\n".join(bodies) + "\n]}\n"


def main(names):
    DATA.mkdir(parents=True, exist_ok=True)
    for name in names:
        seed, formats, variants = SHAPES[name]
        plain = [(format, TOKENS, {}) for format in formats]
        shape = OTHER_NAMES.get(name, name)
        with tempfile.TemporaryDirectory() as folder:
            cases = [case(shape, format, seed, count, keys, folder) for format, count, keys in plain + variants]
        path = DATA / f"{name}.json"
        path.write_text(text(cases))
        print(f"{path.relative_to(programs.ROOT)}: {len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    shapes = sys.argv[1:] or list(SHAPES)
    if not all(shape in SHAPES for shape in shapes):
        sys.exit(__doc__)
    enter("transformers", PACKAGES)
    programs.build()
    main(shapes)
