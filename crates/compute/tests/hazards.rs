//! Concurrent encoders insert barriers where dispatches access the same bytes, and only there.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{RustKernel, argument, device, numbers, read_only};
use metalworks_compute::reflect::ArgumentKind;
use metalworks_compute::{Buffer, CommandRecorder, ComputePipelineState, Device, DispatchType, Recording, Size};
use std::collections::HashSet;
use std::ops::Range;

/// `target[i] = target[i] * 3 + a[i] + b[i] * 7 + c` for the count in buffer 3; `c` follows the count.
unsafe extern "C" fn mix(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe {
        let (a, b, target) = (numbers(d, 0), numbers(d, 1), numbers(d, 2));
        let (count, constant) = (*numbers(d, 3), *numbers(d, 3).add(1));
        for i in 0..count as usize {
            let old = target.add(i).read_volatile();
            // Let other threads run between the read and the write.
            std::thread::yield_now();
            let sum = (*a.add(i)).wrapping_add((*b.add(i)).wrapping_mul(7)).wrapping_add(constant);
            target.add(i).write_volatile(old.wrapping_mul(3).wrapping_add(sum));
        }
    }
}

/// One dispatch: start positions and a count.
#[derive(Clone, Debug)]
struct Mix {
    sources: [(usize, usize); 2],
    target: (usize, usize),
    count: usize,
    constant: u32,
}

impl Mix {
    fn bytes(&self, (buffer, start): (usize, usize)) -> (usize, Range<usize>) {
        (buffer, start * 4..(start + self.count) * 4)
    }

    /// True if it must not overlap an earlier dispatch.
    fn conflicts(&self, before: &Mix) -> bool {
        let overlap = |a: (usize, Range<usize>), b: (usize, Range<usize>)| {
            a.0 == b.0 && a.1.start < b.1.end && b.1.start < a.1.end
        };
        let touched =
            |mix: &Mix| mix.sources.into_iter().chain([mix.target]).map(|at| mix.bytes(at)).collect::<Vec<_>>();
        let written = |mix: &Mix| mix.bytes(mix.target);
        touched(self).into_iter().any(|here| overlap(here, written(before)))
            || touched(before).into_iter().any(|there| overlap(written(self), there))
    }
}

/// The minimum number of barriers, found by comparing with every dispatch since the last one.
fn fewest_barriers(mixes: &[Mix]) -> usize {
    let (mut barriers, mut first) = (0, 0);
    for (number, mix) in mixes.iter().enumerate() {
        if mixes[first..number].iter().any(|before| mix.conflicts(before)) {
            barriers += 1;
            first = number;
        }
    }
    barriers
}

fn interpret(mixes: &[Mix], memory: &mut [Vec<u32>]) {
    for mix in mixes {
        for i in 0..mix.count {
            let at = |memory: &[Vec<u32>], (buffer, start): (usize, usize)| memory[buffer][start + i];
            let [a, b] = mix.sources.map(|source| at(memory, source));
            let sum = a.wrapping_add(b.wrapping_mul(7)).wrapping_add(mix.constant);
            let target = at(memory, mix.target).wrapping_mul(3).wrapping_add(sum);
            memory[mix.target.0][mix.target.1 + i] = target;
        }
    }
}

struct Mixer {
    device: Device,
    kernel: RustKernel,
    pipeline: ComputePipelineState,
}

impl Mixer {
    fn new(threads: usize) -> Mixer {
        let device = device(threads);
        // Independent of the environment.
        device.set_serial(false);
        let mut kernel = RustKernel::new(mix, mix, 3).reading(0).reading(1);
        kernel.arguments.push(read_only(argument(ArgumentKind::Buffer, 3, 8)));
        let pipeline = kernel.pipeline(&device).expect("a pipeline");
        Mixer { device, kernel, pipeline }
    }

    fn record(&self, mixes: &[Mix], buffers: &[Buffer], dispatch_type: DispatchType) -> Recording {
        let mut recorder = self.device.new_command_recorder(dispatch_type);
        recorder.set_compute_pipeline_state(&self.pipeline).expect("set");
        self.kernel.bind(&mut recorder).expect("set");
        for mix in mixes {
            self.encode(mix, buffers, &mut recorder);
        }
        recorder.finish().expect("a recording")
    }

    fn encode(&self, mix: &Mix, buffers: &[Buffer], recorder: &mut CommandRecorder) {
        for (index, at) in mix.sources.into_iter().chain([mix.target]).enumerate() {
            let (buffer, range) = mix.bytes(at);
            recorder.set_buffer_range(index, &buffers[buffer], range).expect("set");
        }
        let parameters = [mix.count as u32, mix.constant];
        recorder.set_bytes(3, bytemuck::cast_slice(&parameters)).expect("set");
        recorder.dispatch_threadgroups(Size::linear(1), Size::linear(32)).expect("it is right");
    }

    fn run(&self, recording: &Recording) {
        let commands = self.device.new_command_queue().new_command_buffer();
        commands.replay(recording, &[]).expect("added");
        commands.commit().expect("it commits");
        commands.wait_until_completed().expect("it runs");
    }
}

/// Pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    /// Dispatches on `buffers` buffers of `len` numbers, each on at most `most` numbers.
    fn mixes(&mut self, dispatches: usize, buffers: usize, len: usize, most: usize) -> Vec<Mix> {
        (0..dispatches)
            .map(|number| {
                let count = 1 + self.below(most);
                let mut at = || (self.below(buffers), self.below(len - count + 1));
                let (sources, target) = ([at(), at()], at());
                // A kernel whose arguments partly overlap has no defined result.
                let clashes = |source: &(usize, usize)| {
                    source.0 == target.0 && *source != target && source.1.abs_diff(target.1) < count
                };
                let sources = sources.map(|source| if clashes(&source) { target } else { source });
                Mix { sources, target, count, constant: number as u32 }
            })
            .collect()
    }
}

#[test]
fn random_dispatches_match_serial_execution() {
    let mut kinds = HashSet::new();
    for seed in 0..60 {
        let mut random = Random(seed);
        let mixer = Mixer::new(1 + seed as usize % 4);
        let (buffers, len, most) = [(1, 400, 12), (4, 64, 8), (12, 300, 40)][seed as usize % 3];
        let mixes = random.mixes(120, buffers, len, most);
        let memory: Vec<Vec<u32>> =
            (0..buffers).map(|buffer| (0..len).map(|i| (buffer * 1000 + i) as u32).collect()).collect();

        let mut expected = memory.clone();
        interpret(&mixes, &mut expected);
        let barriers = fewest_barriers(&mixes);
        kinds.insert(barriers.min(20));
        for dispatch_type in [DispatchType::Concurrent, DispatchType::Serial] {
            let copies: Vec<Buffer> = memory
                .iter()
                .map(|numbers| mixer.device.new_buffer_with_bytes(bytemuck::cast_slice(numbers)).expect("memory"))
                .collect();
            let recording = mixer.record(&mixes, &copies, dispatch_type);
            let wanted = if dispatch_type == DispatchType::Serial { mixes.len() - 1 } else { barriers };
            assert_eq!(recording.barrier_count(), wanted, "seed {seed}");
            mixer.run(&recording);
            for (copy, expected) in copies.iter().zip(&expected) {
                assert_eq!(copy.read::<u32>(), *expected, "seed {seed}, {dispatch_type:?}");
            }
        }
    }
    assert!(kinds.len() > 1, "sequences with few and with many barriers");
}

/// The number of barriers between dispatches that each copy numbers.
fn barriers(mixer: &Mixer, mixes: &[(usize, usize)]) -> usize {
    let buffer = mixer.device.new_buffer(4096).expect("memory");
    let mixes: Vec<Mix> = mixes
        .iter()
        .map(|&(source, target)| Mix {
            sources: [(0, source * 8), (0, source * 8)],
            target: (0, target * 8),
            count: 8,
            constant: 0,
        })
        .collect();
    mixer.record(&mixes, &[buffer], DispatchType::Concurrent).barrier_count()
}

#[test]
fn each_kind_of_hazard_needs_a_barrier() {
    let mixer = Mixer::new(1);
    assert_eq!(barriers(&mixer, &[(0, 1), (0, 2), (0, 3)]), 0, "several may read the same");
    assert_eq!(barriers(&mixer, &[(0, 1), (1, 2)]), 1, "a read after a write");
    assert_eq!(barriers(&mixer, &[(0, 1), (2, 0)]), 1, "a write after a read");
    assert_eq!(barriers(&mixer, &[(0, 1), (2, 1)]), 1, "a write after a write");
    assert_eq!(barriers(&mixer, &[(0, 0), (1, 1), (2, 2)]), 0, "each for itself");
    assert_eq!(
        barriers(&mixer, &[(0, 1), (1, 2), (3, 4), (5, 6), (0, 7)]),
        1,
        "a barrier clears the hazards before it"
    );
}

#[test]
fn disjoint_ranges_may_overlap_in_time() {
    let mixer = Mixer::new(1);
    let many: Vec<Mix> =
        (0..3000).map(|i| Mix { sources: [(0, i), (1, i)], target: (2, i), count: 1, constant: 0 }).collect();
    let buffers: Vec<Buffer> = (0..3).map(|_| mixer.device.new_buffer(12_000).expect("memory")).collect();
    let recording = mixer.record(&many, &buffers, DispatchType::Concurrent);
    assert_eq!((recording.dispatch_count(), recording.barrier_count()), (3000, 0));
}

#[test]
fn without_a_range_the_access_extends_to_the_end() {
    let mixer = Mixer::new(1);
    let buffer = mixer.device.new_buffer(4096).expect("memory");
    let other = mixer.device.new_buffer(4096).expect("memory");
    let record = |writes: [usize; 2], view: &dyn Fn(&Buffer) -> Buffer| {
        let mut recorder = mixer.device.new_command_recorder(DispatchType::Concurrent);
        recorder.set_compute_pipeline_state(&mixer.pipeline).expect("set");
        mixer.kernel.bind(&mut recorder).expect("set");
        recorder.set_bytes(3, &[0; 8]).expect("set");
        recorder.set_buffer_range(0, &other, 0..64).expect("set");
        recorder.set_buffer_range(1, &view(&buffer), 64..128).expect("set");
        recorder.set_buffer_range(2, &other, 64..128).expect("set");
        recorder.dispatch_threadgroups(Size::linear(1), Size::linear(32)).expect("it is right");
        recorder.set_buffer_range(1, &other, 0..64).expect("set");
        for offset in writes {
            recorder.set_buffer(2, &buffer, offset).expect("set");
            recorder.dispatch_threadgroups(Size::linear(1), Size::linear(32)).expect("it is right");
        }
        recorder.finish().expect("a recording").barrier_count()
    };
    assert_eq!(record([128, 4092], &Buffer::clone), 1, "the second reaches into the first's");
    assert_eq!(record([64, 128], &Buffer::clone), 2);
    assert_eq!(record([0, 0], &Buffer::read_only), 2, "a view is the same memory");
}

#[test]
fn explicit_barriers_are_not_doubled() {
    let mixer = Mixer::new(1);
    let buffer = mixer.device.new_buffer(4096).expect("memory");
    let mix = |source, target| Mix { sources: [(0, source); 2], target: (0, target), count: 1, constant: 0 };
    let mut recorder = mixer.device.new_command_recorder(DispatchType::Concurrent);
    recorder.set_compute_pipeline_state(&mixer.pipeline).expect("set");
    mixer.kernel.bind(&mut recorder).expect("set");
    let buffers = [buffer];
    recorder.memory_barrier().expect("nothing was before it");
    mixer.encode(&mix(0, 1), &buffers, &mut recorder);
    recorder.memory_barrier().expect("recorded");
    recorder.memory_barrier().expect("recorded");
    mixer.encode(&mix(2, 3), &buffers, &mut recorder);
    recorder.memory_barrier().expect("recorded");
    mixer.encode(&mix(3, 4), &buffers, &mut recorder);
    mixer.encode(&mix(1, 5), &buffers, &mut recorder);
    recorder.memory_barrier().expect("nothing is after it");
    assert_eq!(recorder.finish().expect("a recording").barrier_count(), 2);
}

#[test]
fn a_switch_makes_everything_serial() {
    let mixer = Mixer::new(1);
    mixer.device.set_serial(true);
    assert_eq!(barriers(&mixer, &[(0, 0), (1, 1), (2, 2)]), 2);
    mixer.device.set_serial(false);
    assert_eq!(barriers(&mixer, &[(0, 0), (1, 1), (2, 2)]), 0);
}

/// The CPU time of this thread, independent of other load.
fn thread_time() -> std::time::Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the time is written to `time`.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn hazard_tracking_is_not_quadratic() {
    let mixer = Mixer::new(1);
    let buffer = mixer.device.new_buffer(4 << 20).expect("memory");
    let time = |dispatches: usize| {
        // Every other number, so that no two ranges merge.
        let mixes: Vec<Mix> = (0..dispatches)
            .map(|i| {
                let place = (i * 7919) % dispatches;
                Mix { sources: [(0, 4 * place); 2], target: (0, 4 * place + 2), count: 1, constant: 0 }
            })
            .collect();
        let start = thread_time();
        let recording = mixer.record(&mixes, std::slice::from_ref(&buffer), DispatchType::Concurrent);
        assert_eq!(recording.barrier_count(), 0);
        thread_time() - start
    };
    // Twenty times as many dispatches; a quadratic algorithm would take four hundred times as long.
    let times = (0..10).map(|_| (time(2000), time(40_000)));
    let slow: Vec<_> = times.take_while(|(few, many)| *many >= *few * 20 * 5).collect();
    assert!(slow.len() < 10, "{slow:?} for 2,000 dispatches and for 40,000");
}
