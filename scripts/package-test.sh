#!/usr/bin/env bash
# Installs the packages of `make package` and runs the program from each: the archive and the .deb in folders that have
# nothing else but glibc, the wheel in a virtual environment. Texts of models are compared with those of a program that is
# linked with LLVM's shared library. Usage: package-test.sh [FOLDER of the packages [PROGRAM to compare with]]
set -euo pipefail
cd "$(dirname "$0")/.."

packages=$(cd "${1:-${CARGO_TARGET_DIR:-target}/package}" && pwd)
reference=${2:-${CARGO_TARGET_DIR:-target}/release/metalworks}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '%s ... ' "$1"; }
ok() { echo ok; }
fail() { echo FAILED; echo "package-test.sh: $*" >&2; exit 1; }
one() { test $# = 1 && test -f "$1" || fail "not one file: $*"; echo "$1"; }
archive=$(one "$packages"/metalworks-*-linux-*.tar.xz)
wheel=$(one "$packages"/metalworks-*.whl)

# glibc FOLDER: copies glibc's libraries, and nothing else.
glibc() {
  local library path
  mkdir -p "$1/tmp" "$1/proc" "$1/dev" "$1/home"
  for library in ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do
    path=$(ldconfig -p | sed -n "s|^\s*$library (.*64.*) => ||p" | head -1)
    test -n "$path" || continue
    mkdir -p "$1$(dirname "$path")"
    cp -L "$path" "$1$path"
  done
  # The path of the interpreter is in the program.
  path=$(readelf -l "$2" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
  mkdir -p "$1$(dirname "$path")"
  cp -L "$path" "$1$path"
}

# inside ROOT ARGUMENTS…: runs the program of a root, which sees that root only.
inside() {
  local root=$1
  shift
  env -i HOME=/home METALWORKS_CACHE=/tmp/cache \
    "$(command -v unshare)" --map-root-user --mount --pid --fork --root="$root" --mount-proc=/proc "$program" "$@"
}

# commands ROOT: doctor, check, exec and run.
commands() {
  local root=$1 text
  cp examples/*.metal "$root/tmp"
  step "  doctor --quick"
  text=$(inside "$root" doctor --quick 2>&1) || fail "$text"
  ok
  step "  check"
  text=$(inside "$root" check /tmp/gemv.metal) || fail "$text"
  grep -q '1 kernel' <<< "$text" || fail "$text"
  ok
  step "  exec"
  text=$(inside "$root" exec /tmp/add_arrays.metal add_arrays --threads 4 --arg a=iota:f32:4 --arg b=full:f32:4:0.5 \
    --arg result=zeros:f32:4 --print result) || fail "$text"
  grep -q '0.5.*1.5.*2.5.*3.5' <<< "$(tr '\n' ' ' <<< "$text")" || fail "$text"
  ok
}

step 'archive'
mkdir "$work/archive" && tar -C "$work/archive" -xf "$archive" --strip-components=1
root=$work/archive program=/bin/metalworks
glibc "$root" "$root/bin/metalworks"
test -s "$root/share/man/man1/metalworks-exec.1" || fail 'no manual pages'
bash -n "$root/share/bash-completion/completions/metalworks" || fail 'the completions of bash do not parse'
ok
commands "$root"
# same_text ARGUMENTS…: both programs write the same, the reference with the model ${here[@]}, that of the root with ${there[@]}.
same_text() {
  local text expected
  expected=$(METALWORKS_CACHE=$work/cache "$reference" run "${here[@]}" --seed 7 "$@" 2> "$work/log") || fail "$(cat "$work/log")"
  text=$(inside "$root" run "${there[@]}" --seed 7 "$@" 2> "$work/log") || fail "$(cat "$work/log")"
  test -n "$text" || fail 'no text'
  test "$text" = "$expected" || fail "$(printf 'another text than that of %s:\n%s\ninstead of:\n%s' "$reference" "$text" "$expected")"
}

test -x "$reference" || fail "no $reference to compare with: run 'make build', or name a program"
step '  run, with a synthetic model'
here=(--synthetic llama-tiny:q4_0)
there=("${here[@]}")
same_text --temp 0 -n 24 -p Hello
ok
model=${METALWORKS_MODELS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks/models}/SmolLM2-135M-Instruct.Q4_1.gguf
if test -f "$model"; then
  ln "$model" "$root/tmp/smollm2.gguf" 2>/dev/null || cp "$model" "$root/tmp/smollm2.gguf"
  here=(-m "$model")
  there=(-m /tmp/smollm2.gguf)
  for temperature in 0 0.8; do
    step "  run, with smollm2 at temperature $temperature"
    same_text --temp "$temperature" -n 24 -p 'What is the capital of France?'
    ok
  done
else
  echo '  run, with smollm2: not run, the model is not here (metalworks pull smollm2)'
fi

if command -v dpkg-deb >/dev/null; then
  step '.deb'
  root=$work/deb program=/usr/bin/metalworks
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" && touch "$root/var/lib/dpkg/status"
  # The root has glibc, but dpkg does not know it.
  dpkg --root="$root" --force-not-root --force-depends --log=/dev/null -i "$(one "$packages"/metalworks_*.deb)" \
    > "$work/log" 2>&1 || fail "$(cat "$work/log")"
  glibc "$root" "$root/usr/bin/metalworks"
  test -s "$root/usr/share/man/man1/metalworks.1.gz" || fail 'no manual pages'
  text=$(inside "$root" --version) || fail "$text"
  ok
else
  echo '.deb: not run, dpkg is not here'
fi

step 'wheel'
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$wheel" > "$work/log" 2>&1 || fail "$(cat "$work/log")"
text=$("$work/venv/bin/metalworks" check examples/gemv.metal) || fail "$text"
test -s "$work/venv/share/man/man1/metalworks.1" || fail 'no manual pages'
"$work/venv/bin/pip" uninstall --quiet --yes metalworks && test ! -e "$work/venv/bin/metalworks" || fail 'not uninstalled'
ok
