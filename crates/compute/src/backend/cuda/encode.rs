//! Encodes the steps of a command buffer into a stream.
//!
//! | step | stream |
//! |---|---|
//! | a pass | a launch for each dispatch, one after the other |
//! | a replay | its graph ([`super::recording`]) |
//! | a copy, a fill | an asynchronous copy, an asynchronous fill |
//!
//! With `METALWORKS_SYNCHRONOUS=1`, every dispatch is launched and waited for, so that an error names its kernel.

use super::context::{Context, DeviceMemory, Event, Graph, GraphExec, PinnedMemory, Stream};
use super::driver::{AddDependencies, KernelNodeParams, PROGRAMMATIC_EDGE, Raw};
use super::launch::{ByteSlots, Launch, LaunchAddresses, Parameters, PatchedBlocks, threadgroups_of};
use super::pipeline::{Code, Pipeline};
use super::profile::TimedDispatch;
use super::recording::Recording;
use crate::backend::{BYTES_ALIGNMENT, Block, Copy, Fill, Step, Table, Work, block_bytes, own};
use crate::error::{Error, Result};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Encodes into the stream of a queue.
pub(super) struct Encoding<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) stream: &'a Stream,
    /// Identifies the queue.
    pub(super) queue: u64,
    pub(super) scratch: &'a mut Scratch,
    pub(super) held: &'a mut Held,
}

/// Reusable memory of a queue's encoding.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) parameters: Parameters,
    pointers: Vec<*mut c_void>,
    /// Device memory for `set_bytes` data, not in use.
    pub(super) spare: Vec<DeviceMemory>,
    /// Pinned memory for `set_bytes` data, not in use.
    pub(super) spare_pinned: Vec<PinnedChunk>,
}

/// Pinned memory that is filled from its start.
pub(super) struct PinnedChunk {
    memory: PinnedMemory,
    len: usize,
    used: usize,
}

/// Usual size of a chunk.
const CHUNK: usize = 256 << 10;

impl PinnedChunk {
    fn new(context: &Arc<Context>, least: usize) -> Result<PinnedChunk> {
        let len = least.max(CHUNK);
        Ok(PinnedChunk { memory: PinnedMemory::new(context, len)?, len, used: 0 })
    }

    fn has_room(&self, len: usize) -> bool {
        self.len - self.used >= len
    }

    /// Copies bytes into the chunk, which has room for them; returns their address.
    fn push(&mut self, bytes: &[u8]) -> *const c_void {
        assert!(self.has_room(bytes.len()), "a chunk is full");
        // SAFETY: there is room, and the device reads other parts of the chunk only.
        let to = unsafe {
            let to = self.memory.base().as_ptr().add(self.used);
            to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            to
        };
        self.used = (self.used + bytes.len()).next_multiple_of(BYTES_ALIGNMENT).min(self.len);
        to.cast()
    }

    /// Allows it to be filled again, after the copies from it.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }
}

// SAFETY: the pointers are used only while a launch is encoded.
unsafe impl Send for Scratch {}

/// Objects that a command buffer needs until it completes.
#[derive(Default)]
pub(super) struct Held {
    pub(super) bytes: Vec<DeviceMemory>,
    pub(super) pinned: Vec<PinnedChunk>,
    pub(super) watches: Vec<Arc<Watch>>,
    pub(super) graphs: Vec<GraphExec>,
    /// Times of dispatches, if they are wanted.
    pub(super) timed: Vec<TimedDispatch>,
}

/// The code of a dispatch.
pub(super) fn code_of(table: &Table, number: usize) -> Result<&Code> {
    let executable = table.executable(number);
    let pipeline: &Pipeline = own(executable.pipeline())?;
    let threads = table.dispatches[number].threads_per_threadgroup.iter().product::<u32>() as usize;
    pipeline.code(threadgroups_of(table, number), threads).map_err(|error| match error {
        Error::Library(problem) => Error::Library(format!("kernel '{}': {problem}", executable.name())),
        other => other,
    })
}

/// Words in which the kernels of a table report failures: pinned memory, which the device writes directly.
pub(super) struct Watch {
    words: PinnedMemory,
    /// The dispatches that can fail: number, kernel, messages.
    dispatches: Vec<(usize, Arc<str>, Arc<[String]>)>,
}

impl Watch {
    /// `None` if no kernel can fail.
    pub(super) fn new(context: &Arc<Context>, table: &Table) -> Result<Option<Arc<Watch>>> {
        let mut dispatches = Vec::new();
        for number in 0..table.len() {
            let failures = &code_of(table, number)?.failures;
            if !failures.is_empty() {
                dispatches.push((number, table.executable(number).name.clone(), failures.clone()));
            }
        }
        if dispatches.is_empty() {
            return Ok(None);
        }
        let words = PinnedMemory::new(context, dispatches.len() * size_of::<u32>())?;
        Ok(Some(Arc::new(Watch { words, dispatches })))
    }

    /// The address of a dispatch's word.
    pub(super) fn address(&self, number: usize) -> u64 {
        let position = self.dispatches.iter().position(|(known, ..)| *known == number);
        let offset = position.map_or(0, |position| position * size_of::<u32>());
        (self.words.base().as_ptr().addr() + offset) as u64
    }

    /// The first failure, if there is one. Called when the work is done.
    pub(super) fn check(&self) -> Result<()> {
        let mut first = Ok(());
        for (position, (_, kernel, messages)) in self.dispatches.iter().enumerate() {
            // SAFETY: there is a word for each dispatch, aligned as pinned memory is; the device writes whole words.
            let word = unsafe { AtomicU32::from_ptr(self.words.base().as_ptr().cast::<u32>().add(position)) };
            let number = word.swap(0, Ordering::AcqRel);
            if number != 0 && first.is_ok() {
                let what = messages.get(number as usize - 1).map_or("an unknown failure", String::as_str);
                first = Err(Error::Kernel { kernel: kernel.to_string(), what: what.into() });
            }
        }
        first
    }
}

impl Encoding<'_> {
    /// Encodes all steps.
    pub(super) fn work(&mut self, work: &Work) -> Result<()> {
        for step in work.steps() {
            match step {
                Step::Pass(table) => self.table(table, &table.bytes)?,
                Step::Replay { recorded, patches } if self.context.is_synchronous => {
                    self.table(recorded.table(), &work.patched(recorded, patches))?;
                }
                Step::Replay { recorded, patches } => {
                    let recording: &Recording = own(recorded.prepared())?;
                    recording.replay(self, recorded.table(), work.patches(patches))?;
                }
                Step::Copy(copy) => self.copy(copy)?,
                Step::Fill(fill) => self.fill(fill)?,
            }
        }
        Ok(())
    }

    /// Launches the dispatches of a table, with `bytes` as the data of `set_bytes`.
    fn table(&mut self, table: &Table, bytes: &[Block]) -> Result<()> {
        let watch = self.watch(table)?;
        let patched = PatchedBlocks::default();
        let (slots, bytes_address) = self.device_bytes(table, bytes)?;
        for number in 0..table.len() {
            let code = code_of(table, number)?;
            let failure = failure_address(&watch, number);
            let addresses = LaunchAddresses { slots: &slots, bytes: bytes_address, failure };
            let parameters = &mut self.scratch.parameters;
            let launch = code.signature.launch(table, number, bytes, &patched, addresses, parameters)?;
            self.launch(table, number, code, &launch)?;
        }
        Ok(())
    }

    /// The words for failures of a table, kept until the work completes.
    pub(super) fn watch(&mut self, table: &Table) -> Result<Option<Arc<Watch>>> {
        let watch = Watch::new(self.context, table)?;
        self.held.watches.extend(watch.clone());
        Ok(watch)
    }

    /// Copies the bytes of a table that dispatches take by address to the device.
    pub(super) fn device_bytes(&mut self, table: &Table, bytes: &[Block]) -> Result<(ByteSlots, u64)> {
        let slots = slots_of(table, &PatchedBlocks::default())?;
        let len = slots.len();
        if len == 0 {
            return Ok((slots, 0));
        }
        let spare = self.scratch.spare.iter().position(|memory| memory.len() >= len);
        let memory = match spare {
            Some(position) => self.scratch.spare.swap_remove(position),
            None => DeviceMemory::new(self.context, len.next_power_of_two().max(64 << 10), "arguments")?,
        };
        let address = memory.address();
        self.held.bytes.push(memory);
        let mut image = vec![0; len];
        slots.copy(&(0..bytes.len() * BYTES_ALIGNMENT), block_bytes(bytes), &mut image);
        self.upload(address, &image)?;
        Ok((slots, address))
    }

    /// Copies bytes to the device, in the order of the stream. The device reads them from pinned memory later.
    pub(super) fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let api = self.context.current()?;
        if !self.held.pinned.last().is_some_and(|chunk| chunk.has_room(bytes.len())) {
            let spare = self.scratch.spare_pinned.iter().position(|chunk| chunk.has_room(bytes.len()));
            self.held.pinned.push(match spare {
                Some(position) => self.scratch.spare_pinned.swap_remove(position),
                None => PinnedChunk::new(self.context, bytes.len())?,
            });
        }
        let Some(source) = self.held.pinned.last_mut().map(|chunk| chunk.push(bytes)) else {
            return Err(Error::Internal("no pinned memory".into()));
        };
        // SAFETY: both memories have that many bytes, and are kept until the work completes.
        let code = unsafe { (api.cuMemcpyHtoDAsync_v2)(address, source, bytes.len(), self.stream.raw()) };
        self.context.check(code, || "arguments cannot be written".into())
    }

    fn launch(&mut self, table: &Table, number: usize, code: &Code, launch: &Launch) -> Result<()> {
        let api = self.context.current()?;
        let Launch { entry, grid, block, shared_bytes } = *launch;
        let Scratch { parameters, pointers, .. } = &mut *self.scratch;
        let parameters = pointers_to(parameters, pointers);
        let name = || table.executable(number).name();
        // SAFETY: the parameters are those of the entry, in its order; the driver copies them. The buffers that they
        // refer to are kept until the work completes, and were validated.
        let launched = unsafe {
            (api.cuLaunchKernel)(
                code.function(entry),
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared_bytes,
                self.stream.raw(),
                parameters,
                null_mut(),
            )
        };
        self.context.check(launched, || format!("kernel '{}' cannot be launched", name()))?;
        if self.context.is_synchronous {
            // SAFETY: the stream exists.
            let code = unsafe { (api.cuStreamSynchronize)(self.stream.raw()) };
            self.context.check(code, || format!("kernel '{}' failed, in dispatch {number} of its pass", name()))?;
        }
        Ok(())
    }

    fn copy(&self, copy: &Copy) -> Result<()> {
        let Copy { source, range, destination, offset } = copy;
        let api = self.context.current()?;
        // SAFETY: both ranges were checked to be inside their buffers, which the work keeps alive until it completes.
        let code = unsafe {
            let (from, to) = (source.address() + range.start, destination.address() + offset);
            (api.cuMemcpyDtoDAsync_v2)(to as u64, from as u64, range.len(), self.stream.raw())
        };
        self.context.check(code, || format!("{} bytes cannot be copied", range.len()))
    }

    fn fill(&self, fill: &Fill) -> Result<()> {
        let Fill { buffer, range, value } = fill;
        let api = self.context.current()?;
        let address = (buffer.address() + range.start) as u64;
        // SAFETY: the range was checked to be inside the buffer, which the work keeps alive until it completes.
        let code = unsafe { (api.cuMemsetD8Async)(address, *value, range.len(), self.stream.raw()) };
        self.context.check(code, || format!("{} bytes cannot be filled", range.len()))
    }

    /// Launches a graph once, and keeps it until the work completes.
    pub(super) fn launch_once(&mut self, graph: &Graph) -> Result<()> {
        let exec = graph.instantiate()?;
        launch_graph(self.context, &exec, self.stream)?;
        self.held.graphs.push(exec);
        Ok(())
    }

    /// Encodes a copy or a fill; false for other steps.
    pub(super) fn transfer(&self, step: &Step) -> Result<bool> {
        match step {
            Step::Copy(copy) => self.copy(copy).map(|()| true),
            Step::Fill(fill) => self.fill(fill).map(|()| true),
            Step::Pass(_) | Step::Replay { .. } => Ok(false),
        }
    }
}

/// The blocks that dispatches take by address.
pub(super) fn slots_of(table: &Table, patched: &PatchedBlocks) -> Result<ByteSlots> {
    let mut slots = ByteSlots::default();
    for number in 0..table.len() {
        slots.add(&code_of(table, number)?.signature, table, number, patched);
    }
    Ok(slots)
}

pub(super) fn failure_address(watch: &Option<Arc<Watch>>, number: usize) -> u64 {
    watch.as_ref().map_or(0, |watch| watch.address(number))
}

/// Pointers to parameters, as the driver takes them.
fn pointers_to(parameters: &mut Parameters, pointers: &mut Vec<*mut c_void>) -> *mut *mut c_void {
    let Parameters { bytes, starts, .. } = parameters;
    pointers.clear();
    pointers.extend(starts.iter().map(|start| bytes[*start as usize..].as_mut_ptr().cast::<c_void>()));
    pointers.as_mut_ptr()
}

/// Adds a kernel to a graph; returns its node.
pub(super) fn add_kernel(
    context: &Context,
    graph: &Graph,
    dependencies: &[Raw],
    function: Raw,
    launch: &Launch,
    parameters: &mut Parameters,
) -> Result<Raw> {
    let (api, mut node) = (context.current()?, null_mut());
    let mut pointers = Vec::with_capacity(parameters.starts.len());
    let params = KernelNodeParams {
        function,
        grid: launch.grid,
        block: launch.block,
        shared_bytes: launch.shared_bytes,
        parameters: pointers_to(parameters, &mut pointers),
        extra: null_mut(),
        kernel: null_mut(),
        context: context.raw(),
    };
    // SAFETY: the parameters are those of the function, and the driver copies them; the dependencies are nodes of this
    // graph.
    let code = unsafe {
        (api.cuGraphAddKernelNode_v2)(&mut node, graph.raw(), dependencies.as_ptr(), dependencies.len(), &params)
    };
    context.check(code, || "a kernel cannot be recorded".into())?;
    Ok(node)
}

/// Adds edges to a kernel that waits for the others itself.
pub(super) fn add_early_edges(
    context: &Context,
    graph: &Graph,
    add_dependencies: AddDependencies,
    (from, to): (&[Raw], Raw),
) -> Result<()> {
    context.current()?;
    let (to, edges) = (vec![to; from.len()], vec![PROGRAMMATIC_EDGE; from.len()]);
    // SAFETY: all are kernel nodes of this graph, and there is a description for each edge.
    let code = unsafe { add_dependencies(graph.raw(), from.as_ptr(), to.as_ptr(), edges.as_ptr(), from.len()) };
    context.check(code, || "kernels cannot be recorded one after the other".into())
}

/// Adds a node that joins others.
pub(super) fn add_join(context: &Context, graph: &Graph, dependencies: &[Raw]) -> Result<Raw> {
    let (api, mut node) = (context.current()?, null_mut());
    // SAFETY: the dependencies are nodes of this graph.
    let code =
        unsafe { (api.cuGraphAddEmptyNode)(&mut node, graph.raw(), dependencies.as_ptr(), dependencies.len()) };
    context.check(code, || "a barrier cannot be recorded".into())?;
    Ok(node)
}

/// Adds a node that records an event.
pub(super) fn add_event(context: &Context, graph: &Graph, dependencies: &[Raw], event: &Event) -> Result<Raw> {
    let (api, mut node) = (context.current()?, null_mut());
    // SAFETY: the dependencies are nodes of this graph; the event is kept until the work completes.
    let code = unsafe {
        (api.cuGraphAddEventRecordNode)(
            &mut node,
            graph.raw(),
            dependencies.as_ptr(),
            dependencies.len(),
            event.raw(),
        )
    };
    context.check(code, || "a time cannot be recorded".into())?;
    Ok(node)
}

pub(super) fn launch_graph(context: &Context, exec: &GraphExec, stream: &Stream) -> Result<()> {
    let api = context.current()?;
    // SAFETY: both exist; the work keeps alive what the graph uses.
    context.check(unsafe { (api.cuGraphLaunch)(exec.raw(), stream.raw()) }, || "a replay cannot be launched".into())
}
