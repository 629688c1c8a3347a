//! How matrices of GGUF's block formats lie in memory.
//!
//! ```text
//! blocks   row 0: block block block …   row 1: block block block …   as files have them
//! tiles    rows 0…31: first blocks, second blocks, …   rows 32…63: …
//!          the 32 blocks of a tile are transposed in units of 2 and 4 bytes: unit 0 of all rows, unit 1 of all rows, …
//! ```
//!
//! `include/tiles.metal` reads both. This is the place that decides between them: [`Layout::preferred`].

use std::fmt;

/// Rows of a tile: the lanes of a simdgroup.
pub const TILE_ROWS: usize = 32;

/// A block format of GGUF; `include/quantize.metal` says what the bytes of each mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(non_camel_case_types, reason = "GGUF's names")]
pub enum BlockFormat {
    /// 32 signed bytes with a scale.
    Q8_0,
    /// 32 numbers of 4 bits with a scale.
    Q4_0,
    /// 32 numbers of 4 bits with a scale and a minimum.
    Q4_1,
    /// 32 numbers of 5 bits with a scale.
    Q5_0,
    /// 32 numbers of 5 bits with a scale and a minimum.
    Q5_1,
    /// 256 numbers of 4 bits with eight scales and minima of 6 bits.
    Q4_K,
    /// 256 numbers of 5 bits with eight scales and minima of 6 bits.
    Q5_K,
    /// 256 numbers of 6 bits with 16 scales of 8 bits.
    Q6_K,
}

impl BlockFormat {
    /// Every format.
    pub const ALL: [BlockFormat; 8] = {
        use BlockFormat::*;
        [Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K]
    };

    /// Numbers in a block.
    pub const fn block_len(self) -> usize {
        match self {
            BlockFormat::Q4_K | BlockFormat::Q5_K | BlockFormat::Q6_K => 256,
            _ => 32,
        }
    }

    /// Bytes of a block.
    pub const fn block_bytes(self) -> usize {
        match self {
            BlockFormat::Q8_0 => 34,
            BlockFormat::Q4_0 => 18,
            BlockFormat::Q4_1 => 20,
            BlockFormat::Q5_0 => 22,
            BlockFormat::Q5_1 => 24,
            BlockFormat::Q4_K => 144,
            BlockFormat::Q5_K => 176,
            BlockFormat::Q6_K => 210,
        }
    }

    /// Bytes that are units of two: the scales. All others are units of four.
    const fn scales(self) -> std::ops::Range<usize> {
        match self {
            BlockFormat::Q8_0 | BlockFormat::Q4_0 | BlockFormat::Q5_0 => 0..2,
            BlockFormat::Q4_1 | BlockFormat::Q5_1 | BlockFormat::Q4_K | BlockFormat::Q5_K => 0..4,
            BlockFormat::Q6_K => 208..210,
        }
    }

    /// The units of a block: offset and size.
    fn units(self) -> impl Iterator<Item = (usize, usize)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (offset, size) = (at, if self.scales().contains(&at) { 2 } else { 4 });
            at += size;
            (offset < self.block_bytes()).then_some((offset, size))
        })
    }
}

/// Why a matrix cannot be re-laid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LayoutError {
    /// The columns are not whole blocks: format, columns.
    PartialBlock(BlockFormat, usize),
    /// The bytes are not as many as the matrix needs.
    WrongSize {
        /// Of the matrix.
        expected: usize,
        /// What was given.
        found: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::PartialBlock(format, columns) => {
                let len = format.block_len();
                write!(f, "{columns} columns are not whole blocks of {format:?}, which have {len} numbers each")
            }
            LayoutError::WrongSize { expected, found } => {
                write!(f, "the matrix has {expected} bytes, but {found} were given")
            }
        }
    }
}

impl std::error::Error for LayoutError {}

/// How the blocks of a matrix lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// As files have them.
    Blocks,
    /// 32 rows at a time, transposed.
    Tiles,
}

impl Layout {
    /// The layout in which products with a matrix of this format are fastest. One answer so far, on all devices:
    ///
    /// 4096 × 4096, one vector, one thread of a CPU with AVX-512: 24 billion weights a second from tiles (Q4_0), 4.5 from
    /// blocks, whose words are gathered; the other formats are alike. On a GPU, lanes that read words of tiles read whole
    /// cache lines, and those that read blocks one cache line each.
    pub const fn preferred(_format: BlockFormat) -> Layout {
        Layout::Tiles
    }

    /// Bytes of a matrix in this layout; tiles have rows up to a multiple of 32.
    pub fn matrix_bytes(self, format: BlockFormat, rows: usize, columns: usize) -> Result<usize, LayoutError> {
        if !columns.is_multiple_of(format.block_len()) {
            return Err(LayoutError::PartialBlock(format, columns));
        }
        let rows = if self == Layout::Tiles { rows.next_multiple_of(TILE_ROWS) } else { rows };
        Ok(rows * (columns / format.block_len()) * format.block_bytes())
    }

    /// Brings a matrix from the layout of files into this one.
    pub fn from_blocks(
        self,
        format: BlockFormat,
        rows: usize,
        columns: usize,
        blocks: &[u8],
    ) -> Result<Vec<u8>, LayoutError> {
        let expected = Layout::Blocks.matrix_bytes(format, rows, columns)?;
        if blocks.len() != expected {
            return Err(LayoutError::WrongSize { expected, found: blocks.len() });
        }
        match self {
            Layout::Blocks => Ok(blocks.to_vec()),
            Layout::Tiles => {
                let mut tiles = vec![0; self.matrix_bytes(format, rows, columns)?];
                tile(format, columns, blocks, &mut tiles);
                Ok(tiles)
            }
        }
    }
}

fn tile(format: BlockFormat, columns: usize, blocks: &[u8], tiles: &mut [u8]) {
    if blocks.is_empty() {
        return;
    }
    let bytes = format.block_bytes();
    let row_bytes = columns / format.block_len() * bytes;
    let units: Vec<(usize, usize)> = format.units().collect();
    for (rows, tiles) in blocks.chunks(row_bytes * TILE_ROWS).zip(tiles.chunks_mut(row_bytes * TILE_ROWS)) {
        for (column, tile) in tiles.chunks_exact_mut(bytes * TILE_ROWS).enumerate() {
            for (lane, row) in rows.chunks_exact(row_bytes).enumerate() {
                let block = &row[column * bytes..][..bytes];
                for &(offset, size) in &units {
                    let place = TILE_ROWS * offset + lane * size;
                    tile[place..place + size].copy_from_slice(&block[offset..offset + size]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_cover_blocks() {
        for format in BlockFormat::ALL {
            let mut end = 0;
            for (offset, size) in format.units() {
                assert_eq!(offset, end, "{format:?}");
                assert!(offset.is_multiple_of(2) && (TILE_ROWS * offset).is_multiple_of(size), "{format:?}");
                end += size;
            }
            assert_eq!(end, format.block_bytes(), "{format:?}");
        }
    }

    #[test]
    fn every_unit_is_where_kernels_look() {
        for format in BlockFormat::ALL {
            let (rows, blocks_per_row, bytes) = (37, 3, format.block_bytes());
            let columns = blocks_per_row * format.block_len();
            let blocks: Vec<u8> = (0..rows * blocks_per_row * bytes).map(|i| (i * 31 % 251) as u8 + 1).collect();
            let tiles = Layout::Tiles.from_blocks(format, rows, columns, &blocks).unwrap();
            assert_eq!(tiles.len(), 64 * blocks_per_row * bytes);
            for (row, block) in (0..rows).flat_map(|row| (0..blocks_per_row).map(move |block| (row, block))) {
                for (offset, size) in format.units() {
                    let tile = (row / 32 * blocks_per_row + block) * 32 * bytes;
                    let place = tile + 32 * offset + row % 32 * size;
                    let from = (row * blocks_per_row + block) * bytes + offset;
                    assert_eq!(tiles[place..place + size], blocks[from..from + size], "{format:?} {row} {block}");
                }
            }
            let written = tiles.iter().filter(|&&byte| byte != 0).count();
            assert_eq!(written, blocks.len(), "{format:?}: rows that are missing are zero");
        }
    }

    #[test]
    fn wrong_sizes_are_errors() {
        let error = Layout::Tiles.from_blocks(BlockFormat::Q4_K, 1, 32, &[]).unwrap_err();
        assert_eq!(error.to_string(), "32 columns are not whole blocks of Q4_K, which have 256 numbers each");
        let error = Layout::Tiles.from_blocks(BlockFormat::Q8_0, 2, 32, &[0; 34]).unwrap_err();
        assert_eq!(error.to_string(), "the matrix has 68 bytes, but 34 were given");
        assert_eq!(Layout::Tiles.from_blocks(BlockFormat::Q8_0, 0, 32, &[]), Ok(Vec::new()));
    }
}
