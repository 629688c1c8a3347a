//! Dispatches as launches: the entry, the parameters, grid and block. No function here calls the driver.
//!
//! ```text
//! dispatch of a table ── Threadgroups: whole or any ── entry: values, or addresses ── parameters, packed
//! ```
//!
//! `set_bytes` data goes into the parameters where the kernel's entry takes values. A dispatch takes addresses instead
//! if its kernel has no such entry, if one of these arguments is bound to a buffer, or if replays patch them: the values
//! of a graph do not change. Then the bytes must be in device memory ([`ByteSlots`]).

use crate::backend::{ArgumentMemory, BYTES_ALIGNMENT, Block, Table, block_bytes};
use crate::error::{Error, Result};
use crate::kernel::arguments::THREADGROUP_ALIGNMENT;
use abi::call::ARGUMENT_SLOTS;
use abi::{SimtParameter, Threadgroups};
use std::ops::Range;

/// CUDA's limits for the number of threadgroups along each dimension.
const MOST_THREADGROUPS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// The parameters of a kernel's entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Parameters of the entry that takes addresses.
    pub(super) addresses: Vec<SimtParameter>,
    /// Parameters of the entry that takes values, if there is one.
    pub(super) values: Option<Vec<SimtParameter>>,
    /// Bytes of the kernel's own threadgroup variables.
    pub(super) threadgroup_variables: u32,
}

/// Bytes behind threadgroup memory. Sorts of MLX read one element beyond the end and do not use it, and ggml's attention of
/// one token with heads of 96 clears 256 bytes there, which CPUs and Apple's GPUs allow, and a GPU of NVIDIA takes for an
/// illegal access.
const SPARE: u32 = 256;

/// Shared memory that every launch may have.
const USUAL_SHARED: u32 = 48 << 10;

/// Spare bytes behind so many bytes of threadgroup memory.
pub(super) fn spare_behind(bytes: u32) -> u32 {
    if (1..=USUAL_SHARED - SPARE).contains(&bytes) { SPARE } else { 0 }
}

/// An entry of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryKind {
    /// Every buffer is an address.
    Addresses,
    /// `constant` references are values.
    Values,
}

/// Device addresses that parameters refer to.
#[derive(Clone, Copy)]
pub(super) struct LaunchAddresses<'a> {
    /// The blocks in device memory.
    pub(super) slots: &'a ByteSlots,
    /// The address of the first of them.
    pub(super) bytes: u64,
    /// The word for failures.
    pub(super) failure: u64,
}

/// The blocks of a table that replays patch.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct PatchedBlocks(Vec<bool>);

impl PatchedBlocks {
    /// Adds the blocks of a range of bytes; returns true if one is new.
    pub(super) fn add(&mut self, bytes: &Range<usize>) -> bool {
        let blocks = bytes.start / BYTES_ALIGNMENT..bytes.end.div_ceil(BYTES_ALIGNMENT);
        if self.0.len() < blocks.end {
            self.0.resize(blocks.end, false);
        }
        self.0[blocks].iter_mut().fold(false, |new, block| new | !std::mem::replace(block, true))
    }

    fn has(&self, mut blocks: Range<usize>) -> bool {
        blocks.any(|block| self.0.get(block).copied().unwrap_or(false))
    }
}

/// The blocks of a table that dispatches take by address, side by side.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct ByteSlots {
    /// The slot of each block of the table.
    slots: Vec<Option<u32>>,
    count: u32,
}

impl ByteSlots {
    /// Adds the blocks that a dispatch takes by address.
    pub(super) fn add(&mut self, signature: &Signature, table: &Table, number: usize, patched: &PatchedBlocks) {
        let bound = BoundMemory::new(table, number);
        for parameter in signature.parameters(signature.entry(table, number, patched)) {
            if let SimtParameter::Buffer { index } = parameter
                && let Some(ArgumentMemory::Bytes { block, len }) = bound.at(*index)
            {
                let blocks = blocks_of(block, len);
                if self.slots.len() < blocks.end {
                    self.slots.resize(blocks.end, None);
                }
                // The blocks of an argument are all there, or none.
                for slot in self.slots[blocks].iter_mut().filter(|slot| slot.is_none()) {
                    *slot = Some(self.count);
                    self.count += 1;
                }
            }
        }
    }

    /// Bytes of all slots.
    pub(super) fn len(&self) -> usize {
        self.count as usize * BYTES_ALIGNMENT
    }

    fn offset(&self, block: usize) -> Option<usize> {
        self.slots.get(block).copied().flatten().map(|slot| slot as usize * BYTES_ALIGNMENT)
    }

    /// Copies the blocks of a range of bytes into `slots`; returns the range that it has written, if any.
    pub(super) fn copy(&self, range: &Range<usize>, bytes: &[u8], slots: &mut [u8]) -> Option<Range<usize>> {
        let mut written = None;
        for block in range.start / BYTES_ALIGNMENT..range.end.div_ceil(BYTES_ALIGNMENT) {
            if let Some(to) = self.offset(block) {
                let from = block * BYTES_ALIGNMENT;
                slots[to..to + BYTES_ALIGNMENT].copy_from_slice(&bytes[from..from + BYTES_ALIGNMENT]);
                written = union(written, Some(to..to + BYTES_ALIGNMENT));
            }
        }
        written
    }
}

/// The smallest range with both.
pub(super) fn union(a: Option<Range<usize>>, b: Option<Range<usize>>) -> Option<Range<usize>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.start.min(b.start)..a.end.max(b.end)),
        (a, b) => a.or(b),
    }
}

fn blocks_of(block: u32, len: u32) -> Range<usize> {
    block as usize..block as usize + (len as usize).div_ceil(BYTES_ALIGNMENT)
}

/// A launch without its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Launch {
    pub(super) entry: EntryKind,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub(super) shared_bytes: u32,
}

/// Packed parameters.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Parameters {
    pub(super) bytes: Vec<u8>,
    /// The start of each parameter in `bytes`.
    pub(super) starts: Vec<u32>,
}

impl Parameters {
    fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    fn push(&mut self, value: &[u8]) {
        // Starts of 8 bytes suit all numbers; the driver copies longer values.
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.starts.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(value);
    }
}

/// The code that a dispatch needs.
pub(super) fn threadgroups_of(table: &Table, number: usize) -> Threadgroups {
    let dispatch = &table.dispatches[number];
    let (threads, size) = (dispatch.threads_per_grid, dispatch.threads_per_threadgroup);
    let is_whole = (0..3).all(|i| threads[i].is_multiple_of(size[i]));
    let volume: u32 = size.iter().product();
    if is_whole && volume.is_multiple_of(abi::LANES as u32) { Threadgroups::Whole } else { Threadgroups::Any }
}

impl Signature {
    /// The entry for a dispatch: values if all of them are set by bytes that no replay patches.
    pub(super) fn entry(&self, table: &Table, number: usize, patched: &PatchedBlocks) -> EntryKind {
        let bound = BoundMemory::new(table, number);
        let is_value = |parameter: &SimtParameter| match parameter {
            SimtParameter::Bytes { index, .. } => match bound.at(*index) {
                Some(ArgumentMemory::Bytes { block, len }) => !patched.has(blocks_of(block, len)),
                Some(ArgumentMemory::Buffer { .. }) => false,
                None => true,
            },
            _ => true,
        };
        match &self.values {
            Some(values) if values.iter().all(is_value) => EntryKind::Values,
            _ => EntryKind::Addresses,
        }
    }

    fn parameters(&self, entry: EntryKind) -> &[SimtParameter] {
        match (entry, &self.values) {
            (EntryKind::Values, Some(values)) => values,
            _ => &self.addresses,
        }
    }

    /// Packs the parameters of a dispatch, with `bytes` as the data of `set_bytes`.
    pub(super) fn launch(
        &self,
        table: &Table,
        number: usize,
        bytes: &[Block],
        patched: &PatchedBlocks,
        addresses: LaunchAddresses<'_>,
        parameters: &mut Parameters,
    ) -> Result<Launch> {
        parameters.clear();
        let dispatch = &table.dispatches[number];
        let (threads, block) = (dispatch.threads_per_grid, dispatch.threads_per_threadgroup);
        let bound = BoundMemory::new(table, number);
        let (offsets, shared_bytes) = threadgroup_memory(table.threadgroup_memory_of(number));
        let entry = self.entry(table, number, patched);
        for parameter in self.parameters(entry) {
            match *parameter {
                SimtParameter::Buffer { index } => {
                    let address = match bound.at(index) {
                        Some(ArgumentMemory::Buffer { buffer, offset }) => {
                            (table.buffers.items[buffer as usize].address() + offset) as u64
                        }
                        Some(ArgumentMemory::Bytes { block, .. }) => {
                            let offset = addresses.slots.offset(block as usize);
                            addresses.bytes + offset.ok_or_else(|| missing(table, number))? as u64
                        }
                        // An argument that the kernel does not use.
                        None => 0,
                    };
                    parameters.push(&address.to_ne_bytes());
                }
                SimtParameter::Bytes { index, size, .. } => {
                    let source = match bound.at(index) {
                        Some(ArgumentMemory::Bytes { block, len }) => {
                            let start = block as usize * BYTES_ALIGNMENT;
                            start..start + len.min(size) as usize
                        }
                        _ => 0..0,
                    };
                    let rest = size as usize - source.len();
                    parameters.push(&block_bytes(bytes)[source]);
                    parameters.bytes.resize(parameters.bytes.len() + rest, 0);
                }
                SimtParameter::Threadgroup { index } => {
                    parameters.push(&offsets.get(index as usize).copied().unwrap_or(0).to_ne_bytes());
                }
                SimtParameter::Grid => parameters.push(&threads.map(u32::to_ne_bytes).concat()),
                SimtParameter::Failure => parameters.push(&addresses.failure.to_ne_bytes()),
            }
        }
        let grid: [u32; 3] = std::array::from_fn(|i| threads[i].div_ceil(block[i]));
        if let Some(axis) = (0..3).find(|&i| grid[i] > MOST_THREADGROUPS[i]) {
            let (name, most) = (["x", "y", "z"][axis], MOST_THREADGROUPS[axis]);
            return Err(Error::Usage(format!(
                "kernel '{}': {} threadgroups along {name}: CUDA runs at most {most}; put the largest dimension first",
                table.executable(number).name(),
                grid[axis]
            )));
        }
        // Memory of arguments lies behind the variables.
        let shared_bytes = shared_bytes + spare_behind(self.threadgroup_variables.saturating_add(shared_bytes));
        Ok(Launch { entry, grid, block, shared_bytes })
    }
}

fn missing(table: &Table, number: usize) -> Error {
    Error::Internal(format!("kernel '{}': bytes that are not on the device", table.executable(number).name()))
}

/// The bindings of a dispatch by index.
struct BoundMemory([Option<ArgumentMemory>; ARGUMENT_SLOTS]);

impl BoundMemory {
    fn new(table: &Table, number: usize) -> BoundMemory {
        let mut bound = [None; ARGUMENT_SLOTS];
        for binding in table.bindings_of(number) {
            bound[usize::from(binding.index)] = Some(binding.memory);
        }
        BoundMemory(bound)
    }

    fn at(&self, index: u32) -> Option<ArgumentMemory> {
        self.0.get(index as usize).copied().flatten()
    }
}

/// Offsets of the threadgroup arguments in dynamic shared memory, and its size.
fn threadgroup_memory(arguments: &[(u8, u32)]) -> ([u32; ARGUMENT_SLOTS], u32) {
    let mut offsets = [0; ARGUMENT_SLOTS];
    let mut end = 0u32;
    for (index, length) in arguments {
        let offset = end.next_multiple_of(THREADGROUP_ALIGNMENT as u32);
        offsets[usize::from(*index)] = offset;
        end = offset + length;
    }
    (offsets, end)
}
