#!/usr/bin/env bash
# Builds the program with LLVM inside, and packages it: a .tar.xz, a .deb and a wheel in target/package.
# `make package` calls it; docs/install.md says what is in the packages.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
out=$target/package
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
machine=$(uname -m)
name=metalworks-$version-linux-$machine
# The time of all files: the same commit gives the same packages.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

# Of the compression; a low one is quick, for tries.
level=${METALWORKS_PACKAGE_LEVEL:-6}

fail() { echo "package.sh: $*" >&2; exit 1; }

LLVM_SYS_221_PREFIX=$(scripts/static-llvm.sh "$target/static-llvm") \
  ${CARGO:-cargo} build --locked --profile dist -p metalworks-cli
program=$target/dist/metalworks

# Nothing but glibc is needed.
needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
  case $library in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;;
    *) fail "the program needs $library" ;;
  esac
done
glibc=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
glibc=${glibc#GLIBC_}

stage=$out/$name
# Packages of other versions, too: the tests install what is there.
rm -rf "$out"/metalworks-*-linux-* "$out"/metalworks_*.deb "$out"/metalworks-*.whl "$out/deb"
mkdir -p "$stage/bin" "$stage/share/man/man1" "$stage/share/bash-completion/completions" \
  "$stage/share/zsh/site-functions" "$stage/share/fish/vendor_completions.d" "$stage/share/doc/metalworks"
install -m 755 "$program" "$stage/bin/metalworks"
"$program" man "$stage/share/man/man1"
"$program" completions bash > "$stage/share/bash-completion/completions/metalworks"
"$program" completions zsh > "$stage/share/zsh/site-functions/_metalworks"
"$program" completions fish > "$stage/share/fish/vendor_completions.d/metalworks.fish"
doc=$stage/share/doc/metalworks
cp LICENSE-MIT LICENSE-APACHE "$doc"
cp -r examples "$doc"

# Licenses of what is linked: crates by name; LLVM, zstd and zlib in full.
{
  printf '# Parts of other projects\n\nRust crates:\n\n'
  ${CARGO:-cargo} tree --locked -p metalworks-cli -e normal --target "$machine-unknown-linux-gnu" --prefix none \
    --format '{p}: {l}' | grep -v '^metalworks-' | sed 's/ (\*)$//; s/ (proc-macro)//; s/^/- /' | sort -u
  printf '\nLibraries in C and C++: LLVM, zstd and zlib, below; libstdc++ and libgcc, under the GPL 3 with the GCC Runtime\nLibrary Exception.\n'
  for part in llvm-22-dev libzstd-dev zlib1g-dev; do
    test ! -f "/usr/share/doc/$part/copyright" || { printf '\n## %s\n\n' "$part"; cat "/usr/share/doc/$part/copyright"; }
  done
} > "$doc/THIRD-PARTY.md"
find "$stage" -type d -exec chmod 755 {} +
find "$stage" -type f ! -path '*/bin/*' -exec chmod 644 {} +
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" | xz -T0 -"$level" > "$out/$name.tar.xz"

if command -v dpkg-deb >/dev/null; then
  architecture=$(dpkg --print-architecture)
  mkdir -p "$out/deb/DEBIAN" "$out/deb/usr"
  cp -a "$stage/bin" "$stage/share" "$out/deb/usr"
  mv "$out/deb/usr/share/zsh/site-functions" "$out/deb/usr/share/zsh/vendor-completions"
  gzip -9n "$out"/deb/usr/share/man/man1/*.1
  cat LICENSE-MIT "$doc/THIRD-PARTY.md" > "$out/deb/usr/share/doc/metalworks/copyright"
  cat > "$out/deb/DEBIAN/control" <<END
Package: metalworks
Version: $version
Architecture: $architecture
Maintainer: The Metalworks developers
Bugs: https://github.com/metalworks/metalworks/issues
Homepage: https://github.com/metalworks/metalworks
Section: devel
Priority: optional
Installed-Size: $(du -sk "$out/deb/usr" | cut -f1)
Depends: libc6 (>= $glibc)
Description: check, compile and run Metal shaders, and run models
 Metalworks checks shaders in the Metal Shading Language as Apple's compiler
 does, compiles them to libraries for Apple's GPUs and to machine code, and
 runs them and language models on CPUs and NVIDIA GPUs.
END
  find "$out/deb" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz -z"$level" --build "$out/deb" "$out/metalworks_${version}_$architecture.deb" >/dev/null
  rm -rf "$out/deb"
fi

python3 packaging/wheel.py "$stage" "$version" "manylinux_${glibc/./_}_$machine" "$out" "$level"
cp packaging/homebrew/metalworks.rb "$out"

start=$(python3 - "$stage/bin/metalworks" <<'END'
import subprocess, sys, time
def run():
    start = time.perf_counter()
    subprocess.run([sys.argv[1], "--version"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
print(f"{1000 * min(run() for _ in range(20)):.1f}")
END
)
echo "metalworks $version: $(du -h --apparent-size "$stage/bin/metalworks" | cut -f1) program, starts in $start ms, needs glibc $glibc"
(cd "$out" && du -h --apparent-size "$name.tar.xz" metalworks_"$version"_*.deb metalworks-"$version"-py3-*.whl)
