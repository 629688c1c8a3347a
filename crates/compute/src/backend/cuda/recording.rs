//! Prepared recordings: a graph of the table, instantiated once.
//!
//! ```text
//! record ── graph: a node for each dispatch, with its parameters ── instantiated
//! replay ── patched bytes: values in the parameters of nodes, and the copy that addresses refer to ── launched
//! ```
//!
//! Bytes stay as the last replay has set them; only those that differ in the next one are set again. The driver applies
//! changed parameters to later launches, so that several replays can be in flight. The copy of the bytes is written in
//! the order of the stream, which is why each queue has an instance of its own.

use super::context::{Context, DeviceMemory, Graph, GraphExec};
use super::driver::Raw;
use super::encode::{
    Encoding, Watch, add_join, add_kernel, code_of, failure_address, launch_graph, needs_bytes, set_kernel,
};
use super::graph::{nodes, stages};
use super::launch::{Launch, LaunchAddresses, Parameters};
use crate::backend::{BYTES_ALIGNMENT, Block, Table, block_bytes, block_bytes_mut};
use crate::error::Result;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A recording.
pub(super) struct Recording {
    /// Instances, each with its queue; `None` until a queue uses it.
    instances: Mutex<Vec<(Option<u64>, Instance)>>,
}

/// A graph that one queue replays.
struct Instance {
    exec: GraphExec,
    /// The graph, which owns the nodes.
    _graph: Graph,
    kernels: Vec<KernelNode>,
    bytes: PatchedBytes,
    /// A copy of the bytes on the device, for dispatches that take addresses.
    copy: Option<DeviceMemory>,
    is_copied: bool,
    watch: Option<Arc<Watch>>,
}

// SAFETY: nodes belong to their graph, which any thread may use under the lock.
unsafe impl Send for Instance {}

/// A dispatch in a graph.
struct KernelNode {
    node: Raw,
    function: Raw,
    launch: Launch,
    parameters: Parameters,
}

/// The recorded bytes with the patches of the last replay.
pub(super) struct PatchedBytes {
    blocks: Box<[Block]>,
    /// Ranges that the last replay has patched.
    patched: Vec<Range<usize>>,
}

impl PatchedBytes {
    pub(super) fn new(table: &Table) -> PatchedBytes {
        PatchedBytes { blocks: table.bytes.as_slice().into(), patched: Vec::new() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        block_bytes(&self.blocks)
    }

    /// Replaces the patches of the last replay by those of the next; returns the ranges that change.
    pub(super) fn replace<'a>(
        &mut self,
        recorded: &[Block],
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])> + Clone,
    ) -> Vec<Range<usize>> {
        let mut changed = Vec::new();
        let bytes = block_bytes_mut(&mut self.blocks);
        let mut set = |target: Range<usize>, new: &[u8]| {
            if bytes[target.clone()] != *new {
                bytes[target.clone()].copy_from_slice(new);
                changed.push(target);
            }
        };
        let is_patched = |old: &Range<usize>| patches.clone().any(|(target, _)| target == *old);
        for old in self.patched.drain(..).filter(|old| !is_patched(old)) {
            set(old.clone(), &block_bytes(recorded)[old]);
        }
        for (target, new) in patches.clone() {
            set(target, new);
        }
        self.patched.extend(patches.map(|(target, _)| target));
        changed
    }
}

impl Recording {
    /// Prepares a table.
    pub(super) fn new(context: &Arc<Context>, table: &Table) -> Result<Recording> {
        let is_replayed = !table.is_empty() && !context.is_synchronous;
        let first = is_replayed.then(|| Instance::new(context, table)).transpose()?;
        Ok(Recording { instances: Mutex::new(first.map(|instance| (None, instance)).into_iter().collect()) })
    }

    /// Encodes a replay with patched bytes.
    pub(super) fn replay<'a>(
        &self,
        encoding: &mut Encoding<'_>,
        table: &Table,
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])> + Clone,
    ) -> Result<()> {
        if table.is_empty() {
            return Ok(());
        }
        let mut instances = self.instances();
        let of_queue = |owner: &Option<u64>| owner.is_none_or(|owner| owner == encoding.queue);
        let owned = instances.iter().position(|(owner, _)| *owner == Some(encoding.queue));
        let position = match owned.or_else(|| instances.iter().position(|(owner, _)| of_queue(owner))) {
            Some(position) => position,
            None => {
                instances.push((None, Instance::new(encoding.context, table)?));
                instances.len() - 1
            }
        };
        let (owner, instance) = &mut instances[position];
        *owner = Some(encoding.queue);
        instance.replay(encoding, table, patches)
    }

    fn instances(&self) -> MutexGuard<'_, Vec<(Option<u64>, Instance)>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Instance {
    fn new(context: &Arc<Context>, table: &Table) -> Result<Instance> {
        let watch = Watch::new(context, table)?;
        let copy = match needs_bytes(table)? {
            true => Some(DeviceMemory::new(context, table.bytes.len() * BYTES_ALIGNMENT, "arguments")?),
            false => None,
        };
        let graph = Graph::new(context)?;
        let mut kernels = Vec::with_capacity(table.len());
        let mut made: Vec<Raw> = Vec::new();
        for planned in nodes(&stages(table)) {
            let dependencies = &made[planned.dependencies];
            let node = match planned.dispatch {
                None => add_join(context, &graph, dependencies)?,
                Some(number) => {
                    let code = code_of(table, number)?;
                    let addresses = LaunchAddresses {
                        bytes: copy.as_ref().map_or(0, DeviceMemory::address),
                        failure: failure_address(&watch, number),
                    };
                    let mut parameters = Parameters::default();
                    let launch = code.signature.launch(table, number, &table.bytes, addresses, &mut parameters)?;
                    let function = code.function(launch.entry);
                    let node = add_kernel(context, &graph, dependencies, function, &launch, &mut parameters)?;
                    kernels.push(KernelNode { node, function, launch, parameters });
                    node
                }
            };
            made.push(node);
        }
        let exec = graph.instantiate()?;
        let bytes = PatchedBytes::new(table);
        Ok(Instance { exec, _graph: graph, kernels, bytes, copy, is_copied: false, watch })
    }

    fn replay<'a>(
        &mut self,
        encoding: &mut Encoding<'_>,
        table: &Table,
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])> + Clone,
    ) -> Result<()> {
        let changed = self.bytes.replace(&table.bytes, patches);
        let bytes = self.bytes.bytes();
        if !changed.is_empty() {
            for KernelNode { node, function, launch, parameters } in &mut self.kernels {
                let updated = changed.iter().filter(|range| parameters.update(range, bytes)).count();
                if updated > 0 {
                    set_kernel(encoding.context, &self.exec, *node, *function, launch, parameters)?;
                }
            }
        }
        if let Some(copy) = &self.copy {
            match std::mem::replace(&mut self.is_copied, true) {
                false => encoding.upload(copy.address(), bytes)?,
                true => changed
                    .into_iter()
                    .try_for_each(|range| encoding.upload(copy.address() + range.start as u64, &bytes[range]))?,
            }
        }
        encoding.held.watches.extend(self.watch.clone());
        launch_graph(encoding.context, &self.exec, encoding.stream)
    }
}
