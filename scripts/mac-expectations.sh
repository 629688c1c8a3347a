#!/usr/bin/env bash
# Prints the GPU family that a Mac must have, such as `7` for an M1 and `9` for an M4, or "no" if tests may fail on it.
#
# It depends on the names of CPU and macOS only, not on the program under test: a program that fails to recognize the GPU
# must fail the tests.
#
#   scripts/mac-expectations.sh                            this Mac
#   scripts/mac-expectations.sh 'Apple M2 Pro' 0 14.5      one with this CPU, 1 for a virtual machine, this macOS
set -euo pipefail

if [ $# = 3 ]; then
  cpu=$1 is_virtual=$2 version=$3
else
  cpu=$(sysctl -n machdep.cpu.brand_string)
  is_virtual=$(sysctl -n kern.hv_vmm_present 2>/dev/null || echo 0)
  version=$(sw_vers -productVersion)
fi

# Metal is used from macOS 14 on. The GPU of a virtual machine lacks simdgroup matrices, on any CPU.
if [ "${version%%.*}" -lt 14 ] || [ "$is_virtual" != 0 ]; then
  echo no
  exit
fi
case $cpu in
  *Virtual*) echo no ;;
  'Apple M1' | 'Apple M1 '*) echo 7 ;;
  'Apple M2' | 'Apple M2 '*) echo 8 ;;
  # M3, M4, and later ones, which have at least the same features.
  'Apple M'[0-9]*) echo 9 ;;
  *) echo no ;;
esac
