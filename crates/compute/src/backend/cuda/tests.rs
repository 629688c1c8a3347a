//! Tables as launches and graphs, without a driver.

use super::graph::{nodes, stages};
use super::launch::{
    ByteSlots, EntryKind, Launch, LaunchAddresses, Parameters, PatchedBlocks, Signature, spare_behind,
    threadgroups_of,
};
use super::recording::{PatchedBytes, reads_written, written_memory};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::library::FunctionDescriptor;
use crate::pipeline::{ComputePipelineDescriptor, ComputePipelineState};
use crate::program::CompileOptions;
use crate::record::{ComputeCommandEncoder, DispatchType, Recording};
use crate::size::Size;
use abi::SimtParameter::{Bytes, Failure, Grid, Threadgroup};
use abi::{Constants, SimtParameter, Threadgroups};
use std::ops::Range;

const SOURCE: &str = "
    struct Params { uint n; uint step; };
    kernel void k(device uint *x [[buffer(0)]], constant Params &p [[buffer(2)]], constant uint *list [[buffer(3)]],
                  threadgroup uint *t [[threadgroup(0)]], threadgroup uint *u [[threadgroup(1)]],
                  uint i [[thread_position_in_grid]]) {
        t[0] = p.n;
        u[0] = list[0];
        x[i] += t[0] + u[0];
    }";

struct Setup {
    device: Device,
    kernel: ComputePipelineState,
    x: Buffer,
}

impl Setup {
    fn new() -> Setup {
        let device = Device::cpu().expect("a CPU");
        let library = device.new_library_with_source(SOURCE, &CompileOptions::default()).expect("a library");
        let function = FunctionDescriptor { library: &library, name: "k", constants: &Constants::new() };
        let descriptor = ComputePipelineDescriptor::default();
        let kernel = device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor);
        Setup { kernel: kernel.expect("it compiles"), x: device.new_buffer(1 << 20).expect("memory"), device }
    }

    fn record(&self, encode: impl FnOnce(&mut ComputeCommandEncoder) -> Result<()>) -> Recording {
        let mut recorder = self.device.new_command_recorder(DispatchType::Concurrent);
        let bound = recorder.set_compute_pipeline_state(&self.kernel).and_then(|()| {
            recorder.set_threadgroup_memory_length(0, 48)?;
            recorder.set_threadgroup_memory_length(1, 32)?;
            encode(&mut recorder)
        });
        bound.expect("it is right");
        recorder.finish().expect("a recording")
    }

    /// A dispatch with its own part of the buffer.
    fn dispatch(
        &self,
        encoder: &mut ComputeCommandEncoder,
        offset: usize,
        params: [u32; 2],
        (threads, size): (Size, Size),
    ) -> Result<()> {
        encoder.set_buffer(0, &self.x, offset)?;
        encoder.set_bytes(2, bytemuck::bytes_of(&params))?;
        encoder.set_bytes(3, &7u32.to_ne_bytes())?;
        encoder.dispatch_threads(threads, size)
    }
}

/// The entries of the kernel, as the code generator describes them.
fn signature(threadgroups: Threadgroups) -> Signature {
    let buffer = |index| SimtParameter::Buffer { index };
    let list = |params: SimtParameter| {
        let mut list =
            vec![buffer(0), params, buffer(3), Threadgroup { index: 0 }, Threadgroup { index: 1 }, Failure];
        if threadgroups == Threadgroups::Any {
            list.push(Grid);
        }
        list
    };
    Signature {
        addresses: list(buffer(2)),
        values: Some(list(Bytes { index: 2, size: 12, align: 4 })),
        threadgroup_variables: 64,
    }
}

/// Packs a dispatch, with the blocks that it takes by address at 0x1000.
fn launch_patched(recording: &Recording, number: usize, patched: &PatchedBlocks) -> Result<(Launch, Parameters)> {
    let (table, mut parameters) = (recording.table(), Parameters::default());
    let signature = signature(threadgroups_of(table, number));
    let mut slots = ByteSlots::default();
    (0..table.len()).for_each(|number| slots.add(&signature, table, number, patched));
    let addresses = LaunchAddresses { slots: &slots, bytes: 0x1000, failure: 0x2000 };
    let launch = signature.launch(table, number, &table.bytes, patched, addresses, &mut parameters)?;
    Ok((launch, parameters))
}

fn launch(recording: &Recording, number: usize) -> Result<(Launch, Parameters)> {
    launch_patched(recording, number, &PatchedBlocks::default())
}

/// The bytes of each parameter.
fn split(parameters: &Parameters) -> Vec<&[u8]> {
    let starts = || parameters.starts.iter().map(|start| *start as usize);
    let ends = starts().skip(1).chain([parameters.bytes.len()]);
    starts().zip(ends).map(|(start, end)| &parameters.bytes[start..end]).collect()
}

fn number(bytes: &[u8]) -> u64 {
    bytes[..8].try_into().map(u64::from_ne_bytes).expect("8 bytes")
}

#[test]
fn threadgroup_memory_has_spare_bytes_behind_it() {
    assert_eq!([0, 1, 4096, 48_896, 48_897, 49_152].map(spare_behind), [0, 256, 256, 256, 0, 0]);
}

#[test]
fn buffers_that_are_written_are_not_read_early() {
    let setup = Setup::new();
    let other = setup.device.new_buffer(64).expect("memory");
    let recording = setup.record(|encoder| {
        for list in [&other, &setup.x] {
            encoder.set_buffer(0, &setup.x, 0)?;
            encoder.set_bytes(2, bytemuck::bytes_of(&[1u32, 2]))?;
            encoder.set_buffer(3, list, 0)?;
            encoder.dispatch_threads(Size::linear(32), Size::linear(32))?;
        }
        Ok(())
    });
    let table = recording.table();
    let written = written_memory(table);
    assert_eq!(written.len(), 1, "both write the same buffer");
    let early = |number, index| reads_written(table, number, &[index], &written);
    assert_eq!(
        [(0, 0), (0, 3), (1, 3), (1, 2)].map(|(number, index)| early(number, index)),
        [true, false, true, false]
    );
}

#[test]
fn whole_threadgroups_take_values() {
    let setup = Setup::new();
    let recording =
        setup.record(|encoder| setup.dispatch(encoder, 64, [5, 6], (Size::new(256, 4, 2), Size::new(64, 2, 1))));
    assert_eq!(threadgroups_of(recording.table(), 0), Threadgroups::Whole);
    let (launch, parameters) = launch(&recording, 0).expect("it is small");
    let (grid, block) = ([4, 2, 2], [64, 2, 1]);
    assert_eq!(launch, Launch { entry: EntryKind::Values, grid, block, shared_bytes: 48 + 32 + 256 });
    let parts = split(&parameters);
    assert_eq!(parts.len(), 6);
    assert_eq!(number(parts[0]), setup.x.memory().address() as u64 + 64);
    // The entry takes more than was set: the rest is 0.
    assert_eq!(parts[1][..12], *bytemuck::bytes_of(&[5u32, 6, 0]));
    assert_eq!(number(parts[2]), 0x1000, "only the second block is taken by address");
    assert_eq!((parts[3][..4].to_vec(), parts[4][..4].to_vec()), (vec![0; 4], 48u32.to_ne_bytes().to_vec()));
    assert_eq!(number(parts[5]), 0x2000);
}

#[test]
fn other_threadgroups_take_the_grid() {
    let setup = Setup::new();
    let recording = setup.record(|encoder| {
        setup.dispatch(encoder, 0, [5, 6], (Size::linear(65), Size::linear(64)))?;
        setup.dispatch(encoder, 4096, [5, 6], (Size::linear(48), Size::linear(16)))
    });
    for (dispatch, grid, threads) in [(0, [2, 1, 1], 65u32), (1, [3, 1, 1], 48)] {
        assert_eq!(threadgroups_of(recording.table(), dispatch), Threadgroups::Any);
        let (launch, parameters) = launch(&recording, dispatch).expect("it is small");
        assert_eq!(launch.grid, grid);
        assert_eq!(split(&parameters)[6], bytemuck::bytes_of(&[threads, 1, 1]));
    }
}

#[test]
fn a_buffer_in_place_of_bytes_takes_addresses() {
    let setup = Setup::new();
    let recording = setup.record(|encoder| {
        encoder.set_buffer(0, &setup.x, 0)?;
        encoder.set_buffer(2, &setup.x, 8192)?;
        encoder.set_buffer(3, &setup.x, 16_384)?;
        encoder.dispatch_threads(Size::linear(64), Size::linear(32))
    });
    let (launch, parameters) = launch(&recording, 0).expect("it is small");
    assert_eq!(launch.entry, EntryKind::Addresses);
    let address = setup.x.memory().address() as u64;
    assert_eq!((number(split(&parameters)[1]), number(split(&parameters)[2])), (address + 8192, address + 16_384));
    let mut slots = ByteSlots::default();
    slots.add(&signature(Threadgroups::Whole), recording.table(), 0, &PatchedBlocks::default());
    assert_eq!(slots.len(), 0);
}

#[test]
fn too_many_threadgroups_are_refused() {
    let setup = Setup::new();
    let recording =
        setup.record(|encoder| setup.dispatch(encoder, 0, [1, 1], (Size::new(32, 65_536, 1), Size::linear(32))));
    let Err(Error::Usage(problem)) = launch(&recording, 0) else { panic!("it is refused") };
    assert!(problem.contains("65536 threadgroups along y") && problem.contains("'k'"), "{problem}");
}

#[test]
fn dispatches_wait_where_they_use_the_same_bytes() {
    let setup = Setup::new();
    let row = (Size::linear(32), Size::linear(32));
    // A kernel may write from its offset to the end of the buffer: later offsets come first.
    let recording = setup.record(|encoder| {
        setup.dispatch(encoder, 0, [1, 1], row)?;
        setup.dispatch(encoder, 0, [1, 1], row)
    });
    assert_eq!(stages(recording.table()), [0..1, 1..2]);
    assert_eq!(nodes(&stages(recording.table()))[1].dependencies, 0..1);
}

/// Blocks 0 and 2 have the parameters of two dispatches, 1 and 3 their lists.
fn two_dispatches(setup: &Setup) -> Recording {
    let row = (Size::linear(32), Size::linear(32));
    setup.record(|encoder| {
        setup.dispatch(encoder, 0, [1, 2], row)?;
        setup.dispatch(encoder, 0, [3, 4], row)
    })
}

#[test]
fn patched_dispatches_take_addresses() {
    let setup = Setup::new();
    let recording = two_dispatches(&setup);
    let mut patched = PatchedBlocks::default();
    let entries = |patched: &PatchedBlocks| {
        [0, 1].map(|number| launch_patched(&recording, number, patched).expect("it is small").0.entry)
    };
    assert_eq!(entries(&patched), [EntryKind::Values; 2]);
    assert!(patched.add(&(132..136)) && !patched.add(&(128..132)), "the same block");
    assert_eq!(entries(&patched), [EntryKind::Values, EntryKind::Addresses]);
    let (_, parameters) = launch_patched(&recording, 1, &patched).expect("it is small");
    // The list of the first dispatch is in the first slot, then come the parameters of the second and its list.
    assert_eq!((number(split(&parameters)[1]), number(split(&parameters)[2])), (0x1040, 0x1080));
}

#[test]
fn patches_are_those_of_one_replay() {
    let setup = Setup::new();
    let recording = two_dispatches(&setup);
    let table = recording.table();
    let (mut patched, mut slots) = (PatchedBlocks::default(), ByteSlots::default());
    patched.add(&(0..8));
    patched.add(&(128..136));
    (0..2).for_each(|number| slots.add(&signature(Threadgroups::Whole), table, number, &patched));
    let (mut bytes, mut image) = (PatchedBytes::new(table), vec![0; slots.len()]);
    assert_eq!(slots.copy(&(0..256), bytes.bytes(), &mut image), Some(0..256));
    // The numbers of both dispatches on the device, and the bytes that are copied there.
    let mut replay = |patches: &[(Range<usize>, [u8; 4])]| {
        let patches = patches.iter().map(|(target, new)| (target.clone(), &new[..]));
        let changed = bytes.replace(&table.bytes, patches);
        let copied = changed.iter().filter_map(|range| slots.copy(range, bytes.bytes(), &mut image));
        let copied: Vec<_> = copied.map(|range| (range.start, range.end)).collect();
        ([0, 128].map(|at| bytemuck::pod_read_unaligned::<[u32; 2]>(&image[at..at + 8])), copied)
    };
    assert_eq!(replay(&[]), ([[1, 2], [3, 4]], vec![]));
    let patch = |value: u32| (4..8, value.to_ne_bytes());
    assert_eq!(replay(&[patch(9)]), ([[1, 9], [3, 4]], vec![(0, 64)]));
    assert_eq!(replay(&[patch(9)]), ([[1, 9], [3, 4]], vec![]), "it is there");
    // The first dispatch has its own number again.
    let other = (128..132, 8u32.to_ne_bytes());
    assert_eq!(replay(&[other]), ([[1, 2], [8, 4]], vec![(0, 64), (128, 192)]));
    assert_eq!(replay(&[]), ([[1, 2], [3, 4]], vec![(128, 192)]));
}
