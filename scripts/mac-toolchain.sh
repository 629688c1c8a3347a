#!/usr/bin/env bash
# A Rust toolchain that type-checks code for macOS on Linux, without Apple's SDK. It does not link.
#
#   scripts/mac-toolchain.sh              create it unless it exists, and print its version
#   scripts/mac-toolchain.sh --dir        print its folder only
#   scripts/mac-toolchain.sh COMMAND...   create it unless it exists, and run a command with it: cargo clippy --target ...
#
# If the Rust in PATH has the target (`rustup target add aarch64-apple-darwin`), that one is used. Otherwise the newest Rust
# packages of apt are unpacked, not installed, and the standard library is checked from its source: a download of about
# 120 MB, a minute of CPU time, 500 MB in
#
#   ${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}/mac/VERSION
#
# The toolchain is created in a temporary folder and then renamed, so it is complete or absent. Needs no root, and neither
# reads nor changes the system's package lists: apt uses separate lists, from the system's sources.
#
# Packages, and their versions when last checked:
#   Debian 12                  rustc-web     1.96    what continuous integration runs
#   Debian 13                  rustc-web     1.96    looked at, not run
#   Debian unstable            rustc         1.97    looked at, not run
#   Ubuntu 24.04               rustc-1.97    1.97    looked at, not run
#   Ubuntu 25.10               rustc-1.91    1.91    too old
set -euo pipefail

TARGET=aarch64-apple-darwin
LAYOUT=1 # increment when the contents of the toolchain change

cache=${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}/mac
wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml")

say() {
  printf 'mac-toolchain: %s\n' "$1" >&2
}

fail() {
  say "error: $1"
  printf '%s\n' "or add the target to the Rust in PATH: rustup target add $TARGET" >&2
  exit 1
}

# Succeeds if version $1 is at least $2.
at_least() {
  [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

# Sets folder to the root of an existing toolchain (with bin/rustc): the one in PATH, or the newest of ours.
find_toolchain() {
  local candidate version
  folder=
  in_path=$(rustc --print sysroot 2>/dev/null || true)
  if [ -n "$in_path" ] && compgen -G "$in_path/lib/rustlib/$TARGET/lib/libstd-*" >/dev/null &&
    [ -x "$in_path/bin/cargo-clippy" ]; then
    folder=$in_path
    return
  fi
  while read -r candidate; do
    version=$(basename "$candidate")
    if [ "${version##*-layout}" = "$LAYOUT" ] && at_least "$version" "$wanted"; then
      folder=$(toolchain_in "$candidate")
    fi
  done < <(find "$cache" -mindepth 1 -maxdepth 1 -type d -name '[0-9]*' 2>/dev/null | sort -V)
  [ -n "$folder" ]
}

# Debian has Rust in /usr, Ubuntu each version in a separate folder.
toolchain_in() {
  dirname "$(dirname "$(find "$1"/usr/bin "$1"/usr/lib/rust-*/bin -name rustc 2>/dev/null | head -n 1)")"
}

# Runs a command with the toolchain. Build scripts that compile C for the target get a compiler that does nothing: objects
# are needed for linking only.
with_toolchain() {
  if [ "$folder" != "$in_path" ]; then
    local libraries
    libraries=$(printf '%s:' "${folder%%/usr*}"/usr/lib/*-linux-gnu* "$folder/lib")
    export PATH="$folder/bin:$PATH" LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:-}"
    unset RUSTUP_TOOLCHAIN RUSTC CARGO
  fi
  export CC_aarch64_apple_darwin=true AR_aarch64_apple_darwin=true SDKROOT=/
  "$@"
}

# apt with its lists and archives in the temporary folder.
apt_get() {
  apt-get -qq -o Dir::State="$temporary/apt" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$temporary/apt" \
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

apt_cache() {
  apt-cache -o Dir::State="$temporary/apt" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$temporary/apt" "$@"
}

# Sets suffix and version to those of the newest rustc package, under any of its names.
choose_packages() {
  local name candidate
  suffix='' version=0
  while read -r name; do
    candidate=$(apt_cache policy "$name" | sed -n 's/^ *Candidate: \([0-9].*\)$/\1/p')
    if [ -n "$candidate" ] && ! at_least "$version" "$candidate"; then
      suffix=${name#rustc} version=$candidate
    fi
  done < <(apt_cache pkgnames rustc | grep -E '^rustc(-web|-[0-9.]+)?$')
  [ "$version" != 0 ] || { tail -n 3 "$temporary/log" >&2; fail 'apt finds no package rustc: check the network;'; }
  at_least "$version" "$wanted" || fail "the newest Rust of apt is $version, but $wanted is needed;"
}

# Downloads the packages and their missing dependencies, and unpacks them into $1.
unpack() {
  local packages package
  packages=$(apt_get -s install --reinstall --no-install-recommends \
    "rustc$suffix" "cargo$suffix" "rust$suffix-clippy" "rust$suffix-src" "libstd-rust$suffix-dev" 2>"$temporary/log" |
    sed -n 's/^Inst \([^ ]*\).*(\([^ ]*\) .*/\1=\2/p')
  [ -n "$packages" ] || { tail -n 5 "$temporary/log" >&2; fail "apt cannot install rustc$suffix;"; }
  mkdir "$temporary/packages"
  # Word splitting is intended.
  # shellcheck disable=SC2086
  (cd "$temporary/packages" && apt_get download $packages) >"$temporary/log" 2>&1 ||
    { tail -n 5 "$temporary/log" >&2; fail 'cannot download packages: check the network;'; }
  for package in "$temporary"/packages/*.deb; do
    case $package in
      # Skip the compiler's source, which is large and not needed.
      */rust*-src_*) dpkg --fsys-tarfile "$package" | tar -x -C "$1" --wildcards './usr/src/rustc-*/library' ;;
      *) dpkg -x "$package" "$1" ;;
    esac
  done
}

# Checks the standard library in $1 for the target. Type checking needs metadata only, a third of the work of a build.
make_standard_library() {
  local library
  library=$(find "$1"/usr/src -maxdepth 2 -name library | head -n 1)
  [ -f "$library/sysroot/Cargo.toml" ] || fail "rust$suffix-src has no library in usr/src/rustc-*/library;"
  folder=$(toolchain_in "$1")
  RUSTC_BOOTSTRAP=1 CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never RUSTFLAGS='-Zforce-unstable-if-unmarked -Awarnings' \
    with_toolchain cargo check -q --locked --target "$TARGET" --target-dir "$temporary/std" \
    --manifest-path "$library/sysroot/Cargo.toml" --features panic-unwind,backtrace >"$temporary/log" 2>&1 ||
    { tail -n 20 "$temporary/log" >&2; fail 'cannot check the standard library;'; }
  local made=$folder/lib/rustlib/$TARGET/lib
  mkdir -p "$made"
  cp "$temporary/std/$TARGET"/debug/deps/lib*.rmeta "$made"
  rm -rf "$made"/libsysroot-* "${1:?}/usr/src" "${1:?}/usr/share"
}

# Succeeds if the toolchain in $1 works.
try_toolchain() {
  printf 'fn main() { println!("{:?}", std::env::args().collect::<Vec<_>>()); }\n' >"$temporary/main.rs"
  folder=$(toolchain_in "$1")
  with_toolchain rustc --edition 2024 --target "$TARGET" --emit metadata -o "$temporary/main.rmeta" "$temporary/main.rs" &&
    with_toolchain cargo clippy --version >/dev/null
}

make_toolchain() {
  local tool made
  for tool in apt-get apt-cache dpkg; do
    command -v "$tool" >/dev/null || fail "needs $tool, which Debian and Ubuntu have;"
  done
  mkdir -p "$cache"
  temporary=$(mktemp -d "$cache/.making.XXXXXX")
  trap 'rm -rf "$temporary"' EXIT
  mkdir -p "$temporary/apt/lists/partial" "$temporary/apt/archives/partial" "$temporary/root"
  say 'looking for the newest Rust of apt'
  apt_get update >"$temporary/log" 2>&1 || { tail -n 5 "$temporary/log" >&2; fail 'apt-get update failed: check the network;'; }
  choose_packages
  made=$cache/$version-layout$LAYOUT
  say "downloading rustc$suffix $version"
  unpack "$temporary/root"
  say "checking its standard library for $TARGET"
  make_standard_library "$temporary/root"
  try_toolchain "$temporary/root" || fail 'the new toolchain does not work;'
  # Another run may have created it meanwhile; use that one.
  mv -T "$temporary/root" "$made" 2>/dev/null || [ -d "$made" ] || fail "cannot move it to $made;"
  find_toolchain || fail "created $made, but cannot find it;"
}

case ${1:-} in
  --dir)
    find_toolchain || fail 'there is no toolchain yet: run scripts/mac-toolchain.sh;'
    printf '%s\n' "$folder"
    ;;
  -*)
    printf 'usage: scripts/mac-toolchain.sh [--dir | COMMAND...]\n' >&2
    exit 2
    ;;
  '')
    find_toolchain || make_toolchain
    say "$(with_toolchain rustc --version) in $folder"
    ;;
  *)
    find_toolchain || make_toolchain
    if [ "$folder" != "$in_path" ]; then
      # Cargo cannot tell apart toolchains of one version, but their metadata is incompatible: vary a flag.
      RUSTFLAGS="${RUSTFLAGS:-} --cfg=toolchain_of_$(stat -c %Y "$folder/lib/rustlib/$TARGET/lib")"
      export RUSTFLAGS
    fi
    with_toolchain "$@"
    ;;
esac
