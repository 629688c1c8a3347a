//! One dispatch, made ready: addresses instead of buffers, and the code that its threadgroups take.

use crate::cpu::pipeline::{Code, Pipeline};
use crate::cpu::shape::Shape;
use crate::error::Result;
use crate::pipeline::Code as PipelineCode;
use crate::recording::{Binding, Block, Dispatch};
use crate::validate::THREADGROUP_ALIGNMENT;
use abi::Lanes;
use abi::call::ARGUMENT_SLOTS;
use std::ops::Range;
use std::ptr::null_mut;

/// A dispatch that can be executed.
pub(crate) struct Grid<'a> {
    dispatch: abi::Dispatch,
    row: Option<&'a Code>,
    any: Option<&'a Code>,
    most_simdgroups: u32,
    threadgroup_memory: usize,
    threadgroups: u64,
}

// SAFETY: the addresses are those of buffers, which the dispatch keeps alive and any thread may use.
unsafe impl Send for Grid<'_> {}
unsafe impl Sync for Grid<'_> {}

impl<'a> Grid<'a> {
    /// `bytes` is what the pass's `set_bytes` were given. Compiles what was not needed before.
    pub(crate) fn new(dispatch: &'a Dispatch, bytes: &'a [Block]) -> Result<Grid<'a>> {
        let PipelineCode::Cpu(pipeline) = dispatch.pipeline.code();
        let threads = dispatch.threads_per_grid;
        let size = dispatch.threads_per_threadgroup;
        let counts: [u32; 3] = std::array::from_fn(|i| threads[i].div_ceil(size[i]));
        let mut buffers = [null_mut(); ARGUMENT_SLOTS];
        for (index, binding) in &dispatch.bindings {
            buffers[usize::from(*index)] = address(binding, bytes);
        }
        let (threadgroup_offsets, threadgroup_memory) = threadgroup_memory(pipeline, dispatch);
        let mut grid = Grid {
            dispatch: abi::Dispatch {
                buffers,
                threadgroup_offsets,
                threads_per_grid: threads,
                threadgroups_per_grid: counts,
                threads_per_threadgroup: size,
            },
            row: None,
            any: None,
            most_simdgroups: 0,
            threadgroup_memory,
            threadgroups: counts.into_iter().map(u64::from).fold(1, u64::saturating_mul),
        };
        for shape in shapes(threads, size) {
            grid.most_simdgroups = grid.most_simdgroups.max(shape.simdgroups);
            for lanes in shape.lanes() {
                match lanes {
                    Lanes::Row => grid.row = Some(pipeline.code(lanes)?),
                    Lanes::Any => grid.any = Some(pipeline.code(lanes)?),
                }
            }
        }
        Ok(grid)
    }

    pub(crate) fn dispatch(&self) -> &abi::Dispatch {
        &self.dispatch
    }

    pub(crate) fn code(&self, lanes: Lanes) -> Option<&Code> {
        match lanes {
            Lanes::Row => self.row,
            Lanes::Any => self.any,
        }
    }

    fn codes(&self) -> impl Iterator<Item = &Code> {
        self.row.into_iter().chain(self.any)
    }

    pub(crate) fn has_barrier(&self) -> bool {
        self.codes().any(|code| code.has_barrier)
    }

    pub(crate) fn flush_denormals(&self) -> bool {
        self.codes().any(|code| code.flush_denormals)
    }

    pub(crate) fn private_memory(&self) -> u64 {
        self.codes().map(|code| code.private_memory).max().unwrap_or(0)
    }

    /// The number of simdgroups in the largest threadgroup.
    pub(crate) fn most_simdgroups(&self) -> u32 {
        self.most_simdgroups
    }

    /// Bytes of threadgroup memory.
    pub(crate) fn threadgroup_memory(&self) -> usize {
        self.threadgroup_memory
    }

    /// The number of threadgroups.
    pub(crate) fn threadgroups(&self) -> u64 {
        self.threadgroups
    }

    /// The positions and sizes of some threadgroups, counted with x fastest.
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

/// The different shapes of threadgroups in a grid: along each dimension there are whole ones and perhaps a smaller one.
fn shapes(threads: [u32; 3], size: [u32; 3]) -> impl Iterator<Item = Shape> {
    let extents: [[u32; 2]; 3] = std::array::from_fn(|i| {
        let whole = if threads[i] >= size[i] { size[i] } else { 0 };
        [whole, threads[i] % size[i]]
    });
    (0..8)
        .map(move |choice: usize| std::array::from_fn(|i| extents[i][choice >> i & 1]))
        .filter(|size: &[u32; 3]| !size.contains(&0))
        .map(Shape::new)
}

fn address(binding: &Binding, bytes: &[Block]) -> *mut u8 {
    match binding {
        Binding::Buffer { buffer, offset } => buffer.contents().wrapping_add(*offset),
        Binding::Bytes { block, .. } => bytes[*block..].as_ptr().cast::<u8>().cast_mut(),
    }
}

/// Where each threadgroup argument begins, and how much memory there is in all.
fn threadgroup_memory(pipeline: &Pipeline, dispatch: &Dispatch) -> ([u32; ARGUMENT_SLOTS], usize) {
    let mut offsets = [0; ARGUMENT_SLOTS];
    let mut end = pipeline.static_threadgroup_memory();
    for (index, length) in &dispatch.threadgroup_memory {
        let offset = end.next_multiple_of(THREADGROUP_ALIGNMENT);
        offsets[usize::from(*index)] = offset as u32;
        end = offset + *length as usize;
    }
    (offsets, end)
}
