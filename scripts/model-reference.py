#!/usr/bin/env python3
"""Generates reference results of the default model with llama.cpp.

  scripts/model-reference.py [MODEL.gguf]   write crates/inference/tests/data/model/smollm2.json, which is committed

For each prompt: its tokens, the greedy continuation, the margin of the best logit over the second at each token, and some
logits after the prompt. These are computed with the weights dequantized to F32, because llama.cpp rounds activations to 8
bits for matmuls with quantized weights. The same prompts with the quantized file show the effect ("rounding": the largest
difference of a logit, relative to the largest logit), and its greedy continuation ("file").
For text.txt in the same folder: its perplexity with the quantized file, in windows of 512 tokens of which the second half
counts. llama-cpp-python comes from the virtual environment of scripts/tokenizer-reference.py.
"""

import ctypes
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import virtual_environment

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "crates/inference/tests/data/model"
WINDOW = 512
TOKENS = 64

CHAT = "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"
QUESTIONS = [
    "What is the capital of France?",
    "Explain what a compiler does, in two sentences.",
    "Write a haiku about the sea.",
    "How do I boil an egg?",
    "What is 17 times 23?",
    "Name three rivers in South America.",
    "Why is the sky blue?",
    "Translate 'good morning' into Spanish, German and Italian.",
    "What is the difference between a list and a tuple in Python?",
    "Give me advice for learning to play the piano.",
]
BEGINNINGS = [
    "Once upon a time",
    "The history of bread begins",
    "def fibonacci(n):\n",
    "In mathematics, a group is",
    "The three laws of thermodynamics are",
    "#include <stdio.h>\n\nint main(",
    "Dear Sir or Madam,\n\n",
    "1, 1, 2, 3, 5, 8,",
    "It was a dark and stormy night;",
    "The mitochondrion is",
    "Ingredients:\n- 2 eggs\n",
    "Q: Who wrote Hamlet?\nA:",
]


def write_f32(path, folder, cache):
    """Writes the model with all weights in F32. Returns its path."""
    package = cache / "python/gguf-0.19.0"
    if not package.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(package)]
        subprocess.run([*pip, "gguf==0.19.0"], check=True)
    sys.path.append(str(package))
    import gguf

    reader = gguf.GGUFReader(path)
    out = Path(folder) / "f32.gguf"
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(out, architecture)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type"):
            continue
        element = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=element)
    for tensor in reader.tensors:
        numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, numbers.astype("float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(out)


def main():
    shared, llama_cpp = virtual_environment.llama_cpp()
    import numpy

    path = sys.argv[1] if len(sys.argv) > 1 else str(shared.model_file())
    def load(path):
        return llama_cpp.Llama(path, n_ctx=1024, n_batch=512, n_threads=1, logits_all=False, verbose=False)

    def logits(model):
        found = llama_cpp.llama_get_logits_ith(model.ctx, -1)
        pointer = ctypes.cast(found, ctypes.POINTER(ctypes.c_float))
        return numpy.ctypeslib.as_array(pointer, (model.n_vocab(),)).copy()

    def decode_greedily(model):
        greedy, margins = [], []
        for _ in range(TOKENS):
            now = logits(model)
            second, most = numpy.partition(now, -2)[-2:]
            greedy.append(int(numpy.argmax(now)))
            margins.append(round(float(most - second), 4))
            model.eval(greedy[-1:])
        return greedy, margins

    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    prompts = [CHAT.format(system=system, user=question) for question in QUESTIONS] + BEGINNINGS
    quantized = load(path)
    continuations = []
    with tempfile.TemporaryDirectory() as folder:
        model = load(write_f32(path, folder, shared.CACHE))
        for prompt in prompts:
            tokens = model.tokenize(prompt.encode(), add_bos=False, special=True)
            for each in (model, quantized):
                each.reset()
                each.eval(tokens)
            first, rounded = logits(model), logits(quantized)
            largest = numpy.abs(first).max()
            best = numpy.argsort(first)[::-1][:16]
            some = sorted(set(best.tolist()) | set(range(0, model.n_vocab(), 1999)))
            (greedy, margins), file = decode_greedily(model), decode_greedily(quantized)
            continuations.append({
                "prompt": prompt,
                "tokens": tokens,
                "greedy": greedy,
                "margins": margins,
                "logits": {str(token): round(float(first[token]), 4) for token in some},
                "largest": round(float(largest), 4),
                "rounding": round(float(numpy.abs(first - rounded).max() / largest), 4),
                "file": {"greedy": file[0], "margins": file[1]},
            })
            print(len(continuations), "of", len(prompts), file=sys.stderr, flush=True)
        model.close()
    quantized.close()

    model = llama_cpp.Llama(path, n_ctx=WINDOW, n_batch=WINDOW, n_threads=1, logits_all=True, verbose=False)
    text = (DATA / "text.txt").read_text(encoding="utf-8")
    tokens = model.tokenize(text.encode(), add_bos=False, special=False)
    losses = []
    for start in range(0, len(tokens) - WINDOW + 1, WINDOW):
        window = tokens[start : start + WINDOW]
        model.reset()
        model.eval(window)
        for position in range(WINDOW // 2, WINDOW - 1):
            row = model.scores[position].astype(numpy.float64)
            largest = row.max()
            losses.append(math.log(numpy.exp(row - largest).sum()) - (row[window[position + 1]] - largest))
    result = {
        "made_by": f"llama-cpp-python {llama_cpp.__version__}, one thread; continuations from the weights in F32",
        "model": Path(path).name,
        "continuations": continuations,
        "perplexity": {
            "tokens": len(tokens),
            "predicted": len(losses),
            "window": WINDOW,
            "value": math.exp(sum(losses) / len(losses)),
        },
    }
    lines = json.dumps(result, ensure_ascii=False, separators=(",", ":")).replace('{"prompt"', '\n{"prompt"')
    (DATA / "smollm2.json").write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
