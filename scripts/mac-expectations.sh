#!/usr/bin/env bash
# Prints the GPU family that a Mac must have, and "no" where nothing is expected of it: `7` for an M1, `9` for an M4.
#
# It goes by the name of the machine and the version of macOS alone, never by the program under test: one that fails to
# recognize a GPU must not be excused by that.
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

# Metal is used from macOS 14 on. The GPU of a virtual machine lacks simdgroup matrices, whatever its CPU is.
if [ "${version%%.*}" -lt 14 ] || [ "$is_virtual" != 0 ]; then
  echo no
  exit
fi
case $cpu in
  *Virtual*) echo no ;;
  'Apple M1' | 'Apple M1 '*) echo 7 ;;
  'Apple M2' | 'Apple M2 '*) echo 8 ;;
  # M3 and M4; later ones have all that these have.
  'Apple M'[0-9]*) echo 9 ;;
  *) echo no ;;
esac
