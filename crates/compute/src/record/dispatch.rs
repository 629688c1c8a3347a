//! Dispatches: validates the current state and appends it to the table.

use super::encoder::ComputeCommandEncoder;
use super::hazards;
use crate::backend::{Binding, Dispatch};
use crate::error::{Result, usage};
use crate::size::Size;
use crate::validate::{self, Call};

impl ComputeCommandEncoder {
    /// Dispatches a grid of whole threadgroups.
    pub fn dispatch_threadgroups(
        &mut self,
        threadgroups_per_grid: Size,
        threads_per_threadgroup: Size,
    ) -> Result<()> {
        let threads = |groups: usize, size: usize| groups.saturating_mul(size);
        let threads_per_grid = Size {
            width: threads(threadgroups_per_grid.width, threads_per_threadgroup.width),
            height: threads(threadgroups_per_grid.height, threads_per_threadgroup.height),
            depth: threads(threadgroups_per_grid.depth, threads_per_threadgroup.depth),
        };
        self.dispatch("dispatch_threadgroups", threads_per_grid, threads_per_threadgroup)
    }

    /// Dispatches a grid of this many threads; threadgroups at its edges are smaller if their size does not divide it.
    pub fn dispatch_threads(&mut self, threads_per_grid: Size, threads_per_threadgroup: Size) -> Result<()> {
        self.dispatch("dispatch_threads", threads_per_grid, threads_per_threadgroup)
    }

    fn dispatch(&mut self, name: &'static str, grid: Size, threadgroup: Size) -> Result<()> {
        self.open(name)?;
        let Some(pipeline) = self.pipeline else {
            return usage(format!("{name}: there is no pipeline state; call set_compute_pipeline_state first"));
        };
        validate::room(name, self.table.bindings.len().max(self.table.threadgroup_memory.len()))?;
        let state = &self.table.pipelines.items[pipeline as usize];
        let call = Call { name, pipeline: state, buffers: &self.table.buffers.items };
        let (threads_per_grid, threads_per_threadgroup) = validate::grid(&call, grid, threadgroup)?;
        validate::bindings(&call, &self.bound)?;
        validate::threadgroup_memory(&call, &self.threadgroup_memory)?;

        let arguments = &state.arguments;
        self.uses.dispatch(arguments);
        let accesses = || {
            let buffers =
                arguments.buffers.iter().map(|argument| (argument, self.bound[usize::from(argument.index)]));
            buffers.filter_map(|(argument, bound)| bound.and_then(|bound| hazards::access(argument, bound)))
        };
        let has_barrier = self.waits;
        let waits = has_barrier || self.hazards.as_ref().is_some_and(|hazards| hazards.conflict(accesses()));
        if let Some(hazards) = &mut self.hazards {
            if waits {
                hazards.clear();
            }
            hazards.add(accesses());
            self.waits = false;
        }

        self.table.dispatches.push(Dispatch {
            pipeline,
            waits,
            is_ordered: if self.needs_barriers { has_barrier } else { waits },
            bindings: self.table.bindings.len() as u32,
            threadgroup_memory: self.table.threadgroup_memory.len() as u32,
            threads_per_grid,
            threads_per_threadgroup,
        });
        for argument in &arguments.buffers {
            if let Some(bound) = self.bound[usize::from(argument.index)] {
                self.table.bindings.push(Binding { index: argument.index, memory: bound.memory });
            }
        }
        for argument in &arguments.threadgroup_memory {
            let length = self.threadgroup_memory[usize::from(argument.index)];
            self.table.threadgroup_memory.push((argument.index, length));
        }
        Ok(())
    }

    /// Makes shader validation treat dispatches of a concurrent encoder as Metal does: unordered without a
    /// [`memory_barrier`](Self::memory_barrier) between them. They are executed in the same order as otherwise.
    pub fn require_barriers(&mut self) {
        self.needs_barriers = true;
    }

    /// Makes later dispatches see the writes of earlier ones. Needed only for accesses that the arguments do not
    /// reveal: hazards of bound buffers are tracked.
    pub fn memory_barrier(&mut self) -> Result<()> {
        self.open("memory_barrier")?;
        self.waits = true;
        Ok(())
    }
}
