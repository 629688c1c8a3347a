//! Buffers for operations: random numbers of ordinary size, so that nothing is slow because it is denormal or NaN.
//!
//! A seed is the same bytes on every machine: integers and exact arithmetic alone, no functions of a C library. So results
//! that were recorded on one can be compared with those of another.

use super::output::{Number, Output};
use super::random::Random;
use crate::formats::{Activation, Format};
use crate::metal::dispatch::Encoding;
use crate::metal::layout::{Layout, LayoutError, Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use crate::metal::operations::kv_cache::{KEY_TILE, KvCache};
use compute::{Buffer, Device};
use std::cell::{Cell, RefCell};
use std::fmt;

/// An operation with its buffers, ready to be encoded as often as one likes.
pub type Workload = Box<dyn Fn(&mut Encoding<'_>) -> compute::Result<()>>;

/// Why there are no buffers.
#[derive(Debug)]
pub enum Problem {
    /// The shape is not possible.
    Shape(String),
    /// It takes more memory than is allowed.
    Memory {
        /// How much, if it can be said.
        needed: Option<usize>,
        /// What is allowed.
        limit: usize,
    },
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

impl From<LayoutError> for Problem {
    fn from(error: LayoutError) -> Problem {
        Problem::Shape(error.to_string())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Shape(problem) => f.write_str(problem),
            Problem::Memory { needed: Some(needed), limit } => {
                write!(f, "needs {needed} bytes, but {limit} are allowed")
            }
            Problem::Memory { needed: None, .. } => f.write_str("needs more memory than there is"),
            Problem::Device(error) => error.fmt(f),
        }
    }
}

/// What buffers are made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To be run again and again: what is changed in place stays as it is, or nearly.
    Measure,
    /// To be run once and looked at: results are poison before, and there is more behind them; what must not be read is
    /// poison.
    Check,
}

/// Makes the buffers of one workload.
pub struct Maker<'a> {
    device: &'a Device,
    limit: usize,
    purpose: Purpose,
    fills: bool,
    taken: Cell<usize>,
    random: Random,
    /// Of all bytes that were written into buffers.
    digest: Cell<u32>,
    outputs: RefCell<Vec<Output>>,
}

/// A matrix, and the buffer that it is in.
pub(super) struct Weights {
    buffer: Buffer,
    format: Format,
    layout: Layout,
    rows: usize,
    columns: usize,
}

impl Weights {
    pub(super) fn matrix(&self) -> Matrix<'_> {
        let Weights { format, layout, rows, columns, .. } = *self;
        Matrix { data: (&self.buffer).into(), format, layout, rows, columns }
    }
}

/// Keys and values.
pub(super) struct Cache {
    pub(super) keys: Buffer,
    pub(super) values: Buffer,
    heads: usize,
    head_dim: usize,
    capacity: usize,
    ty: Activation,
}

impl Cache {
    pub(super) fn cache(&self) -> KvCache<'_> {
        let Cache { heads, head_dim, capacity, ty, .. } = *self;
        KvCache { keys: (&self.keys).into(), values: (&self.values).into(), heads, head_dim, capacity, ty }
    }
}

/// All of a buffer.
pub(super) fn all(buffer: &Buffer) -> BufferSlice<'_> {
    buffer.into()
}

impl<'a> Maker<'a> {
    /// Makes buffers of `limit` bytes altogether at most.
    pub fn new(device: &'a Device, limit: usize, purpose: Purpose) -> Maker<'a> {
        Maker {
            device,
            limit,
            purpose,
            fills: true,
            taken: Cell::new(0),
            random: Random::new(1),
            digest: Cell::new(0),
            outputs: RefCell::default(),
        }
    }

    /// Leaves large buffers as they are, zeros that take no memory: for who only wants to know which pipelines there are.
    pub fn without_numbers(self) -> Maker<'a> {
        Maker { fills: false, ..self }
    }

    /// Bytes that were made.
    pub fn taken(&self) -> usize {
        self.taken.get()
    }

    /// What the operation writes.
    pub fn outputs(&self) -> Vec<Output> {
        self.outputs.borrow().clone()
    }

    /// A digest of all that is in the buffers; of checks alone.
    pub fn digest(&self) -> u32 {
        self.digest.get()
    }

    pub(super) fn is_check(&self) -> bool {
        self.purpose == Purpose::Check
    }

    /// Numbers from one row of `width` to the next: those of checks have `more` between them.
    pub(super) fn stride(&self, width: usize, more: usize) -> usize {
        if self.is_check() { width.saturating_add(more) } else { width }
    }

    /// A parameter: one that changes results in checks, `plain` otherwise.
    pub(super) fn parameter(&self, plain: f32, checked: f32) -> f32 {
        if self.is_check() { checked } else { plain }
    }

    /// Zeros: as many as the product of `counts`, of `size` bytes each.
    pub(super) fn zeros(&self, counts: &[usize], size: usize) -> Result<Buffer, Problem> {
        let bytes = counts.iter().try_fold(size, |bytes, count| bytes.checked_mul(*count));
        let total = bytes.and_then(|bytes| bytes.checked_add(self.taken.get()));
        match (bytes, total) {
            (Some(bytes), Some(total)) if total <= self.limit => {
                self.taken.set(total);
                Ok(self.device.new_buffer(bytes.max(1))?)
            }
            _ => Err(Problem::Memory { needed: total, limit: self.limit }),
        }
    }

    /// Room for a result.
    pub(super) fn output(&self, name: &'static str, counts: &[usize], number: Number) -> Result<Output, Problem> {
        let guard = if self.is_check() { Output::GUARD } else { 0 };
        let elements = counts.iter().try_fold(1usize, |product, count| product.checked_mul(*count));
        let elements = elements.ok_or(Problem::Memory { needed: None, limit: self.limit })?;
        let buffer = self.zeros(&[elements.saturating_add(guard / number.size())], number.size())?;
        let output = Output::written(name, number, buffer, elements);
        if self.is_check() {
            output.poison()?;
        }
        self.outputs.borrow_mut().push(output.clone());
        Ok(output)
    }

    /// A buffer that the operation changes.
    pub(super) fn changed(&self, name: &'static str, buffer: &Buffer, number: Number) {
        self.outputs.borrow_mut().push(Output::changed(name, number, buffer.clone()));
    }

    /// Random activations between −1 and 1.
    pub(super) fn activations(&self, counts: &[usize], ty: Activation) -> Result<Buffer, Problem> {
        let format = if ty == Activation::F32 { Format::F32 } else { Format::F16 };
        self.numbers(counts, format)
    }

    /// Random numbers between −1 and 1, in one of the formats without blocks.
    pub(super) fn numbers(&self, counts: &[usize], format: Format) -> Result<Buffer, Problem> {
        let buffer = self.zeros(counts, format.block_size())?;
        if !self.fills {
            return Ok(buffer);
        }
        let count = buffer.len() / format.block_size();
        self.fill(&buffer, &self.blocks(format, count.min(PATTERN)))?;
        Ok(buffer)
    }

    /// Random logits: most are small and a few stand out, as in models, so that samplers have something to leave out.
    pub(super) fn logits(&self, counts: &[usize]) -> Result<Buffer, Problem> {
        let buffer = self.zeros(counts, 4)?;
        let count = (buffer.len() / 4).min(PATTERN);
        let pattern: Vec<u8> = (0..count).flat_map(|_| self.random.exponential().to_le_bytes()).collect();
        self.fill(&buffer, &pattern)?;
        Ok(buffer)
    }

    /// Random tokens below `end`.
    pub(super) fn tokens(&self, count: usize, end: usize) -> Result<Buffer, Problem> {
        let tokens: Vec<u32> = (0..count).map(|_| (self.random.bits() as usize % end) as u32).collect();
        self.integers(&tokens)
    }

    /// Positions below `end`: each once, if there are as many.
    pub(super) fn positions(&self, count: usize, end: usize) -> Result<Buffer, Problem> {
        let position = |i: usize| if self.is_check() { end - 1 - i % end } else { i % end };
        let positions: Vec<u32> = (0..count).map(|i| position(i) as u32).collect();
        self.integers(&positions)
    }

    fn integers(&self, numbers: &[u32]) -> Result<Buffer, Problem> {
        let buffer = self.zeros(&[numbers.len()], 4)?;
        self.write(&buffer, 0, bytemuck::cast_slice(numbers))?;
        Ok(buffer)
    }

    /// These numbers.
    pub(super) fn floats(&self, numbers: &[f32]) -> Result<Buffer, Problem> {
        let buffer = self.zeros(&[numbers.len()], 4)?;
        self.write(&buffer, 0, bytemuck::cast_slice(numbers))?;
        Ok(buffer)
    }

    /// A random matrix. Where it is large, its bands of 32 rows are alike: what weights are worth does not change the time.
    pub(super) fn weights(
        &self,
        format: Format,
        layout: Layout,
        rows: usize,
        columns: usize,
    ) -> Result<Weights, Problem> {
        let bytes = layout.matrix_bytes(format, rows, columns)?;
        let buffer = self.zeros(&[bytes], 1)?;
        if !self.fills {
            return Ok(Weights { buffer, format, layout, rows, columns });
        }
        let band = if bytes <= SMALL { rows } else { TILE_ROWS };
        let blocks = self.blocks(format, band * (columns / format.block_len()));
        self.fill(&buffer, &layout.from_blocks(format, band, columns, &blocks)?)?;
        Ok(Weights { buffer, format, layout, rows, columns })
    }

    /// A cache of at least `positions` positions, which are full.
    pub(super) fn cache(
        &self,
        heads: usize,
        head_dim: usize,
        positions: usize,
        ty: Activation,
    ) -> Result<Cache, Problem> {
        let capacity = positions.next_multiple_of(KEY_TILE);
        let counts = [heads, head_dim, capacity];
        let (keys, values) = (self.activations(&counts, ty)?, self.activations(&counts, ty)?);
        let cache = Cache { keys, values, heads, head_dim, capacity, ty };
        if self.is_check() {
            self.poison_behind(&cache, positions)?;
        }
        Ok(cache)
    }

    /// What is behind the last position is nobody's to read.
    fn poison_behind(&self, cache: &Cache, positions: usize) -> Result<(), Problem> {
        let (size, capacity, head_dim) = (cache.ty.size(), cache.capacity, cache.head_dim);
        let nan = |count: usize| vec![0xff; count * size];
        let lanes = positions % KEY_TILE;
        for head in 0..cache.heads {
            let first = (head * capacity + positions) * head_dim;
            self.write(&cache.values, first * size, &nan((capacity - positions) * head_dim))?;
            // Keys have 32 positions side by side, and only the last of these tiles is not full.
            for i in (0..head_dim).filter(|_| lanes > 0) {
                let tile = head * capacity / KEY_TILE + positions / KEY_TILE;
                let first = (tile * head_dim + i) * KEY_TILE + lanes;
                self.write(&cache.keys, first * size, &nan(KEY_TILE - lanes))?;
            }
        }
        Ok(())
    }

    fn fill(&self, buffer: &Buffer, pattern: &[u8]) -> Result<(), Problem> {
        for start in (0..buffer.len()).step_by(pattern.len().max(1)) {
            self.write(buffer, start, &pattern[..pattern.len().min(buffer.len() - start)])?;
        }
        Ok(())
    }

    fn write(&self, buffer: &Buffer, offset: usize, bytes: &[u8]) -> Result<(), Problem> {
        if self.is_check() {
            // FNV-1a.
            let step = |digest: u32, byte: &u8| (digest ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
            self.digest.set(bytes.iter().fold(self.digest.get() ^ 0x811c_9dc5, step));
        }
        Ok(buffer.write(offset, bytes)?)
    }

    /// Blocks of random numbers. All bytes but scales may have any value.
    pub fn blocks(&self, format: Format, count: usize) -> Vec<u8> {
        self.random.blocks(format, count)
    }
}

/// Numbers that are repeated: an odd count, so that rows differ.
const PATTERN: usize = 65_537;

/// Matrices of up to so many bytes have no two rows alike.
const SMALL: usize = 1 << 20;
