//! A prepared dispatch: addresses instead of buffers, and the code for its threadgroups.

use super::shape::Shape;
use crate::backend::cpu::pipeline::{Code, Pipeline};
use crate::backend::cpu::queue::base;
use crate::backend::{ArgumentMemory, Binding, Block, Executable, Memory, Table, own};
use crate::error::{Error, Result};
use crate::kernel::arguments::THREADGROUP_ALIGNMENT;
use abi::call::ARGUMENT_SLOTS;
use abi::{Entry, Lanes, Operation, Site};
use msl::reflect::Argument;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::Arc;

/// A dispatch ready for execution. Valid as long as its table and the bytes of `set_bytes` live.
pub(crate) struct Grid {
    dispatch: abi::Dispatch,
    row: Option<Entry>,
    any: Option<Entry>,
    /// The places of checks and messages, if there are messages.
    messages: Option<Arc<[Site]>>,
    /// Addresses of the code for rows and for other simdgroups.
    code: [Range<usize>; 2],
    has_barrier: bool,
    flush_denormals: bool,
    kernel: Arc<str>,
    failures: Option<Arc<[String]>>,
    checked: Option<Checked>,
    most_simdgroups: u32,
    private_memory: u64,
    threadgroup_memory: usize,
    threadgroups: u64,
    /// Number of threadgroups in this dispatch and in those before it in its batch.
    end: u64,
    /// Number of dispatches up to this one that are ordered after those before them, for shader validation.
    order: u64,
}

/// Bytes around a buffer, or around null, that a wrong index reaches.
const CLOSE: u64 = 4096;

/// Additions for checked code.
struct Checked {
    sites: Arc<[Site]>,
    /// The kernel's arguments.
    arguments: Vec<Argument>,
    /// Addresses of all memory that the table refers to.
    memory: Vec<Range<u64>>,
    /// Of this memory, the part that some dispatch of the table may write.
    written: Vec<Range<u64>>,
}

// SAFETY: the addresses point to buffers and code that the table keeps alive and any thread may use.
unsafe impl Send for Grid {}
unsafe impl Sync for Grid {}

impl Grid {
    /// Prepares a dispatch of a table that has `before` threadgroups before it in its batch; `bytes` is the `set_bytes`
    /// data.
    pub(crate) fn new(table: &Table, number: usize, before: u64, bytes: *const Block) -> Result<Grid> {
        let dispatch = &table.dispatches[number];
        let executable = table.pipeline(dispatch);
        let pipeline: &Pipeline = own(executable.pipeline())?;
        let threads = dispatch.threads_per_grid;
        let size = dispatch.threads_per_threadgroup;
        let counts: [u32; 3] = std::array::from_fn(|i| threads[i].div_ceil(size[i]));
        let mut buffers = [null_mut(); ARGUMENT_SLOTS];
        for binding in table.bindings_of(number) {
            buffers[usize::from(binding.index)] = address(table, binding, bytes);
        }
        let mut buffer_sizes = [0; ARGUMENT_SLOTS];
        let mut threadgroup_sizes = [0; ARGUMENT_SLOTS];
        for binding in table.bindings_of(number) {
            buffer_sizes[usize::from(binding.index)] = bound_size(table, binding);
        }
        for (index, length) in table.threadgroup_memory_of(number) {
            threadgroup_sizes[usize::from(*index)] = *length;
        }
        let own = executable.arguments.static_threadgroup_memory;
        let (threadgroup_offsets, threadgroup_memory) =
            threadgroup_memory(own, table.threadgroup_memory_of(number));
        let threadgroups = counts.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        let mut grid = Grid {
            dispatch: abi::Dispatch {
                buffers,
                threadgroup_offsets,
                threads_per_grid: threads,
                threadgroups_per_grid: counts,
                threads_per_threadgroup: size,
                threadgroup_sizes,
                buffer_sizes,
            },
            row: None,
            any: None,
            code: [0..0, 0..0],
            messages: None,
            has_barrier: false,
            flush_denormals: false,
            kernel: executable.name.clone(),
            failures: None,
            checked: None,
            most_simdgroups: 0,
            private_memory: 0,
            threadgroup_memory,
            threadgroups,
            end: before
                .checked_add(threadgroups)
                .ok_or_else(|| Error::Usage("the overlapping grids have too many threadgroups in total".into()))?,
            order: 0,
        };
        let code = |lanes: Lanes| pipeline.code(lanes).map_err(|error| named(error, executable.name()));
        for shape in shapes(threads, size, counts) {
            grid.most_simdgroups = grid.most_simdgroups.max(shape.simdgroups);
            for lanes in shape.lanes() {
                let code = code(lanes)?;
                grid.take(code, lanes);
                if grid.messages.is_none() && code.sites.iter().any(|site| site.operation == Operation::Message) {
                    grid.messages = Some(code.sites.clone());
                }
                let is_check = |site: &Site| site.operation != Operation::Message;
                if grid.checked.is_none() && code.sites.iter().any(is_check) {
                    grid.checked = Some(Checked::new(table, executable, code.sites.clone(), bytes));
                }
            }
        }
        Ok(grid)
    }

    fn take(&mut self, code: &Code, lanes: Lanes) {
        match lanes {
            Lanes::Row => (self.row, self.code[0]) = (Some(code.entry), code.addresses()),
            Lanes::Any => (self.any, self.code[1]) = (Some(code.entry), code.addresses()),
        }
        self.has_barrier |= code.has_barrier;
        self.flush_denormals |= code.flush_denormals;
        if !code.failures.is_empty() {
            self.failures = Some(code.failures.clone());
        }
        self.private_memory = self.private_memory.max(code.private_memory);
    }

    /// The error for a failure that a thread reported by its number.
    pub(crate) fn failure(&self, number: u32) -> Error {
        let messages = self.failures.as_deref().unwrap_or_default();
        let what = messages.get(number as usize - 1).map_or("an unknown failure", String::as_str);
        Error::Kernel { kernel: self.kernel.to_string(), what: what.into() }
    }

    /// The places of checks, if its code has some.
    pub(crate) fn sites(&self) -> Option<&Arc<[Site]>> {
        self.checked.as_ref().map(|checked| &checked.sites)
    }

    /// The kernel's arguments, for checked code.
    pub(crate) fn arguments(&self) -> &[Argument] {
        self.checked.as_ref().map_or(&[], |checked| &checked.arguments)
    }

    /// True if threadgroups may order their accesses by a fence.
    pub(crate) fn has_fence(&self) -> bool {
        self.sites().is_some_and(|sites| sites.iter().any(|site| site.operation == Operation::Fence))
    }

    /// True if bytes behind a pointer of unknown origin are partly beyond a buffer, close to one, or near null. Other
    /// memory that the table does not refer to is not judged.
    pub(crate) fn is_outside(&self, address: u64, bytes: u64) -> bool {
        match self.memory_at(address) {
            Some(range) => !range.contains(&address) || address + bytes > range.end,
            None => address < CLOSE,
        }
    }

    /// The memory of the table that an address is in, or else close to.
    pub(crate) fn memory_at(&self, address: u64) -> Option<Range<u64>> {
        let memory = || self.checked.iter().flat_map(|checked| &checked.memory);
        let holds = memory().filter(|range| range.contains(&address)).max_by_key(|range| range.end);
        let is_close = |range: &&Range<u64>| {
            (range.start.saturating_sub(CLOSE)..range.end.saturating_add(CLOSE)).contains(&address)
        };
        holds.or_else(|| memory().find(is_close)).cloned()
    }

    /// True if some dispatch of the table may write all of these addresses, false if none may write any; none if some of
    /// them may be written.
    pub(crate) fn is_written(&self, addresses: Range<u64>) -> Option<bool> {
        let written = self.checked.as_ref().map_or(&[][..], |checked| &checked.written);
        match written.get(written.partition_point(|range| range.end <= addresses.start)) {
            Some(range) if range.start <= addresses.start && addresses.end <= range.end => Some(true),
            Some(range) if range.start < addresses.end => None,
            _ => Some(false),
        }
    }

    /// The kernel's name.
    pub(crate) fn kernel(&self) -> &Arc<str> {
        &self.kernel
    }

    pub(crate) fn dispatch(&self) -> &abi::Dispatch {
        &self.dispatch
    }

    /// The code for some simdgroups, if the grid has such.
    pub(crate) fn code(&self, lanes: Lanes) -> Option<Entry> {
        match lanes {
            Lanes::Row => self.row,
            Lanes::Any => self.any,
        }
    }

    /// The places of checks and messages, if it has messages.
    pub(crate) fn messages(&self) -> Option<&[Site]> {
        self.messages.as_deref()
    }

    /// Addresses of its code.
    pub(crate) fn addresses(&self) -> [Range<usize>; 2] {
        self.code.clone()
    }

    /// Number of threadgroups in this dispatch and in those before it in its batch.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn with_order(self, order: u64) -> Grid {
        Grid { order, ..self }
    }

    /// The same for dispatches that the program did not order.
    pub(crate) fn order(&self) -> u64 {
        self.order
    }

    pub(crate) fn has_barrier(&self) -> bool {
        self.has_barrier
    }

    pub(crate) fn flush_denormals(&self) -> bool {
        self.flush_denormals
    }

    pub(crate) fn private_memory(&self) -> u64 {
        self.private_memory
    }

    /// Bytes of the stack that its code needs beyond that of any kernel.
    pub(crate) fn stack_memory(&self) -> u64 {
        /// An instruction that fills 64 bytes of the stack takes at least 7.
        const OF_BYTE_OF_CODE: u64 = 10;
        /// Long code keeps values in memory instead of registers.
        const LONG_CODE: u64 = 128 << 10;
        let code = self.code.iter().map(|code| code.len() as u64).max().unwrap_or(0);
        // Checks hand the addresses and values of 32 lanes to the runtime, and keep registers meanwhile.
        let is_deep = self.checked.is_some() || code > LONG_CODE;
        self.private_memory + if is_deep { code * OF_BYTE_OF_CODE } else { 0 }
    }

    /// Number of simdgroups in the largest threadgroup.
    pub(crate) fn most_simdgroups(&self) -> u32 {
        self.most_simdgroups
    }

    /// Bytes of threadgroup memory.
    pub(crate) fn threadgroup_memory(&self) -> usize {
        self.threadgroup_memory
    }

    /// Number of threadgroups.
    pub(crate) fn threadgroups(&self) -> u64 {
        self.threadgroups
    }

    /// Positions and sizes of some threadgroups, with x fastest.
    pub(crate) fn threadgroup_range(&self, range: Range<u64>) -> impl Iterator<Item = ([u32; 3], [u32; 3])> {
        let counts = self.dispatch.threadgroups_per_grid;
        let (width, height) = (u64::from(counts[0]), u64::from(counts[1]));
        let start = range.start;
        let mut position =
            [(start % width) as u32, (start / width % height) as u32, (start / width / height) as u32];
        range.map(move |_| {
            let here = position;
            position[0] += 1;
            if position[0] == counts[0] {
                position[0] = 0;
                position[1] += 1;
                if position[1] == counts[1] {
                    position[1] = 0;
                    position[2] += 1;
                }
            }
            let most = self.dispatch.threads_per_threadgroup;
            let threads = self.dispatch.threads_per_grid;
            (here, std::array::from_fn(|i| most[i].min(threads[i] - here[i] * most[i])))
        })
    }
}

/// The distinct shapes of threadgroups in a grid: along each dimension there are whole ones and perhaps a smaller one
/// at the end.
fn shapes(threads: [u32; 3], size: [u32; 3], counts: [u32; 3]) -> impl Iterator<Item = Shape> {
    let extents: [[u32; 2]; 3] = std::array::from_fn(|i| {
        let last = threads[i] - (counts[i] - 1) * size[i];
        if last == size[i] { [last, 0] } else { [if counts[i] > 1 { size[i] } else { 0 }, last] }
    });
    (0..8)
        .map(move |choice: usize| std::array::from_fn(|i| extents[i][choice >> i & 1]))
        .filter(|size: &[u32; 3]| !size.contains(&0))
        .map(Shape::new)
}

impl Checked {
    fn new(table: &Table, executable: &Executable, sites: Arc<[Site]>, bytes: *const Block) -> Checked {
        let range = |binding: &Binding| {
            let start = address(table, binding, bytes).addr() as u64;
            start..start + bound_size(table, binding)
        };
        let whole = |memory: &Memory| memory.address() as u64..(memory.address() + memory.len()) as u64;
        let buffers = table.buffers.items.iter().map(|memory| whole(memory));
        let memory = buffers.chain(table.bindings.iter().map(range)).collect();
        let mut written = Vec::new();
        for (number, dispatch) in table.dispatches.iter().enumerate() {
            let arguments = &table.pipeline(dispatch).arguments.buffers;
            let is_written = |binding: &&Binding| {
                arguments.iter().any(|argument| argument.index == binding.index && argument.is_written)
            };
            written.extend(table.bindings_of(number).iter().filter(is_written).map(range));
        }
        let written = merged(written);
        Checked { sites, arguments: executable.reflection.arguments.clone(), memory, written }
    }
}

/// Ranges in order, those that touch or overlap as one.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Bytes from the address of a binding to the end of its memory.
fn bound_size(table: &Table, binding: &Binding) -> u64 {
    match binding.memory {
        ArgumentMemory::Buffer { buffer, offset } => {
            table.buffers.items[buffer as usize].len().saturating_sub(offset) as u64
        }
        ArgumentMemory::Bytes { len, .. } => len.into(),
    }
}

fn address(table: &Table, binding: &Binding, bytes: *const Block) -> *mut u8 {
    match binding.memory {
        ArgumentMemory::Buffer { buffer, offset } => {
            base(&table.buffers.items[buffer as usize]).wrapping_add(offset)
        }
        ArgumentMemory::Bytes { block, .. } => bytes.wrapping_add(block as usize).cast_mut().cast(),
    }
}

/// Adds the kernel's name to an error about missing code.
fn named(error: Error, kernel: &str) -> Error {
    match error {
        Error::Library(problem) if !problem.contains(kernel) => {
            Error::Library(format!("kernel '{kernel}': {problem}"))
        }
        Error::Usage(problem) => Error::Usage(format!("kernel '{kernel}': {problem}")),
        other => other,
    }
}

/// Offsets of the threadgroup arguments, and the total size.
fn threadgroup_memory(own: usize, arguments: &[(u8, u32)]) -> ([u32; ARGUMENT_SLOTS], usize) {
    let mut offsets = [0; ARGUMENT_SLOTS];
    let mut end = own;
    for (index, length) in arguments {
        let offset = end.next_multiple_of(THREADGROUP_ALIGNMENT);
        offsets[usize::from(*index)] = offset as u32;
        end = offset + *length as usize;
    }
    (offsets, end)
}
