//! The commands of small passes, as text.

use super::{CommandSink, DispatchSize, EncoderState};
use crate::backend::{Executable, Memory, Step, Work};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Result;
use crate::library::FunctionDescriptor;
use crate::pipeline::{ComputePipelineDescriptor, ComputePipelineState};
use crate::program::CompileOptions;
use crate::record::{ComputeCommandEncoder, DispatchType, Patch, Recording};
use crate::size::Size;
use abi::Constants;

const SOURCE: &str = "
    kernel void add(device uint *x [[buffer(0)]], constant uint &n [[buffer(3)]], uint i [[thread_position_in_grid]]) {
        x[i] += n;
    }
    kernel void fold(device uint *y [[buffer(0)]], device const uint *x [[buffer(1)]],
                     threadgroup uint *t [[threadgroup(2)]], uint i [[thread_position_in_grid]]) {
        t[0] = x[i];
        y[i] = t[0];
    }";

#[derive(Default)]
struct Log(Vec<String>);

impl CommandSink for Log {
    fn set_pipeline(&mut self, pipeline: &Executable) -> Result<()> {
        self.0.push(format!("pipeline {}", pipeline.name()));
        Ok(())
    }

    fn set_buffer(&mut self, index: usize, buffer: &Memory, offset: usize) -> Result<()> {
        self.0.push(format!("{index}: {} from {offset}", buffer.label().unwrap_or_default()));
        Ok(())
    }

    fn set_buffer_offset(&mut self, index: usize, buffer: &Memory, offset: usize) -> Result<()> {
        self.0.push(format!("{index}: still {} from {offset}", buffer.label().unwrap_or_default()));
        Ok(())
    }

    fn set_bytes(&mut self, index: usize, bytes: &[u8]) {
        self.0.push(format!("{index}: {bytes:?}"));
    }

    fn set_threadgroup_memory(&mut self, index: usize, length: usize) {
        self.0.push(format!("{index}: {length} of threadgroup memory"));
    }

    fn barrier(&mut self) {
        self.0.push("barrier".into());
    }

    fn dispatch(&mut self, pipeline: &Executable, grid: DispatchSize, size: [u32; 3]) -> Result<()> {
        self.0.push(format!("{} in {grid:?} of {size:?}", pipeline.name()));
        Ok(())
    }
}

struct Setup {
    device: Device,
    add: ComputePipelineState,
    fold: ComputePipelineState,
    buffers: [Buffer; 3],
}

impl Setup {
    fn new() -> Setup {
        let device = Device::cpu().expect("a CPU");
        let library = device.new_library_with_source(SOURCE, &CompileOptions::default()).expect("a library");
        let [add, fold] = ["add", "fold"].map(|name| {
            let function = FunctionDescriptor { library: &library, name, constants: &Constants::new() };
            let descriptor = ComputePipelineDescriptor::default();
            device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor).expect("it compiles")
        });
        let buffers = ["a", "b", "c"].map(|label| {
            let buffer = device.new_buffer(4096).expect("memory");
            buffer.set_label(label);
            buffer
        });
        Setup { device, add, fold, buffers }
    }

    fn record(
        &self,
        dispatch_type: DispatchType,
        encode: impl FnOnce(&mut ComputeCommandEncoder) -> Result<()>,
    ) -> Recording {
        let mut recorder = self.device.new_command_recorder(dispatch_type);
        encode(&mut recorder).expect("it is right");
        recorder.finish().expect("a recording")
    }
}

fn commands(recording: &Recording) -> Vec<String> {
    let (table, mut log) = (recording.table(), Log::default());
    table.commands(&table.bytes, &mut log).expect("a log takes everything");
    log.0
}

const ROW: Size = Size::linear(32);

#[test]
fn unchanged_state_is_not_set_again() {
    let setup = Setup::new();
    let [a, b, _] = &setup.buffers;
    let recording = setup.record(DispatchType::Serial, |encoder| {
        encoder.set_compute_pipeline_state(&setup.add)?;
        encoder.set_buffer(0, a, 0)?;
        encoder.set_bytes(3, &[1, 0, 0, 0])?;
        encoder.dispatch_threads(Size::linear(64), ROW)?;
        encoder.set_compute_pipeline_state(&setup.add)?;
        encoder.set_buffer(0, a, 0)?;
        encoder.dispatch_threads(Size::linear(65), ROW)?;
        encoder.set_buffer(0, a, 256)?;
        encoder.set_bytes(3, &[2, 0, 0, 0])?;
        encoder.dispatch_threadgroups(Size::new(2, 1, 1), Size::new(8, 4, 1))?;
        encoder.set_buffer(0, b, 256)?;
        encoder.set_buffer(3, a, 16)?;
        encoder.dispatch_threads(Size::new(3, 5, 7), Size::new(3, 5, 1))
    });
    assert!(!recording.table().may_overlap());
    assert_eq!(
        commands(&recording),
        [
            "pipeline add",
            "0: a from 0",
            "3: [1, 0, 0, 0]",
            "add in Threadgroups([2, 1, 1]) of [32, 1, 1]",
            "add in Threads([65, 1, 1]) of [32, 1, 1]",
            "0: still a from 256",
            "3: [2, 0, 0, 0]",
            "add in Threadgroups([2, 1, 1]) of [8, 4, 1]",
            "0: b from 256",
            "3: a from 16",
            "add in Threadgroups([1, 1, 7]) of [3, 5, 1]",
        ]
    );
}

#[test]
fn inserts_barriers_where_dispatches_wait() {
    let setup = Setup::new();
    let [a, b, c] = &setup.buffers;
    let encode = |encoder: &mut ComputeCommandEncoder| {
        encoder.set_compute_pipeline_state(&setup.fold)?;
        encoder.set_threadgroup_memory_length(2, 32)?;
        // b from a and c from a overlap; a from b waits.
        for (to, from) in [(b, a), (c, a), (a, b)] {
            encoder.set_buffer(0, to, 0)?;
            encoder.set_buffer(1, from, 0)?;
            encoder.dispatch_threads(ROW, ROW)?;
        }
        encoder.set_threadgroup_memory_length(2, 64)?;
        encoder.dispatch_threads(ROW, ROW)
    };
    let recording = setup.record(DispatchType::Concurrent, encode);
    assert!(recording.table().may_overlap());
    let fold = "fold in Threadgroups([1, 1, 1]) of [32, 1, 1]";
    assert_eq!(
        commands(&recording),
        [
            "pipeline fold",
            "0: b from 0",
            "1: a from 0",
            "2: 32 of threadgroup memory",
            fold,
            "0: c from 0",
            fold,
            "barrier",
            "0: a from 0",
            "1: b from 0",
            fold,
            "barrier",
            "2: 64 of threadgroup memory",
            fold,
        ]
    );
    // A serial encoder needs no barriers.
    let serial = setup.record(DispatchType::Serial, encode);
    assert!(!serial.table().may_overlap() && !commands(&serial).contains(&"barrier".to_owned()));
}

#[test]
fn a_single_dispatch_sets_all_state() {
    let setup = Setup::new();
    let recording = setup.record(DispatchType::Concurrent, |encoder| {
        encoder.set_compute_pipeline_state(&setup.add)?;
        encoder.set_buffer(0, &setup.buffers[0], 0)?;
        encoder.set_bytes(3, &[1, 0, 0, 0])?;
        encoder.dispatch_threads(ROW, ROW)?;
        encoder.dispatch_threads(ROW, ROW)
    });
    let (table, mut log) = (recording.table(), Log::default());
    table
        .dispatch_commands(1, &table.bytes, &mut EncoderState::default(), &mut log)
        .expect("a log takes everything");
    let add = "add in Threadgroups([1, 1, 1]) of [32, 1, 1]";
    assert_eq!(log.0, ["pipeline add", "0: a from 0", "3: [1, 0, 0, 0]", add]);
}

#[test]
fn replays_use_their_patched_bytes() {
    let setup = Setup::new();
    let mut recorder = setup.device.new_command_recorder(DispatchType::Serial);
    recorder.set_compute_pipeline_state(&setup.add).expect("set");
    recorder.set_buffer(0, &setup.buffers[0], 0).expect("set");
    let mut locations = Vec::new();
    for number in [1u8, 2, 3] {
        // More than one block.
        let mut bytes = [number; 100];
        bytes[99] = 0;
        locations.push(recorder.set_bytes(3, &bytes).expect("set"));
        recorder.dispatch_threads(ROW, ROW).expect("it is right");
    }
    let recording = recorder.finish().expect("a recording");
    let mut work = Work::default();
    work.replay(recording.recorded(), std::iter::empty());
    let patches = [(1, 98, &[7, 8][..]), (2, 0, &[9][..]), (2, 62, &[5, 6, 7][..])]
        .map(|(which, offset, bytes)| Patch { location: locations[which], offset, bytes });
    let ranges = patches.iter().map(|patch| (recording.patched(patch).expect("it is inside"), patch.bytes));
    work.replay(recording.recorded(), ranges);
    let bytes: Vec<Vec<String>> = work
        .steps()
        .iter()
        .map(|step| {
            let Step::Replay { recorded, patches } = step else { panic!("there are only replays") };
            let mut log = Log::default();
            let bytes = work.patched(recorded, patches);
            recorded.table().commands(&bytes, &mut log).expect("a log takes everything");
            log.0.into_iter().filter(|line| line.starts_with("3: ")).collect()
        })
        .collect();
    let line = |number: u8, changes: &[(usize, u8)]| {
        let mut bytes = [number; 100];
        bytes[99] = 0;
        changes.iter().for_each(|&(place, byte)| bytes[place] = byte);
        format!("3: {bytes:?}")
    };
    assert_eq!(bytes[0], [line(1, &[]), line(2, &[]), line(3, &[])]);
    let third = line(3, &[(0, 9), (62, 5), (63, 6), (64, 7)]);
    assert_eq!(bytes[1], [line(1, &[]), line(2, &[(98, 7), (99, 8)]), third]);
}
