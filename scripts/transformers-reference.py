#!/usr/bin/env python3
"""Generates reference logits of tiny models of each architecture and format with Hugging Face transformers.

  scripts/transformers-reference.py [SHAPE…]   write crates/inference/tests/data/transformers, which is committed

`metalworks synthesize` generates the models from a seed. The package gguf dequantizes their tensors, and a transformers
model with the same configuration runs them in f64, except norms, RoPE and softmax, which transformers computes in f32.

The packages (PACKAGES below) are installed into a virtual environment in the cache, not into the system's Python. On
Linux, torch does not load without the CUDA libraries, although this script does not use them: 3.1 GB to download, 5.6 GB
on disk. The cache is ${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import qwen35_weights
from virtual_environment import CACHE, enter

PACKAGES = {"transformers": "5.22.2", "torch": "2.15.0", "gguf": "0.19.0", "numpy": "2.4.6"}

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/inference/tests/data/transformers"

FORMATS = ["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k"]
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


# Shapes and their variants: format, number of tokens, overridden keys. ε is large enough to show in the logits; long texts
# show the scaling of low RoPE frequencies.
EPSILON = {"attention.layer_norm_rms_epsilon": 0.03125}
SHAPES = {
    "llama-tiny": [
        ("f32", TOKENS, {**heads(8, 4, 32), **EPSILON, "rope.freq_base": 700.0}),
        ("q4_0", TOKENS, {**heads(2, 1, 128), "rope.scaling.type": "linear", "rope.scaling.factor": 4.0}),
    ],
    "llama3-tiny": [("f32", 700, {}), ("q8_0", TOKENS, EPSILON)],
    "qwen2-tiny": [("f16", 300, {**heads(8, 4, 32), **EPSILON}), ("q8_0", TOKENS, {**heads(2, 1, 128), "rope.freq_base": 1500.0})],
    "qwen3-tiny": [("q6_k", 300, {**EPSILON, "rope.freq_base": 1500.0})],
    "qwen35-tiny": [("f32", 150, {**EPSILON, "rope.freq_base": 1500.0})],
    "qwen35-equal-tiny": [],
}
# Formats of architectures that share the products with those above.
FEW_FORMATS = {"qwen35-tiny": ["f32", "q8_0"], "qwen35-equal-tiny": ["f32"]}


def random_tokens(vocabulary, count):
    """Returns pseudorandom tokens, the same as in the test."""
    state, tokens = 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        tokens.append((state >> 33) % vocabulary)
    return tokens


def synthesize(model, seed, folder):
    path = Path(folder) / f"{model.replace(':', '-')}.gguf"
    program = ["cargo", "run", "--quiet", "-p", "metalworks-cli", "--"]
    command = [*program, "synthesize", model, "--seed", str(seed), "-o", str(path)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return path


def configuration(shape, values, tied):
    """Converts the metadata of a file to a transformers configuration."""
    from transformers import LlamaConfig, Qwen2Config, Qwen3Config

    if values["general.architecture"] == "qwen35":
        return qwen35_weights.configuration(values, tied)
    rope = {"rope_type": values.get("rope.scaling.type", "default"), "rope_theta": values["rope.freq_base"]}
    if rope["rope_type"] == "linear":
        rope["factor"] = values["rope.scaling.factor"]
    if shape == "llama3-tiny":
        rope |= {"rope_type": "llama3", **LLAMA3_ROPE}
    kind = {"llama": LlamaConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config}[values["general.architecture"]]
    sizes = dict(
        vocab_size=values["vocab_size"], hidden_size=values["embedding_length"], num_hidden_layers=values["block_count"],
        intermediate_size=values["feed_forward_length"], num_attention_heads=values["attention.head_count"],
        num_key_value_heads=values["attention.head_count_kv"], max_position_embeddings=131_072,
        rms_norm_eps=values["attention.layer_norm_rms_epsilon"],
    )
    # Qwen2Config has no head dimension.
    if kind is Qwen2Config:
        assert values["attention.key_length"] * sizes["num_attention_heads"] == sizes["hidden_size"]
    else:
        sizes["head_dim"] = values["attention.key_length"]
    return kind(**sizes, rope_parameters=rope, tie_word_embeddings=tied, attn_implementation="eager")


NAMES = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm", "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    **qwen35_weights.NAMES,
}


def name_in_transformers(name):
    whole = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    name, kind = name.rsplit(".", 1)
    if name in whole:
        return f"{whole[name]}.{kind}"
    _, layer, part = name.split(".")
    return f"model.layers.{layer}.{NAMES[part]}.{kind}"


def pairs_to_halves(rows, head_count):
    """Permutes rows: llama.cpp's files pair neighbours in RoPE, transformers pairs the two halves of a head."""
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
    weights = {}
    for tensor in reader.tensors:
        # transformers computes these factors itself.
        if tensor.name == "rope_freqs.weight":
            continue
        numbers = dequantize(tensor.data, tensor.tensor_type).reshape([int(size) for size in reversed(tensor.shape)])
        if architecture == "llama" and ".attn_q." in tensor.name:
            numbers = pairs_to_halves(numbers, values["attention.head_count"])
        if architecture == "llama" and ".attn_k." in tensor.name:
            numbers = pairs_to_halves(numbers, values["attention.head_count_kv"])
        if architecture == "qwen35":
            name, numbers = qwen35_weights.convert(tensor.name, numbers, values, name_in_transformers)
        else:
            name = name_in_transformers(tensor.name)
        weights[name] = torch.tensor(numbers, dtype=torch.float64)
    tied = "lm_head.weight" not in weights
    if tied:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model = AutoModelForCausalLM.from_config(configuration(shape, values, tied)).to(torch.float64).eval()
    model.load_state_dict(weights, strict=True)
    # Hash the tensors only: the results do not depend on the vocabulary, which may change.
    sha256 = hashlib.sha256(b"".join(tensor.name.encode() + tensor.data.tobytes() for tensor in reader.tensors)).hexdigest()
    return model, values["vocab_size"], sha256


def case(shape, format, seed, count, keys, folder):
    """Returns the logits of some tokens and the best token, after the first, the middle and the last token of a text."""
    import torch

    path = synthesize(f"{shape}:{format}", seed, folder)
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
    for seed, (shape, variants) in enumerate(SHAPES.items(), start=1):
        if names and shape not in names:
            continue
        plain = [(format, TOKENS, {}) for format in FEW_FORMATS.get(shape, FORMATS)]
        with tempfile.TemporaryDirectory() as folder:
            cases = [case(shape, format, seed, count, keys, folder) for format, count, keys in plain + variants]
        path = DATA / f"{shape}.json"
        path.write_text(text(cases))
        print(f"{path.relative_to(ROOT)}: {len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    if any(name not in SHAPES for name in sys.argv[1:]):
        sys.exit(__doc__)
    enter("transformers", PACKAGES)
    main(sys.argv[1:])
