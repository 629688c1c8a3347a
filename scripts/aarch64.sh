#!/usr/bin/env bash
# Builds for AArch64 Linux on another Linux, and runs the result with qemu: tests, and programs.
#
#   scripts/aarch64.sh test [ARGUMENTS...]   run cargo test with these arguments, for AArch64
#   scripts/aarch64.sh run PROGRAM...        run a program that was built for AArch64
#   scripts/aarch64.sh --ready               succeed if that is possible here; otherwise say why not
#   scripts/aarch64.sh --dir                 print the folder of libraries and qemu only
#
# Needs Rust from rustup, clang 22 and LLVM 22 (for llvm-config), and apt-get and dpkg of Debian or Ubuntu. The libraries of
# AArch64 (glibc, LLVM 22) and qemu-user-static are unpacked, not installed, into
#
#   ${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}/aarch64
#
# which needs no root, and changes nothing of the system: a download of about 100 MB, 470 MB on disk. clang and the linker that
# comes with Rust build for AArch64, so that there is no second toolchain. METALWORKS_QEMU_CPU chooses the processor
# (default: max, all extensions that qemu has); cortex-a53 has neither dotprod nor SVE.
set -euo pipefail

TARGET=aarch64-unknown-linux-gnu
LAYOUT=1 # increment when the contents of the folder change

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}/aarch64/layout$LAYOUT
llvm=${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-22}

say() {
  printf 'aarch64: %s\n' "$1" >&2
}

fail() {
  say "error: $1"
  exit 1
}

# apt for one architecture, as if nothing were installed, with its lists and archives in the temporary folder.
apt_of() {
  local architecture=$1
  shift
  apt-get -qq -o Dir::State="$temporary/$architecture" -o Dir::State::status="$temporary/status" \
    -o Dir::Cache="$temporary/$architecture" -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Acquire::Languages=none \
    -o Acquire::Retries=2 -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" "$@"
}

# Downloads the packages of an architecture ($1) and unpacks them into a folder ($2).
unpack() {
  local architecture=$1 to=$2 package
  shift 2
  mkdir -p "$temporary/$architecture"/{lists,archives}/partial "$temporary/packages-$architecture" "$to"
  apt_of "$architecture" update >"$temporary/log" 2>&1 || { tail -n 5 "$temporary/log" >&2; fail 'apt-get update failed: check the network'; }
  (cd "$temporary/packages-$architecture" && apt_of "$architecture" download "$@") >"$temporary/log" 2>&1 ||
    { tail -n 5 "$temporary/log" >&2; fail "cannot download $*"; }
  for package in "$temporary/packages-$architecture"/*.deb; do
    dpkg -x "$package" "$to"
  done
}

# Names of packages and all that they depend on.
with_dependencies() {
  mkdir -p "$temporary/arm64"/{lists,archives}/partial
  apt_of arm64 update >"$temporary/log" 2>&1 || { tail -n 5 "$temporary/log" >&2; fail 'apt-get update failed: check the network'; }
  apt_of arm64 -s install --no-install-recommends "$@" 2>"$temporary/log" |
    sed -n 's/^Inst \([^ ]*\).*(\([^ ]*\) .*/\1=\2/p'
}

make_folder() {
  local tool packages libraries
  for tool in apt-get dpkg; do
    command -v "$tool" >/dev/null || fail "needs $tool, which Debian and Ubuntu have"
  done
  mkdir -p "$(dirname "$folder")"
  temporary=$(mktemp -d "$(dirname "$folder")/.making.XXXXXX")
  trap 'rm -rf "$temporary"' EXIT
  : >"$temporary/status"
  say 'downloading libraries and qemu'
  packages=$(with_dependencies libllvm22 libc6-dev libgcc-12-dev libstdc++6 libffi8 libzstd1 zlib1g)
  [ -n "$packages" ] || { tail -n 5 "$temporary/log" >&2; fail 'apt has no libllvm22 for arm64'; }
  # Word splitting is intended.
  # shellcheck disable=SC2086
  unpack arm64 "$temporary/made/root" $packages
  unpack "$(dpkg --print-architecture)" "$temporary/made/qemu" qemu-user-static
  find "$temporary/made/qemu/usr/bin" -type f ! -name qemu-aarch64-static -delete
  # Names for the linker, which are in packages with much more.
  libraries=$temporary/made/root/usr/lib/aarch64-linux-gnu
  ln -sf libffi.so.8 "$libraries/libffi.so"
  ln -sf libstdc++.so.6 "$libraries/libstdc++.so"
  # Another run may have created it meanwhile; use that one.
  mv -T "$temporary/made" "$folder" 2>/dev/null || [ -d "$folder" ] || fail "cannot move it to $folder"
}

# The flags of this machine's LLVM are those of AArch64's, but for the folder of its libraries. Build scripts ask, with the
# target in TARGET; those for this machine get this machine's answer.
make_llvm_config() {
  mkdir -p "$1/bin"
  cat >"$1/bin/llvm-config.$$" <<EOF
#!/bin/sh
case \${TARGET:-} in
  aarch64*) case " \$* " in *" --libdir "*) echo '$folder/root/usr/lib/aarch64-linux-gnu'; exit ;; esac ;;
esac
exec '$llvm/bin/llvm-config' "\$@"
EOF
  chmod +x "$1/bin/llvm-config.$$"
  mv "$1/bin/llvm-config.$$" "$1/bin/llvm-config"
}

prepare() {
  local clang sysroot
  [ -d "$folder" ] || make_folder
  clang=${METALWORKS_CLANG:-$llvm/bin/clang}
  [ -x "$clang" ] || clang=$(command -v clang-22) || fail 'needs clang 22: install clang-22, or set METALWORKS_CLANG'
  sysroot=$(rustc --print sysroot)
  if ! compgen -G "$sysroot/lib/rustlib/$TARGET/lib/libstd-*" >/dev/null; then
    rustup target add "$TARGET" || fail "Rust has no standard library for $TARGET: rustup target add $TARGET"
  fi
  export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/aarch64"
  make_llvm_config "$CARGO_TARGET_DIR/llvm"
  local flags="--target=aarch64-linux-gnu --sysroot=$folder/root" linker flag
  linker=$(dirname "$(find "$sysroot/lib/rustlib" -path '*/gcc-ld/ld.lld' | head -n 1)")
  export LLVM_SYS_221_PREFIX="$CARGO_TARGET_DIR/llvm"
  export CC_aarch64_unknown_linux_gnu="$clang" CFLAGS_aarch64_unknown_linux_gnu="$flags" AR_aarch64_unknown_linux_gnu="$llvm/bin/llvm-ar"
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="$clang"
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS=
  for flag in $flags -fuse-ld=lld "-B$linker" -Wl,--allow-shlib-undefined; do
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS+=" -Clink-arg=$flag"
  done
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS
  emulator=("$folder/qemu/usr/bin/qemu-aarch64-static" -cpu "${METALWORKS_QEMU_CPU:-max}" -L "$folder/root")
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="${emulator[*]}"
}

case ${1:-} in
  --dir)
    printf '%s\n' "$folder"
    ;;
  --ready)
    (prepare) || { say 'the tests for AArch64 are left out'; exit 1; }
    ;;
  test)
    shift
    prepare
    exec cargo test --target "$TARGET" "$@"
    ;;
  run)
    shift
    prepare
    exec "${emulator[@]}" "$@"
    ;;
  *)
    printf 'usage: scripts/aarch64.sh [--dir | test ARGUMENTS... | run PROGRAM...]\n' >&2
    exit 2
    ;;
esac
