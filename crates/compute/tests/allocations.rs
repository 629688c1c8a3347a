//! Once warm, replaying and encoding hardly allocate.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{RustKernel, device};
use metalworks_compute::{
    Buffer, CommandQueue, ComputeCommandEncoder, ComputePipelineState, DispatchType, Patch, Result, Size,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts allocations of the tested thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it forwards every call to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// True if this thread has executed a kernel.
    static EXECUTED: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn nothing(_: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    EXECUTED.set(true);
}

/// Maximum number of allocations of a run, after some warm-up runs. This thread usually executes, since it waits; runs
/// that the queue's thread executed are ignored.
fn allocations(mut run: impl FnMut() -> Result<()>) -> usize {
    let mut counts = Vec::with_capacity(50);
    for _ in 0..10_000 {
        if counts.len() == 50 {
            break;
        }
        EXECUTED.set(false);
        let before = COUNT.get();
        run().expect("it runs");
        let count = COUNT.get() - before;
        if EXECUTED.get() {
            counts.push(count);
        }
    }
    assert_eq!(counts.len(), 50, "the waiting thread executes");
    counts.into_iter().skip(10).max().unwrap_or(0)
}

struct Setup {
    queue: CommandQueue,
    kernel: RustKernel,
    pipeline: ComputePipelineState,
    buffers: Vec<Buffer>,
}

fn setup() -> Setup {
    let device = device(1);
    let kernel = RustKernel::new(nothing, nothing, 2).reading(1);
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    let buffers = (0..40).map(|_| device.new_buffer(64).expect("memory")).collect();
    Setup { queue: device.new_command_queue(), kernel, pipeline, buffers }
}

impl Setup {
    fn encode(&self, encoder: &mut ComputeCommandEncoder, dispatches: usize) -> Result<()> {
        encoder.set_compute_pipeline_state(&self.pipeline)?;
        self.kernel.bind(encoder)?;
        for number in 0..dispatches {
            encoder.set_buffer(0, &self.buffers[number % self.buffers.len()], 0)?;
            encoder.set_bytes(1, &number.to_ne_bytes())?;
            encoder.dispatch_threadgroups(Size::linear(1), Size::linear(32))?;
        }
        Ok(())
    }
}

#[test]
fn replays_of_any_length_allocate_the_same() {
    let setup = setup();
    let mut counts = Vec::new();
    for dispatches in [1, 1000] {
        let mut recorder = setup.queue.device().new_command_recorder(DispatchType::Serial);
        setup.encode(&mut recorder, dispatches).expect("recorded");
        let recording = recorder.finish().expect("a recording");
        let location = recording.bytes_location(dispatches - 1, 1).expect("there are bytes");
        counts.push(allocations(|| {
            let commands = setup.queue.new_command_buffer();
            commands.replay(&recording, &[Patch { location, offset: 0, bytes: &[1] }])?;
            commands.commit()?;
            commands.wait_until_completed()
        }));
    }
    assert_eq!(counts[0], counts[1]);
    assert!(counts[0] <= 1, "{} allocations: the command buffer is one", counts[0]);
}

#[test]
fn encoding_allocates_nothing_for_a_single_dispatch() {
    let setup = setup();
    let count = allocations(|| {
        let commands = setup.queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder()?;
        setup.encode(&mut encoder, 1000)?;
        encoder.end_encoding()?;
        commands.commit()?;
        commands.wait_until_completed()
    });
    assert!(count <= 8, "{count} allocations for 1,000 dispatches");
}
