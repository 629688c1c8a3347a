#!/usr/bin/env python3
"""Measures kernels and models on an NVIDIA GPU in one run, and prints a table in Markdown.

    scripts/gpu-table.py [--bin FOLDER] [--quick] [--models MODEL,...]

FOLDER has metalworks and metal-shader-bench (default target/release). Beside a product stands cuBLAS, which PyTorch calls,
if nvcc is here, and beside attention PyTorch, if it is installed. Bandwidths are shares of a copy in the same run.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Time of y = W x for M vectors of halves with f32 accumulation, from memory: the matrices rotate through 512 MiB.
CUBLAS = r"""
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int count, char** text) {
  cublasHandle_t handle;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  cublasSetMathMode(handle, CUBLAS_TENSOR_OP_MATH);
  for (int i = 1; i + 2 < count; i += 3) {
    long m = atol(text[i]), n = atol(text[i + 1]), k = atol(text[i + 2]);
    int copies = std::max(1L, (512L << 20) / (n * k * 2));
    __half *w, *x, *y;
    if (cudaMalloc(&w, copies * n * k * 2) || cudaMalloc(&x, m * k * 2) || cudaMalloc(&y, m * n * 2)) return 1;
    cudaMemset(w, 0x11, copies * n * k * 2);
    cudaMemset(x, 0x11, m * k * 2);
    float one = 1, zero = 0;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> times;
    for (int sample = 0; sample < 15; ++sample) {
      int repeats = std::max(20, copies);
      cudaEventRecord(begin);
      for (int repeat = 0; repeat < repeats; ++repeat)
        cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, w + long(repeat % copies) * n * k, CUDA_R_16F, k,
                     x, CUDA_R_16F, k, &zero, y, CUDA_R_16F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
      cudaEventRecord(end);
      cudaEventSynchronize(end);
      float ms;
      cudaEventElapsedTime(&ms, begin, end);
      if (sample > 2) times.push_back(ms * 1000 / repeats);
    }
    std::sort(times.begin(), times.end());
    printf("%ld %ld %ld %g\n", m, n, k, times[times.size() / 2]);
    cudaFree(w), cudaFree(x), cudaFree(y);
  }
}
"""

MATRICES = [(4096, 4096), (14336, 4096), (128256, 4096)]
GEMV = [("Q4_0", "gemv_packed_q4_0_f32"), ("Q8_0", "gemv_packed_q8_0_f32"), ("F16", "gemv_f16_f32")]
POSITIONS = [1024, 8192, 65536]


def cublas(sizes):
    """Microseconds by (M, N, K); empty without a toolkit."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(nvcc).exists():
        print("nvcc is missing: no times of cuBLAS", file=sys.stderr)
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "peer.cu"), Path(folder, "peer")
        source.write_text(CUBLAS)
        subprocess.run([nvcc, "-O2", "-o", program, source, "-lcublas"], check=True)
        arguments = [str(number) for size in sizes for number in size]
        lines = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout.split("\n")
    words = [line.split() for line in lines if line]
    return {(int(m), int(n), int(k)): float(time) for m, n, k, time in words}


def torch_attention(positions):
    """Microseconds of one token's attention, 32 heads over 8 of keys and values, 128 wide; None without PyTorch."""
    try:
        import torch
        from torch.nn.functional import scaled_dot_product_attention
    except ImportError:
        return None
    query = torch.randn(1, 32, 1, 128, dtype=torch.float16, device="cuda")
    keys, values = torch.randn(2, 1, 8, positions, 128, dtype=torch.float16, device="cuda")
    times = []
    for _ in range(20):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(20):
            scaled_dot_product_attention(query, keys, values, enable_gqa=True)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / 20)
    return sorted(times)[10]


class Bench:
    """metal-shader-bench, and the limits that it measured last."""

    def __init__(self, program, quick):
        self.program, self.quick, self.copy = program, quick, 0.0

    def case(self, name, shape):
        with tempfile.NamedTemporaryFile(suffix=".json") as results:
            command = [self.program, "run", name, "--device", "cuda", "--cold", "--shape", shape, "--max-memory", "8192"]
            command += ["--json", results.name] + (["--quick"] if self.quick else ["--min-time", "0.05"])
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"{' '.join(map(str, command))}: {run.stderr or run.stdout}")
            report = json.load(open(results.name))
        self.copy = max(limit["copy"] for limit in report["limits"]["bandwidths"])
        if not report["cases"]:
            sys.exit(f"{name} {shape}: not run: {report['not_run']}")
        return report["cases"][0]


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=Path("target/release"))
    parser.add_argument("--quick", action="store_true", help="take three short samples")
    parser.add_argument("--models", default="llama-8b:q4_0,smollm2-135m:q4_1")
    parser.add_argument("--attention", default="attention_decode_wide_f32_kv_f16", help="the kernel to measure")
    parser.add_argument("--parts", type=int, default=32, help="parts of the positions, which simdgroups take")
    options = parser.parse_args()
    bench = Bench(options.bin / "metal-shader-bench", options.quick)
    gemms = [(512, n, k) for n, k in MATRICES[:2]]
    peers = cublas(gemms + [(1, n, k) for n, k in MATRICES])

    row("work", "size", "µs", "rate", "of a copy", "peer", "ratio to it")
    row(*["---"] * 7)
    for label, kernel in GEMV:
        for n, k in MATRICES:
            case = bench.case(kernel, f"M=1,N={n},K={k}")
            time = case["time"]["median_ns"] / 1000
            rate = case["bytes"] / time / 1e3
            peer = peers.get((1, n, k)) if label == "F16" else None
            row(f"product, {label}", f"{n}×{k}", f"{time:.3g}", f"{rate:,.0f} GB/s", f"{rate / bench.copy:.0%}",
                f"cuBLAS {peer:.3g} µs" if peer else "", f"{peer / time:.2f}" if peer else "")
    for positions in POSITIONS:
        case = bench.case(options.attention, f"L={positions},H=32,G=8,D=128,S={options.parts}")
        time = case["time"]["median_ns"] / 1000
        rate = case["bytes"] / time / 1e3
        peer = torch_attention(positions)
        row("attention, one token", f"{positions:,} positions", f"{time:.3g}", f"{rate:,.0f} GB/s",
            f"{rate / bench.copy:.0%}", f"PyTorch {peer:.3g} µs" if peer else "", f"{peer / time:.2f}" if peer else "")
    for m, n, k in gemms:
        case = bench.case("gemm_large_f16_f16", f"M={m},N={n},K={k}")
        time = case["time"]["median_ns"] / 1000
        peer = peers.get((m, n, k))
        row(f"product of {m} vectors, F16", f"{n}×{k}", f"{time:.3g}", f"{2e-6 * m * n * k / time:,.0f} TFLOP/s", "",
            f"cuBLAS {2e-6 * m * n * k / peer:,.0f} TFLOP/s" if peer else "", f"{peer / time:.2f}" if peer else "")
    for model in filter(None, options.models.split(",")):
        command = [options.bin / "metalworks", "bench", "--device", "cuda", "--synthetic", model, "--json"]
        run = subprocess.run([*command, "-p", "512", "-n", "128"], capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr)
        for test in json.loads(run.stdout)["tests"]:
            row(model, test["test"], "", f"{test['tokens_per_second']:,.0f} tokens/s", "", "", "")
    print(f"\ncopy: {bench.copy:,.0f} GB/s read and written")


if __name__ == "__main__":
    main()
