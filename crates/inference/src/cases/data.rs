//! Buffers of operations: random numbers of ordinary size, so that neither denormals nor NaN slow anything down.
//!
//! A seed gives the same bytes on every machine: only integers and exact arithmetic, no functions of a C library. So a
//! check has the same inputs everywhere, and results of two machines can be compared.

use super::case::Case;
use super::kv_blocks;
use super::output::{Decode, Number, Output};
use super::random::Random;
use crate::formats::dequantize;
use crate::formats::{Activation, CacheType, Format};
use crate::metal::dispatch::Encoding;
use crate::metal::layout::{Layout, LayoutError, Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use crate::metal::operations::{CacheRows, ExpertMatrices, KEY_TILE, KvCache};
use crate::metal::operations::{PACKED_BYTES, PACKED_NUMBERS, PackedBlock};
use compute::{Buffer, Device};
use std::cell::{Cell, RefCell};
use std::fmt;

/// An operation with its buffers, which can be encoded any number of times.
pub type Workload = Box<dyn Fn(&mut Encoding<'_>) -> compute::Result<()>>;

/// A workload, or the reason why there is none.
pub(crate) type Built = Result<Workload, Problem>;

/// Reason why the buffers of a case cannot be created.
#[derive(Debug)]
pub enum Problem {
    /// The shape is invalid.
    Shape(String),
    /// The buffers need more memory than allowed.
    Memory {
        /// Bytes; `None` if the number overflows.
        needed: Option<usize>,
        /// Maximum number of bytes.
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

/// Purpose of the buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The operation runs again and again: numbers that it updates in place stay the same, or nearly.
    Measure,
    /// The operation runs once, and its results are compared: outputs are poison before, with more poison after their
    /// end, and so is everything that the operation must not read.
    Check,
}

/// Creates the buffers of one workload.
pub struct Maker<'a> {
    device: &'a Device,
    limit: usize,
    purpose: Purpose,
    fills: bool,
    taken: Cell<usize>,
    random: Random,
    /// Digest of all bytes that were written to buffers.
    digest: Cell<u32>,
    inputs: RefCell<Vec<Buffer>>,
    outputs: RefCell<Vec<Output>>,
}

/// An array of floats, an input of an operation.
pub(crate) struct Array {
    buffer: Buffer,
    contents: ArrayContents,
}

enum ArrayContents {
    Numbers(Format),
    Packed,
    Decoded(Decode),
}

impl Array {
    /// Its current numbers, exactly.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        match self.contents {
            ArrayContents::Numbers(format) => dequantize(format, &self.buffer.read::<u8>()),
            ArrayContents::Packed => {
                self.buffer.read::<PackedBlock>().iter().flat_map(PackedBlock::numbers).collect()
            }
            ArrayContents::Decoded(decode) => decode(&self.buffer.read::<u8>()),
        }
    }
}

impl<'a> From<&'a Array> for BufferSlice<'a> {
    fn from(array: &'a Array) -> BufferSlice<'a> {
        (&array.buffer).into()
    }
}

/// A weight matrix and its buffer.
pub(crate) struct Weights {
    buffer: Buffer,
    format: Format,
    layout: Layout,
    rows: usize,
    pub(crate) columns: usize,
    /// Blocks of its first rows, or of all rows, in the layout of files; empty except for checks.
    blocks: Vec<u8>,
}

impl Weights {
    /// `[rows, columns]` numbers, exactly.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let band = dequantize(self.format, &self.blocks);
        band.iter().copied().cycle().take(self.rows * self.columns).collect()
    }

    pub(crate) fn matrix(&self) -> Matrix<'_> {
        let Weights { format, layout, rows, columns, .. } = *self;
        Matrix { data: (&self.buffer).into(), format, layout, rows, columns }
    }
}

/// The matrices of several experts and their buffer.
pub(crate) struct ExpertWeights {
    buffer: Buffer,
    format: Format,
    layout: Layout,
    count: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Blocks of all experts in the layout of files, for checks.
    blocks: Vec<u8>,
}

impl ExpertWeights {
    /// `[rows, columns]` numbers of one expert, exactly.
    pub(crate) fn expert(&self, expert: usize) -> Vec<f64> {
        let bytes = self.rows * (self.columns / self.format.block_len()) * self.format.block_size();
        dequantize(self.format, &self.blocks[expert * bytes..][..bytes])
    }

    pub(crate) fn matrices(&self) -> ExpertMatrices<'_> {
        let ExpertWeights { format, layout, rows, columns, count, .. } = *self;
        ExpertMatrices { each: Matrix { data: (&self.buffer).into(), format, layout, rows, columns }, count }
    }
}

/// Keys and values.
pub(crate) struct Cache {
    pub(crate) keys: Array,
    pub(crate) values: Array,
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
    capacity: usize,
    ty: CacheType,
}

impl Cache {
    pub(crate) fn cache(&self) -> KvCache<'_> {
        let Cache { heads, head_dim, capacity, ty, .. } = *self;
        let (keys, values) = (all(&self.keys), all(&self.values));
        KvCache {
            keys,
            values,
            heads,
            head_dim,
            capacity,
            ty,
            sequences: 1,
            rows: CacheRows::Sequence(0),
            is_ring: false,
        }
    }

    /// Index of number i of a key: 32 positions lie side by side, the layout of `include/kv_layout.metal`.
    pub(crate) fn key_index(&self, head: usize, position: usize, i: usize) -> usize {
        let tile = head * self.capacity / KEY_TILE + position / KEY_TILE;
        (tile * self.head_dim + i) * KEY_TILE + position % KEY_TILE
    }

    /// Index of number i of a value.
    pub(crate) fn value_index(&self, head: usize, position: usize, i: usize) -> usize {
        (head * self.capacity + position) * self.head_dim + i
    }
}

/// A whole buffer.
pub(crate) fn all<'a>(buffer: impl Into<BufferSlice<'a>>) -> BufferSlice<'a> {
    buffer.into()
}

impl<'a> Maker<'a> {
    /// Limits all buffers together to `limit` bytes.
    pub fn new(device: &'a Device, limit: usize, purpose: Purpose) -> Maker<'a> {
        Maker {
            device,
            limit,
            purpose,
            fills: true,
            taken: Cell::new(0),
            random: Random::new(1),
            digest: Cell::new(0),
            inputs: RefCell::default(),
            outputs: RefCell::default(),
        }
    }

    /// Leaves large buffers zero, which take no memory, and computes no formulas: enough to declare pipelines.
    pub fn without_numbers(self) -> Maker<'a> {
        Maker { fills: false, ..self }
    }

    /// Total bytes of the buffers.
    pub fn taken(&self) -> usize {
        self.taken.get()
    }

    /// Buffers with input numbers, in the order of creation.
    pub fn inputs(&self) -> Vec<Buffer> {
        self.inputs.borrow().clone()
    }

    /// Outputs of the operation, with the numbers that their formulas give.
    pub fn outputs(&self) -> Vec<Output> {
        self.outputs.borrow().clone()
    }

    /// Sets the expected numbers of an output: all of them in f64, also those that the operation does not change. The
    /// formula is evaluated at once, for checks only, from the contents of the buffers before the operation runs.
    pub(crate) fn expect(&self, output: &Output, formula: impl FnOnce() -> Vec<f64>) {
        if !(self.is_check() && self.fills) {
            return;
        }
        let expected = formula();
        let mut outputs = self.outputs.borrow_mut();
        if let Some(own) = outputs.iter_mut().find(|own| own.name == output.name) {
            own.expected = Some(expected);
        }
    }

    /// Digest of all numbers in the buffers of a check; 0 otherwise.
    pub fn digest(&self) -> u32 {
        self.digest.get()
    }

    pub(crate) fn is_check(&self) -> bool {
        self.purpose == Purpose::Check
    }

    /// Stride of rows of `width` numbers: checks have `more` numbers of padding.
    pub(crate) fn stride(&self, width: usize, more: usize) -> usize {
        if self.is_check() { width.saturating_add(more) } else { width }
    }

    /// A parameter: `checked` for checks, where it affects results, `plain` otherwise.
    pub(crate) fn parameter(&self, plain: f32, checked: f32) -> f32 {
        if self.is_check() { checked } else { plain }
    }

    /// A zeroed buffer for as many elements of `size` bytes as the product of `counts`.
    pub(crate) fn zeros(&self, counts: &[usize], size: usize) -> Result<Buffer, Problem> {
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

    /// A buffer for an output.
    pub(crate) fn output(&self, name: &'static str, counts: &[usize], number: Number) -> Result<Output, Problem> {
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

    /// An array that the operation updates in place, as an output.
    pub(crate) fn changed(&self, name: &'static str, array: &Array, number: Number) -> Output {
        let output = match array.contents {
            ArrayContents::Decoded(decode) => Output::changed_blocks(name, number, array.buffer.clone(), decode),
            _ => Output::changed(name, number, array.buffer.clone()),
        };
        self.outputs.borrow_mut().push(output.clone());
        output
    }

    /// Random activations between −1 and 1.
    pub(crate) fn activations(&self, counts: &[usize], ty: Activation) -> Result<Array, Problem> {
        self.numbers(counts, format_of(ty))
    }

    /// Random vectors: activations, or packed. Their length, the last of `counts`, is a multiple of 32 then.
    pub(crate) fn vectors(&self, counts: &[usize], ty: Activation, packed: bool) -> Result<Array, Problem> {
        if !packed {
            return self.activations(counts, ty);
        }
        let [vectors @ .., length] = counts else { return self.activations(counts, ty) };
        let blocks = length.div_ceil(PACKED_NUMBERS);
        let buffer = self.zeros(&[vectors, &[blocks]].concat(), PACKED_BYTES)?;
        if self.fills {
            let count = (buffer.len() / PACKED_BYTES * PACKED_NUMBERS).min(PATTERN);
            let numbers = dequantize(Format::F32, &self.blocks(Format::F32, count));
            let numbers: Vec<f32> = numbers.into_iter().map(|number| number as f32).collect();
            self.fill(&buffer, bytemuck::cast_slice(&PackedBlock::pack(&numbers)))?;
        }
        Ok(Array { buffer, contents: ArrayContents::Packed })
    }

    /// Random numbers between −1 and 1, in one of the formats without blocks.
    pub(crate) fn numbers(&self, counts: &[usize], format: Format) -> Result<Array, Problem> {
        let buffer = self.zeros(counts, format.block_size())?;
        if self.fills {
            let count = buffer.len() / format.block_size();
            self.fill(&buffer, &self.blocks(format, count.min(PATTERN)))?;
        }
        Ok(Array { buffer, contents: ArrayContents::Numbers(format) })
    }

    /// Random logits: most are small and a few stand out, as in models, so that samplers have something to discard.
    pub(crate) fn logits(&self, counts: &[usize]) -> Result<Array, Problem> {
        let buffer = self.zeros(counts, 4)?;
        let count = (buffer.len() / 4).min(PATTERN);
        let pattern: Vec<u8> = (0..count).flat_map(|_| self.random.exponential().to_le_bytes()).collect();
        self.fill(&buffer, &pattern)?;
        Ok(Array { buffer, contents: ArrayContents::Numbers(Format::F32) })
    }

    /// Random tokens below `end`.
    pub(crate) fn tokens(&self, count: usize, end: usize) -> Result<Buffer, Problem> {
        let tokens: Vec<u32> = (0..count).map(|_| (self.random.bits() as usize % end) as u32).collect();
        self.integers(&tokens)
    }

    /// Positions below `end`: without duplicates, if there are enough.
    pub(crate) fn positions(&self, count: usize, end: usize) -> Result<Buffer, Problem> {
        let position = |i: usize| if self.is_check() { end - 1 - i % end } else { i % end };
        let positions: Vec<u32> = (0..count).map(|i| position(i) as u32).collect();
        self.integers(&positions)
    }

    /// The given integers.
    pub(crate) fn integers(&self, numbers: &[u32]) -> Result<Buffer, Problem> {
        let buffer = self.zeros(&[numbers.len()], 4)?;
        self.fill(&buffer, bytemuck::cast_slice(numbers))?;
        Ok(buffer)
    }

    /// An array of the given numbers.
    pub(crate) fn floats(&self, numbers: &[f32]) -> Result<Array, Problem> {
        let buffer = self.zeros(&[numbers.len()], 4)?;
        self.fill(&buffer, bytemuck::cast_slice(numbers))?;
        Ok(Array { buffer, contents: ArrayContents::Numbers(Format::F32) })
    }

    /// An array of zeros.
    pub(crate) fn zero_activations(&self, counts: &[usize], ty: Activation) -> Result<Array, Problem> {
        let contents = ArrayContents::Numbers(format_of(ty));
        Ok(Array { buffer: self.zeros(counts, ty.size())?, contents })
    }

    /// A random matrix in the case's format, in the layout that inference uses.
    pub(crate) fn matrix(&self, case: &Case, rows: usize, columns: usize) -> Result<Weights, Problem> {
        let format = case.format.unwrap_or(Format::F32);
        self.weights(format, Layout::preferred(format, columns), rows, columns)
    }

    /// A random matrix. A large one repeats the same 32 rows: the values of weights do not affect the time.
    pub(crate) fn weights(
        &self,
        format: Format,
        layout: Layout,
        rows: usize,
        columns: usize,
    ) -> Result<Weights, Problem> {
        let bytes = layout.matrix_bytes(format, rows, columns)?;
        let buffer = self.zeros(&[bytes], 1)?;
        let mut weights = Weights { buffer, format, layout, rows, columns, blocks: Vec::new() };
        if self.fills {
            let band = if bytes <= SMALL { rows } else { TILE_ROWS };
            let blocks = self.blocks(format, band * (columns / format.block_len()));
            self.fill(&weights.buffer, &layout.from_blocks(format, band, columns, &blocks)?)?;
            weights.blocks = if self.is_check() { blocks } else { Vec::new() };
        }
        Ok(weights)
    }

    /// Random matrices of experts in the case's format, in the layout that inference uses. Large ones repeat a few rows.
    pub(crate) fn experts(
        &self,
        case: &Case,
        count: usize,
        rows: usize,
        columns: usize,
    ) -> Result<ExpertWeights, Problem> {
        let format = case.format.unwrap_or(Format::F32);
        let layout = Layout::preferred(format, columns);
        let each = layout.matrix_bytes(format, rows, columns)?;
        let buffer = self.zeros(&[count, each], 1)?;
        let mut experts = ExpertWeights { buffer, format, layout, count, rows, columns, blocks: Vec::new() };
        if self.fills {
            let is_small = each.saturating_mul(count) <= SMALL;
            let (count, rows) = if is_small { (count, rows) } else { (1, TILE_ROWS) };
            let blocks = self.blocks(format, count * rows * (columns / format.block_len()));
            let one = Layout::Blocks.matrix_bytes(format, rows, columns)?;
            let laid_out =
                blocks.chunks(one.max(1)).map(|blocks| layout.from_blocks(format, rows, columns, blocks));
            self.fill(&experts.buffer, &laid_out.collect::<Result<Vec<_>, _>>()?.concat())?;
            experts.blocks = if self.is_check() { blocks } else { Vec::new() };
        }
        Ok(experts)
    }

    /// A cache with room for at least `positions` positions, which are filled.
    pub(crate) fn cache(
        &self,
        heads: usize,
        head_dim: usize,
        positions: usize,
        ty: CacheType,
    ) -> Result<Cache, Problem> {
        let capacity = positions.next_multiple_of(KEY_TILE);
        let counts = [heads, head_dim, capacity];
        let part = |format: Format, keys: bool| match format {
            Format::F32 => self.activations(&counts, Activation::F32),
            Format::F16 => self.activations(&counts, Activation::F16),
            _ => self.cache_blocks(&counts, format, keys),
        };
        let (keys, values) = (part(ty.keys(), true)?, part(ty.values(), false)?);
        let cache = Cache { keys, values, heads, head_dim, capacity, ty };
        if self.is_check() {
            self.poison_behind(&cache, positions)?;
        }
        Ok(cache)
    }

    /// Random keys or values in blocks, each with a scale that the kernels could have given it.
    fn cache_blocks(&self, counts: &[usize], format: Format, keys: bool) -> Result<Array, Problem> {
        let [heads, head_dim, capacity] = counts else {
            return Err(Problem::Shape(format!("a cache has no sizes {counts:?}")));
        };
        if !head_dim.is_multiple_of(format.block_len()) {
            return Err(Problem::Shape(format!("heads of {head_dim} numbers are not whole blocks of {format}")));
        }
        let buffer = self.zeros(&[*heads, head_dim / format.block_len(), *capacity], format.block_size())?;
        let decode: Decode = match (keys, format) {
            (true, Format::Q4_0) => |bytes| kv_blocks::keys(Format::Q4_0, bytes),
            (true, _) => |bytes| kv_blocks::keys(Format::Q8_0, bytes),
            (false, Format::Q4_0) => |bytes| dequantize(Format::Q4_0, bytes),
            (false, _) => |bytes| dequantize(Format::Q8_0, bytes),
        };
        if self.fills {
            // Whole tiles of keys.
            let count = (buffer.len() / format.block_size()).min(PATTERN / KEY_TILE * KEY_TILE);
            let blocks = self.blocks(format, count);
            let tiles =
                || blocks.chunks(KEY_TILE * format.block_size()).flat_map(|tile| kv_blocks::tile(format, tile));
            let bytes = if keys { tiles().collect() } else { blocks.clone() };
            self.fill(&buffer, &bytes)?;
        }
        Ok(Array { buffer, contents: ArrayContents::Decoded(decode) })
    }

    /// Poisons everything after the last position, which no operation may read.
    fn poison_behind(&self, cache: &Cache, positions: usize) -> Result<(), Problem> {
        let (keys, values) = (cache.ty.keys(), cache.ty.values());
        let nan = |count: usize, format: Format| vec![0xff; count * format.block_size()];
        // In blocks, the scale.
        let scale = [0xff; 2];
        let (head_dim, lanes) = (cache.head_dim, positions % KEY_TILE);
        for head in 0..cache.heads {
            if values.block_len() == 1 {
                let first = cache.value_index(head, positions, 0) * values.block_size();
                self.write(&cache.values.buffer, first, &nan((cache.capacity - positions) * head_dim, values))?;
            }
            // Keys have 32 positions side by side, and only the last of these tiles is not full.
            for i in (0..head_dim).filter(|_| lanes > 0 && keys.block_len() == 1) {
                let first = cache.key_index(head, positions, i) * keys.block_size();
                self.write(&cache.keys.buffer, first, &nan(KEY_TILE - lanes, keys))?;
            }
            for position in positions..cache.capacity {
                let at = head * cache.capacity + position;
                for block in (0..head_dim / values.block_len()).filter(|_| values.block_len() > 1) {
                    let row = at * (head_dim / values.block_len()) + block;
                    self.write(&cache.values.buffer, row * values.block_size(), &scale)?;
                }
                for block in (0..head_dim / keys.block_len()).filter(|_| keys.block_len() > 1) {
                    let tile = at / KEY_TILE * (head_dim / keys.block_len()) + block;
                    let first = tile * KEY_TILE * keys.block_size() + position % KEY_TILE * 2;
                    self.write(&cache.keys.buffer, first, &scale)?;
                }
            }
        }
        Ok(())
    }

    /// Fills a buffer by repeating the pattern.
    fn fill(&self, buffer: &Buffer, pattern: &[u8]) -> Result<(), Problem> {
        self.inputs.borrow_mut().push(buffer.clone());
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

    /// Blocks of random weights. All bytes except the scales may have any value.
    pub fn blocks(&self, format: Format, count: usize) -> Vec<u8> {
        self.random.blocks(format, count)
    }
}

fn format_of(ty: Activation) -> Format {
    match ty {
        Activation::F32 => Format::F32,
        Activation::F16 => Format::F16,
    }
}

/// Length of repeated patterns: odd, so that rows differ.
const PATTERN: usize = 65_537;

/// Matrices up to this size in bytes do not repeat rows.
const SMALL: usize = 1 << 20;
