#!/usr/bin/env python3
"""References for the block formats, from the package gguf and from llama.cpp.

    scripts/formats-reference.py data                 writes crates/inference/tests/data/formats.json
    scripts/formats-reference.py files METALWORKS     quantizes models with llama.cpp and METALWORKS, and compares them

`data`: gguf dequantizes random blocks, llama.cpp quantizes random numbers, and llama.cpp chooses types for the tensors of
some models. `files`: every file type, for models made here; reports tensors whose type or bytes differ, with both errors.

Needs numpy and gguf, and llama.cpp's libraries: those of llama-cpp-python, or of the folder LLAMA_CPP_LIB.
"""

import ctypes
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize

ROOT = Path(__file__).resolve().parent.parent
# Format, and the offsets of its 16-bit scales, whose exponents are limited: gguf warns about infinities.
FORMATS = {
    "q8_0": [0], "q4_0": [0], "q4_1": [0, 2], "q5_0": [0], "q5_1": [0, 2], "iq4_nl": [0], "mxfp4": [],
    "q2_K": [80, 82], "q3_K": [108], "q4_K": [0, 2], "q5_K": [0, 2], "q6_K": [208], "iq4_xs": [0],
}
FILE_TYPES = {
    "f32": 0, "f16": 1, "bf16": 32, "q8_0": 7, "q4_0": 2, "q4_1": 3, "q5_0": 8, "q5_1": 9, "iq4_nl": 25, "iq4_xs": 30,
    "mxfp4": 38, "q2_k": 10, "q3_k_s": 11, "q3_k_m": 12, "q3_k_l": 13, "q4_k_s": 14, "q4_k_m": 15, "q5_k_s": 16,
    "q5_k_m": 17, "q6_k": 18,
}
# Architecture, layers, heads, KV heads, columns, experts, tied.
MODELS = [
    ("llama", 16, 32, 8, 256, 0, True),
    ("llama", 30, 9, 3, 576, 0, True),
    ("llama", 26, 16, 16, 256, 0, False),
    ("llama", 32, 32, 8, 256, 8, False),
    ("qwen2", 28, 12, 2, 256, 0, True),
    ("qwen3", 36, 32, 8, 256, 0, False),
    ("llama", 80, 64, 8, 256, 0, False),
    ("qwen3moe", 12, 32, 4, 256, 16, False),
]


class Random:
    """SplitMix64, as in the tests."""

    def __init__(self, seed):
        self.state = seed

    def words(self, count):
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = np.uint64(self.state) + steps
        self.state = int(z[-1])
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    def bytes(self, count):
        return np.frombuffer(self.words((count + 7) // 8).astype("<u8").tobytes(), np.uint8)[:count].copy()

    def numbers(self, count):
        """Cubes of uniform numbers between -1 and 1: most are small."""
        uniform = (self.words(count) >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)
        return uniform * uniform * uniform


class LlamaCpp:
    class Params(ctypes.Structure):
        _fields_ = [
            ("nthread", ctypes.c_int32), ("ftype", ctypes.c_int), ("output_tensor_type", ctypes.c_int),
            ("token_embedding_type", ctypes.c_int), ("allow_requantize", ctypes.c_bool),
            ("quantize_output_tensor", ctypes.c_bool), ("only_copy", ctypes.c_bool), ("pure", ctypes.c_bool),
            ("keep_split", ctypes.c_bool), ("dry_run", ctypes.c_bool), ("imatrix", ctypes.c_void_p),
            ("kv_overrides", ctypes.c_void_p), ("tt_overrides", ctypes.c_void_p), ("prune_layers", ctypes.c_void_p),
            ("max_buf_size", ctypes.c_size_t),
        ]

    def __init__(self):
        folder = os.environ.get("LLAMA_CPP_LIB")
        if folder is None:
            import llama_cpp
            folder = Path(llama_cpp.__file__).parent / "lib"
        load = lambda name: ctypes.CDLL(str(Path(folder) / f"lib{name}.so"), mode=ctypes.RTLD_GLOBAL)
        self.base, _, _, self.llama = [load(name) for name in ("ggml-base", "ggml-cpu", "ggml", "llama")]
        self.base.ggml_quantize_chunk.restype = ctypes.c_size_t
        self.llama.llama_model_quantize_default_params.restype = LlamaCpp.Params
        self.log = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: None)
        self.llama.llama_log_set(self.log, None)
        self.llama.llama_backend_init()

    def quantize_blocks(self, kind, numbers):
        numbers = np.ascontiguousarray(numbers, np.float32)
        out = np.zeros(numbers.size * 8, np.uint8)
        size = self.base.ggml_quantize_chunk(
            int(kind), numbers.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int64(0), ctypes.c_int64(1), ctypes.c_int64(numbers.size), None)
        return out[:size]

    def quantize_file(self, source, target, file_type):
        params = self.llama.llama_model_quantize_default_params()
        params.ftype, params.nthread = file_type, 1
        if self.llama.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(params)) != 0:
            raise RuntimeError(f"llama.cpp cannot quantize {source} to {file_type}")


def write_model(path, model, seed=1):
    """A model that has all matrices, with few rows each."""
    arch, layers, heads, kv_heads, columns, experts, tied = model
    random = Random(seed)
    writer = GGUFWriter(path, arch)
    writer.add_block_count(layers)
    writer.add_context_length(512)
    writer.add_embedding_length(columns)
    writer.add_feed_forward_length(2 * columns)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(64)
    if experts:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(2)
    matrix = lambda name, *shape: writer.add_tensor(name, random.numbers(int(np.prod(shape))).reshape(shape))
    matrix("token_embd.weight", 64, columns)
    for layer in range(layers):
        part = lambda name: f"blk.{layer}.{name}.weight"
        writer.add_tensor(part("attn_norm"), np.ones(columns, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(part(name), 4, columns)
        if experts:
            writer.add_tensor(part("ffn_gate_inp"), np.ones((experts, columns), np.float32))
            for name in ("ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"):
                matrix(part(name), experts, 2, columns)
        else:
            for name in ("ffn_gate", "ffn_up", "ffn_down"):
                matrix(part(name), 4, columns)
    writer.add_tensor("output_norm.weight", np.ones(columns, np.float32))
    if not tied:
        matrix("output.weight", 64, columns)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tensors(path):
    return {tensor.name: tensor for tensor in GGUFReader(path).tensors}


def data():
    llama = LlamaCpp()
    formats = []
    for seed, (name, scales) in enumerate(FORMATS.items()):
        kind = GGMLQuantizationType[name.upper()]
        from gguf import GGML_QUANT_SIZES
        block_len, block_size = GGML_QUANT_SIZES[kind]
        blocks = Random(seed).bytes(64 * block_size).reshape(64, block_size)
        for offset in scales:
            blocks[:, offset + 1] &= 0xBF
        if name == "mxfp4":
            blocks[:, 0] = 64 + blocks[:, 0] // 2
        numbers = dequantize(blocks, kind).astype("<f4").reshape(-1)
        # Blocks of different sizes, and one of zeros.
        inputs = Random(1000 + seed).numbers(64 * block_len).reshape(64, block_len)
        inputs *= (np.float32(2) ** (np.arange(64) % 9 - 6).astype(np.float32))[:, None]
        inputs[13] = 0
        outputs = llama.quantize_blocks(kind, inputs)
        formats.append({
            "format": name,
            "seed": seed,
            "scales": scales,
            "first_numbers": [float(number) for number in numbers[:4]],
            "dequantized": hashlib.sha256(numbers.tobytes()).hexdigest(),
            "first_bytes": outputs[:16].tobytes().hex(),
            "quantized": hashlib.sha256(outputs.tobytes()).hexdigest(),
        })
    models = []
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.gguf", Path(folder) / "out.gguf"
        for model in MODELS:
            write_model(source, model)
            types = {}
            for name, number in FILE_TYPES.items():
                llama.quantize_file(source, target, number)
                # Exceptions from the format of most matrices would be longer than the list: run lengths by tensor order.
                types[name] = {}
                for tensor in tensors(target).values():
                    if len(tensor.shape) > 1:
                        types[name].setdefault(tensor.tensor_type.name, []).append(tensor.name)
            keys = ("architecture", "layers", "heads", "kv_heads", "columns", "experts", "tied")
            digests = {}
            for name, by_type in types.items():
                lines = sorted(f"{tensor} {kind}\n" for kind, names in by_type.items() for tensor in names)
                digests[name] = {
                    "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
                    "count": {kind: len(names) for kind, names in sorted(by_type.items())},
                }
            models.append(dict(zip(keys, model)) | {"types": digests})
    path = ROOT / "crates/inference/tests/data/formats.json"
    lines = lambda items: "[\n  " + ",\n  ".join(json.dumps(item) for item in items) + "\n ]"
    path.write_text("{\n \"made_by\": \"scripts/formats-reference.py\",\n \"formats\": " + lines(formats)
                    + ",\n \"models\": " + lines(models) + "\n}\n")
    print(path)


def files(metalworks, *sources):
    llama = LlamaCpp()
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        cases = [(Path(source).name, Path(source)) for source in sources]
        for index, model in enumerate(MODELS if not sources else []):
            path = Path(folder) / f"model{index}.gguf"
            write_model(path, model)
            cases.append((" ".join(map(str, model)), path))
        for label, source in cases:
            for name, number in FILE_TYPES.items():
                theirs, ours = Path(folder) / "theirs.gguf", Path(folder) / "ours.gguf"
                llama.quantize_file(source, theirs, number)
                subprocess.run([metalworks, "quantize", source, ours, "--to", name], check=True, stdout=subprocess.DEVNULL)
                exact, one, other = tensors(source), tensors(ours), tensors(theirs)
                assert one.keys() == other.keys()
                types = [key for key in one if one[key].tensor_type != other[key].tensor_type]
                same_type = [key for key in one if key not in types]
                unequal = [key for key in same_type if one[key].data.tobytes() != other[key].data.tobytes()]
                errors = []
                for file in (one, other):
                    total = sum(float(np.sum((dequantize(file[key].data, file[key].tensor_type).astype(np.float64).reshape(-1)
                                              - exact[key].data.astype(np.float64).reshape(-1)) ** 2)) for key in same_type)
                    errors.append((total / sum(int(exact[key].n_elements) for key in same_type)) ** 0.5)
                differing += len(types) + len(unequal)
                print(f"{label}: {name}: {len(one)} tensors, {len(types)} types differ {types[:3]}, {len(unequal)} bytes "
                      f"differ {unequal[:3]}, RMS error {errors[0]:.6g} here, {errors[1]:.6g} there", flush=True)
    print("no difference" if differing == 0 else f"{differing} differences")
    return differing == 0


if __name__ == "__main__":
    if sys.argv[1:] == ["data"]:
        data()
    elif len(sys.argv) > 2 and sys.argv[1] == "files":
        sys.exit(0 if files(*sys.argv[2:]) else 1)
    else:
        sys.exit(__doc__)
