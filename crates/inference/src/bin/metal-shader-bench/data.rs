//! Buffers for operations: random numbers of ordinary size, so that nothing is slow because it is denormal or NaN.

use compute::{Buffer, Device};
use half::{bf16, f16};
use inference::metal::dispatch::Encoding;
use inference::metal::dispatch::kv_cache::KvCache;
use inference::metal::format::{Activation, Format};
use inference::metal::layout::{Layout, Matrix, TILE_ROWS};
use inference::metal::library::BufferSlice;
use std::cell::Cell;
use std::fmt;

/// An operation with its buffers, ready to be encoded as often as one likes.
pub(crate) type Workload = Box<dyn Fn(&mut Encoding<'_>) -> compute::Result<()>>;

/// Why there are no buffers.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The shape is not possible, or too large.
    Shape(String),
    /// The device failed.
    Device(compute::Error),
}

impl From<compute::Error> for Problem {
    fn from(error: compute::Error) -> Problem {
        match error {
            compute::Error::Usage(problem) => Problem::Shape(problem),
            error => Problem::Device(error),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Shape(problem) => f.write_str(problem),
            Problem::Device(error) => error.fmt(f),
        }
    }
}

/// Makes the buffers of one workload.
pub(crate) struct Maker<'a> {
    device: &'a Device,
    limit: usize,
    taken: Cell<usize>,
    random: Cell<u64>,
}

/// A matrix, and the buffer that it is in.
pub(crate) struct Weights {
    buffer: Buffer,
    format: Format,
    layout: Layout,
    rows: usize,
    columns: usize,
}

impl Weights {
    pub(crate) fn matrix(&self) -> Matrix<'_> {
        let Weights { format, layout, rows, columns, .. } = *self;
        Matrix { data: (&self.buffer).into(), format, layout, rows, columns }
    }
}

/// Keys and values.
pub(crate) struct Cache {
    keys: Buffer,
    values: Buffer,
    heads: usize,
    head_dim: usize,
    capacity: usize,
    ty: Activation,
}

impl Cache {
    pub(crate) fn cache(&self) -> KvCache<'_> {
        let Cache { heads, head_dim, capacity, ty, .. } = *self;
        KvCache { keys: (&self.keys).into(), values: (&self.values).into(), heads, head_dim, capacity, ty }
    }
}

/// All of a buffer.
pub(crate) fn all(buffer: &Buffer) -> BufferSlice<'_> {
    buffer.into()
}

impl<'a> Maker<'a> {
    /// Makes buffers of `limit` bytes altogether at most.
    pub(crate) fn new(device: &'a Device, limit: usize) -> Maker<'a> {
        Maker { device, limit, taken: Cell::new(0), random: Cell::new(1) }
    }

    /// Bytes that were made.
    pub(crate) fn taken(&self) -> usize {
        self.taken.get()
    }

    /// Zeros: as many as the product of `counts`, of `size` bytes each.
    pub(crate) fn zeros(&self, counts: &[usize], size: usize) -> Result<Buffer, Problem> {
        let bytes = counts.iter().try_fold(size, |bytes, count| bytes.checked_mul(*count));
        let total = bytes.and_then(|bytes| bytes.checked_add(self.taken.get()));
        match (bytes, total) {
            (Some(bytes), Some(total)) if total <= self.limit => {
                self.taken.set(total);
                Ok(self.device.new_buffer(bytes.max(1))?)
            }
            _ => {
                let needed = total.map_or("more memory than there is".into(), crate::text::bytes);
                let limit = crate::text::bytes(self.limit);
                Err(Problem::Shape(format!("needs {needed}, but --max-memory is {limit}")))
            }
        }
    }

    /// Random activations between −1 and 1.
    pub(crate) fn activations(&self, counts: &[usize], ty: Activation) -> Result<Buffer, Problem> {
        let format = if ty == Activation::F32 { Format::F32 } else { Format::F16 };
        self.numbers(counts, format)
    }

    /// Random numbers between −1 and 1, in one of the formats without blocks.
    pub(crate) fn numbers(&self, counts: &[usize], format: Format) -> Result<Buffer, Problem> {
        let buffer = self.zeros(counts, format.block_size())?;
        self.fill(&buffer, &self.blocks(format, PATTERN))?;
        Ok(buffer)
    }

    /// Random logits: most are small and a few stand out, as in models, so that samplers have something to leave out.
    pub(crate) fn logits(&self, counts: &[usize]) -> Result<Buffer, Problem> {
        let buffer = self.zeros(counts, 4)?;
        let uniform = || (self.bits() >> 40) as f32 / (1u64 << 24) as f32;
        let pattern: Vec<u8> = (0..PATTERN).flat_map(|_| (-2.0 * (1.0 - uniform()).ln()).to_le_bytes()).collect();
        self.fill(&buffer, &pattern)?;
        Ok(buffer)
    }

    /// Random tokens below `end`, or positions.
    pub(crate) fn tokens(&self, count: usize, end: usize) -> Result<Buffer, Problem> {
        let buffer = self.zeros(&[count], 4)?;
        let tokens: Vec<u32> = (0..count).map(|_| (self.bits() as usize % end) as u32).collect();
        buffer.write(0, &tokens)?;
        Ok(buffer)
    }

    /// Positions `0, 1, …`, again from 0 at `end`.
    pub(crate) fn positions(&self, count: usize, end: usize) -> Result<Buffer, Problem> {
        let buffer = self.zeros(&[count], 4)?;
        let positions: Vec<u32> = (0..count).map(|i| (i % end) as u32).collect();
        buffer.write(0, &positions)?;
        Ok(buffer)
    }

    /// A random matrix. Its bands of 32 rows are alike: what weights are worth does not change the time.
    pub(crate) fn weights(
        &self,
        format: Format,
        layout: Layout,
        rows: usize,
        columns: usize,
    ) -> Result<Weights, Problem> {
        let shape = |error: inference::metal::layout::LayoutError| Problem::Shape(error.to_string());
        let buffer = self.zeros(&[layout.matrix_bytes(format, rows, columns).map_err(shape)?], 1)?;
        let band = self.blocks(format, TILE_ROWS * columns / format.block_len());
        let band = layout.from_blocks(format, TILE_ROWS, columns, &band).map_err(shape)?;
        self.fill(&buffer, &band)?;
        Ok(Weights { buffer, format, layout, rows, columns })
    }

    /// A full cache of at least `positions` positions.
    pub(crate) fn cache(
        &self,
        heads: usize,
        head_dim: usize,
        positions: usize,
        ty: Activation,
    ) -> Result<Cache, Problem> {
        let capacity = positions.next_multiple_of(inference::metal::dispatch::kv_cache::KEY_TILE);
        let counts = [heads, head_dim, capacity];
        let (keys, values) = (self.activations(&counts, ty)?, self.activations(&counts, ty)?);
        Ok(Cache { keys, values, heads, head_dim, capacity, ty })
    }

    fn fill(&self, buffer: &Buffer, pattern: &[u8]) -> Result<(), Problem> {
        for start in (0..buffer.len()).step_by(pattern.len().max(1)) {
            buffer.write(start, &pattern[..pattern.len().min(buffer.len() - start)])?;
        }
        Ok(())
    }

    /// Blocks of random numbers. All bytes but scales may have any value.
    pub(crate) fn blocks(&self, format: Format, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((count + 1) * format.block_size());
        for _ in 0..count {
            let number = (self.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
            match format {
                Format::F32 => bytes.extend(number.to_le_bytes()),
                Format::F16 => bytes.extend(f16::from_f32(number).to_le_bytes()),
                Format::BF16 => bytes.extend(bf16::from_f32(number).to_le_bytes()),
                _ => {
                    let start = bytes.len();
                    while bytes.len() < start + format.block_size() {
                        bytes.extend(self.bits().to_le_bytes());
                    }
                    bytes.truncate(start + format.block_size());
                    for &offset in scales(format) {
                        let scale = f16::from_f32(0.01 + 0.01 * number.abs());
                        bytes[start + offset..start + offset + 2].copy_from_slice(&scale.to_le_bytes());
                    }
                }
            }
        }
        bytes
    }

    /// SplitMix64.
    fn bits(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Numbers that are repeated: an odd count, so that rows differ.
const PATTERN: usize = 65_537;

/// Where a block has halves.
fn scales(format: Format) -> &'static [usize] {
    match format {
        Format::F32 | Format::F16 | Format::BF16 => &[],
        Format::Q8_0 | Format::Q4_0 | Format::Q5_0 => &[0],
        Format::Q4_1 | Format::Q5_1 | Format::Q4_K | Format::Q5_K => &[0, 2],
        Format::Q6_K => &[208],
    }
}
