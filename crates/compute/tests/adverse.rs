//! Adverse order gives the same results, unless a kernel has a race that GPUs would show, too.
#![cfg(llvm)]

use metalworks_compute::{
    Buffer, CommandBufferDescriptor, CompileOptions, ComputePipelineState, CpuOptions, Device, DispatchTiming,
    DispatchType, FunctionConstantValues, Size,
};

const SIMDGROUPS: usize = 4;
const THREADGROUPS: usize = 3;

/// A kernel on its own device with one thread: the order is deterministic.
struct Setup {
    device: Device,
    pipeline: ComputePipelineState,
}

impl Setup {
    fn new(body: &str) -> Setup {
        let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU");
        let source = format!(
            "#include <metal_stdlib>
            using namespace metal;
            kernel void k(device uint* y [[buffer(0)]],
                          uint i [[thread_position_in_grid]],
                          uint group [[threadgroup_position_in_grid]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {{
                threadgroup uint shared[{SIMDGROUPS}];
                {body}
            }}"
        );
        let library = device.new_library_with_source(&source, &CompileOptions::default());
        let library = library.unwrap_or_else(|error| panic!("{error}"));
        let function = library.new_function("k", &FunctionConstantValues::new()).expect("it is there");
        let pipeline = device.new_compute_pipeline_state(&function).expect("it compiles");
        Setup { device, pipeline }
    }

    /// A zeroed buffer with an element per thread.
    fn buffer(&self) -> Buffer {
        self.device.new_buffer(4 * 32 * SIMDGROUPS * THREADGROUPS).expect("memory")
    }

    /// Runs the kernel once for each buffer, in dispatches that may overlap.
    fn run(&self, adverse: bool, buffers: &[Buffer]) -> Vec<DispatchTiming> {
        self.device.set_adverse(adverse);
        assert_eq!(self.device.is_adverse(), adverse);
        let descriptor = CommandBufferDescriptor { label: None, profiling: true };
        let commands = self.device.new_command_queue().new_command_buffer_with_descriptor(&descriptor);
        let mut encoder =
            commands.compute_command_encoder_with_dispatch_type(DispatchType::Concurrent).expect("an encoder");
        encoder.set_compute_pipeline_state(&self.pipeline).expect("a pipeline state");
        for buffer in buffers {
            encoder.set_buffer(0, buffer, 0).expect("a buffer");
            let (threadgroups, threads) = (Size::linear(THREADGROUPS), Size::linear(32 * SIMDGROUPS));
            encoder.dispatch_threadgroups(threadgroups, threads).expect("a grid");
        }
        encoder.end_encoding().expect("an end");
        commands.commit().expect("it is complete");
        commands.wait_until_completed().expect("it runs");
        commands.dispatch_timings()
    }
}

/// Results of a kernel with this body, in normal and in adverse order.
fn results(body: &str) -> [Vec<u32>; 2] {
    let setup = Setup::new(body);
    [false, true].map(|adverse| {
        let y = setup.buffer();
        setup.run(adverse, std::slice::from_ref(&y));
        y.read()
    })
}

/// Each simdgroup reads twice what its neighbour has written. `A` and `B` stand for barriers.
const EXCHANGE: &str = "
    uint sum = 0;
    for (uint round = 1; round <= 2; round++) {
        if (lane == 0) { shared[simdgroup] = round * 100 + simdgroup; }
        A
        sum = sum * 1000 + shared[NEIGHBOUR];
        B
    }
    y[i] = sum;";
const BARRIER: &str = "threadgroup_barrier(mem_flags::mem_threadgroup);";

fn exchange(neighbour: &str, a: &str, b: &str) -> [Vec<u32>; 2] {
    results(&EXCHANGE.replace("NEIGHBOUR", neighbour).replace('A', a).replace('B', b))
}

#[test]
fn a_correct_kernel_does_not_depend_on_the_order() {
    let all = (0..SIMDGROUPS as u32 * 32 * THREADGROUPS as u32).map(|i| i / 32 % SIMDGROUPS as u32);
    for (neighbour, of) in [("(simdgroup + 3) % 4", 3), ("(simdgroup + 1) % 4", 1)] {
        let expected: Vec<u32> = all.clone().map(|s| (100 + (s + of) % 4) * 1000 + 200 + (s + of) % 4).collect();
        let [usual, adverse] = exchange(neighbour, BARRIER, BARRIER);
        assert_eq!(usual, expected);
        assert_eq!(adverse, expected);
    }
}

#[test]
fn a_missing_barrier_is_exposed() {
    for neighbour in ["max(simdgroup, 1u) - 1", "min(simdgroup + 1, 3u)"] {
        let [expected, _] = exchange(neighbour, BARRIER, BARRIER);
        for (a, b) in [("", BARRIER), (BARRIER, ""), ("", "")] {
            let [usual, adverse] = exchange(neighbour, a, b);
            assert!(usual != expected || adverse != expected, "{neighbour}, '{a}', '{b}'");
        }
    }
}

#[test]
fn threadgroup_memory_begins_as_garbage() {
    let [_, adverse] = results("if (simdgroup > 0) { shared[simdgroup] = 1; } y[i] = shared[simdgroup];");
    for (i, &value) in adverse.iter().enumerate() {
        assert_eq!(value, if i / 32 % SIMDGROUPS > 0 { 1 } else { u32::MAX }, "thread {i}");
    }
}

#[test]
fn threadgroups_that_depend_on_others_are_exposed() {
    let [usual, adverse] = results("y[i] = group == 0 ? 1 : y[i - 128] + 1; shared[0] = 0;");
    assert_ne!(usual, adverse);
    let [usual, adverse] = results("y[i] = group + 1; shared[0] = 0;");
    assert_eq!(usual, adverse);
}

#[test]
fn simdgroups_without_barriers_run_backwards_too() {
    let [usual, adverse] = results("y[i % 32 + group * 128] = simdgroup; shared[0] = 0;");
    assert_eq!((usual[0], adverse[0]), (3, 0), "the last writer");
}

#[test]
fn dispatches_that_may_overlap_run_backwards_too() {
    let setup = Setup::new("y[i] = group; shared[0] = 0;");
    let buffers = [setup.buffer(), setup.buffer()];
    let usual = setup.run(false, &buffers);
    assert!(usual[0].end <= usual[1].start, "{usual:?}");
    let adverse = setup.run(true, &buffers);
    assert!(adverse[1].end <= adverse[0].start, "{adverse:?}");
    assert_eq!(buffers[0].read::<u32>(), buffers[1].read::<u32>());
}
