#!/usr/bin/env python3
"""Compares the logits of synthetic models with those of llama.cpp.

  scripts/llama-reference.py                        all cases of crates/inference/tests/data/transformers
  scripts/llama-reference.py gemma3-tiny            the cases of a shape
  scripts/llama-reference.py qwen3.5-0.8b:q8_0 ...  any model of `metalworks synthesize`

Both programs load the same files, so that names of tensors and keys are llama.cpp's. Overridden keys of a case are written
into the file. Metalworks multiplies exactly and has a KV cache in f32 (crates/inference/examples/logits.rs). llama.cpp rounds
the inputs of products with quantized matrices to eight bits, with those in f16 and bf16 to these.

Prints for each model the normalized mean square error of the logits of a position, the largest difference relative to the
standard deviation of the logits, and at how many positions both have the same best token. The error is that of the worst
position; with quantized weights the median, since a rounded router may choose another expert. `make llama-logits` runs it.

llama-cpp-python is installed into a virtual environment in the cache, as for scripts/tokenizer-reference.py.
"""

import importlib.util
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import programs
from virtual_environment import llama_cpp

DATA = programs.ROOT / "crates/inference/tests/data/transformers"
# Bounds of the error by format, from the first results; any other format has that of all quantized ones.
# llama.cpp has gelu in a table of halves: 1.5e-7.
BOUNDS = {"f32": 1e-6, "f16": 1e-5, "bf16": 1e-3}
QUANTIZED = 5e-3
# The context of examples/logits.rs, which selects the factors of LongRoPE.
CONTEXT = 1024
TOKENS = 41
# Differences of llama.cpp from the original models, which Metalworks does not have.
DIFFERENT = {
    "mistral-tiny": "llama.cpp has no windows in the architecture llama",
    "exaone4-tiny": "llama.cpp has windows in models with 64 layers only",
    "gpt-oss-tiny": "llama.cpp rounds the limits of YaRN to whole pairs",
    "phi3-tiny": "llama.cpp has no windows in Phi 3",
    "qwen35-tiny": "llama.cpp has the ε of norms also for the lengths of queries and keys, which is 1e-6",
}
# Variants of these models in which there is no difference: without windows, and with a limit that is almost a whole pair.
AGREEING = {
    "mistral-tiny": [("mistral-tiny:f32", 5, {"attention.sliding_window": 0}, TOKENS)],
    "gpt-oss-tiny": [("gpt-oss-tiny:f32", 22, {"rope.freq_base": 237684.57}, TOKENS)],
}
# Value types of GGUF: format of struct, or None for texts and arrays.
TYPES = ["B", "b", "H", "h", "I", "i", "f", "?", None, None, "Q", "q", "d"]
TYPE_OF = {bool: 7, int: 4, float: 6, str: 8}


def random_tokens(vocabulary, count):
    spec = importlib.util.spec_from_file_location("reference", programs.ROOT / "scripts/transformers-reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.random_tokens(vocabulary, count)


class Reader:
    """Reads numbers, texts and values of a GGUF file."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        size = self.number("Q")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def skip(self, kind):
        if kind == 8:
            self.text()
        elif kind == 9:
            kind, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.skip(kind)
        else:
            self.number(TYPES[kind])


def with_keys(data, keys):
    """The file with other values of some keys of its architecture."""
    reader = Reader(data)
    reader.at = 8
    tensors, count = reader.number("Q"), reader.number("Q")
    kept, architecture = [], ""
    for _ in range(count):
        start, name = reader.at, reader.text()
        kind = reader.number("I")
        if name == "general.architecture":
            architecture = reader.text()
        else:
            reader.skip(kind)
        kept.append((name, data[start : reader.at]))
    start = reader.at
    for _ in range(tensors):
        reader.text()
        dimensions = reader.number("I")
        reader.at += 8 * dimensions + 12
    infos, weights = data[start : reader.at], data[-(-reader.at // 32) * 32 :]
    new = {f"{architecture}.{key}": value for key, value in keys.items()}
    pairs = [pair for name, pair in kept if name not in new]
    for name, value in new.items():
        kind = TYPE_OF[type(value)]
        body = text(value) if kind == 8 else struct.pack("<" + TYPES[kind], value)
        pairs.append(text(name) + struct.pack("<I", kind) + body)
    head = data[:8] + struct.pack("<QQ", tensors, len(pairs)) + b"".join(pairs) + infos
    return head + bytes(-len(head) % 32) + weights


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def theirs(path, count):
    """llama.cpp's logits after each token."""
    _, package = llama_cpp()
    f32 = package.GGML_TYPE_F32
    # llama.cpp expects the vocabulary of Phi 3 in files whose name has that word.
    model = package.Llama(
        str(path), n_ctx=CONTEXT, n_batch=CONTEXT, logits_all=True, type_k=f32, type_v=f32, verbose=False, n_gpu_layers=0,
        kv_overrides={"general.name": "model"},
    )
    model.eval(random_tokens(model.n_vocab(), count))
    return model.scores[:count]


def ours(path, count, folder):
    import numpy

    output = Path(folder) / "logits"
    subprocess.run([programs.FOLDER / "examples/logits", path, str(count), output], check=True)
    return numpy.fromfile(output, dtype="<f4").reshape(count, -1)


def compare(model, seed, keys, count, folder):
    """Errors of all positions, largest difference in standard deviations, number of equal best tokens."""
    path = Path(folder) / "model.gguf"
    programs.synthesize(model, seed, path)
    if keys:
        path.write_bytes(with_keys(path.read_bytes(), keys))
    one, other = ours(path, count, folder).astype("f8"), theirs(path, count).astype("f8")
    error = ((one - other) ** 2).sum(1) / (one**2).sum(1)
    best = one.argmax(1) == other.argmax(1)
    return error, abs(one - other).max() / one.std(), best.sum()


def cases_of(name):
    """Model, seed, overridden keys, number of tokens, and why logits may differ."""
    path = DATA / f"{name}.json"
    if not path.exists():
        return [(name, 0, {}, TOKENS, None)]
    cases = [
        (case["model"], case["seed"], case["keys"], case["positions"][-1] + 1, DIFFERENT.get(name))
        for case in json.loads(path.read_text())["cases"]
    ]
    return cases + [(*case, None) for case in AGREEING.get(name, [])]


def main(names):
    import numpy

    failed = 0
    for model, seed, keys, count, excuse in (case for name in names for case in cases_of(name)):
        with tempfile.TemporaryDirectory() as folder:
            errors, largest, best = compare(model, seed, keys, count, folder)
        bound = BOUNDS.get(model.partition(":")[2])
        error = numpy.median(errors) if bound is None else errors.max()
        note = "" if error < (bound or QUANTIZED) else f" ({excuse})" if excuse else ", too much"
        failed += note == ", too much"
        changed = "".join(f" {key}={value}" for key, value in keys.items())
        print(f"{model}{changed}: error {error:.1e}, largest {largest:.1e}, best {best}/{count}{note}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    names = sys.argv[1:] or sorted(path.stem for path in DATA.glob("*.json"))
    if not all(":" in name or (DATA / f"{name}.json").exists() for name in names):
        sys.exit(__doc__)
    llama_cpp()
    programs.build("--example", "logits")
    main(names)
