#!/usr/bin/env bash
# Compiles kernels to PTX, and has NVIDIA's assembler check all of it. Prints registers and spills.
#
#   scripts/ptxas.sh              the shader library, the examples and the kernels of compute's tests
#   scripts/ptxas.sh --corpus     and the kernels of candle and ggml (scripts/corpus.sh)
#
# Needs ptxas in PATH, or named by PTXAS; no GPU. METALWORKS_STEP=10 takes every tenth kernel of the corpus only.
set -euo pipefail

cd "$(dirname "$0")/.."
ptxas=${PTXAS:-ptxas}
command -v "$ptxas" >/dev/null || { echo "ptxas.sh: there is no '$ptxas': install CUDA, or set PTXAS" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tests=(library::all_kernels_compile corpus::kernels_of_the_language_compile)
if [ "${1:-}" = --corpus ]; then
  METALWORKS_CORPUS=$(scripts/corpus.sh --dir)
  export METALWORKS_CORPUS
  tests+=(corpus::kernels_of_others_compile)
fi
METALWORKS_PTX=$work cargo test --quiet -p metalworks-air --test simt -- --include-ignored "${tests[@]}"

count=0 failed=0
for file in "$work"/*.ptx; do
  count=$((count + 1))
  name=$(basename "$file" .ptx)
  if "$ptxas" --gpu-name sm_90a --verbose "$file" --output-file "$work/cubin" >"$work/log" 2>&1; then
    registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/log" | sort -n | tail -1)
    spills=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$work/log" | sort -n | tail -1)
    printf '%-60s %4s registers %6s bytes of spills\n' "$name" "$registers" "$spills"
  else
    failed=$((failed + 1))
    echo "$name: $(head -3 "$work/log")"
  fi
done
echo "$count kernels, $failed refused by ptxas"
[ "$failed" = 0 ]
