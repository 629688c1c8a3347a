//! Hazards are detected by device addresses, not by host memory: the toy has the same barriers as the CPU.

use crate::fixture::{Fixture, Random, toy};
use crate::setup::run;
use metalworks_compute::{Buffer, ComputePipelineState, Device, DispatchType, Recording, Size};

const BUFFERS: usize = 4;
const NUMBERS: usize = 64;

/// A dispatch: buffer and first element of its source and of its target, and the count.
struct Mix {
    source: (usize, usize),
    target: (usize, usize),
    count: usize,
}

fn mixes(random: &mut Random, dispatches: usize) -> Vec<Mix> {
    let mut mix = || {
        let count = 1 + random.below(8);
        let mut place = || (random.below(BUFFERS), random.below(NUMBERS - count));
        let (source, target) = (place(), place());
        // A kernel whose arguments overlap without being the same has no one result.
        let clashes = source.0 == target.0 && source.1.abs_diff(target.1) < count;
        Mix { source: if clashes { target } else { source }, target, count }
    };
    (0..dispatches).map(|_| mix()).collect()
}

fn record(device: &Device, pipeline: &ComputePipelineState, buffers: &[Buffer], mixes: &[Mix]) -> Recording {
    let mut recorder = device.new_command_recorder(DispatchType::Concurrent);
    recorder.set_compute_pipeline_state(pipeline).expect("set");
    for (number, Mix { source, target, count }) in mixes.iter().enumerate() {
        for (index, &(buffer, start)) in [source, target].into_iter().enumerate() {
            recorder.set_buffer_range(index, &buffers[buffer], 4 * start..4 * (start + count)).expect("set");
        }
        recorder.set_bytes(2, &(number as u32).to_ne_bytes()).expect("set");
        recorder.dispatch_threads(Size::linear(*count), Size::linear(32)).expect("it is right");
    }
    recorder.finish().expect("a recording")
}

/// Contents of all buffers after serial execution.
fn interpreted(mixes: &[Mix]) -> Vec<Vec<u32>> {
    let mut buffers = initial();
    for (number, Mix { source, target, count }) in mixes.iter().enumerate() {
        for i in 0..*count {
            let from = buffers[source.0][source.1 + i];
            let to = &mut buffers[target.0][target.1 + i];
            *to = to.wrapping_mul(3).wrapping_add(from).wrapping_add(number as u32);
        }
    }
    buffers
}

fn initial() -> Vec<Vec<u32>> {
    (0..BUFFERS).map(|buffer| (0..NUMBERS).map(|i| (100 * buffer + i) as u32).collect()).collect()
}

#[test]
fn barriers_are_those_of_the_cpu() {
    let (toy, cpu) = (toy(), Device::cpu().expect("a CPU"));
    let fixtures = [Fixture::new(toy.device()), Fixture::new(&cpu)];
    let pipelines = fixtures.each_ref().map(|fixture| fixture.pipeline("mix"));
    let mut random = Random(1);
    for dispatches in [1, 2, 3, 5, 8, 20, 100] {
        let mixes = mixes(&mut random, dispatches);
        let expected = interpreted(&mixes);
        let before = toy.counts();
        let barriers = [0, 1].map(|at| {
            let (fixture, pipeline) = (&fixtures[at], &pipelines[at]);
            let buffers: Vec<Buffer> = initial().iter().map(|numbers| fixture.buffer(numbers)).collect();
            let recording = record(&fixture.device, pipeline, &buffers, &mixes);
            let commands = fixture.queue.new_command_buffer();
            commands.replay(&recording, &[]).expect("a replay");
            run(&commands);
            let found: Vec<Vec<u32>> = buffers.iter().map(Buffer::read).collect();
            assert_eq!(found, expected, "{}, {dispatches} dispatches", fixture.device.name());
            recording.barrier_count()
        });
        assert_eq!(barriers[0], barriers[1], "{dispatches} dispatches");
        let after = toy.counts();
        assert_eq!(after.dispatches - before.dispatches, dispatches as u64);
        // If every dispatch waits, the encoder is serial, without barriers.
        let is_serial = barriers[0] + 1 == dispatches;
        let encoded = if is_serial { 0 } else { barriers[0] as u64 };
        assert_eq!(after.barriers - before.barriers, encoded, "{dispatches} dispatches");
    }
    assert!(toy.counts().barriers > 10, "there are hazards in this test");
}
