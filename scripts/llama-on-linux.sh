#!/usr/bin/env bash
# Builds llama.cpp's Metal backend for Linux and runs it over the framework:
#
#   scripts/llama-on-linux.sh test [-o ADD]   test-backend-ops against its CPU backend, and counts the rows
#   scripts/llama-on-linux.sh answer          the default model answers
#   scripts/llama-on-linux.sh build           only builds
#
# Takes the pinned sources of llama-cpp-python. FRAMEWORK_PROFILE chooses the build of the framework; the default is optimized.
# JOBS is the number of compilers at a time. Results are in llama-on-linux of the
# target folder: test.log, and rows with a file for each process.
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
    # Without the debug layer, as llama.cpp runs on a Mac: it dispatches empty grids.
    export MTL_DEBUG_LAYER=0 METALWORKS_THREADS=1
    "$work/test-backend-ops" support -b MTL0 --output csv "$@" 2>/dev/null | grep '^"MTL0"' >"$work/support.csv"
    rm -rf "$work/rows" && mkdir "$work/rows"
    # Processes that share the rows (scripts/llama-shared-rows.h). One that crashes is started again, for the rows that are left.
    export ROWS_TAKEN=$work/rows/taken LLAMA_TEST_FA_VEC_DISABLE=1
    seq "${JOBS:-$(nproc)}" | xargs -P 0 -I{} sh -c '
      for try in 1 2 3 4 5 6 7 8 9; do
        "$0/test-backend-ops" test -b MTL0 "$@" >>"$0/rows/{}.log" 2>&1 && break
        status=$?
        if [ "$status" = 1 ]; then break; fi
        echo "ended with $status" >>"$0/rows/{}.log"
      done' "$work" "$@"
    # A row has its operation before the first parenthesis, behind the reason of a failure, and ends with its result.
    cat "$work"/rows/*.log | sed 's/\x1b\[[0-9;]*m//g' | awk -F '"' '
      FNR == NR { if ($8 == "support" && $10 == "1") wanted[$4]++; next }
      /^ended with/ { print "test-backend-ops " $0 }
      match($0, /  [A-Z0-9_]+\(/) {
        name = substr($0, RSTART + 2, RLENGTH - 3)
        if ($0 ~ / OK$/) ok[name]++
        if ($0 ~ /FAIL/) { failed[name]++; print }
      }
      END {
        for (name in wanted) {
          passed = ok[name] < wanted[name] ? ok[name] + 0 : wanted[name]
          printf "%-24s %5d of %5d supported rows pass, %d fail\n", name, passed, wanted[name], failed[name] | "sort"
          rows += wanted[name]; all += passed; bad += failed[name]
        }
        close("sort")
        printf "test-backend-ops: %d of %d supported rows pass (%.1f %%), %d fail\n", all, rows, rows ? 100 * all / rows : 0, bad
        exit rows == 0 || all < 0.95 * rows
      }' "$work/support.csv" - | tee "$work/test.log"
    ;;
esac
