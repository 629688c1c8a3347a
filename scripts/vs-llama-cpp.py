#!/usr/bin/env python3
"""Compares the speed of metalworks and llama.cpp on the same file, in alternating rounds.

  scripts/vs-llama-cpp.py [MODEL.gguf] [--threads 1,2] [--rounds 3]

Prints tokens per second, medians of the rounds: prefill of 512 tokens (pp512), and decode of 32 tokens after 8 and after
512 others (tg32). metalworks samples greedily; llama.cpp evaluates given tokens, without sampling. metalworks is
target/release/metalworks (or METALWORKS); llama-cpp-python comes from the virtual environment of
scripts/tokenizer-reference.py. On a busy machine, only the ratios are meaningful.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import virtual_environment

HERE = Path(__file__).resolve().parent
TESTS = {"pp512": (0, 512, 0), "tg32 @ 8": (8, 0, 32), "tg32 @ 512": (512, 0, 32)}


def ours(program, path, threads):
    speeds = {}
    for name, (depth, prompt, tokens) in TESTS.items():
        counts = ["-d", str(depth), "-p", str(prompt), "-n", str(tokens), "-r", "1", "-t", str(threads)]
        run = subprocess.run([program, "bench", "-m", path, *counts, "--json"], check=True, capture_output=True)
        speeds[name] = json.loads(run.stdout)["tests"][0]["tokens_per_second"]
    return speeds


def theirs(llama_cpp, path, threads):
    model = llama_cpp.Llama(
        path, n_ctx=1024, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
    )
    tokens = [(index * 7919 + 13) % model.n_vocab() for index in range(1024)]
    speeds = {}
    for name, (depth, prompt, count) in TESTS.items():
        # The first run is a warm-up.
        for _ in range(2):
            model.reset()
            if depth:
                model.eval(tokens[:depth])
            start = time.perf_counter()
            if prompt:
                model.eval(tokens[depth : depth + prompt])
            for index in range(count):
                model.eval(tokens[depth + index : depth + index + 1])
            speeds[name] = (prompt or count) / (time.perf_counter() - start)
    return speeds


def main():
    shared, llama_cpp = virtual_environment.llama_cpp()

    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    options.model = options.model or str(shared.model_file())
    program = os.environ.get("METALWORKS", str(HERE.parent / "target/release/metalworks"))
    print(f"{Path(options.model).name}: metalworks and llama-cpp-python {llama_cpp.__version__}, tokens per second")
    print(f"{'threads':>7}  {'test':<11} {'metalworks':>10} {'llama.cpp':>10} {'ratio':>6}")
    for threads in map(int, options.threads.split(",")):
        rounds = [(ours(program, options.model, threads), theirs(llama_cpp, options.model, threads)) for _ in range(options.rounds)]
        for name in TESTS:
            us = statistics.median(ours[name] for ours, _ in rounds)
            them = statistics.median(theirs[name] for _, theirs in rounds)
            print(f"{threads:>7}  {name:<11} {us:>10.1f} {them:>10.1f} {us / them:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
