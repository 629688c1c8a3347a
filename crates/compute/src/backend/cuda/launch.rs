//! Dispatches as launches: the entry, the parameters, grid and block. No function here calls the driver.
//!
//! ```text
//! dispatch of a table ── Threadgroups: whole or any ── entry: values, or addresses ── parameters, packed
//! ```
//!
//! `set_bytes` data goes into the parameters where the kernel's entry takes values. Where it takes addresses, or where
//! some of these arguments are bound to buffers, the bytes of the table must be in device memory.

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
#[derive(Clone, Copy, Default)]
pub(super) struct LaunchAddresses {
    /// The bytes of the table, if [`Signature::needs_bytes`].
    pub(super) bytes: u64,
    /// The word for failures.
    pub(super) failure: u64,
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
    /// Values that come from `set_bytes` data.
    pub(super) values: Vec<ValueSource>,
}

/// A value that comes from `set_bytes` data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ValueSource {
    /// Start in [`Parameters::bytes`].
    pub(super) at: usize,
    /// The bytes of the table, counted from the start of the first block.
    pub(super) source: Range<usize>,
}

impl Parameters {
    fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
        self.values.clear();
    }

    fn push(&mut self, value: &[u8]) {
        // Starts of 8 bytes suit all numbers; the driver copies longer values.
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.starts.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(value);
    }

    /// Copies changed bytes of the table into the values; returns true if there are some.
    pub(super) fn update(&mut self, changed: &Range<usize>, table_bytes: &[u8]) -> bool {
        let mut is_changed = false;
        for ValueSource { at, source } in &self.values {
            let (start, end) = (changed.start.max(source.start), changed.end.min(source.end));
            if start < end {
                let to = at + start - source.start;
                self.bytes[to..to + end - start].copy_from_slice(&table_bytes[start..end]);
                is_changed = true;
            }
        }
        is_changed
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
    /// The entry for a dispatch: values if all of them are set by bytes.
    pub(super) fn entry(&self, table: &Table, number: usize) -> EntryKind {
        let bound = BoundMemory::new(table, number);
        let is_set = |parameter: &SimtParameter| match parameter {
            SimtParameter::Bytes { index, .. } => !matches!(bound.at(*index), Some(ArgumentMemory::Buffer { .. })),
            _ => true,
        };
        match &self.values {
            Some(values) if values.iter().all(is_set) => EntryKind::Values,
            _ => EntryKind::Addresses,
        }
    }

    fn parameters(&self, entry: EntryKind) -> &[SimtParameter] {
        match (entry, &self.values) {
            (EntryKind::Values, Some(values)) => values,
            _ => &self.addresses,
        }
    }

    /// True if a dispatch takes the address of `set_bytes` data.
    pub(super) fn needs_bytes(&self, table: &Table, number: usize) -> bool {
        let bound = BoundMemory::new(table, number);
        self.parameters(self.entry(table, number)).iter().any(|parameter| match parameter {
            SimtParameter::Buffer { index } => matches!(bound.at(*index), Some(ArgumentMemory::Bytes { .. })),
            _ => false,
        })
    }

    /// Packs the parameters of a dispatch, with `bytes` as the data of `set_bytes`.
    pub(super) fn launch(
        &self,
        table: &Table,
        number: usize,
        bytes: &[Block],
        addresses: LaunchAddresses,
        parameters: &mut Parameters,
    ) -> Result<Launch> {
        parameters.clear();
        let dispatch = &table.dispatches[number];
        let (threads, block) = (dispatch.threads_per_grid, dispatch.threads_per_threadgroup);
        let bound = BoundMemory::new(table, number);
        let (offsets, shared_bytes) = threadgroup_memory(table.threadgroup_memory_of(number));
        let entry = self.entry(table, number);
        for parameter in self.parameters(entry) {
            match *parameter {
                SimtParameter::Buffer { index } => {
                    let address = match bound.at(index) {
                        Some(ArgumentMemory::Buffer { buffer, offset }) => {
                            (table.buffers.items[buffer as usize].address() + offset) as u64
                        }
                        Some(ArgumentMemory::Bytes { block, .. }) => {
                            addresses.bytes + u64::from(block) * BYTES_ALIGNMENT as u64
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
                    parameters.push(&block_bytes(bytes)[source.clone()]);
                    let at = parameters.bytes.len() - source.len();
                    parameters.bytes.resize(at + size as usize, 0);
                    parameters.values.push(ValueSource { at, source });
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
        Ok(Launch { entry, grid, block, shared_bytes })
    }
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
