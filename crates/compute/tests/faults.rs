//! Kernels that fail or do not end: the command buffer reports it, and the process goes on.
#![cfg(all(llvm, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use metalworks_compute::{
    Buffer, CommandBuffer, CommandQueue, CompileOptions, ComputePipelineState, CpuOptions, Device, DispatchType,
    Error, FunctionConstantValues, Size,
};
use std::ptr::NonNull;
use std::time::Duration;

/// A device with a kernel of one output, one input and a position.
struct Setup {
    device: Device,
    queue: CommandQueue,
    pipeline: ComputePipelineState,
    output: Buffer,
    input: Buffer,
}

const THREADS: usize = 64;

impl Setup {
    fn new(threads: usize, body: &str) -> Setup {
        let device = Device::cpu_with_options(&CpuOptions { threads: Some(threads) }).expect("a CPU");
        let source = format!(
            "#include <metal_stdlib>
            using namespace metal;
            kernel void k(device uint* out [[buffer(0)]],
                          device const int* in [[buffer(1)]],
                          uint i [[thread_position_in_grid]],
                          uint lid [[thread_position_in_threadgroup]],
                          uint group [[threadgroup_position_in_grid]]) {{
                threadgroup uint tile[{THREADS}];
                {body}
            }}"
        );
        let library = device.new_library_with_source(&source, &CompileOptions::default());
        let library = library.unwrap_or_else(|error| panic!("{error}"));
        let function = library.new_function("k", &FunctionConstantValues::new()).expect("it is there");
        let pipeline = device.new_compute_pipeline_state(&function).expect("it compiles");
        let output = alone(&device, 4 * 16 * THREADS);
        let input = alone(&device, 4 * THREADS);
        Setup { queue: device.new_command_queue(), device, pipeline, output, input }
    }

    fn with_input(self, values: &[i32]) -> Setup {
        let mut all = vec![0; THREADS];
        all[..values.len()].copy_from_slice(values);
        self.input.write(0, &all).expect("it is large enough");
        self
    }

    fn commit(&self, threadgroups: usize) -> CommandBuffer {
        let commands = self.queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&self.pipeline).expect("a pipeline state");
        encoder.set_buffer(0, &self.output, 0).expect("a buffer");
        encoder.set_buffer(1, &self.input, 0).expect("a buffer");
        encoder.dispatch_threadgroups(Size::linear(threadgroups), Size::linear(THREADS)).expect("a grid");
        encoder.end_encoding().expect("an end");
        commands.commit().expect("it is complete");
        commands
    }

    fn run(&self, threadgroups: usize) -> metalworks_compute::Result<()> {
        self.commit(threadgroups).wait_until_completed()
    }

    /// The message of a run that fails.
    fn failure(&self, threadgroups: usize) -> String {
        match self.run(threadgroups) {
            Err(Error::Kernel { kernel, what }) => {
                assert_eq!(kernel, "k");
                what
            }
            other => panic!("{other:?}"),
        }
    }

    /// Cancels a run as soon as the kernel has written a number to its output.
    fn cancelled(&self, threadgroups: usize) -> String {
        self.output.write(0, &[0_u32]).expect("it is large enough");
        let commands = self.commit(threadgroups);
        while self.output.read::<u32>()[0] == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.device.cancel();
        match commands.wait_until_completed() {
            Err(Error::Kernel { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    }
}

/// An element out of every buffer, and in the reserved addresses around it.
const FAR: i32 = 1 << 24;

/// A zeroed buffer of less than a page with nothing around it, so that accesses outside of it are faults.
fn alone(device: &Device, len: usize) -> Buffer {
    const AROUND: usize = 128 << 20;
    assert!(len <= 4096 && FAR as usize * 4 < AROUND);
    // SAFETY: reserves addresses and makes the first of them that a buffer needs accessible. They are never unmapped.
    let memory = unsafe {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let reserved = libc::mmap(std::ptr::null_mut(), 2 * AROUND, libc::PROT_NONE, kind, -1, 0);
        assert_ne!(reserved, libc::MAP_FAILED);
        let memory = reserved.byte_add(AROUND);
        assert_eq!(libc::mprotect(memory, 1, libc::PROT_READ | libc::PROT_WRITE), 0);
        memory
    };
    let memory = std::ptr::slice_from_raw_parts_mut(memory.cast::<u8>(), len);
    // SAFETY: the memory stays, and no other buffer has it.
    unsafe { device.new_buffer_with_bytes_no_copy(NonNull::new(memory).expect("an address"), ()) }
        .expect("a buffer")
}

#[test]
fn a_write_past_the_end_is_an_error_of_the_command_buffer() {
    let setup = Setup::new(1, "out[in[0] + int(i)] = 1;").with_input(&[FAR]);
    let message = setup.failure(1);
    if cfg!(target_arch = "x86_64") {
        assert!(message.starts_with("a write at address 0x"), "{message}");
    }
    assert!(message.contains(" bytes past the end of 'out' (buffer(0), 4096 bytes), "), "{message}");
    assert!(message.ends_with("in threadgroup (0, 0, 0)"), "{message}");
    // The device works as before.
    let setup = setup.with_input(&[3]);
    setup.run(1).expect("it is right now");
    assert_eq!(setup.output.read::<u32>()[..5], [0, 0, 0, 1, 1]);
}

#[test]
fn a_read_before_the_start_names_the_argument() {
    let setup = Setup::new(1, "out[i] = in[in[0] + int(i)];").with_input(&[-FAR]);
    let message = setup.failure(1);
    assert!(message.contains(" bytes before 'in' (buffer(1), 256 bytes), "), "{message}");
}

#[test]
fn an_address_that_the_cpu_does_not_have_is_an_error() {
    let setup = Setup::new(1, "out[(long(in[0]) << 45) + long(i)] = 1;").with_input(&[1]);
    let message = setup.failure(1);
    assert!(message.ends_with("in threadgroup (0, 0, 0)") && !message.starts_with("a read"), "{message}");
}

#[test]
fn the_threadgroup_is_named() {
    let setup = Setup::new(1, "if (group == 5) { out[in[0] + int(i)] = 1; }").with_input(&[FAR]);
    assert!(setup.failure(9).ends_with("in threadgroup (5, 0, 0)"));
}

#[test]
fn a_fault_between_barriers_ends_the_threadgroup() {
    let body = "
        tile[lid] = i;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lid == 40) { out[in[0]] = tile[0]; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        out[i] = tile[lid ^ 1];";
    let setup = Setup::new(1, body).with_input(&[FAR]);
    for _ in 0..20 {
        assert!(setup.failure(4).contains("past the end of 'out'"));
    }
    let setup = setup.with_input(&[0]);
    setup.run(4).expect("it is right now");
    assert_eq!(setup.output.read::<u32>()[1..5], [0, 3, 2, 5]);
}

#[test]
fn faults_on_many_threads_are_one_error() {
    let setup = Setup::new(4, "for (uint n = 0; n < 1000; ++n) { out[i] += n; } out[in[0] + int(i)] = 1;")
        .with_input(&[FAR]);
    for _ in 0..20 {
        assert!(setup.failure(16).contains("past the end of 'out'"));
    }
}

#[test]
fn other_command_buffers_go_on() {
    let setup = Setup::new(2, "out[in[0] + int(i)] = i + 1;").with_input(&[FAR]);
    let right = Setup::new(2, "out[i] = i;");
    std::thread::scope(|scope| {
        let failing = scope.spawn(|| (0..50).for_each(|_| drop(setup.failure(4))));
        for _ in 0..50 {
            right.run(4).expect("it is right");
        }
        failing.join().expect("all fail");
    });
    assert_eq!(right.output.read::<u32>()[..4], [0, 1, 2, 3]);
    // Those of the same queue that come after it.
    let failed = setup.commit(1);
    assert!(failed.wait_until_completed().is_err());
    let setup = setup.with_input(&[0]);
    setup.run(1).expect("it is right now");
    assert_eq!(setup.output.read::<u32>()[..4], [1, 2, 3, 4]);
}

#[test]
fn a_null_pointer_is_named() {
    let body = "device uint* p = *(device uint* device const*)in;
                p[i] = 1;";
    let message = Setup::new(1, body).failure(1);
    assert!(message.contains(", a null pointer, in threadgroup (0, 0, 0)"), "{message}");
}

/// Replays a recording of three dispatches that write where `in[0]` says.
#[test]
fn a_fault_ends_the_replay_of_a_recording() {
    for threads in [1, 4] {
        let setup = Setup::new(threads, "out[in[0] + int(i)] += 1;").with_input(&[FAR]);
        let mut recorder = setup.device.new_command_recorder(DispatchType::Serial);
        recorder.set_compute_pipeline_state(&setup.pipeline).expect("a pipeline state");
        recorder.set_buffer(0, &setup.output, 0).expect("a buffer");
        recorder.set_buffer(1, &setup.input, 0).expect("a buffer");
        for _ in 0..3 {
            recorder.dispatch_threadgroups(Size::linear(8), Size::linear(THREADS)).expect("a grid");
        }
        let recording = recorder.finish().expect("it is complete");
        let replay = || {
            let commands = setup.queue.new_command_buffer();
            commands.replay(&recording, &[]).expect("it may be replayed");
            commands.commit().expect("it is complete");
            commands.wait_until_completed()
        };
        for _ in 0..10 {
            let error = replay().expect_err("it fails").to_string();
            assert!(error.contains("past the end of 'out'"), "{error}");
        }
        let setup = &setup;
        setup.input.write(0, &[0i32]).expect("it is large enough");
        replay().expect("it is right now");
        assert_eq!(setup.output.read::<u32>()[..8 * THREADS], [3; 8 * THREADS]);
    }
}

#[test]
fn division_by_zero_gives_a_number() {
    let body = "out[i] = uint(in[1] / in[0]) + uint(in[1] % in[0]) + uint(in[i + 1] / in[i]);
                out[i] += uint(in[3] / in[2]);";
    let setup = Setup::new(1, body).with_input(&[0, 7, -1, i32::MIN]);
    setup.run(1).expect("the specification says that it causes no exception");
}

/// Sets the first word of the output, then loops until it is 2, which it never is.
const ENDLESS: &str = "
    volatile device atomic_uint* flag = (volatile device atomic_uint*)out;
    if (lid == 0) { atomic_store_explicit(flag, 1, memory_order_relaxed); }
    uint n = 0;
    while (atomic_load_explicit(flag, memory_order_relaxed) != 2) { n += 1; }
    out[i + 1] = n;";

#[test]
fn an_endless_loop_can_be_cancelled() {
    for threads in [1, 3] {
        let setup = Setup::new(threads, ENDLESS);
        assert_eq!(setup.cancelled(1), "cancelled in threadgroup (0, 0, 0)");
        let message = setup.cancelled(8);
        assert!(message.starts_with("cancelled in threadgroup ("), "{message}");
    }
}

#[test]
fn an_endless_loop_over_barriers_can_be_cancelled() {
    let body = "
        volatile device atomic_uint* flag = (volatile device atomic_uint*)out;
        if (lid == 0) { atomic_store_explicit(flag, 1, memory_order_relaxed); }
        uint n = 0;
        while (true) {
            tile[lid] = n;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            n += tile[lid ^ 33];
            if (atomic_load_explicit(flag, memory_order_relaxed) == 2) { break; }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        out[i + 1] = n;";
    let setup = Setup::new(2, body);
    assert!(setup.cancelled(1).starts_with("cancelled in threadgroup ("));
}

#[test]
fn command_buffers_that_were_not_cancelled_run() {
    let setup = Setup::new(2, ENDLESS);
    // Nothing is being executed.
    setup.device.cancel();
    let right = Setup::new(2, "out[i] = 7;");
    let endless = setup.commit(1);
    while setup.output.read::<u32>()[0] == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    // Another device is not affected.
    right.device.cancel();
    right.run(1).expect("it is right");
    setup.device.cancel();
    assert!(endless.wait_until_completed().is_err());
    assert_eq!(right.output.read::<u32>()[0], 7);
}
