//! Memory layouts of weight matrices in GGUF's block formats.
//!
//! ```text
//! blocks   row 0: block block block …   row 1: block block block …   as in files
//! tiles    rows 0…31: first blocks, second blocks, …   rows 32…63: …
//!          the 32 blocks of a tile are transposed in units of 1, 2 and 4 bytes: unit 0 of all rows, unit 1 of all rows, …
//!          (of Q3_K, Q5_K and Q6_K in orders of their own)
//! ```
//!
//! `include/tiles.metal` reads both; [`crate::metal::Tuning::layout`] chooses one for a device.

use super::library::BufferSlice;
use crate::formats::Format;
use std::fmt;

/// Rows of a tile: the lanes of a simdgroup.
pub const TILE_ROWS: usize = super::kernels::tiles::TILE_ROWS;

/// Reason why a matrix cannot be laid out.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LayoutError {
    /// The columns are not a multiple of the format's block: format, columns.
    PartialBlock(Format, usize),
    /// Its size in bytes overflows: rows, columns.
    TooLarge(usize, usize),
    /// The buffer has another size than the matrix.
    WrongSize {
        /// Size of the matrix in bytes.
        expected: usize,
        /// Size of the buffer in bytes.
        found: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::PartialBlock(format, columns) => {
                let len = format.block_len();
                write!(f, "{columns} columns are not whole blocks of {format}, which have {len} numbers each")
            }
            LayoutError::TooLarge(rows, columns) => {
                write!(f, "a matrix of {rows} × {columns} is larger than any memory")
            }
            LayoutError::WrongSize { expected, found } => {
                write!(f, "the matrix has {expected} bytes, but {found} were given")
            }
        }
    }
}

impl std::error::Error for LayoutError {}

/// A matrix of weights in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// [`Layout::matrix_bytes`] bytes.
    pub data: BufferSlice<'a>,
    /// Format of its numbers.
    pub format: Format,
    /// Layout of its blocks.
    pub layout: Layout,
    /// Rows: outputs of a product.
    pub rows: usize,
    /// Columns: inputs of a product.
    pub columns: usize,
}

/// Memory layout of a matrix's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// The layout of GGUF files.
    Blocks,
    /// Tiles of 32 rows, transposed.
    Tiles,
}

impl Layout {
    /// The layout in which products with such a matrix are fastest, on all devices so far: tiles, wherever kernels read
    /// them. For plain numbers that is rows of a multiple of 32.
    ///
    /// 4096 × 4096, one vector, one thread of a CPU with AVX-512: 24 billion weights per second from tiles of Q4_0, 4.5
    /// from blocks, whose words are gathered; the other formats are similar. Eight vectors and F16: 78 GFLOP/s from
    /// tiles, 39 from rows. On a GPU, lanes that read a tile read whole cache lines; lanes that read blocks read one
    /// cache line each.
    pub const fn preferred(_format: Format, columns: usize) -> Layout {
        if columns.is_multiple_of(32) { Layout::Tiles } else { Layout::Blocks }
    }

    /// Bytes of a matrix in this layout. Tiles round the rows up to a multiple of 32.
    pub fn matrix_bytes(self, format: Format, rows: usize, columns: usize) -> Result<usize, LayoutError> {
        if !columns.is_multiple_of(format.block_len()) {
            return Err(LayoutError::PartialBlock(format, columns));
        }
        let rows = if self == Layout::Tiles { rows.div_ceil(TILE_ROWS).saturating_mul(TILE_ROWS) } else { rows };
        let blocks = rows.checked_mul(columns / format.block_len());
        blocks
            .and_then(|blocks| blocks.checked_mul(format.block_size()))
            .ok_or(LayoutError::TooLarge(rows, columns))
    }

    /// Converts a matrix from the layout of files to this one.
    pub fn from_blocks(
        self,
        format: Format,
        rows: usize,
        columns: usize,
        blocks: &[u8],
    ) -> Result<Vec<u8>, LayoutError> {
        let mut matrix = vec![0; self.matrix_bytes(format, rows, columns)?];
        self.lay_out(format, rows, columns, blocks, &mut matrix)?;
        Ok(matrix)
    }

    /// Converts a matrix from the layout of files to this one, into existing memory. 4 to 6 GB/s on one thread. Parts
    /// of a matrix that begin at a multiple of 32 rows can be converted on their own.
    pub fn lay_out(
        self,
        format: Format,
        rows: usize,
        columns: usize,
        blocks: &[u8],
        matrix: &mut [u8],
    ) -> Result<(), LayoutError> {
        let sizes = [
            (Layout::Blocks.matrix_bytes(format, rows, columns)?, blocks.len()),
            (self.matrix_bytes(format, rows, columns)?, matrix.len()),
        ];
        if let Some(&(expected, found)) = sizes.iter().find(|(expected, found)| expected != found) {
            return Err(LayoutError::WrongSize { expected, found });
        }
        match self {
            Layout::Blocks => matrix.copy_from_slice(blocks),
            Layout::Tiles => tile(format, columns, blocks, matrix),
        }
        Ok(())
    }
}

fn tile(format: Format, columns: usize, blocks: &[u8], tiles: &mut [u8]) {
    let bytes = format.block_size();
    let row_bytes = columns / format.block_len() * bytes;
    if blocks.is_empty() {
        return;
    }
    let units: Vec<(usize, usize)> = format.units().collect();
    for (rows, tiles) in blocks.chunks(row_bytes * TILE_ROWS).zip(tiles.chunks_exact_mut(row_bytes * TILE_ROWS)) {
        for (column, tile) in tiles.chunks_exact_mut(bytes * TILE_ROWS).enumerate() {
            for &(offset, size) in &units {
                let start = TILE_ROWS * format.tile_offset(offset);
                let lanes = &mut tile[start..start + TILE_ROWS * size];
                let rows = rows.chunks_exact(row_bytes).map(|row| &row[column * bytes + offset..]);
                match size {
                    1 => gather::<1>(rows, lanes),
                    2 => gather::<2>(rows, lanes),
                    _ => gather::<4>(rows, lanes),
                }
            }
        }
    }
}

/// Copies the first `SIZE` bytes of each row side by side; missing rows are zero.
fn gather<'a, const SIZE: usize>(rows: impl Iterator<Item = &'a [u8]>, lanes: &mut [u8]) {
    let lanes = lanes.as_chunks_mut::<SIZE>().0;
    let mut count = 0;
    for (row, lane) in rows.zip(lanes.iter_mut()) {
        lane.copy_from_slice(&row[..SIZE]);
        count += 1;
    }
    lanes[count..].fill([0; SIZE]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_every_unit_at_its_offset() {
        for format in Format::ALL {
            let (rows, blocks_per_row, bytes) = (37, 3, format.block_size());
            let columns = blocks_per_row * format.block_len();
            let blocks: Vec<u8> = (0..rows * blocks_per_row * bytes).map(|i| (i * 31 % 251) as u8 + 1).collect();
            // The previous contents of the memory do not matter.
            let mut tiles = vec![0xff; 64 * blocks_per_row * bytes];
            Layout::Tiles.lay_out(format, rows, columns, &blocks, &mut tiles).unwrap();
            assert_eq!(Layout::Tiles.from_blocks(format, rows, columns, &blocks).as_ref(), Ok(&tiles));
            for (row, block) in (0..rows).flat_map(|row| (0..blocks_per_row).map(move |block| (row, block))) {
                for (offset, size) in format.units() {
                    let tile = (row / 32 * blocks_per_row + block) * 32 * bytes;
                    let start = tile + 32 * format.tile_offset(offset) + row % 32 * size;
                    let from = (row * blocks_per_row + block) * bytes + offset;
                    assert_eq!(tiles[start..start + size], blocks[from..from + size], "{format:?} {row} {block}");
                }
            }
            let written = tiles.iter().filter(|&&byte| byte != 0).count();
            assert_eq!(written, blocks.len(), "{format:?}: rows that are missing are zero");
        }
    }

    #[test]
    fn wrong_sizes_are_errors() {
        let error = Layout::Tiles.from_blocks(Format::Q4_K, 1, 32, &[]).unwrap_err();
        assert_eq!(error.to_string(), "32 columns are not whole blocks of q4_K, which have 256 numbers each");
        let error = Layout::Tiles.from_blocks(Format::Q8_0, 2, 32, &[0; 34]).unwrap_err();
        assert_eq!(error.to_string(), "the matrix has 68 bytes, but 34 were given");
        assert_eq!(Layout::Tiles.from_blocks(Format::Q8_0, 0, 32, &[]), Ok(Vec::new()));
        assert_eq!(Layout::Tiles.from_blocks(Format::F16, 5, 0, &[]), Ok(Vec::new()));
        let error = Layout::Tiles.lay_out(Format::Q8_0, 1, 32, &[0; 34], &mut [0; 34]).unwrap_err();
        assert_eq!(error.to_string(), "the matrix has 1088 bytes, but 34 were given");
        let error = Layout::Tiles.matrix_bytes(Format::F32, usize::MAX, 32).unwrap_err();
        assert!(error.to_string().ends_with("is larger than any memory"), "{error}");
    }
}
