#!/usr/bin/env bash
# Builds llama.cpp's Metal backend for Linux and runs it over the framework:
#
#   scripts/llama-on-linux.sh test [-o ADD]   test-backend-ops against its CPU backend, and counts the rows
#   scripts/llama-on-linux.sh answer          the default model answers
#   scripts/llama-on-linux.sh build           only builds
#
# Takes the pinned sources of llama-cpp-python. FRAMEWORK_PROFILE chooses the build of the framework; the default is optimized.
# JOBS is the number of compilers at a time. Results are in llama-on-linux of the
# target folder: test.log, and rows with a file for each operation.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$top" && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
work=$target/llama-on-linux
cargo=${CARGO:-cargo}
profile=${FRAMEWORK_PROFILE:-release}
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
    # Without the debug layer, as llama.cpp runs on a Mac: it dispatches empty grids. A process for each operation: one that
    # ends early does not take the others along.
    export MTL_DEBUG_LAYER=0 METALWORKS_THREADS=1
    "$work/test-backend-ops" support -b MTL0 --output csv "$@" 2>/dev/null | grep '^"MTL0"' >"$work/support.csv"
    rm -rf "$work/rows" && mkdir "$work/rows"
    sed -n 's/^"MTL0","\([A-Z0-9_]*\)".*"support","1".*/\1/p' "$work/support.csv" | sort -u |
      xargs -P "${JOBS:-$(nproc)}" -I{} sh -c \
        '"$0/test-backend-ops" test -b MTL0 -o {} >"$0/rows/{}.log" 2>&1 || echo "ended with $?" >>"$0/rows/{}.log"' "$work"
    # A row ends with its result, behind codes for colours.
    for log in "$work"/rows/*.log; do
      wanted=$(grep -c "^\"MTL0\",\"$(basename "$log" .log)\",.*\"support\",\"1\"" "$work/support.csv" || true)
      sed 's/\x1b\[[0-9;]*m//g' "$log" | awk -v name="$(basename "$log" .log)" -v wanted="$wanted" '
        / OK$/ { ok++ } /FAIL$/ { failed++; print }
        END { printf "%-24s %5d of %5d supported rows pass, %d fail\n", name, ok, wanted, failed }'
    done | tee "$work/test.log" | awk '
      / supported rows pass/ { ok += $2; rows += $4; failed += $8 } { print }
      END { printf "test-backend-ops: %d of %d supported rows pass (%.1f %%), %d fail\n", ok, rows, rows ? 100 * ok / rows : 0, failed
            exit rows == 0 || ok < 0.95 * rows }'
    ;;
esac
