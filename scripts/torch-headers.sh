#!/usr/bin/env bash
# Compiles the headers of PyTorch's shaders, with the kernels that they instantiate, as the shaders that are not in the wheel
# include them. `make torch` calls it. Usage: torch-headers.sh PROGRAM FOLDER of the part torch of scripts/corpus.sh
set -euo pipefail

program=$1 include=$2/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count=0
for header in "$include"/c10/metal/*.h "$include"/ATen/native/mps/kernels/*.h; do
  name=${header#"$include"/}
  {
    printf '#include <%s>\n' metal_stdlib c10/metal/utils.h c10/metal/common.h c10/metal/special_math.h c10/metal/indexing.h
    printf 'using namespace %s;\n' metal c10::metal
    case $name in
      # Others define what these use.
      */Gemv.h) printf '#include <ATen/native/mps/kernels/LinearAlgebra.h>\n' ;;
      */SortRadix.h) printf '#include <ATen/native/mps/kernels/SortMerge.h>\n' ;;
    esac
    printf '#include <%s>\nkernel void last(device float *x) { *x = 1; }\n' "$name"
  } >"$work/header.metal"
  # Kernels with Metal 4's tensors are left out, with a warning.
  "$program" check --std metal4.0 -I "$include" "$work/header.metal" >"$work/report" 2>&1 &&
    "$program" compile --std metal3.1 -I "$include" "$work/header.metal" -o "$work/header.metallib" >"$work/report" 2>&1 ||
    { printf '%s:\n' "$name" && cat "$work/report" && exit 1; }
  printf '%s: %s\n' "$name" "$(sed -n 's/.*metallib: \(.*\), .*/\1/p' "$work/report")"
  count=$((count + 1))
done
# None would be no success.
[ "$count" -gt 30 ] || { printf 'only %s headers in %s\n' "$count" "$include" >&2 && exit 1; }
