#!/bin/sh
# validated.sh COMMAND...: runs tests under shader validation, and fails if they log a finding that is not known.
# scripts/known-findings.txt has the mistakes of other projects' kernels.
set -eu
here=$(dirname "$0")
log=$(mktemp)
trap 'rm -f "$log" "$log.known" "$log.new"' EXIT
# Code without checks must not come from the cache.
status=0
METALWORKS_CACHE=off METALWORKS_VALIDATION=shader "$@" 2> "$log" || status=$?
sed -e '/^#/d' -e '/^$/d' "$here/known-findings.txt" > "$log.known"
# Findings have an id at their end: '… [race]'.
grep -E ': error: .* \[[a-z-]+\]$' "$log" | grep -v -F -f "$log.known" > "$log.new" || true
if [ "$status" -ne 0 ]; then
    cat "$log" >&2
    exit "$status"
fi
if [ -s "$log.new" ]; then
    cat "$log.new" >&2
    exit 1
fi
# By kind: '3 race, 2 misaligned-read'.
kinds=$(grep -F -f "$log.known" "$log" | sed -n 's/.* \[\([a-z-]*\)\]$/\1/p' | sort | uniq -c |
    awk '{ printf "%s%s %s", separator, $1, $2; separator = ", " }')
echo "no new findings; known ones: ${kinds:-none}"
