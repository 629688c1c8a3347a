//! Blocks of keys in the KV cache, as in `include/kv_layout.metal`: those of 32 positions in one struct, their scales
//! first. Values have GGUF's blocks.

use crate::formats::{Format, dequantize};
use crate::metal::operations::KEY_TILE;

/// Reorders the blocks of 32 positions, in GGUF's layout.
pub(crate) fn tile(format: Format, blocks: &[u8]) -> Vec<u8> {
    let size = format.block_size();
    let bytes = |range: std::ops::Range<usize>| {
        range.flat_map(move |i| (0..KEY_TILE).map(move |position| (i, position))).collect::<Vec<_>>()
    };
    let scales = blocks.chunks_exact(size).flat_map(|block| block[..2].to_vec());
    scales.chain(bytes(2..size).into_iter().map(|(i, position)| blocks[position * size + i])).collect()
}

/// The inverse of [`tile`].
fn blocks(format: Format, tile: &[u8]) -> Vec<u8> {
    let size = format.block_size();
    let (scales, numbers) = tile.split_at(2 * KEY_TILE);
    let block = |position: usize| {
        let numbers = numbers.iter().skip(position).step_by(KEY_TILE).copied();
        scales[2 * position..2 * position + 2].iter().copied().chain(numbers).take(size)
    };
    (0..KEY_TILE).flat_map(block).collect()
}

/// Numbers of keys, in the order of a cache without blocks: 32 positions of each number side by side.
pub(crate) fn keys(format: Format, bytes: &[u8]) -> Vec<f64> {
    let (size, len) = (format.block_size(), format.block_len());
    let tiles = bytes.chunks_exact(size * KEY_TILE).flat_map(|tile| {
        let numbers = dequantize(format, &blocks(format, tile));
        (0..len * KEY_TILE).map(move |at| numbers[at % KEY_TILE * len + at / KEY_TILE]).collect::<Vec<_>>()
    });
    tiles.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_the_blocks_of_32_positions() {
        for format in [Format::Q8_0, Format::Q4_0] {
            let size = format.block_size();
            let original: Vec<u8> = (0..size * KEY_TILE).map(|i| (i % 113) as u8).collect();
            let tile = tile(format, &original);
            assert_eq!(tile[2..4], original[size..size + 2], "the scale of the second position");
            assert_eq!(tile[2 * KEY_TILE + 1], original[size + 2], "its first byte");
            assert_eq!(blocks(format, &tile), original);
        }
    }
}
