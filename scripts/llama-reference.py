#!/usr/bin/env python3
"""Compares the logits of transformers in crates/inference/tests/data/transformers with those of llama.cpp.

  scripts/llama-reference.py [SHAPE]...   by default all shapes that have a reference

`metalworks synthesize` generates the models from a seed; llama.cpp loads the same files that the tests load. So this
shows that names of tensors and keys are llama.cpp's. Variants with other keys are left out: llama.cpp can override few.
The error is the normalized mean square error, as in the tests; llama.cpp rounds the inputs of products with quantized
matrices to eight bits.

llama-cpp-python is installed into a virtual environment in the cache, as for scripts/tokenizer-reference.py.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from virtual_environment import llama_cpp

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/inference/tests/data/transformers"
# Set after the first results: Gemma differs by 9e-9, perhaps for llama.cpp's table of gelu in halves, and Q4_K by 2e-3,
# perhaps because it rounds inputs to eight bits.
FORMATS = {"f32": 1e-7, "q4_k": 5e-3}
# The plans of the tests have this context, which selects the factors of LongRoPE.
CONTEXT = 1024
# llama.cpp ignores the window of files of the architecture llama.
DIFFERENT = {"mistral-tiny": "llama.cpp has no windows in the architecture llama"}


def random_tokens(vocabulary, count):
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts/transformers-reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.random_tokens(vocabulary, count)


def logits(path, count):
    """Logits after each token."""
    _, package = llama_cpp()
    f32 = package.GGML_TYPE_F32
    # llama.cpp expects the vocabulary of Phi 3 in files whose name has that word.
    model = package.Llama(
        str(path), n_ctx=CONTEXT, n_batch=CONTEXT, logits_all=True, type_k=f32, type_v=f32, verbose=False, n_gpu_layers=0,
        kv_overrides={"general.name": "model"},
    )
    model.eval(random_tokens(model.n_vocab(), count))
    return model.scores[:count]


def error(case, stride, folder):
    path = Path(folder) / "model.gguf"
    program = ["cargo", "run", "--quiet", "-p", "metalworks-cli", "--"]
    command = [*program, "synthesize", case["model"], "--seed", str(case["seed"]), "-o", str(path)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    found = logits(path, case["positions"][-1] + 1)
    errors = []
    for position, expected in zip(case["positions"], case["logits"]):
        row = found[position][::stride]
        difference = sum((float(a) - b) ** 2 for a, b in zip(row, expected))
        errors.append(difference / sum(b**2 for b in expected))
    return max(errors)


def main(shapes):
    failed = False
    for shape in shapes:
        reference = json.loads((DATA / f"{shape}.json").read_text())
        for case in reference["cases"]:
            bound = FORMATS.get(case["model"].split(":")[1])
            if case["keys"] or bound is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                found = error(case, reference["stride"], folder)
            note = f" ({DIFFERENT[shape]})" if shape in DIFFERENT else ""
            failed |= not found < bound and shape not in DIFFERENT
            print(f"{case['model']}: {found:.1e}{'' if found < bound else ', too much'}{note}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    shapes = sys.argv[1:] or sorted(path.stem for path in DATA.glob("*.json"))
    if not all((DATA / f"{shape}.json").exists() for shape in shapes):
        sys.exit(__doc__)
    llama_cpp()
    main(shapes)
