//! Prepared recordings: a graph of the table, instantiated once.
//!
//! ```text
//! record ── graph: a node for each dispatch, with its parameters ── instantiated
//! replay ── patched bytes, copied to the device before the graph ── launched
//! ```
//!
//! `set_bytes` data is in the parameters of the nodes, which do not change. The first replay that patches some of it
//! shows which dispatches must take addresses instead, and the graph is made again, once: reading an argument through
//! an address costs a kernel 0.07 µs on an H200, changing the parameters of a node costs the host several times that.
//! Bytes stay as the last replay has set them. They are copied in the order of the stream, so that several replays can
//! be in flight, which is why each queue has an instance of its own.

use super::context::{Context, DeviceMemory, Graph, GraphExec};
use super::driver::Raw;
use super::encode::{
    Encoding, Watch, add_early_edges, add_join, add_kernel, code_of, failure_address, launch_graph, slots_of,
};
use super::graph::{nodes, stages};
use super::launch::{ByteSlots, LaunchAddresses, Parameters, PatchedBlocks, union};
use crate::backend::{ArgumentMemory, Block, Table, block_bytes, block_bytes_mut};
use crate::error::Result;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A recording.
pub(super) struct Recording {
    state: Mutex<RecordingState>,
}

struct RecordingState {
    /// Blocks that some replay has patched.
    patched: PatchedBlocks,
    /// Instances, each with its queue; `None` until a queue uses it.
    instances: Vec<(Option<u64>, Instance)>,
}

/// A graph that one queue replays.
struct Instance {
    exec: GraphExec,
    /// Blocks that it takes by address because they are patched.
    patched: PatchedBlocks,
    bytes: PatchedBytes,
    slots: ByteSlots,
    /// Contents of the slots, and their copy on the device, if there are some.
    image: Vec<u8>,
    copy: Option<DeviceMemory>,
    is_copied: bool,
    watch: Option<Arc<Watch>>,
}

/// The addresses of all buffers that dispatches of a table write.
pub(super) fn written_memory(table: &Table) -> Vec<Range<usize>> {
    let mut written = Vec::new();
    for number in 0..table.len() {
        let arguments = &table.executable(number).arguments.buffers;
        let is_written =
            |index: u8| arguments.iter().any(|argument| argument.index == index && argument.is_written);
        let bindings = table.bindings_of(number).iter().filter(|binding| is_written(binding.index));
        written.extend(bindings.filter_map(|binding| memory_of(table, &binding.memory)));
    }
    written.sort_unstable_by_key(|range| range.start);
    written.dedup();
    written
}

/// True if a dispatch reads one of its early buffers that is written.
pub(super) fn reads_written(table: &Table, number: usize, early: &[u32], written: &[Range<usize>]) -> bool {
    let bindings = table.bindings_of(number).iter();
    let mut read = bindings
        .filter(|binding| early.contains(&u32::from(binding.index)))
        .filter_map(|binding| memory_of(table, &binding.memory));
    read.any(|read| written.iter().any(|written| written.start < read.end && read.start < written.end))
}

/// The addresses of a bound buffer, all of it: `None` for bytes.
fn memory_of(table: &Table, memory: &ArgumentMemory) -> Option<Range<usize>> {
    let ArgumentMemory::Buffer { buffer, .. } = memory else { return None };
    let memory = &table.buffers.items[*buffer as usize];
    Some(memory.address()..memory.address() + memory.len())
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
        // As a rule, each replay patches the same bytes.
        if !patches.clone().map(|(target, _)| target).eq(self.patched.iter().cloned()) {
            let is_patched = |old: &Range<usize>| patches.clone().any(|(target, _)| target == *old);
            for old in self.patched.drain(..).filter(|old| !is_patched(old)) {
                set(old.clone(), &block_bytes(recorded)[old]);
            }
            self.patched.extend(patches.clone().map(|(target, _)| target));
        }
        for (target, new) in patches {
            set(target, new);
        }
        changed
    }
}

impl Recording {
    /// Prepares a table.
    pub(super) fn new(context: &Arc<Context>, table: &Table) -> Result<Recording> {
        let is_replayed = !table.is_empty() && !context.is_synchronous;
        let patched = PatchedBlocks::default();
        let first = is_replayed.then(|| Instance::new(context, table, &patched)).transpose()?;
        let instances = first.map(|instance| (None, instance)).into_iter().collect();
        Ok(Recording { state: Mutex::new(RecordingState { patched, instances }) })
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
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for (target, _) in patches.clone() {
            state.patched.add(&target);
        }
        let instance = state.instance(encoding, table)?;
        instance.replay(encoding, table, patches)
    }
}

impl RecordingState {
    /// The instance of a queue, which takes all patched blocks by address.
    fn instance(&mut self, encoding: &Encoding<'_>, table: &Table) -> Result<&mut Instance> {
        let RecordingState { patched, instances } = self;
        let of = |owner: Option<u64>| instances.iter().position(|(known, _)| *known == owner);
        let position = match of(Some(encoding.queue)).or_else(|| of(None)) {
            Some(position) => position,
            None => {
                instances.push((None, Instance::new(encoding.context, table, patched)?));
                instances.len() - 1
            }
        };
        let (owner, instance) = &mut instances[position];
        *owner = Some(encoding.queue);
        if instance.patched != *patched {
            // The driver keeps a graph that is running.
            *instance = Instance::new(encoding.context, table, patched)?;
        }
        Ok(instance)
    }
}

impl Instance {
    fn new(context: &Arc<Context>, table: &Table, patched: &PatchedBlocks) -> Result<Instance> {
        let watch = Watch::new(context, table)?;
        let (slots, bytes) = (slots_of(table, patched)?, PatchedBytes::new(table));
        let mut image = vec![0; slots.len()];
        slots.copy(&(0..bytes.bytes().len()), bytes.bytes(), &mut image);
        let copy = match slots.len() {
            0 => None,
            len => Some(DeviceMemory::new(context, len, "arguments")?),
        };
        let graph = Graph::new(context)?;
        // Each node, and true if a kernel that depends on it may start early.
        let mut made: Vec<(Raw, bool)> = Vec::new();
        let mut parameters = Parameters::default();
        let written = written_memory(table);
        for planned in nodes(&stages(table)) {
            let before = &made[planned.dependencies];
            let dependencies: Vec<Raw> = before.iter().map(|(node, _)| *node).collect();
            made.push(match planned.dispatch {
                None => (add_join(context, &graph, &dependencies)?, false),
                Some(number) => {
                    let code = code_of(table, number)?;
                    let addresses = LaunchAddresses {
                        slots: &slots,
                        bytes: copy.as_ref().map_or(0, DeviceMemory::address),
                        failure: failure_address(&watch, number),
                    };
                    let signature = &code.signature;
                    let launch =
                        signature.launch(table, number, &table.bytes, patched, addresses, &mut parameters)?;
                    let function = code.function(launch.entry);
                    let can_start_early = code.waits
                        && before.iter().all(|(_, lets_start)| *lets_start)
                        && !reads_written(table, number, &code.early, &written);
                    let early = context.api.add_dependencies.filter(|_| can_start_early && !before.is_empty());
                    let waited: &[Raw] = if early.is_some() { &[] } else { &dependencies };
                    let node = add_kernel(context, &graph, waited, function, &launch, &mut parameters)?;
                    if let Some(add) = early {
                        add_early_edges(context, &graph, add, (&dependencies, node))?;
                    }
                    (node, code.waits)
                }
            });
        }
        let exec = graph.instantiate()?;
        Ok(Instance { exec, patched: patched.clone(), bytes, slots, image, copy, is_copied: false, watch })
    }

    fn replay<'a>(
        &mut self,
        encoding: &mut Encoding<'_>,
        table: &Table,
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])> + Clone,
    ) -> Result<()> {
        let mut written = None;
        for range in self.bytes.replace(&table.bytes, patches) {
            written = union(written, self.slots.copy(&range, self.bytes.bytes(), &mut self.image));
        }
        if let Some(copy) = &self.copy {
            if !std::mem::replace(&mut self.is_copied, true) {
                written = Some(0..self.image.len());
            }
            if let Some(written) = written {
                encoding.upload(copy.address() + written.start as u64, &self.image[written])?;
            }
        }
        encoding.held.watches.extend(self.watch.clone());
        launch_graph(encoding.context, &self.exec, encoding.stream)
    }
}
