//! The CUDA back end with kernels in PTX: memory, passes, recordings, times and failures, without a compiler.
//!
//! These tests need an NVIDIA GPU: `cargo test --test cuda -- --ignored --test-threads 1`. A lost device cannot be used
//! again, so that the test of one runs in a process of its own.
#![cfg(all(target_os = "linux", llvm))]
#![allow(clippy::print_stdout, reason = "measurements and messages are for people")]

use abi::SimtParameter::{self, Buffer as Address, Bytes, Failure, Grid, Threadgroup};
use abi::{SimtKernel, Threadgroups};
use metalworks_compute::backend::ArtifactTarget;
use metalworks_compute::{
    Artifact, Buffer, CommandBufferDescriptor, CommandBufferStatus, ComputeCommandEncoder,
    ComputePipelineDescriptor, ComputePipelineState, Device, DispatchType, Error, Patch, Result, Size, StorageMode,
};
use std::time::Instant;

const SOURCE: &str = "
    kernel void add(device uint *x [[buffer(0)]], constant uint &step [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) { x[i] += step; }
    kernel void fail(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }
    kernel void crash(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }
    kernel void share(device uint *x [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]],
                      threadgroup uint *u [[threadgroup(1)]], uint i [[thread_position_in_grid]]) {
        t[i] = i;
        u[0] = 5;
        x[i] = t[i] + u[0];
    }";

const PTX: &str = ".version 8.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry add(.param .u64 x, .param .u64 step, .param .align 4 .b8 grid[12]) {
    .reg .b32 %r<8>;
    .reg .b64 %a<6>;
    .reg .pred %p;
    ld.param.u64 %a1, [x];
    ld.param.u64 %a2, [step];
    ld.global.u32 %r1, [%a2];
    ld.param.u32 %r2, [grid];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p, %r6, %r2;
    @%p ret;
    mul.wide.u32 %a3, %r6, 4;
    add.u64 %a4, %a1, %a3;
    ld.global.u32 %r7, [%a4];
    add.u32 %r7, %r7, %r1;
    st.global.u32 [%a4], %r7;
    ret;
}
.visible .entry add_values(.param .u64 x, .param .align 4 .b8 step[4], .param .align 4 .b8 grid[12]) {
    .reg .b32 %r<8>;
    .reg .b64 %a<6>;
    .reg .pred %p;
    ld.param.u64 %a1, [x];
    ld.param.u32 %r1, [step];
    ld.param.u32 %r2, [grid];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p, %r6, %r2;
    @%p ret;
    mul.wide.u32 %a3, %r6, 4;
    add.u64 %a4, %a1, %a3;
    ld.global.u32 %r7, [%a4];
    add.u32 %r7, %r7, %r1;
    st.global.u32 [%a4], %r7;
    ret;
}
.visible .entry fail(.param .u64 x, .param .u64 failure) {
    .reg .b32 %r<2>;
    .reg .b64 %a<2>;
    ld.param.u64 %a1, [failure];
    mov.u32 %r1, 2;
    st.global.u32 [%a1], %r1;
    ret;
}
.visible .entry crash(.param .u64 x) {
    .reg .b32 %r<2>;
    .reg .b64 %a<2>;
    mov.u64 %a1, 16;
    mov.u32 %r1, 2;
    st.global.u32 [%a1], %r1;
    ret;
}
.visible .entry share(.param .u64 x, .param .u32 t, .param .u32 u) {
    .reg .b32 %r<9>;
    .reg .b64 %a<4>;
    ld.param.u64 %a1, [x];
    ld.param.u32 %r1, [t];
    ld.param.u32 %r2, [u];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, dynamic;
    add.u32 %r1, %r1, %r4;
    add.u32 %r2, %r2, %r4;
    mad.lo.u32 %r5, %r3, 4, %r1;
    st.shared.u32 [%r5], %r3;
    mov.u32 %r6, 5;
    st.shared.u32 [%r2], %r6;
    bar.sync 0;
    ld.shared.u32 %r7, [%r5];
    ld.shared.u32 %r8, [%r2];
    add.u32 %r7, %r7, %r8;
    mul.wide.u32 %a2, %r3, 4;
    add.u64 %a3, %a1, %a2;
    st.global.u32 [%a3], %r7;
    ret;
}
";

/// The parameters of a kernel's entry, and of the one that takes values.
fn parameters(name: &str) -> (Vec<SimtParameter>, Option<Vec<SimtParameter>>) {
    let x = Address { index: 0 };
    match name {
        "add" => {
            let values = vec![x, Bytes { index: 1, size: 4, align: 4 }, Grid];
            (vec![x, Address { index: 1 }, Grid], Some(values))
        }
        "fail" => (vec![x, Failure], None),
        "share" => (vec![x, Threadgroup { index: 0 }, Threadgroup { index: 1 }], None),
        _ => (vec![x], None),
    }
}

fn device() -> Device {
    Device::named("cuda").expect("a GPU")
}

/// A kernel whose entry for values can be left out.
fn pipeline_of(device: &Device, name: &str, has_values: bool) -> Result<ComputePipelineState> {
    pipeline_with(device, name, has_values, PTX)
}

/// The kernels, which wait by themselves for those that they depend on.
fn waiting() -> String {
    let wait = ".reg .pred %p;\n    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;";
    PTX.replace(".target sm_70", ".target sm_90").replace(".reg .pred %p;", wait)
}

fn pipeline_with(device: &Device, name: &str, has_values: bool, ptx: &str) -> Result<ComputePipelineState> {
    let compilation = msl::compile_source("kernels.metal", SOURCE, &msl::Options::default());
    let kernel = compilation.reflect().kernels.into_iter().find(|kernel| kernel.name == name).expect("it is there");
    let (parameters, values) = parameters(name);
    let values = values.filter(|_| has_values);
    let simt = SimtKernel {
        name: name.into(),
        threadgroups: Threadgroups::Any,
        waits: ptx.contains("griddepcontrol.wait"),
        early: Vec::new(),
        ptx: ptx.into(),
        entry: name.into(),
        bytes_entry: values.as_ref().map(|_| format!("{name}_values")),
        parameters,
        bytes_parameters: values.unwrap_or_default(),
        static_threadgroup_memory: 0,
        max_threads: None,
        thread_multiple: 1,
        failures: vec!["the first".into(), "the second".into()].into_iter().filter(|_| name == "fail").collect(),
    };
    let target = ArtifactTarget { backend: "cuda".into(), machine: "sm_70".into(), details: String::new() };
    let artifact = Artifact { target, variant: "any".into(), bytes: simt.to_bytes().expect("it is small") };
    // SAFETY: the code is as the parameters say.
    unsafe {
        device.new_compute_pipeline_state_with_artifacts(
            &kernel,
            &[artifact],
            &ComputePipelineDescriptor::default(),
        )
    }
}

fn pipeline(device: &Device, name: &str) -> ComputePipelineState {
    pipeline_of(device, name, true).unwrap_or_else(|error| panic!("{error}"))
}

fn add(
    encoder: &mut ComputeCommandEncoder,
    pipeline: &ComputePipelineState,
    (buffer, offset): (&Buffer, usize),
    count: usize,
    step: u32,
) -> Result<()> {
    encoder.set_compute_pipeline_state(pipeline)?;
    encoder.set_buffer(0, buffer, offset)?;
    encoder.set_bytes(1, &step.to_ne_bytes())?;
    encoder.dispatch_threads(Size::linear(count), Size::linear(64))
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn memory_is_read_and_written() {
    let device = device();
    println!("{} {:?} {:?}", device.name(), device.capabilities(), device.limits());
    // In one piece, and in several.
    for count in [1, 1000, 5_000_000] {
        let numbers: Vec<u32> = (0..count).collect();
        let buffer = device.new_buffer_with_bytes(bytemuck::cast_slice(&numbers)).expect("memory");
        assert_eq!(buffer.read::<u32>(), numbers);
        assert_eq!(device.new_buffer(4 * count as usize).expect("memory").read::<u32>(), vec![0; count as usize]);
    }
    let path = std::env::temp_dir().join(format!("metalworks-cuda-{}", std::process::id()));
    let bytes: Vec<u8> = (0..20_000_000u32).map(|i| ((i * 7) >> 3) as u8).collect();
    std::fs::write(&path, &bytes).expect("a file");
    let file = device.new_buffer_with_file(&path, 3..19_999_999).expect("a copy");
    assert!(file.read::<u8>() == bytes[3..19_999_999] && file.is_read_only());
    std::fs::remove_file(&path).expect("it is there");
    let full = device.new_buffer_with_storage_mode(device.max_buffer_length(), StorageMode::Private);
    let problem = full.expect_err("other things are in memory, too").to_string();
    assert!(problem.contains("out of memory") && problem.contains("bytes free"), "{problem}");
    println!("{problem}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn passes_run_in_order() {
    let device = device();
    for has_values in [true, false] {
        let pipeline = pipeline_of(&device, "add", has_values).expect("it loads");
        let x = device.new_buffer(4 * 1000).expect("memory");
        let queue = device.new_command_queue();
        for round in 1..4 {
            let commands = queue.new_command_buffer();
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            for step in 0..10 {
                add(&mut encoder, &pipeline, (&x, 0), 999, step).expect("it is right");
            }
            encoder.end_encoding().expect("it ends");
            commands.fill_buffer(&x, 8..12, 0).expect("it is inside");
            commands.copy_buffer(&x, 0..4, &x, 12).expect("it is inside");
            commands.commit().expect("it commits");
            commands.wait_until_completed().expect("it runs");
            let numbers = x.read::<u32>();
            assert_eq!((numbers[0], numbers[2], numbers[998], numbers[999]), (45 * round, 0, 45 * round, 0));
            assert!(commands.gpu_start_time() < commands.gpu_end_time());
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn replays_have_their_own_patches() {
    let device = device();
    for (has_values, dispatch_type) in
        [(true, DispatchType::Serial), (false, DispatchType::Concurrent), (true, DispatchType::Concurrent)]
    {
        let pipeline = pipeline_of(&device, "add", has_values).expect("it loads");
        let (x, y) = (device.new_buffer(4 * 64).expect("memory"), device.new_buffer(4 * 64).expect("memory"));
        let mut recorder = device.new_command_recorder(dispatch_type);
        recorder.set_compute_pipeline_state(&pipeline).expect("it is of this device");
        let mut locations = Vec::new();
        for step in 0..20u32 {
            recorder.set_buffer(0, if step % 2 == 0 { &x } else { &y }, 0).expect("it is inside");
            locations.push(recorder.set_bytes(1, &step.to_ne_bytes()).expect("it is small"));
            recorder.dispatch_threads(Size::linear(64), Size::linear(64)).expect("it is right");
        }
        let recording = recorder.finish().expect("a recording");
        let queues = [device.new_command_queue(), device.new_command_queue()];
        let mut expected = [0, 0];
        for round in 0..50u32 {
            let commands = queues[round as usize % 2].new_command_buffer();
            let patches: Vec<[u8; 4]> = (0..3u32).map(|i| (1000 * round + i).to_ne_bytes()).collect();
            let patched = if round % 5 == 4 { 0 } else { 3 };
            let patches: Vec<Patch> =
                (0..patched).map(|i| Patch { location: locations[5 * i], offset: 0, bytes: &patches[i] }).collect();
            commands.replay(&recording, &patches).expect("it is right");
            commands.replay(&recording, &[]).expect("it is right");
            for step in 0..20 {
                let replaced = (0..patched as u32).find(|i| 5 * i == step).map(|i| 1000 * round + i);
                expected[step as usize % 2] += step + replaced.unwrap_or(step);
            }
            commands.commit().expect("it commits");
            // The other queue has no order with this one.
            commands.wait_until_completed().expect("it runs");
        }
        assert_eq!([x.read::<u32>()[63], y.read::<u32>()[0]], expected, "{has_values} {dispatch_type:?}");
    }
}

/// A thousand additions in a row, and eight at a time: none may start before the one that it depends on has ended.
#[test]
#[ignore = "needs an NVIDIA GPU of the Hopper architecture or later"]
fn early_kernels_wait_for_their_dependencies() {
    let device = device();
    let (pipeline, queue) =
        (pipeline_with(&device, "add", true, &waiting()).expect("it loads"), device.new_command_queue());
    const COUNT: usize = 1 << 16;
    for parts in [1, 8] {
        let buffers: Vec<Buffer> = (0..parts).map(|_| device.new_buffer(4 * COUNT).expect("memory")).collect();
        let steps = 1000 / parts as u32;
        let mut recorder = device.new_command_recorder(DispatchType::Concurrent);
        for step in 0..steps {
            for buffer in &buffers {
                add(&mut recorder, &pipeline, (buffer, 0), COUNT, step).expect("it is right");
            }
        }
        let recording = recorder.finish().expect("a recording");
        assert_eq!(recording.barrier_count(), steps as usize - 1);
        for _ in 0..3 {
            let commands = queue.new_command_buffer();
            commands.replay(&recording, &[]).expect("it is right");
            commands.commit().expect("it commits");
            commands.wait_until_completed().expect("it runs");
        }
        let expected = 3 * (steps * (steps - 1) / 2);
        assert!(buffers.iter().all(|buffer| buffer.read::<u32>() == vec![expected; COUNT]), "{parts} parts");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn command_buffers_of_a_queue_are_in_flight_together() {
    let device = device();
    let (pipeline, queue) = (pipeline(&device, "add"), device.new_command_queue());
    let x = device.new_buffer(4 * 64).expect("memory");
    let mut recorder = device.new_command_recorder(DispatchType::Concurrent);
    // Long enough that the device is far behind the host.
    let y = device.new_buffer(4 << 22).expect("memory");
    for _ in 0..20 {
        add(&mut recorder, &pipeline, (&y, 0), 1 << 22, 1).expect("it is right");
    }
    add(&mut recorder, &pipeline, (&x, 0), 64, 1).expect("it is right");
    let location = recorder.finish().expect("a recording");
    let step = location.bytes_location(20, 1).expect("bytes are set");
    let all: Vec<_> = (0..200u32)
        .map(|round| {
            let commands = queue.new_command_buffer();
            let patch = Patch { location: step, offset: 0, bytes: &round.to_ne_bytes() };
            commands.replay(&location, &[patch]).expect("it is right");
            commands.commit().expect("it commits");
            commands
        })
        .collect();
    all.iter().for_each(|commands| commands.wait_until_completed().expect("it runs"));
    assert_eq!(x.read::<u32>(), [199 * 100; 64]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn threadgroup_memory_beyond_48_kib_is_used() {
    let device = device();
    let (pipeline, queue) = (pipeline(&device, "share"), device.new_command_queue());
    let (x, most) = (device.new_buffer(4 * 256).expect("memory"), device.max_threadgroup_memory_length());
    for first in [1024, most - 16] {
        let commands = queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&pipeline).expect("it is of this device");
        encoder.set_buffer(0, &x, 0).expect("it is inside");
        encoder.set_threadgroup_memory_length(0, first).expect("it is inside");
        encoder.set_threadgroup_memory_length(1, 16).expect("it is inside");
        encoder.dispatch_threadgroups(Size::linear(1), Size::linear(256)).expect("it is right");
        encoder.end_encoding().expect("it ends");
        commands.commit().expect("it commits");
        commands.wait_until_completed().unwrap_or_else(|error| panic!("{first}: {error}"));
        assert_eq!(x.read::<u32>(), (5..261).collect::<Vec<u32>>());
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn dispatches_are_timed() {
    let device = device();
    let (pipeline, queue) = (pipeline(&device, "add"), device.new_command_queue());
    let x = device.new_buffer(4 << 20).expect("memory");
    let descriptor = CommandBufferDescriptor { label: Some("timed".into()), profiling: true };
    let commands = queue.new_command_buffer_with_descriptor(&descriptor);
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    for count in [64, 1 << 20, 64] {
        add(&mut encoder, &pipeline, (&x, 0), count, 1).expect("it is right");
    }
    encoder.end_encoding().expect("it ends");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    let timings = commands.dispatch_timings();
    println!("{:?}", timings.iter().map(|timing| timing.nanoseconds()).collect::<Vec<_>>());
    assert_eq!(timings.iter().map(|timing| &*timing.kernel).collect::<Vec<_>>(), ["add"; 3]);
    assert!(timings.iter().all(|timing| timing.start < timing.end && timing.nanoseconds() > 100));
    assert_eq!(x.read::<u32>()[..65], [[3; 64].as_slice(), &[1]].concat());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn kernels_report_failures() {
    let device = device();
    let (pipeline, queue) = (pipeline(&device, "fail"), device.new_command_queue());
    let x = device.new_buffer(4 * 64).expect("memory");
    for _ in 0..2 {
        let commands = queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&pipeline).expect("it is of this device");
        encoder.set_buffer(0, &x, 0).expect("it is inside");
        encoder.dispatch_threads(Size::linear(64), Size::linear(64)).expect("it is right");
        encoder.end_encoding().expect("it ends");
        commands.commit().expect("it commits");
        let failed = commands.wait_until_completed().expect_err("it fails");
        assert_eq!(failed, Error::Kernel { kernel: "fail".into(), what: "the second".into() });
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_drivers_compiler_says_what_is_wrong() {
    let device = device();
    let compilation = msl::compile_source("kernels.metal", SOURCE, &msl::Options::default());
    let kernel = compilation.reflect().kernels.remove(0);
    let simt = SimtKernel {
        name: "add".into(),
        threadgroups: Threadgroups::Any,
        waits: false,
        early: Vec::new(),
        ptx: PTX.replace("bar.sync 0", "bar.nonsense 0"),
        entry: "add".into(),
        bytes_entry: None,
        parameters: Vec::new(),
        bytes_parameters: Vec::new(),
        static_threadgroup_memory: 0,
        max_threads: None,
        thread_multiple: 1,
        failures: Vec::new(),
    };
    let target = ArtifactTarget { backend: "cuda".into(), machine: "sm_70".into(), details: String::new() };
    let artifact = Artifact { target, variant: "any".into(), bytes: simt.to_bytes().expect("it is small") };
    let descriptor = ComputePipelineDescriptor::default();
    // SAFETY: the code is refused.
    let refused = unsafe { device.new_compute_pipeline_state_with_artifacts(&kernel, &[artifact], &descriptor) };
    let problem = refused.expect_err("it is wrong").to_string();
    assert!(problem.contains("'add' cannot be loaded") && problem.contains("nonsense"), "{problem}");
    println!("{problem}");
}

/// In a process of its own.
#[test]
#[ignore = "needs an NVIDIA GPU, which it makes unusable for its process"]
fn a_crash_names_its_kernels() {
    const CHILD: &str = "METALWORKS_TEST_CRASHES";
    if std::env::var_os(CHILD).is_none() {
        let mut child = std::process::Command::new(std::env::current_exe().expect("this program"));
        child.args(["--ignored", "--exact", "a_crash_names_its_kernels"]).env(CHILD, "1");
        let output = child.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let device = device();
    let (pipeline, queue) = (pipeline(&device, "crash"), device.new_command_queue());
    let x = device.new_buffer(4 * 64).expect("memory");
    let run = || {
        let commands = queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&pipeline).expect("it is of this device");
        encoder.set_buffer(0, &x, 0).expect("it is inside");
        encoder.dispatch_threads(Size::linear(64), Size::linear(64)).expect("it is right");
        encoder.end_encoding().expect("it ends");
        commands.commit().expect("it commits");
        let problem = commands.wait_until_completed().expect_err("it fails").to_string();
        assert_eq!(commands.status(), CommandBufferStatus::Error);
        problem
    };
    let (first, second) = (run(), run());
    println!("{first}\n{second}");
    assert!(first.contains("'crash'") && first.contains("cannot be used again"), "{first}");
    assert!(second.contains("'crash'") && second.contains("cannot be used again"), "{second}");
    assert!(x.read_at::<u32>(0, 1).is_err() && device.new_buffer(4).is_err());
}

/// Prints the cost of submissions; the host's share decides how many steps must be in flight.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn replays_are_measured() {
    let device = device();
    let queue = device.new_command_queue();
    let x = device.new_buffer(4 * 64 * 512).expect("memory");
    let cases = [(true, 0), (true, 100), (true, 300), (false, 0), (false, 100)];
    let cases =
        cases.iter().flat_map(|&(has_values, patched)| [(has_values, patched, false), (has_values, patched, true)]);
    for (has_values, patched, waits) in cases {
        let ptx = if waits { waiting() } else { PTX.into() };
        let pipeline = pipeline_with(&device, "add", has_values, &ptx).expect("it loads");
        let mut recorder = device.new_command_recorder(DispatchType::Concurrent);
        for step in 0..300u32 {
            add(&mut recorder, &pipeline, (&x, 0), 64, step).expect("it is right");
        }
        let recording = recorder.finish().expect("a recording");
        let locations: Vec<_> =
            (0..patched).map(|number| recording.bytes_location(number, 1).expect("bytes")).collect();
        let (mut longest, mut encoding) = (Vec::new(), 0.0);
        let began = Instant::now();
        const ROUNDS: u32 = 200;
        for round in 0..ROUNDS {
            let bytes = round.to_ne_bytes();
            let patches: Vec<Patch> =
                locations.iter().map(|&location| Patch { location, offset: 0, bytes: &bytes }).collect();
            let start = Instant::now();
            let commands = queue.new_command_buffer();
            commands.replay(&recording, &patches).expect("it is right");
            commands.commit().expect("it commits");
            encoding += start.elapsed().as_secs_f64();
            longest.push(commands);
        }
        longest.iter().for_each(|commands| commands.wait_until_completed().expect("it runs"));
        let all = began.elapsed().as_secs_f64();
        let device_time = longest[100].gpu_end_time().zip(longest[100].gpu_start_time());
        let device_time = device_time.map_or(0.0, |(end, start)| (end - start).as_secs_f64());
        let (mut commit, mut alone) = (0.0, 0.0);
        for round in 0..20u32 {
            let bytes = round.to_ne_bytes();
            let patches: Vec<Patch> =
                locations.iter().map(|&location| Patch { location, offset: 0, bytes: &bytes }).collect();
            let commands = queue.new_command_buffer();
            commands.replay(&recording, &patches).expect("it is right");
            let start = Instant::now();
            commands.commit().expect("it commits");
            commit += start.elapsed().as_secs_f64() / 20.0;
            commands.wait_until_completed().expect("it runs");
            alone += start.elapsed().as_secs_f64() / 20.0;
        }
        println!(
            "300 dispatches, values {has_values}, waits {waits}, {patched} patched: {:.1} µs to commit, {:.1} µs each \
             in flight, {:.1} µs on the device; alone {:.1} µs to commit, {:.1} µs to completion",
            encoding / f64::from(ROUNDS) * 1e6,
            all / f64::from(ROUNDS) * 1e6,
            device_time * 1e6,
            commit * 1e6,
            alone * 1e6
        );
    }
    let (start, count) = (Instant::now(), 200);
    for _ in 0..count {
        x.read_at::<u32>(0, 4).expect("it is inside");
    }
    println!("a read of 16 bytes: {:.1} µs", start.elapsed().as_secs_f64() / f64::from(count) * 1e6);
    let bytes = vec![1u8; 256 << 20];
    let large = device.new_buffer(bytes.len()).expect("memory");
    for _ in 0..2 {
        let start = Instant::now();
        large.write(0, &bytes).expect("it is inside");
        large.read_at::<u8>(0, 1).expect("it is inside");
        println!("writes: {:.1} GB/s", bytes.len() as f64 / start.elapsed().as_secs_f64() * 1e-9);
    }
    let start = Instant::now();
    let read = large.read::<u8>();
    println!("reads: {:.1} GB/s", read.len() as f64 / start.elapsed().as_secs_f64() * 1e-9);
}
