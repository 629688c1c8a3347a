//! Random calls with random arguments are accepted or refused, and accepted work runs.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{RustKernel, argument, device, read_only};
use metalworks_compute::reflect::ArgumentKind;
use metalworks_compute::{
    Buffer, BytesLocation, CommandBuffer, CommandBufferStatus, CommandRecorder, ComputeCommandEncoder,
    ComputePipelineState, Device, DispatchType, Error, Patch, Recording, Result, Size,
};

/// Reads the first byte of each buffer and writes it back, if allowed.
unsafe extern "C" fn touch(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe {
        for index in 0..4 {
            let first = (*d).buffers[index];
            if !first.is_null() {
                let byte = first.read_volatile();
                if index < 2 {
                    first.write_volatile(byte);
                }
            }
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    /// Picks one; rarely the last, invalid one.
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        if self.below(12) == 0 { from[from.len() - 1] } else { from[self.below(from.len() - 1)] }
    }
}

struct Playground {
    device: Device,
    pipelines: Vec<(RustKernel, ComputePipelineState)>,
    buffers: Vec<Buffer>,
    recordings: Vec<Recording>,
    locations: Vec<BytesLocation>,
    accepted: usize,
    refused: usize,
}

impl Playground {
    fn new(random: &mut Random) -> Playground {
        let device = device(1 + random.below(3));
        device.set_validation(random.below(2) == 0);
        let pipelines = [(1, None), (4, None), (2, Some(96))].map(|(buffers, memory)| {
            let mut kernel = RustKernel::new(touch, touch, buffers);
            for index in 2..buffers as usize {
                kernel = kernel.reading(index);
            }
            if memory.is_some() {
                kernel.arguments.push(argument(ArgumentKind::ThreadgroupMemory, 1, 16));
                kernel.arguments.push(read_only(argument(ArgumentKind::Buffer, 3, 64)));
                kernel.has_barrier = true;
            }
            let pipeline = kernel.pipeline(&device).expect("a pipeline");
            (kernel, pipeline)
        });
        let buffers = [64, 4096, 100_000, 3].map(|len| device.new_buffer(len).expect("memory"));
        Playground {
            device,
            pipelines: pipelines.into(),
            buffers: buffers.into(),
            recordings: Vec::new(),
            locations: Vec::new(),
            accepted: 0,
            refused: 0,
        }
    }

    /// Counts the result; errors must be usage errors.
    fn count<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => {
                self.accepted += 1;
                Some(value)
            }
            Err(Error::Usage(problem)) => {
                assert!(problem.len() > 20, "{problem}");
                self.refused += 1;
                None
            }
            Err(other) => panic!("another error: {other}"),
        }
    }

    fn size(random: &mut Random) -> Size {
        let extent = |random: &mut Random| random.pick(&[1, 1, 1, 2, 5, 32, 33, 64, 0]);
        let width = random.pick(&[1, 32, 64, 100, 256, 1024, 1 << 32, usize::MAX]);
        Size::new(width, extent(random), extent(random))
    }

    fn encode(&mut self, random: &mut Random, encoder: &mut ComputeCommandEncoder) {
        // Index 30 has the address of the kernel's function.
        let index = random.pick(&[0, 1, 2, 3, 0, 1, 2, 3, 29, 31, usize::MAX]);
        let offset = random.pick(&[0, 0, 0, 4, 8, 16, 63, 64, 4095, usize::MAX]);
        let mut buffer = self.buffers[random.below(self.buffers.len())].clone();
        if random.below(8) == 0 {
            buffer = buffer.read_only();
        }
        let small = Size::linear(1 + random.below(70));
        let result = match random.below(12) {
            0 => {
                let (kernel, pipeline) = self.pipelines[random.below(self.pipelines.len())].clone();
                encoder.set_compute_pipeline_state(&pipeline).and_then(|()| kernel.bind(encoder))
            }
            1..=3 => encoder.set_buffer(index, &buffer, offset),
            4 => encoder.set_buffer_range(index, &buffer, offset..random.pick(&[64, 4096, 80, 3, usize::MAX])),
            5 => encoder.set_buffer_offset(index, offset),
            6 => {
                let len = random.pick(&[4, 16, 64, 100, 4096, 4097]);
                let location = encoder.set_bytes(index, &vec![random.below(256) as u8; len]);
                self.locations.extend(location.clone());
                location.map(|_| ())
            }
            7 => {
                encoder.set_threadgroup_memory_length(index, random.pick(&[16, 64, 1024, 32 << 10, 7, usize::MAX]))
            }
            8 => encoder.memory_barrier(),
            9 => encoder.dispatch_threads(Playground::size(random), Playground::size(random)),
            10 => encoder.dispatch_threads(small, Size::linear(32)),
            _ => encoder.dispatch_threadgroups(small, Size::linear(32)),
        };
        self.count(result);
    }

    fn dispatch_type(random: &mut Random) -> DispatchType {
        if random.below(2) == 0 { DispatchType::Serial } else { DispatchType::Concurrent }
    }

    fn record(&mut self, random: &mut Random) {
        let mut recorder: CommandRecorder = self.device.new_command_recorder(Playground::dispatch_type(random));
        for _ in 0..random.below(60) {
            self.encode(random, &mut recorder);
        }
        let recording = self.count(recorder.finish());
        self.recordings.extend(recording);
    }

    fn step(&mut self, random: &mut Random, commands: &CommandBuffer) {
        match random.below(4) {
            0 => {
                let Some(recording) = self.recordings.last().cloned() else { return };
                let bytes = vec![1; random.pick(&[0, 1, 4, 5000])];
                let count = random.below(3).min(self.locations.len());
                let patches: Vec<Patch> = (0..count)
                    .map(|_| Patch {
                        location: self.locations[random.below(self.locations.len())],
                        offset: random.pick(&[0, 1, 3, usize::MAX]),
                        bytes: &bytes,
                    })
                    .collect();
                let replayed = commands.replay(&recording, &patches);
                self.count(replayed);
            }
            1 => self.record(random),
            _ => {
                let encoder =
                    commands.compute_command_encoder_with_dispatch_type(Playground::dispatch_type(random));
                let Some(mut encoder) = self.count(encoder) else { return };
                for _ in 0..random.below(60) {
                    self.encode(random, &mut encoder);
                }
                let ended = encoder.end_encoding();
                self.count(ended);
                if random.below(10) == 0 {
                    self.buffers[random.below(3)].release();
                }
                self.encode(random, &mut encoder);
            }
        }
    }
}

#[test]
fn random_calls_are_accepted_or_refused() {
    let (mut accepted, mut refused, mut completed) = (0, 0, 0);
    for seed in 0..150 {
        let mut random = Random(seed);
        let mut playground = Playground::new(&mut random);
        let queue = playground.device.new_command_queue();
        for _ in 0..8 {
            let commands = queue.new_command_buffer();
            for _ in 0..random.below(6) {
                playground.step(&mut random, &commands);
            }
            if playground.count(commands.commit()).is_some() {
                commands.wait_until_completed().expect("what was accepted runs");
                assert_eq!(commands.status(), CommandBufferStatus::Completed);
                completed += 1;
            }
            playground.step(&mut random, &commands);
        }
        accepted += playground.accepted;
        refused += playground.refused;
    }
    // The bounds only show that both happen often.
    assert!(accepted > 10_000 && refused > 5_000 && completed > 200, "{accepted} {refused} {completed}");
}
