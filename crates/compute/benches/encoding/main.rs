//! Host cost of encoding, replaying and committing, without the kernels. Prints medians beside their targets.
//!
//! `cargo bench -p metalworks-compute --bench encoding`
#![allow(clippy::print_stdout, reason = "its result is what it prints")]

use metalworks_compute::{
    Buffer, CommandQueue, CompileOptions, ComputeCommandEncoder, ComputePipelineState, CpuOptions, Device,
    DispatchType, Error, FunctionConstantValues, Patch, Recording, Size,
};
use std::time::{Duration, Instant};

/// Typical number of dispatches for one token of a language model.
const DISPATCHES: usize = 300;

const ROUNDS: usize = 301;

const SOURCE: &str = "
    kernel void tiny(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                     device const float *c [[buffer(2)]], device float *out [[buffer(3)]],
                     constant uint &step [[buffer(4)]], uint i [[thread_position_in_grid]]) {
        out[i] = a[i] * b[i] + c[i] + float(step);
    }";

struct Setup {
    device: Device,
    queue: CommandQueue,
    pipeline: ComputePipelineState,
    buffers: Vec<Buffer>,
}

impl Setup {
    fn new(threads: Option<usize>) -> Result<Setup, Error> {
        let device = Device::cpu_with_options(&CpuOptions { threads })?;
        let library = device.new_library_with_source(SOURCE, &CompileOptions::default())?;
        let function = library.new_function("tiny", &FunctionConstantValues::new())?;
        let pipeline = device.new_compute_pipeline_state(&function)?;
        let buffers = (0..64).map(|_| device.new_buffer(4096)).collect::<Result<Vec<Buffer>, Error>>()?;
        Ok(Setup { queue: device.new_command_queue(), device, pipeline, buffers })
    }

    /// Encodes one dispatch and sets all its state, as most code does.
    fn encode(&self, encoder: &mut ComputeCommandEncoder, number: usize, groups: usize) -> Result<(), Error> {
        encoder.set_compute_pipeline_state(&self.pipeline)?;
        for index in 0..4 {
            encoder.set_buffer(index, &self.buffers[(number + 16 * index) % self.buffers.len()], 0)?;
        }
        encoder.set_bytes(4, &(number as u32).to_ne_bytes())?;
        encoder.dispatch_threadgroups(Size::linear(groups), Size::linear(32))
    }

    /// The time for each of the dispatches of one encoder.
    fn encoding(&self, dispatch_type: DispatchType) -> Result<Duration, Error> {
        median(|| {
            let commands = self.queue.new_command_buffer();
            let start = Instant::now();
            let mut encoder = commands.compute_command_encoder_with_dispatch_type(dispatch_type)?;
            for number in 0..DISPATCHES {
                self.encode(&mut encoder, number, 1)?;
            }
            encoder.end_encoding()?;
            let took = start.elapsed();
            commands.commit()?;
            commands.wait_until_completed()?;
            Ok(took)
        })
    }

    fn recording(&self, groups: usize) -> Result<Recording, Error> {
        let mut recorder = self.device.new_command_recorder(DispatchType::Serial);
        for number in 0..DISPATCHES {
            self.encode(&mut recorder, number, groups)?;
        }
        recorder.finish()
    }

    /// The times until a replay with two patches is committed, and until it is done.
    fn replay(&self, recording: &Recording) -> Result<[Duration; 2], Error> {
        let location = |dispatch: usize| recording.bytes_location(dispatch, 4);
        let (Some(first), Some(last)) = (location(0), location(DISPATCHES - 1)) else {
            return Ok([Duration::MAX; 2]);
        };
        let mut both = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS as u32 {
            let start = Instant::now();
            let commands = self.queue.new_command_buffer();
            let bytes = round.to_ne_bytes();
            let patch = |location| Patch { location, offset: 0, bytes: &bytes };
            commands.replay(recording, &[patch(first), patch(last)])?;
            commands.commit()?;
            both[0].push(start.elapsed());
            commands.wait_until_completed()?;
            both[1].push(start.elapsed());
        }
        Ok(both.map(|mut times| {
            times.sort();
            times[times.len() / 2]
        }))
    }

    /// The time for a command buffer with some dispatches, from its creation on.
    fn round_trip(&self, dispatches: usize) -> Result<Duration, Error> {
        median(|| {
            let start = Instant::now();
            let commands = self.queue.new_command_buffer();
            let mut encoder = commands.compute_command_encoder()?;
            for number in 0..dispatches {
                self.encode(&mut encoder, number, 1)?;
            }
            encoder.end_encoding()?;
            commands.commit()?;
            commands.wait_until_completed()?;
            Ok(start.elapsed())
        })
    }
}

fn median(mut run: impl FnMut() -> Result<Duration, Error>) -> Result<Duration, Error> {
    let mut times = (0..ROUNDS).map(|_| run()).collect::<Result<Vec<Duration>, Error>>()?;
    times.sort();
    Ok(times[ROUNDS / 2])
}

fn print(what: &str, time: Duration, each: usize, target: &str) {
    println!("{what:62}{:9.1} ns   {target}", time.as_nanos() as f64 / each as f64);
}

fn main() -> Result<(), Error> {
    println!("medians of {ROUNDS}; {DISPATCHES} dispatches of one threadgroup, 4 buffers and set_bytes each\n");
    let one = Setup::new(Some(1))?;
    for (validation, name) in [(false, "off"), (true, "on")] {
        one.device.set_validation(validation);
        for (dispatch_type, kind) in [(DispatchType::Serial, "serial"), (DispatchType::Concurrent, "concurrent")] {
            let what = format!("encode a dispatch, {kind}, validation {name}");
            print(&what, one.encoding(dispatch_type)?, DISPATCHES, "target: under 500");
        }
    }
    for (threads, name) in [(Some(1), "one thread"), (None, "all threads")] {
        let setup = Setup::new(threads)?;
        let recording = setup.recording(1)?;
        let [committed, done] = setup.replay(&recording)?;
        print(
            &format!("replay, a dispatch until commit is back, {name}"),
            committed,
            DISPATCHES,
            "target: under 100",
        );
        print(&format!("replay, a dispatch until it is done, {name}"), done, DISPATCHES, "target: under 100");
        let [_, done] = setup.replay(&setup.recording(8)?)?;
        print(&format!("replay, a dispatch of 8 threadgroups until it is done, {name}"), done, DISPATCHES, "");
        let encoded = setup.round_trip(DISPATCHES)?;
        print(&format!("the same encoded anew, until it is done, {name}"), encoded, DISPATCHES, "");
        print(&format!("commit and wait, empty encoder, {name}"), setup.round_trip(0)?, 1, "");
        print(&format!("commit and wait, one dispatch, {name}"), setup.round_trip(1)?, 1, "");
    }
    Ok(())
}
