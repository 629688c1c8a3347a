#!/usr/bin/env bash
# What only a Mac can show: Apple's compiler on every shader, the tests, and every kernel on the GPU, as it is and under
# Metal's own validation. `make mac-test` runs it; all parts run, and those that failed are named at the end.
#
# The kernels are made for Apple7 (an M1) and later. Every Mac that has such a GPU by its name and version of macOS
# (scripts/mac-expectations.sh) must pass, whatever the program under test says about it. Another GPU, such as the virtual one
# of hosted runners, is tried all the same, but its failures do not count. Needs Xcode, with its Metal toolchain, and Rust; no
# LLVM.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

[ "$(uname)" = Darwin ] || {
  echo 'mac-test: error: needs a Mac; elsewhere, make mac-check checks the code for macOS' >&2
  exit 2
}

METALWORKS=${CARGO_TARGET_DIR:-target}/release/metalworks
# The tests that run kernels on the device; all others run on the host alone.
DEVICE_TESTS='--test kernels --test model --test selftest --test shader_bench --test transformers'
HOST_TESTS='--lib --test chat --test gguf --test shader_build --test synthetic --test tokenizer'

failed='' uncounted=''

# Runs a part: what it is called, and its command.
part() {
  local name=$1
  shift
  printf '\n=== %s ===\n\n' "$name"
  "$@" || failed="$failed$name
"
}

# Runs a part on the GPU.
on_gpu() {
  local name=$1
  shift
  printf '\n=== %s ===\n\n' "$name"
  "$@" && return
  if [ "$expected" != no ]; then
    failed="$failed$name
"
  else
    uncounted="$uncounted$name
"
  fi
}

# As the build compiles them, with more warnings. Constants of a header that one shader has no use for are no mistake.
compile_shaders() {
  local shader status=0
  xcrun -sdk macosx metal --version || {
    echo 'the Metal toolchain is missing: xcodebuild -downloadComponent MetalToolchain' >&2
    return 1
  }
  for shader in crates/inference/src/metal/shaders/*.metal; do
    xcrun -sdk macosx metal -std=metal3.1 -mmacosx-version-min=14.0 -O2 -ffast-math \
      -Wall -Wextra -Werror -Wno-unused-const-variable \
      -I crates/inference/src/metal/include -c -o /dev/null "$shader" || status=1
  done
  return $status
}

# Whether the program recognizes the GPU that this Mac must have.
recognizes_gpu() {
  "$METALWORKS" doctor --device metal --quick --json | EXPECTED=$expected python3 -c '
import json, os, sys
found = json.load(sys.stdin)
chosen = next(device for device in found["devices"] if device["id"] == found["chosen"]["id"])
needed = ["simd_reductions", "simdgroup_matrix", "bfloat", "nonuniform_threadgroups", "unified_memory"]
missing = [name for name in needed if not chosen[name]]
family = chosen["apple_family"] or 0
if chosen["kind"] != "metal" or missing or family < int(os.environ["EXPECTED"]):
    expected = os.environ["EXPECTED"]
    sys.exit(f"this Mac has a GPU of family Apple{expected}; the program says {chosen}")'
}

part 'every shader, by the compiler of Apple' compile_shaders
part 'the program, without LLVM' cargo build --release -p metalworks-cli
part 'tests on the host' cargo test --workspace --exclude metalworks-inference --exclude metalworks-compute
# Words are flags.
# shellcheck disable=SC2086
part 'tests on the host, of models' cargo test -p metalworks-inference $HOST_TESTS
part 'what this Mac has' "$METALWORKS" doctor --quick

export METALWORKS_DEVICE=metal
expected=$(scripts/mac-expectations.sh)
if [ "$expected" = no ]; then
  printf '\nmac-test: nothing is expected of this Mac: failures on its GPU do not count\n'
else
  part "the GPU is recognized as Apple$expected" recognizes_gpu
fi

on_gpu 'tests of the back end' cargo test -p metalworks-compute --no-fail-fast
# shellcheck disable=SC2086
on_gpu 'tests on the GPU' cargo test -p metalworks-inference --no-fail-fast $DEVICE_TESTS
on_gpu 'every kernel on the GPU' "$METALWORKS" doctor
export MTL_DEBUG_LAYER=1 MTL_SHADER_VALIDATION=1
on_gpu 'tests of the back end, validated by Metal' cargo test -p metalworks-compute --no-fail-fast --test every_device
on_gpu 'tests on the GPU, validated by Metal' cargo test -p metalworks-inference --no-fail-fast --test kernels --test selftest
on_gpu 'every kernel on the GPU, validated by Metal' "$METALWORKS" doctor --no-speed
# As on a Mac that had no Metal toolchain when the program was built: the embedded source is compiled at run time.
on_gpu 'every kernel on the GPU, from source' \
  env METALWORKS_METALLIB=0 cargo run --release -p metalworks-cli -- doctor --no-speed

printf '\n'
[ -z "$uncounted" ] || printf 'mac-test: failed on a GPU of which nothing is expected:\n%s' "$uncounted"
if [ -n "$failed" ]; then
  printf 'mac-test: failed:\n%s' "$failed" >&2
  exit 1
fi
echo 'mac-test: all fine'
