//! Tensors that are computed from those of files when they are read: their formats differ from those of kernels, or
//! their parts are in several places.

use super::order::{HeadOrder, RowOrder};
use super::{FileError, FileErrorKind, TensorType, Weights};
use half::{bf16, f16};
use std::ops::Range;
use std::sync::OnceLock;

/// A tensor computed from others: the rows of its parts, one after the other.
#[derive(Debug)]
pub(crate) struct Derived {
    /// Bytes of a row.
    pub(crate) row_bytes: usize,
    pub(crate) parts: Vec<Part>,
    /// All bytes, once [`Weights::data`] was called.
    pub(super) made: OnceLock<Vec<u8>>,
}

/// Rows of a tensor in a file, converted.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Number of rows that it gives.
    pub(crate) rows: usize,
    pub(crate) order: RowOrder,
    /// Columns are heads, in another order.
    pub(crate) columns: Option<HeadOrder>,
    pub(crate) values: Values,
}

/// Rows of a matrix in a file. The reader checks that they are within it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoredRows {
    /// Index of the file.
    pub(crate) file: usize,
    /// Offset of the first row.
    pub(crate) start: u64,
    /// Bytes of a row.
    pub(crate) row_bytes: usize,
    /// Number of rows.
    pub(crate) rows: usize,
}

/// Type of scales and offsets in files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScaleType {
    F32,
    F16,
    BF16,
}

/// A function of numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum NumberMap {
    Plus(f32),
    /// −exp(x)
    MinusExponential,
}

/// Numbers of a part, and their conversion.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// Bytes as they are.
    Same(StoredRows),
    /// Matrices with columns in place of rows: `inputs` rows each.
    Transposed { numbers: StoredRows, number_bytes: usize, inputs: usize },
    /// A function of the numbers, as F32.
    Mapped(StoredRows, ScaleType, NumberMap),
    /// FP8 as BF16: numbers times the scale of their tile.
    Float8 {
        numbers: StoredRows,
        /// Five bits of exponent (E5M2), not four (E4M3).
        wide: bool,
        scales: StoredRows,
        scale_type: ScaleType,
        /// Rows and columns that share a scale.
        tile: [usize; 2],
    },
    /// MLX's affine quantization: numbers of `bits` bits from the lowest bit of each word on, `scale · q + bias`.
    Affine {
        numbers: StoredRows,
        scales: StoredRows,
        biases: StoredRows,
        scale_type: ScaleType,
        bits: u32,
        group: usize,
    },
    /// MXFP4: nibbles in order, and an exponent for every 32 of them.
    Mxfp4 { numbers: StoredRows, scales: StoredRows },
}

impl ScaleType {
    pub(crate) fn size(self) -> usize {
        match self {
            ScaleType::F32 => 4,
            ScaleType::F16 | ScaleType::BF16 => 2,
        }
    }

    fn read(self, bytes: &[u8], index: usize) -> f32 {
        match self {
            ScaleType::F32 => {
                bytes.as_chunks::<4>().0.get(index).map_or(f32::NAN, |&bytes| f32::from_le_bytes(bytes))
            }
            ScaleType::F16 => {
                bytes.as_chunks::<2>().0.get(index).map_or(f32::NAN, |&bytes| f16::from_le_bytes(bytes).to_f32())
            }
            ScaleType::BF16 => {
                bytes.as_chunks::<2>().0.get(index).map_or(f32::NAN, |&bytes| bf16::from_le_bytes(bytes).to_f32())
            }
        }
    }
}

/// The format that holds MLX's numbers of this many bits without loss.
pub(crate) fn affine_format(bits: u32) -> Option<TensorType> {
    match bits {
        2..=4 => Some(TensorType::Q4_1),
        5 => Some(TensorType::Q5_1),
        6 | 8 => Some(TensorType::AFFINE8),
        _ => None,
    }
}

impl Derived {
    pub(crate) fn new(row_bytes: usize, parts: Vec<Part>) -> Derived {
        Derived { row_bytes, parts, made: OnceLock::new() }
    }

    /// Size in bytes.
    pub(super) fn size(&self) -> usize {
        self.parts.iter().map(|part| part.rows).sum::<usize>() * self.row_bytes
    }

    /// Appends the bytes of a range.
    pub(super) fn read(
        &self,
        weights: &Weights,
        name: &str,
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        if range.is_empty() || self.row_bytes == 0 {
            return Ok(());
        }
        let rows = range.start / self.row_bytes..range.end.div_ceil(self.row_bytes);
        let mut first = 0;
        let mut scratch = Scratch::default();
        for part in &self.parts {
            let (start, end) = (rows.start.max(first), rows.end.min(first + part.rows));
            for row in start..end.max(start) {
                let before = out.len();
                part.values.row(weights, name, part.order.source(row - first), &mut scratch, out)?;
                debug_assert_eq!(out.len() - before, self.row_bytes, "{name}");
                if let Some(order) = part.columns {
                    order.arrange(&mut out[before..]);
                }
            }
            first += part.rows;
        }
        // Rows are whole; the range may not be.
        out.truncate(range.end - rows.start * self.row_bytes);
        out.drain(..range.start - rows.start * self.row_bytes);
        Ok(())
    }
}

/// Bytes that are read at a time, unless a row is larger.
const WINDOW: usize = 256 << 10;
/// The same for columns, of which each row of the matrix has a part: many small reads.
const COLUMN_WINDOW: usize = 4 << 20;

/// Memory for the rows of a file.
#[derive(Default)]
struct Scratch {
    numbers: Window,
    scales: Window,
    biases: Window,
    quants: Vec<u8>,
    columns: Columns,
}

/// A few columns of a matrix in a file, one after the other.
#[derive(Default)]
struct Columns {
    bytes: Vec<u8>,
    columns: Range<usize>,
}

impl Columns {
    /// A column, counted through all matrices of `stored`, which have `inputs` rows each.
    fn column(
        &mut self,
        stored: &StoredRows,
        [number_bytes, inputs]: [usize; 2],
        weights: &Weights,
        name: &str,
        column: usize,
    ) -> Result<&[u8], FileError> {
        let column_bytes = inputs * number_bytes;
        if !self.columns.contains(&column) {
            let in_row = stored.row_bytes / number_bytes;
            let (matrix, first) = (column / in_row, column % in_row);
            let count = (COLUMN_WINDOW / column_bytes.max(1)).clamp(1, in_row - first);
            self.bytes.resize(count * column_bytes, 0);
            let mut part = Vec::new();
            for input in 0..inputs {
                let at = (matrix * inputs + input) * stored.row_bytes + first * number_bytes;
                let start = stored.start + at as u64;
                weights.fill(stored.file, start..start + (count * number_bytes) as u64, name, &mut part)?;
                for (index, number) in part.chunks_exact(number_bytes).enumerate() {
                    let at = index * column_bytes + input * number_bytes;
                    self.bytes[at..at + number_bytes].copy_from_slice(number);
                }
            }
            self.columns = column..column + count;
        }
        let at = (column - self.columns.start) * column_bytes;
        Ok(&self.bytes[at..at + column_bytes])
    }
}

/// A few rows of a file: one read for many small rows.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    stored: Option<StoredRows>,
    rows: Range<usize>,
}

impl Window {
    fn row(&mut self, stored: &StoredRows, weights: &Weights, name: &str, row: usize) -> Result<&[u8], FileError> {
        let row_bytes = stored.row_bytes;
        if self.stored != Some(*stored) || !self.rows.contains(&row) {
            let count = (WINDOW / row_bytes.max(1)).clamp(1, stored.rows.saturating_sub(row).max(1));
            let start = stored.start + (row * row_bytes) as u64;
            let range = start..start + (count * row_bytes) as u64;
            weights.fill(stored.file, range, name, &mut self.bytes)?;
            (self.stored, self.rows) = (Some(*stored), row..row + count);
        }
        let at = (row - self.rows.start) * row_bytes;
        Ok(&self.bytes[at..at + row_bytes])
    }
}

impl Values {
    /// Appends one row.
    fn row(
        &self,
        weights: &Weights,
        name: &str,
        row: usize,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        let Scratch { numbers: number_rows, scales: scale_rows, biases: bias_rows, quants, columns } = scratch;
        match self {
            Values::Same(stored) => out.extend_from_slice(number_rows.row(stored, weights, name, row)?),
            Values::Transposed { numbers, number_bytes, inputs } => {
                let sizes = [*number_bytes, *inputs];
                out.extend_from_slice(columns.column(numbers, sizes, weights, name, row)?);
            }
            Values::Mapped(stored, kind, map) => {
                let bytes = number_rows.row(stored, weights, name, row)?;
                let count = bytes.len() / kind.size();
                out.extend((0..count).map(|index| kind.read(bytes, index)).flat_map(|number| match map {
                    NumberMap::Plus(constant) => (number + constant).to_le_bytes(),
                    NumberMap::MinusExponential => (-number.exp()).to_le_bytes(),
                }));
            }
            Values::Float8 { numbers, wide, scales, scale_type, tile } => {
                let bytes = number_rows.row(numbers, weights, name, row)?;
                let scales = scale_rows.row(scales, weights, name, row / tile[0])?;
                let number = if *wide { e5m2 } else { e4m3 };
                for (tile, bytes) in bytes.chunks(tile[1]).enumerate() {
                    let scale = scale_type.read(scales, tile);
                    out.extend(bytes.iter().flat_map(|&byte| bf16::from_f32(number(byte) * scale).to_le_bytes()));
                }
            }
            Values::Affine { numbers, scales, biases, scale_type, bits, group } => {
                unpack(number_rows.row(numbers, weights, name, row)?, *bits, quants);
                let scales = scale_rows.row(scales, weights, name, row)?;
                let biases = bias_rows.row(biases, weights, name, row)?;
                for (block, quants) in quants.chunks_exact(32).enumerate() {
                    let index = block * 32 / group;
                    for number in [scale_type.read(scales, index), scale_type.read(biases, index)] {
                        let half = f16::from_f32(number);
                        if half.is_infinite() && number.is_finite() {
                            let message =
                                format!("tensor '{name}': the scale or bias {number} exceeds half precision");
                            return Err(FileError::new(FileErrorKind::Unsupported, message));
                        }
                        out.extend(half.to_le_bytes());
                    }
                    put_quants(quants, *bits, out);
                }
            }
            Values::Mxfp4 { numbers, scales } => {
                unpack(number_rows.row(numbers, weights, name, row)?, 4, quants);
                let scales = scale_rows.row(scales, weights, name, row)?;
                for (quants, scale) in quants.chunks_exact(32).zip(scales) {
                    out.push(*scale);
                    put_quants(quants, 4, out);
                }
            }
        }
        Ok(())
    }
}

/// Numbers of `bits` bits of little-endian words, from the lowest bit on. They may cross words.
fn unpack(bytes: &[u8], bits: u32, quants: &mut Vec<u8>) {
    quants.clear();
    let (mut word, mut count) = (0u32, 0);
    for &byte in bytes {
        word |= u32::from(byte) << count;
        count += 8;
        while count >= bits {
            quants.push((word & ((1 << bits) - 1)) as u8);
            word >>= bits;
            count -= bits;
        }
    }
}

/// Appends 32 numbers as [`affine_format`] stores them.
fn put_quants(quants: &[u8], bits: u32, out: &mut Vec<u8>) {
    if bits > 5 {
        out.extend_from_slice(quants);
        return;
    }
    if bits == 5 {
        let fifth = quants.iter().enumerate().fold(0u32, |fifth, (i, quant)| fifth | u32::from(quant >> 4) << i);
        out.extend(fifth.to_le_bytes());
    }
    out.extend((0..16).map(|i| quants[i] & 15 | quants[i + 16] << 4));
}

/// Sign, four bits of exponent with a bias of 7, three of fraction; no infinities.
fn e4m3(byte: u8) -> f32 {
    let magnitude = match byte & 0x7f {
        0x7f => f32::NAN,
        bits @ 0..8 => f32::from(bits) / 512.0,
        bits => f32::from_bits((u32::from(bits) << 20) + ((127 - 7) << 23)),
    };
    if byte & 0x80 == 0 { magnitude } else { -magnitude }
}

/// The upper half of a half.
fn e5m2(byte: u8) -> f32 {
    f16::from_bits(u16::from(byte) << 8).to_f32()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fp8_has_the_values_of_its_definition() {
        let values =
            [(0x00, 0.0), (0x01, 1.0 / 512.0), (0x07, 7.0 / 512.0), (0x08, 1.0 / 64.0), (0x38, 1.0), (0x7e, 448.0)];
        for (byte, value) in values {
            assert_eq!((e4m3(byte), e4m3(byte | 0x80)), (value, -value), "{byte:#x}");
        }
        assert!(e4m3(0x7f).is_nan() && e4m3(0xff).is_nan());
        assert_eq!((e5m2(0x3c), e5m2(0xfb), e5m2(0x7c)), (1.0, -57344.0, f32::INFINITY));
    }

    #[test]
    fn numbers_cross_bytes_from_the_lowest_bit_on() {
        for bits in [2, 3, 4, 5, 6, 8] {
            let numbers: Vec<u8> = (0..32u32).map(|i| (i * 37 % (1 << bits)) as u8).collect();
            let mut bytes = vec![0u8; 4 * bits as usize];
            for (i, number) in numbers.iter().enumerate() {
                for bit in (0..bits as usize).filter(|bit| number >> bit & 1 == 1) {
                    let at = i * bits as usize + bit;
                    bytes[at / 8] |= 1 << (at % 8);
                }
            }
            let mut found = Vec::new();
            unpack(&bytes, bits, &mut found);
            assert_eq!(found, numbers, "{bits} bits");
        }
    }
}
