#!/usr/bin/env bash
# Makes a folder for LLVM_SYS_221_PREFIX with which programs need no shared library but glibc's, and prints its name.
# Usage: static-llvm.sh FOLDER
#
# Its llvm-config refuses to link dynamically, and names only the parts of LLVM that are needed. System libraries are static
# because the linker takes the first folder that has a library, shared or not: this one, which has archives only.
# libxml2 (with ICU), Z3 and libedit are for parts of LLVM that stay out, and so are its interpreter and its JIT compiler.
set -euo pipefail

folder=${1:?usage: static-llvm.sh FOLDER}
mkdir -p "$folder/bin" "$folder/lib"
folder=$(cd "$folder" && pwd)
config=${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-22}/bin/llvm-config
parts='x86codegen x86asmparser x86desc x86info x86disassembler aarch64codegen aarch64asmparser aarch64desc aarch64info
  aarch64disassembler nvptxcodegen nvptxdesc nvptxinfo passes bitreader bitwriter linker irreader executionengine'

# link FILE NAME: changes nothing where the link is there, for cargo compares times.
link() {
  test -e "$1" || { echo "static-llvm.sh: $1 is not installed" >&2; exit 1; }
  test "$(readlink "$folder/lib/$2" || true)" = "$1" || ln -sfn "$1" "$folder/lib/$2"
}

libdir=$("$config" --libdir)
names=$("$config" --link-static --libnames $parts)
for name in $names; do link "$libdir/$name" "$name"; done
for name in z zstd ffi stdc++; do link "$(realpath "$(${CC:-cc} -print-file-name="lib$name.a")")" "lib$name.a"; done
# write FILE TEXT: likewise.
write() {
  test -f "$1" && test ! -L "$1" && test "$(cat "$1")" = "$2" || { rm -f "$1" && printf '%s\n' "$2" > "$1"; }
}

# Rust asks for the shared library by name; the two archives have its functions.
write "$folder/lib/libgcc_s.a" "GROUP ( $(${CC:-cc} -print-file-name=libgcc_eh.a) $(${CC:-cc} -print-file-name=libgcc.a) )"

text=$(cat <<END
#!/bin/sh
# Written by scripts/static-llvm.sh.
case " \$* " in
  *' --link-shared '*) echo 'static libraries only' >&2; exit 1 ;;
  *' --libnames '*) echo '$(echo $names)' ;;
  *' --system-libs '*) echo '-lrt -ldl -lm -lz -lzstd' ;;
  *' --libdir '*) echo '$folder/lib' ;;
  *) exec '$config' "\$@" ;;
esac
END
)
write "$folder/bin/llvm-config" "$text"
chmod +x "$folder/bin/llvm-config"
echo "$folder"
