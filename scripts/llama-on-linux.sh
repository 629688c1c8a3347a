#!/usr/bin/env bash
# Builds llama.cpp's Metal backend for Linux and runs it over the framework:
#
#   scripts/llama-on-linux.sh test [-o ADD]   test-backend-ops against its CPU backend, and counts the rows
#   scripts/llama-on-linux.sh answer          the default model answers
#   scripts/llama-on-linux.sh build           only builds
#
# Takes the pinned sources of llama-cpp-python. FRAMEWORK_PROFILE chooses the build of the framework; `corpus` is optimized.
# JOBS is the number of compilers at a time. Results are in llama-on-linux/test.log of the target folder.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$top" && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
work=$target/llama-on-linux
cargo=${CARGO:-cargo}
profile=${FRAMEWORK_PROFILE:-corpus}
folder=$profile
if [ "$profile" = dev ]; then folder=debug; fi
command=${1:-test}
shift || true

(cd "$top" && CARGO_TARGET_DIR=$target $cargo build -q --profile "$profile" -p metalworks-framework -p metalworks-cli)
llama=$("$top/scripts/corpus.sh" llama)
eval "$("$target/$folder/metalworks" env --folder "$work/env" 2>/dev/null)"

case $command in
  answer) goal=llama-simple ;;
  build) goal=all ;;
  test) goal=test-backend-ops ;;
  *) echo 'usage: scripts/llama-on-linux.sh [test | answer | build]' >&2 && exit 2 ;;
esac
make -s -C "$work" -j "${JOBS:-$(nproc)}" -f "$top/scripts/llama-on-linux.mk" LLAMA="$llama" \
  HEADERS="$work/env/include" LIBRARIES="$work/env/lib" "$goal"

case $command in
  answer)
    model=$("$target/$folder/metalworks" pull smollm2)
    # It shares memory that is not aligned, which a Mac does not forbid without the debug layer.
    MTL_DEBUG_LAYER=0 "$work/llama-simple" -m "$model" -n 24 'The capital of France is'
    ;;
  test)
    "$work/test-backend-ops" test -b MTL0 "$@" >"$work/test.log" 2>&1 || true
    # A row ends with its result, behind codes for colours.
    sed 's/\x1b\[[0-9;]*m//g' "$work/test.log" | awk '
      / OK$/ { ok++ } /FAIL$/ { failed++; print } /not supported/ { unsupported++ }
      END { rows = ok + failed
            printf "test-backend-ops: %d of %d supported rows pass (%.1f %%), %d are not supported\n",
                   ok, rows, rows ? 100 * ok / rows : 0, unsupported
            exit rows == 0 || ok < 0.95 * rows }'
    ;;
esac
