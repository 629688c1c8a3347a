#!/usr/bin/env bash
# Tests on a Mac: Apple's compiler on every shader, the test suites, and every kernel on the GPU, with and without Metal's
# validation. `make mac-test` runs it. All parts run; the end lists those that failed.
#
# The kernels are written for Apple7 (M1) and later. A Mac that must have such a GPU (scripts/mac-expectations.sh) must
# pass, even if the program under test does not recognize the GPU. Another GPU, such as the virtual one of hosted runners,
# is tested too, but its failures do not count. Needs Xcode with its Metal toolchain, and Rust; no LLVM.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

[ "$(uname)" = Darwin ] || {
  echo 'mac-test: error: needs a Mac; elsewhere, make mac-check checks the code for macOS' >&2
  exit 2
}

METALWORKS=${CARGO_TARGET_DIR:-target}/release/metalworks
# Tests that run kernels on the device, and tests that run on the host.
DEVICE_TESTS='--test kernels --test model --test selftest --test shader_bench --test transformers'
HOST_TESTS='--lib --test chat --test gguf --test shader_build --test synthetic --test tokenizer'

failed='' uncounted=''

# Runs a part: its name, then its command.
part() {
  local name=$1
  shift
  printf '\n=== %s ===\n\n' "$name"
  "$@" || failed="$failed$name
"
}

# Runs a part on the GPU. A failure counts if this Mac must pass.
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

# Compiles like the build, with more warnings. A shader need not use every constant of its includes.
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

# Succeeds if the program recognizes the GPU that this Mac must have.
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
# Word splitting is intended.
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
# Like a build on a Mac without the Metal toolchain: compiles the embedded source at run time.
on_gpu 'every kernel on the GPU, from source' \
  env METALWORKS_METALLIB=0 cargo run --release -p metalworks-cli -- doctor --no-speed

printf '\n'
[ -z "$uncounted" ] || printf 'mac-test: failed on a GPU of which nothing is expected:\n%s' "$uncounted"
if [ -n "$failed" ]; then
  printf 'mac-test: failed:\n%s' "$failed" >&2
  exit 1
fi
echo 'mac-test: all fine'
