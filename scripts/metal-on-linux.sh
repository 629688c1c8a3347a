#!/usr/bin/env bash
# Runs cargo with the Metal back end of `compute` on Linux, over the crate `framework`:
#
#   scripts/metal-on-linux.sh test -p metalworks-compute --test every_device
#
# Builds the framework (with the profile FRAMEWORK_PROFILE, or dev), gives it the names of the libraries that bindings link
# to, and makes a workspace like this one in the target folder in which objc2-metal, downloaded, does not ask for a
# framework of macOS.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
target=$(cd "$top" && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
work=$target/metal-on-linux
cargo=${CARGO:-cargo}
version=0.3.2

profile=${FRAMEWORK_PROFILE:-dev}
folder=$profile
selection=(build -p metalworks-framework -p metalworks-cli)
if [ "$profile" = dev ]; then
  folder=debug
  # As the tests of the workspace have it: for `cargo build`, dependencies have other features, and most crates would be
  # compiled once more.
  selection=(test --workspace --no-run --test programs)
fi
(cd "$top" && CARGO_TARGET_DIR=$target $cargo "${selection[@]}" -q --profile "$profile")

mkdir -p "$work/lib" "$work/workspace"
ln -sf "$target/$folder/deps/libmetal_framework.so" "$work/lib/libmetal_framework.so"
for name in objc gnustep-base dispatch; do
  echo 'INPUT(-lmetal_framework)' >"$work/lib/lib$name.so"
done

if [ ! -f "$work/objc2-metal-$version/patched" ]; then
  (cd "$top" && $cargo fetch -q --locked)
  from=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"objc2-metal-$version" | head -n 1)
  rm -rf "$work/objc2-metal-$version"
  cp -r "$from" "$work/objc2-metal-$version"
  file=$work/objc2-metal-$version/src/generated/mod.rs
  if [ "$(grep -c '^#\[link(name = "Metal", kind = "framework")\]$' "$file")" != 1 ]; then
    echo "objc2-metal $version has another link attribute" >&2
    exit 1
  fi
  sed -i '/^#\[link(name = "Metal", kind = "framework")\]$/d' "$file"
  touch "$work/objc2-metal-$version/patched"
fi

for name in crates examples docs README.md ARCHITECTURE.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE Makefile scripts rustfmt.toml; do
  ln -sfn "$top/$name" "$work/workspace/$name"
done
{
  cat "$top/Cargo.toml"
  printf '\n[patch.crates-io]\nobjc2-metal = { path = "../objc2-metal-%s" }\n' "$version"
} >"$work/Cargo.toml.new"
if ! cmp -s "$work/Cargo.toml.new" "$work/workspace/Cargo.toml"; then
  mv "$work/Cargo.toml.new" "$work/workspace/Cargo.toml"
  cp "$top/Cargo.lock" "$work/workspace/Cargo.lock"
fi

cd "$work/workspace"
CARGO_TARGET_DIR=$work/target \
  RUSTFLAGS="--cfg metal_on_linux -L native=$work/lib -C link-arg=-Wl,-rpath,$work/lib ${RUSTFLAGS:-}" \
  exec $cargo "$@"
