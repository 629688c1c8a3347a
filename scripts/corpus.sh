#!/usr/bin/env bash
# Downloads Metal shaders of other projects to test the front end. They stay in a cache and are not committed.
#
#   scripts/corpus.sh         create or update the corpus, and list its contents
#   scripts/corpus.sh --dir   print its folder only
#   scripts/corpus.sh llama   create the part llama alone, which is not in the corpus by default, and print its folder
#   scripts/corpus.sh torch   the same for the part torch
#
# Contents of ${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}/corpus:
#
#   candle/*.metal                     from the crate candle-metal-kernels
#   ggml/ggml-metal/kernels/*.metal    from the sdist of llama-cpp-python; search ggml and ggml/ggml-metal for includes
#   mlx/mlx/backend/metal/kernels/     headers from the wheel mlx-metal; search mlx for includes
#   mlx/mlx.metallib                   its kernels, compiled by Apple's compiler
#   metal-cpp/                         headers of metal-cpp, from the same wheel
#   llama/                             sources of llama.cpp, from the sdist of llama-cpp-python
#   torch/torch-{3.1,4.0}.metallib     kernels of PyTorch, compiled by Apple's compiler for macOS 14 and 26, from its wheel
#   torch/include/                     headers of its shaders
#
# Each part is created in a temporary folder and then renamed, so it is complete or absent. Its stamp names its source: a
# part whose pinned version changed is created again. Needs cargo and python3. An archive copied into the corpus folder
# replaces a download.
set -euo pipefail

CANDLE_VERSION=0.11.1
LLAMA_VERSION=0.3.36
LLAMA_ARCHIVE=llama_cpp_python-$LLAMA_VERSION.tar.gz
LLAMA_SHA256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
MLX_VERSION=0.32.4
MLX_ARCHIVE=mlx_metal-$MLX_VERSION-py3-none-macosx_14_0_arm64.whl
MLX_SHA256=8019b2db622599267d66cc168b2f0dbf5af929790a6c3b3913e00eabc42a7947
TORCH_VERSION=2.15.0
TORCH_ARCHIVE=torch-$TORCH_VERSION-cp312-cp312-macosx_14_0_arm64.whl
TORCH_SHA256=593e5fd0c204284890d1c3dff643be34e549e1d24523e13402510f960d4da438
LAYOUT=1 # increment when the set of extracted files or their paths change

cache=${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}
corpus=$cache/corpus

fail() {
  printf 'corpus: error: %s\n' "$1" >&2
  exit 1
}

# Succeeds if part $1 was created from $2.
is_current() {
  [ "$(cat "$corpus/$1/.stamp" 2>/dev/null)" = "$2 layout $LAYOUT" ]
}

# Calls $3 to fill a new folder, and renames the folder to part $1, stamped with its source $2.
make_part() {
  local part=$1 stamp=$2 fill=$3
  if is_current "$part" "$stamp"; then
    return
  fi
  printf 'corpus: downloading %s\n' "$stamp" >&2
  mkdir "$temporary/$part"
  "$fill" "$temporary/$part"
  printf '%s layout %s\n' "$stamp" "$LAYOUT" >"$temporary/$part/.stamp"
  if [ -e "$corpus/$part" ]; then
    mv "$corpus/$part" "$temporary/old-$part"
  fi
  # Not mv, which would move it into a folder that another run just created.
  python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$temporary/$part" "$corpus/$part" 2>/dev/null ||
    is_current "$part" "$stamp" || fail "cannot move $part into $corpus"
}

# Sets the array pip to a working command.
find_pip() {
  pip=(python3 -m pip)
  "${pip[@]}" --version >/dev/null 2>&1 && return
  # Debian's python3 has no pip, but a virtual environment has one if python3-venv is installed.
  if python3 -m venv "$temporary/venv" >/dev/null 2>&1; then
    pip=("$temporary/venv/bin/python3" -m pip)
    "${pip[@]}" --version >/dev/null 2>&1 && return
  fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    printf 'corpus: installing python3-pip\n' >&2
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-pip; } \
      >"$temporary/apt.log" 2>&1 || { tail -n 5 "$temporary/apt.log" >&2; fail 'cannot install python3-pip'; }
    pip=(python3 -m pip)
    "${pip[@]}" --version >/dev/null 2>&1 && return
  fi
  fail 'python3 has no pip: install python3-pip or python3-venv and run this again'
}

sha256() {
  python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"
}

# Sets archive to the path of the archive $1 with the checksum $2: the one in the corpus folder, or else the result of
# `pip download` with the other arguments.
get_archive() {
  local name=$1 checksum=$2
  shift 2
  for archive in "$corpus/$name" "$temporary/$name"; do
    if [ -f "$archive" ] && [ "$(sha256 "$archive")" = "$checksum" ]; then
      return
    fi
  done
  find_pip
  "${pip[@]}" download --quiet --disable-pip-version-check --no-deps --dest "$temporary" "$@" \
    >"$temporary/pip.log" 2>&1 ||
    { tail -n 5 "$temporary/pip.log" >&2; fail "cannot download $name: check the network, or copy it into $corpus"; }
  archive=$temporary/$name
  [ -f "$archive" ] || fail "expected pip to download $name, found: $(cd "$temporary" && echo *.tar.gz *.whl)"
  [ "$(sha256 "$archive")" = "$checksum" ] || fail "$name is not the pinned file: its SHA-256 differs"
}

# Cargo verifies the checksum of the crate, and reports where it unpacked it.
fill_candle() {
  local package=$temporary/candle-package manifest
  mkdir -p "$package/src"
  touch "$package/src/lib.rs"
  printf '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s\n[workspace]\n' \
    "candle-metal-kernels = \"=$CANDLE_VERSION\"" >"$package/Cargo.toml"
  cargo metadata --quiet --format-version 1 --manifest-path "$package/Cargo.toml" \
    >"$temporary/metadata.json" 2>"$temporary/cargo.log" ||
    { tail -n 5 "$temporary/cargo.log" >&2; fail 'cannot download candle-metal-kernels: check the network'; }
  manifest=$(python3 -c '
import json, sys
packages = json.load(open(sys.argv[1]))["packages"]
print(next(p["manifest_path"] for p in packages if p["name"] == "candle-metal-kernels"))' "$temporary/metadata.json")
  cp "$(dirname "$manifest")"/src/metal_src/*.metal "$1"
}

# Not `--no-binary :all:`: pip would build even cmake from source.
fill_ggml() {
  get_archive "$LLAMA_ARCHIVE" "$LLAMA_SHA256" --no-binary llama-cpp-python "llama-cpp-python==$LLAMA_VERSION"
  extract "$archive" 'vendor/llama.cpp/ggml/src/' '^(ggml-common\.h|ggml-metal/.*\.(metal|h))$' "$1"
}

fill_mlx() {
  get_archive "$MLX_ARCHIVE" "$MLX_SHA256" --only-binary=:all: --platform macosx_14_0_arm64 "mlx-metal==$MLX_VERSION"
  extract "$archive" 'mlx/include/' '^mlx/backend/metal/kernels/.*\.h$' "$1"
  extract "$archive" 'mlx/lib/' '^mlx\.metallib$' "$1"
}

fill_metal_cpp() {
  get_archive "$MLX_ARCHIVE" "$MLX_SHA256" --only-binary=:all: --platform macosx_14_0_arm64 "mlx-metal==$MLX_VERSION"
  extract "$archive" 'mlx/include/metal_cpp/' '\.hpp$' "$1"
}

fill_llama() {
  get_archive "$LLAMA_ARCHIVE" "$LLAMA_SHA256" --no-binary llama-cpp-python "llama-cpp-python==$LLAMA_VERSION"
  extract "$archive" 'vendor/llama.cpp/' \
    '^(ggml/(include|src)/[^/]*\.|ggml/src/ggml-(cpu|metal)/|include/|src/|examples/simple/|tests/test-backend-ops\.cpp)' "$1"
}

# The libraries are in the program's data. Each begins with MTLB, and has its size in bytes 16 to 23.
fill_torch() {
  get_archive "$TORCH_ARCHIVE" "$TORCH_SHA256" --only-binary=:all: --platform macosx_14_0_arm64 --python-version 3.12 \
    "torch==$TORCH_VERSION"
  python3 - "$archive" "$1" <<'PYTHON'
import struct, sys, zipfile

archive, destination = sys.argv[1:]
with zipfile.ZipFile(archive) as wheel:
    data = wheel.read("torch/lib/libtorch_cpu.dylib")
libraries, start = [], data.find(b"MTLB")
while start >= 0:
    size = struct.unpack_from("<Q", data, start + 16)[0] if start + 24 <= len(data) else 0
    # The same four letters are in text, too.
    is_library = 1 << 20 < size <= len(data) - start
    if is_library:
        libraries.append(data[start:start + size])
    start = data.find(b"MTLB", start + (size if is_library else 4))
if len(libraries) != 2:
    sys.exit(f"corpus: error: expected two libraries in {archive}, found {len(libraries)}")
for version, library in zip(("3.1", "4.0"), libraries):
    with open(f"{destination}/torch-{version}.metallib", "wb") as file:
        file.write(library)
PYTHON
  extract "$archive" 'torch/include/' '^(c10/metal|ATen/native/mps/kernels)/' "$1/include"
}

# Extracts files of archive $1 into $4: those below the folder $2 whose relative path matches $3.
extract() {
  python3 - "$@" <<'PYTHON'
import os, re, sys, tarfile, zipfile

archive, below, pattern, destination = sys.argv[1:]

def files():
    if archive.endswith(".whl"):
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                yield name, lambda: wheel.read(name)
    else:
        with tarfile.open(archive) as sdist:
            for member in sdist:
                if member.isfile():
                    yield member.name, lambda: sdist.extractfile(member).read()

count = 0
for name, read in files():
    start = name.find(below)
    path = name[start + len(below):]
    if start < 0 or ".." in path or not re.search(pattern, path):
        continue
    target = os.path.join(destination, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(read())
    count += 1
if count == 0:
    sys.exit(f"corpus: error: nothing below {below} in {archive}")
PYTHON
}

describe() {
  printf '%6d %-7s %s\n' "$(find "$corpus/$1" -name "*.$2" | wc -l)" ".$2" "$1/$3"
}

case ${1:-} in
  '') ;;
  --dir) printf '%s\n' "$corpus" && exit ;;
  llama | torch) ;;
  *) printf 'usage: scripts/corpus.sh [--dir | llama | torch]\n' >&2 && exit 2 ;;
esac

for tool in cargo python3; do
  command -v "$tool" >/dev/null || fail "needs $tool, which is not in PATH"
done
mkdir -p "$corpus"
temporary=$(mktemp -d "$corpus/.making.XXXXXX")
trap 'rm -rf "$temporary"' EXIT

if [ "${1:-}" = llama ]; then
  make_part llama "llama-cpp-python $LLAMA_VERSION, sources" fill_llama
  printf '%s\n' "$corpus/llama"
  exit
fi
if [ "${1:-}" = torch ]; then
  make_part torch "torch $TORCH_VERSION, headers and libraries" fill_torch
  printf '%s\n' "$corpus/torch"
  exit
fi

make_part candle "candle-metal-kernels $CANDLE_VERSION" fill_candle
make_part ggml "llama-cpp-python $LLAMA_VERSION" fill_ggml
make_part mlx "mlx-metal $MLX_VERSION, headers and library" fill_mlx
make_part metal-cpp "metal-cpp of mlx-metal $MLX_VERSION" fill_metal_cpp

printf 'corpus: %s\n' "$corpus"
describe candle metal '*.metal'
describe ggml metal 'ggml-metal/kernels/*.metal'
describe mlx h 'mlx/backend/metal/kernels/**/*.h'
describe metal-cpp hpp '**/*.hpp'
