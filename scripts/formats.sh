#!/bin/sh
# formats.sh [METALWORKS]: the default model in every file type: its size, and its perplexity on a text, as a table.
#
# The default model is Q4_1, so that these are costs of a second rounding; a file in F16 (MODEL=file.gguf) shows the first.
# Each file is removed after it was measured.
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
metalworks=${1:-$root/target/release/metalworks}
model=${MODEL:-smollm2}
text=${TEXT:-$root/crates/inference/tests/data/model/text.txt}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
types=${TYPES:-f32 f16 bf16 q8_0 q6_k q5_k_m q5_k_s q5_1 q5_0 q4_k_m q4_k_s q4_1 q4_0 iq4_nl iq4_xs q3_k_l q3_k_m q3_k_s q2_k}
echo '| type | MB | perplexity |'
echo '|---|---:|---:|'
for type in $types; do
    "$metalworks" quantize "$model" "$folder/$type.gguf" --to "$type" --allow-requantize > /dev/null
    bytes=$(wc -c < "$folder/$type.gguf")
    found=$("$metalworks" perplexity -m "$folder/$type.gguf" -f "$text" -c "${WINDOW:-256}")
    value=$(echo "$found" | sed -n 's/^perplexity \([0-9.]* ± [0-9.]*\).*/\1/p')
    test -n "$value" || { echo "$type: $found" >&2; exit 1; }
    echo "| $type | $((bytes / 1000000)) | $value |"
    rm "$folder/$type.gguf"
done
