#!/usr/bin/env python3
"""Generates folders of Hugging Face with other packages, for comparison.

  scripts/folder-reference.py tokenizer   write crates/inference/tests/data/folders, which is committed
  scripts/folder-reference.py models      write tiny random models of each family with their logits into the cache, and
                                          print the folder: METALWORKS_FOLDERS of the ignored test of tests/folders
  scripts/folder-reference.py mlx         write a model in MLX's format for each width and group with the numbers that
                                          MLX reads back, and print the folder: METALWORKS_MLX_FOLDERS of another one

The packages (PACKAGES below) are installed into virtual environments in the cache, not into the system's Python.
"""

import copy
import json
import sys
from pathlib import Path

from virtual_environment import CACHE, enter

PACKAGES = {"transformers": "5.22.2", "torch": "2.15.0", "gguf": "0.19.0", "numpy": "2.4.6"}
MLX_PACKAGES = {"mlx[cpu]": "0.32.4", "numpy": "2.4.6"}

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/inference/tests/data"

SIZES = dict(
    vocab_size=384, hidden_size=256, num_hidden_layers=2, intermediate_size=512, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=2048, head_dim=64,
)
LLAMA3 = {"rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 64}
LONG = {"rope_type": "longrope", "rope_theta": 1e4, "short_factor": [1.0 + i / 40 for i in range(24)],
        "long_factor": [1.0 + i / 3 for i in range(24)], "original_max_position_embeddings": 1024,
        "partial_rotary_factor": 0.75}
ROUTED = {"n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 128,
          "first_k_dense_replace": 1, "routed_scaling_factor": 1.5}
QWEN3_VL_MOE = {
    "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 96,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [12, 10, 10]},
}
QWEN3_VL_ENCODER = {
    "depth": 1, "hidden_size": 32, "num_heads": 2, "out_hidden_size": 256, "deepstack_visual_indexes": [0],
}
# Families and variants: name, model type, changes.
MODELS = [
    ("llama", "llama", {"attention_bias": True}),
    ("llama3", "llama", {"rope_parameters": LLAMA3, "tie_word_embeddings": True}),
    ("llama-yarn", "llama", {"rope_parameters": YARN}),
    ("mistral", "mistral", {"sliding_window": 8}),
    ("qwen2", "qwen2", {}),
    ("qwen3", "qwen3", {}),
    ("gemma", "gemma", {}),
    ("gemma2", "gemma2", {"sliding_window": 8, "query_pre_attn_scalar": 100}),
    ("gemma3", "gemma3_text", {"sliding_window": 8, "num_hidden_layers": 7}),
    ("phi3", "phi3", {"pad_token_id": 0, "sliding_window": 8}),
    ("phi3-long", "phi3", {"pad_token_id": 0, "rope_parameters": LONG, "original_max_position_embeddings": 1024}),
    ("smollm3", "smollm3", {"num_hidden_layers": 4, "pad_token_id": 0}),
    ("olmo2", "olmo2", {}),
    ("granite", "granite", {"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.1,
                            "logits_scaling": 2.0}),
    ("glm4", "glm4", {"pad_token_id": 0, "attention_bias": True}),
    ("cohere", "cohere", {"logit_scale": 0.25}),
    ("cohere2", "cohere2", {"logit_scale": 0.25, "sliding_window": 8, "num_hidden_layers": 4}),
    ("mixtral", "mixtral", {"num_local_experts": 4, "sliding_window": None}),
    ("qwen3-moe", "qwen3_moe", {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128,
                                "norm_topk_prob": True}),
    ("qwen2-moe", "qwen2_moe", {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128,
                                "shared_expert_intermediate_size": 256, "norm_topk_prob": False}),
    ("qwen3.5", "qwen3_5_text", {"num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 2}),
    ("qwen3.5-wide", "qwen3_5_text", {"num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 6}),
    ("qwen3.5-moe", "qwen3_5_moe_text", {
        "num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "num_experts": 8,
        "num_experts_per_tok": 2, "moe_intermediate_size": 128, "shared_expert_intermediate_size": 256,
    }),
    ("qwen3-next", "qwen3_next", {
        "num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "num_experts": 8,
        "num_experts_per_tok": 2, "moe_intermediate_size": 128, "shared_expert_intermediate_size": 256,
    }),
    ("olmoe", "olmoe", {"num_experts": 8, "num_experts_per_tok": 2, "pad_token_id": 0}),
    ("granite-moe", "granitemoe", {
        "embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.1, "logits_scaling": 2.0,
    }),
    ("seed-oss", "seed_oss", {"pad_token_id": 0}),
    ("exaone4", "exaone4", {"sliding_window": 8, "num_hidden_layers": 4}),
    ("exaone4-full", "exaone4", {"sliding_window": None, "layer_types": ["full_attention"] * 2}),
    ("ernie-4.5", "ernie4_5", {}),
    ("stablelm", "stablelm", {"use_qkv_bias": True, "partial_rotary_factor": 0.25}),
    ("starcoder2", "starcoder2", {"sliding_window": 8}),
    ("nemotron", "nemotron", {"partial_rotary_factor": 0.5, "mlp_bias": True}),
    ("arcee", "arcee", {"rope_parameters": YARN}),
    ("glm", "glm", {"pad_token_id": 0}),
    ("olmo3", "olmo3", {"sliding_window": 8, "num_hidden_layers": 4, "rope_parameters": YARN}),
    ("hunyuan", "hunyuan_v1_dense", {
        "rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "alpha": 50.0, "factor": 1.0},
    }),
    ("dots1", "dots1", {**ROUTED, "norm_topk_prob": True, "sliding_window": None}),
    ("glm4-moe", "glm4_moe", {**ROUTED, "pad_token_id": 0, "use_qk_norm": False, "attention_bias": True}),
    ("ernie-4.5-moe", "ernie4_5_moe", {"moe_num_experts": 8, "moe_k": 2, "moe_intermediate_size": 128}),
    ("minimax-m2", "minimax_m2", {"num_local_experts": 8, "num_experts_per_tok": 2, "partial_rotary_factor": 0.5}),
    ("helium", "helium", {}),
    ("ministral", "ministral", {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}),
    ("cwm", "cwm", {"sliding_window": 8, "num_hidden_layers": 4}),
    ("qwen3-moe-dense", "qwen3_moe", {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128,
                                      "norm_topk_prob": True, "mlp_only_layers": [0]}),
    ("jais2", "jais2", {}),
    ("mellum", "mellum", {
        "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128, "num_hidden_layers": 4,
        "sliding_window": 8, "layer_types": ["sliding_attention"] * 3 + ["full_attention"], "rope_parameters": {
            "full_attention": YARN, "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    }),
    ("exaone-moe", "exaone_moe", {
        "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128, "num_hidden_layers": 4,
        "sliding_window": 8,
    }),
    ("hunyuan-moe", "hunyuan_v1_moe", {"num_experts": 8, "moe_topk": 2}),
    ("hunyuan3", "hy_v3", {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128}),
    ("granite-moe-shared", "granitemoeshared", {
        "embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.1, "logits_scaling": 2.0,
        "shared_intermediate_size": 256,
    }),
    # Language models beside encoders of images: model type, changes of the language model, those of the encoder.
    ("qwen3-vl-moe", "qwen3_vl_moe", QWEN3_VL_MOE, QWEN3_VL_ENCODER),
    ("qwen3-vl-moe-columns", "qwen3_vl_moe", QWEN3_VL_MOE, QWEN3_VL_ENCODER),
    ("hunyuan-vl", "hunyuan_vl", {
        "rope_parameters": {
            "rope_type": "dynamic", "rope_theta": 1e4, "alpha": 50.0, "factor": 1.0, "mrope_section": [8, 8, 8, 8],
        },
    }, {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}),
    ("paddleocr", "paddleocr_vl", {
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [12, 10, 10]},
    }, {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}),
    # Further variants of known families.
    ("llama-linear", "llama", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 3.0}}),
    ("llama-dynamic", "llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}),
    ("llama-one-key", "llama", {"num_key_value_heads": 1, "head_dim": 96, "tie_word_embeddings": True}),
    ("qwen3-moe-plain", "qwen3_moe", {"num_experts": 16, "num_experts_per_tok": 5, "moe_intermediate_size": 96,
                                      "norm_topk_prob": False}),
    ("qwen3.5-equal", "qwen3_5_text", {"num_hidden_layers": 8, "linear_num_key_heads": 4, "linear_num_value_heads": 4,
                                       "linear_key_head_dim": 64, "linear_value_head_dim": 64}),
    ("gemma2-plain", "gemma2", {"sliding_window": 5, "attn_logit_softcapping": None, "final_logit_softcapping": None}),
]


def tokenizer():
    """Writes a tokenizer of SentencePiece's kind with the tokens of all texts, in three variants of its parts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    texts = [text[0] for text in json.loads((DATA / "tokenizer/texts.json").read_text())["texts"]]
    trained = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=special, limit_alphabet=120, show_progress=False)
    trained.train_from_iterator([*texts, (DATA / "model/text.txt").read_text()], trainer)
    parts = json.loads(trained.to_str())
    parts["added_tokens"] = [token for token in parts["added_tokens"] if not token["content"].startswith("<0x")]
    base = {key: parts[key] for key in ("added_tokens", "model")}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    prepend = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, replace]}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    base["decoder"] = {"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    cases = []
    for name, normalizer, pre in [("llama", prepend, None), ("mistral", None, metaspace), ("gemma", replace, split)]:
        unused = {"version": "1.0", "truncation": None, "padding": None, "post_processor": None}
        variant = Tokenizer.from_str(json.dumps({**unused, **base, "normalizer": normalizer, "pre_tokenizer": pre}))
        ids = [variant.encode(text, add_special_tokens=False).ids for text in texts]
        cases.append({"name": name, "normalizer": normalizer, "pre_tokenizer": pre, "ids": ids})

    def line(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    text = f'{{"made_by":"scripts/folder-reference.py",\n"tokenizer":{line(base)},\n"cases":[\n'
    path = DATA / "folders/sentencepiece.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + ",\n".join(map(line, cases)) + "\n]}\n")


def models(names):
    """Writes a folder for each model. The reference is computed in f64, except norms, RoPE and softmax."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

    folder = CACHE / "folders"
    tokens = [i * 37 % 256 for i in range(21)]
    for name, kind, changes, *encoder in MODELS:
        if names and name not in names:
            continue
        torch.manual_seed(1)
        # Some configurations change the dictionaries that they get.
        sizes = copy.deepcopy(SIZES | changes)
        parts = {"text_config": sizes, "vision_config": encoder[0]} if encoder else sizes
        config = AutoConfig.for_model(kind, **parts)
        kind = AutoModelForImageTextToText if encoder else AutoModelForCausalLM
        model = kind.from_config(config, attn_implementation="eager", experts_implementation="eager").to(torch.float32)
        with torch.no_grad():
            for key, parameter in model.named_parameters():
                noise = torch.randn_like(parameter)
                if parameter.dim() > 1:
                    parameter.copy_(noise * (1.0 if "embed" in key else 0.06))
                else:
                    parameter.add_(noise * (0.3 if "bias" in key else 0.2))
        model.save_pretrained(folder / name)
        if name.endswith("-columns"):
            exchange_rows_and_columns(folder / name / "model.safetensors")
        with torch.no_grad():
            logits = model.double().eval()(torch.tensor([tokens])).logits[0, -2:]
        (folder / name / "reference.json").write_text(json.dumps({"tokens": tokens, "logits": logits.tolist()}))
    print(folder)


def exchange_rows_and_columns(path):
    """Rewrites the matrices of experts as the published models of Qwen3-VL-MoE have them."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(path)
    for name in tensors:
        if ".mlp.experts." in name:
            tensors[name] = tensors[name].transpose(1, 2).contiguous()
    save_file(tensors, path, metadata={"format": "pt"})


def mlx():
    """Writes one matrix in each width, group and type of scales, and what MLX dequantizes it to."""
    import mlx.core as mx
    import numpy

    folder = CACHE / "folders-mlx"
    random = numpy.random.default_rng(1)
    sizes = {
        "model_type": "llama", "num_hidden_layers": 1, "hidden_size": 256, "intermediate_size": 512,
        "num_attention_heads": 4, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 1e4,
    }
    for bits in (2, 3, 4, 5, 6, 8):
        for group in (32, 64, 128):
            for kind in (mx.float16, mx.bfloat16):
                path = folder / f"{bits}-{group}-{str(kind).split('.')[-1]}"
                path.mkdir(parents=True, exist_ok=True)
                matrix = mx.array(random.normal(size=(256, 256)).astype("float32") * 0.05).astype(kind)
                weight, scales, biases = mx.quantize(matrix, group_size=group, bits=bits)
                # In f32, so that MLX does not round the sum.
                wide = [array.astype(mx.float32) for array in (scales, biases)]
                numbers = mx.dequantize(weight, *wide, group_size=group, bits=bits)
                name = "model.layers.0.self_attn.q_proj."
                parts = {name + "weight": weight, name + "scales": scales, name + "biases": biases}
                mx.save_safetensors(str(path / "model.safetensors"), parts)
                numpy.array(numbers).astype("<f4").tofile(path / "reference.f32")
                quantization = {"quantization": {"bits": bits, "group_size": group}}
                (path / "config.json").write_text(json.dumps(sizes | quantization))
    print(folder)


if __name__ == "__main__":
    commands = {"tokenizer": tokenizer, "models": lambda: models(sys.argv[2:]), "mlx": mlx}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    if sys.argv[1] == "mlx":
        enter("mlx", MLX_PACKAGES)
    else:
        enter("transformers", PACKAGES)
    commands[sys.argv[1]]()
