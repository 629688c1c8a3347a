#!/usr/bin/env bash
# Runs candle's own Metal tests on Linux, over the framework, and counts them:
#
#   scripts/candle-on-linux.sh              candle-metal-kernels
#   scripts/candle-on-linux.sh core         candle-core with its feature metal: a longer build
#   scripts/candle-on-linux.sh core metal   its tests on the device only; any other part of a name works as well
#
# The crates come from the registry. What they need is found as any program would: by `metalworks env`. FRAMEWORK_PROFILE
# chooses the build of the framework; the default is optimized.
set -euo pipefail

VERSION=0.11.1

top=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$top" && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
work=$target/candle-on-linux
cargo=${CARGO:-cargo}
profile=${FRAMEWORK_PROFILE:-release}
folder=$profile
if [ "$profile" = dev ]; then folder=debug; fi

package=candle-metal-kernels
arguments=(--lib)
if [ "${1:-}" = core ]; then
  package=candle-core
  arguments=(--features metal --tests)
  shift
fi

(cd "$top" && CARGO_TARGET_DIR=$target $cargo build -q --profile "$profile" -p metalworks-framework -p metalworks-cli)

# Fetches the crate, and with it objc2-metal.
mkdir -p "$work/fetch/src"
touch "$work/fetch/src/lib.rs"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n%s\n[workspace]\n' \
  "$package" "$VERSION" 'objc2-metal = "=0.3.2"' >"$work/fetch/Cargo.toml"
$cargo fetch -q --manifest-path "$work/fetch/Cargo.toml"
if [ ! -d "$work/$package-$VERSION" ]; then
  from=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$package-$VERSION" | head -n 1)
  cp -r "$from" "$work/$package-$VERSION"
  chmod -R u+w "$work/$package-$VERSION"
  # It is no part of the workspace around it, and its lock file does not know the patch.
  printf '\n[workspace]\n' >>"$work/$package-$VERSION/Cargo.toml"
  rm -f "$work/$package-$VERSION/Cargo.lock"
fi

eval "$("$target/$folder/metalworks" env --folder "$work/env")"
cd "$work/$package-$VERSION"
# As on a Mac, where candle's tests run without the debug layer: they copy single bytes.
export MTL_DEBUG_LAYER="${MTL_DEBUG_LAYER-0}"
status=0
CARGO_TARGET_DIR=$work/target CARGO_PROFILE_DEV_DEBUG=0 \
  $cargo --config "$METALWORKS_CARGO_CONFIG" test --no-fail-fast "${arguments[@]}" -- "$@" 2>&1 |
  tee "$work/$package.log" || status=$?
awk -v name="$package $VERSION" '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
  END { printf "%s: %d passed, %d failed, %d ignored\n", name, passed, failed, ignored }' "$work/$package.log"
exit "$status"
