//! Metal kernels, from source or library to results.
#![cfg(llvm)]

use metalworks_compute::{
    Buffer, CompileOptions, ComputePipelineState, ConstantValue, CpuOptions, Device, Error, FunctionConstantValues,
    Library, MathMode, Result, Size,
};

const ADD_ARRAYS: &str = include_str!("../../../../examples/add_arrays.metal");
const GEMV: &str = include_str!("../../../../examples/gemv.metal");

/// The CPU, or the device that `METALWORKS_DEVICE` names.
fn device() -> Device {
    match std::env::var_os("METALWORKS_DEVICE") {
        Some(_) => Device::system_default().expect("the device of METALWORKS_DEVICE"),
        None => Device::cpu().expect("a CPU"),
    }
}

fn library(source: &str) -> Library {
    device().new_library_with_source(source, &CompileOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The kernel of a library that has one, without constants.
fn pipeline(source: &str) -> ComputePipelineState {
    let library = library(source);
    let name = library.function_names().remove(0);
    let function =
        library.new_function(&name, &FunctionConstantValues::new()).unwrap_or_else(|error| panic!("{error}"));
    device().new_compute_pipeline_state(&function).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a kernel on a grid of threads and waits for it.
fn run(pipeline: &ComputePipelineState, buffers: &[&Buffer], threads: Size, threadgroup: Size) -> Result<()> {
    let commands = device().new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(pipeline)?;
    for (index, buffer) in buffers.iter().enumerate() {
        encoder.set_buffer(index, buffer, 0)?;
    }
    encoder.dispatch_threads(threads, threadgroup)?;
    encoder.end_encoding()?;
    commands.commit()?;
    commands.wait_until_completed()
}

fn floats(count: usize, value: impl Fn(usize) -> f32) -> Buffer {
    let values: Vec<f32> = (0..count).map(value).collect();
    device().new_buffer_with_bytes(bytemuck::cast_slice(&values)).expect("memory")
}

fn add_arrays(pipeline: &ComputePipelineState, count: usize, threadgroup: usize) {
    let (a, b) = (floats(count, |i| i as f32), floats(count, |i| 1000.0 - 3.0 * i as f32));
    // Larger than the output, to detect stray writes.
    let result = floats(count + 100, |_| -7.0);
    run(pipeline, &[&a, &b, &result], Size::linear(count), Size::linear(threadgroup)).expect("it runs");
    for (i, &sum) in result.read::<f32>().iter().enumerate() {
        let expected = if i < count { 1000.0 - 2.0 * i as f32 } else { -7.0 };
        assert_eq!(sum, expected, "element {i} of {count} in threadgroups of {threadgroup}");
    }
}

#[test]
fn add_arrays_adds() {
    let pipeline = pipeline(ADD_ARRAYS);
    assert_eq!(pipeline.thread_execution_width(), 32);
    assert_eq!(pipeline.max_total_threads_per_threadgroup(), 1024);
    assert_eq!(pipeline.static_threadgroup_memory_length(), 0);
    assert_eq!(pipeline.reflection().arguments.len(), 3);
    add_arrays(&pipeline, 1024, 256);
}

#[test]
fn grids_need_not_be_multiples_of_anything() {
    let pipeline = pipeline(ADD_ARRAYS);
    for count in [1, 31, 32, 33, 1000, 1025, 100_003] {
        for threadgroup in [1, 7, 32, 40, 256, 1000, 1024] {
            add_arrays(&pipeline, count, threadgroup);
        }
    }
}

#[test]
fn gemv_multiplies_for_each_set_of_constants() {
    let library = library(GEMV);
    let rows = 37;
    for length in [128, 4096, 100] {
        for use_bias in [false, true] {
            let mut constants = FunctionConstantValues::new();
            constants
                .set(0, ConstantValue::Uint(length as u32))
                .set_named("USE_BIAS", ConstantValue::Bool(use_bias));
            let function = library.new_function("gemv", &constants).expect("a function");
            assert_eq!(function.name(), "gemv");
            let bias_is_bound = function.reflection().arguments.iter().any(|argument| argument.name == "bias");
            assert_eq!(bias_is_bound, use_bias);
            let pipeline = device().new_compute_pipeline_state(&function).expect("a pipeline");

            let weight = |row: usize, k: usize| ((row * 31 + k * 7) % 17) as f32 / 8.0 - 1.0;
            let weights = floats(rows * length, |i| weight(i / length, i % length));
            let x = floats(length, |k| (k % 13) as f32 / 4.0 - 1.5);
            let y = floats(rows, |_| f32::NAN);
            let bias = floats(rows, |row| row as f32);
            let buffers = if use_bias { vec![&weights, &x, &y, &bias] } else { vec![&weights, &x, &y] };
            run(&pipeline, &buffers, Size::linear(rows * 32), Size::linear(32)).expect("it runs");

            for (row, &found) in y.read::<f32>().iter().enumerate() {
                let products = (0..length).map(|k| f64::from(weight(row, k)) * ((k % 13) as f64 / 4.0 - 1.5));
                let expected = products.sum::<f64>() + if use_bias { row as f64 } else { 0.0 };
                let error = (f64::from(found) - expected).abs();
                assert!(error <= 1e-5 * length as f64, "row {row}, K {length}: {found} and not {expected}");
            }
        }
    }
}

#[test]
fn an_unused_bias_needs_no_binding() {
    let library = library(GEMV);
    let mut constants = FunctionConstantValues::new();
    constants.set(0, ConstantValue::Uint(128)).set(1, ConstantValue::Bool(true));
    let function = library.new_function("gemv", &constants).expect("a function");
    let pipeline = device().new_compute_pipeline_state(&function).expect("a pipeline");
    let x = floats(128, |_| 1.0);
    let error = run(&pipeline, &[&x, &x, &x], Size::linear(32), Size::linear(32)).expect_err("bias is missing");
    let expected = "dispatch_threads of 'gemv': no buffer is bound at index 3 for the argument 'bias'; call set_buffer \
                    or set_bytes";
    assert_eq!(error, Error::Usage(expected.into()));
}

#[test]
fn wrong_constants_are_errors() {
    let library = library(GEMV);
    let problem = |set: &dyn Fn(&mut FunctionConstantValues)| {
        let mut constants = FunctionConstantValues::new();
        set(&mut constants);
        match library.new_function("gemv", &constants) {
            Err(Error::Constants { kernel, problem }) if kernel == "gemv" => problem.to_string(),
            other => panic!("another result: {other:?}"),
        }
    };
    assert!(problem(&|_| {}).contains("'K'"));
    let wrong_type = problem(&|constants| {
        constants.set(0, ConstantValue::Float(1.0)).set(1, ConstantValue::Bool(true));
    });
    assert!(wrong_type.contains("'K' (index 0) is a uint, and its value is a float"), "{wrong_type}");
    let unknown = problem(&|constants| {
        constants.set(0, ConstantValue::Uint(1)).set(1, ConstantValue::Bool(true)).set(9, ConstantValue::Uint(1));
    });
    assert!(unknown.contains("index 9"), "{unknown}");
}

#[test]
fn a_library_can_be_bytes_or_a_file() {
    let compilation = msl::compile_source("gemv.metal", GEMV, &msl::Options::default());
    let bytes = air::compile(&compilation.program, air::MathMode::Fast).expect("it compiles").library;
    let path = std::env::temp_dir().join(format!("metalworks-library-{}.metallib", std::process::id()));
    std::fs::write(&path, &bytes).expect("a file");
    let from_file = device().new_library_with_file(&path).expect("a library");
    std::fs::remove_file(&path).expect("it is there");
    for library in [from_file, device().new_library_with_data(bytes.clone()).expect("a library")] {
        assert_eq!(library.function_names(), ["gemv"]);
        let mut constants = FunctionConstantValues::new();
        constants.set(0, ConstantValue::Uint(64)).set(1, ConstantValue::Bool(false));
        let function = library.new_function("gemv", &constants).expect("a function");
        let pipeline = device().new_compute_pipeline_state(&function).expect("a pipeline");
        let (weights, x, y) = (floats(128, |i| i as f32), floats(64, |_| 1.0), floats(2, |_| 0.0));
        run(&pipeline, &[&weights, &x, &y], Size::linear(64), Size::linear(32)).expect("it runs");
        assert_eq!(y.read::<f32>(), [2016.0, 6112.0]);
    }

    for damaged in [&bytes[..0], &bytes[..50], &bytes[..bytes.len() - 1], b"no library"] {
        assert!(matches!(device().new_library_with_data(damaged.to_vec()), Err(Error::Library(_))));
    }
    let parsed = air::metallib::Library::parse(&bytes).expect("it is a library");
    let (size, offset) = parsed.functions()[0].extent(&bytes);
    let mut flipped = bytes.clone();
    flipped[offset.expect("it is in the file") + size - 1] ^= 1;
    let library = device().new_library_with_data(flipped).expect("its table is whole");
    assert!(matches!(library.new_function("gemv", &FunctionConstantValues::new()), Err(Error::Library(_))));
    assert!(matches!(device().new_library_with_file("/does/not/exist.metallib"), Err(Error::File { .. })));
}

#[test]
fn an_unsupported_kernel_does_not_stop_the_others() {
    let source = "#include <metal_stdlib>\nusing namespace metal;\n\
        kernel void image(texture2d<float> t [[texture(0)]]) {}\n\
        struct Arguments { texture2d<float> t; sampler s; device float *x; };\n\
        kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }\n\
        kernel void sampled(device Arguments &a [[buffer(0)]]) { *a.x = a.t.sample(a.s, float2(0)).x; }\n\
        kernel void size(device uint *x [[buffer(0)]], device Arguments *a [[buffer(1)]]) { *x = sizeof(*a); }\n";
    let library = library(source);
    assert_eq!(library.function_names(), ["image", "twice", "sampled", "size"]);
    let function = |name: &str| library.new_function(name, &FunctionConstantValues::new());
    let refused = |name: &str| match function(name) {
        Err(error @ Error::Unsupported { .. }) => error.to_string(),
        other => panic!("{name}: {:?}", other.err()),
    };
    let image = "kernel 'image': a texture argument at program_source:3:36 is not supported";
    assert_eq!(refused("image"), image);
    let sampled = refused("sampled");
    assert!(sampled.contains("sample' of textures at program_source:6:65"), "{sampled}");

    let x = floats(2, |i| i as f32 + 1.0);
    let twice = device().new_compute_pipeline_state(&function("twice").expect("a function")).expect("a pipeline");
    run(&twice, &[&x], Size::linear(2), Size::linear(2)).expect("it runs");
    assert_eq!(x.read::<f32>(), [2.0, 4.0]);
    let size = device().new_compute_pipeline_state(&function("size").expect("a function")).expect("a pipeline");
    run(&size, &[&x, &floats(6, |_| 0.0)], Size::linear(1), Size::linear(1)).expect("it runs");
    assert_eq!(x.read::<u32>()[0], 24);
}

#[test]
fn vectors_may_have_8_components() {
    let pipeline = pipeline(
        "#include <metal_stdlib>\nusing namespace metal;\n\
         kernel void k(device vec<float, 8> *v [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n  \
           vec<float, 8> a(1), b = v[i];\n  \
           b[i & 7] = 100;\n  \
           vec<half, 8> c = vec<half, 8>(a + b * 2);\n  \
           vec<bool, 8> d = b < a;\n  \
           c[7] = d[0] ? 1 : 2;\n  \
           v[i] = vec<float, 8>(c);\n\
         }\n",
    );
    let v = floats(40 * 8, |i| (i % 50) as f32);
    run(&pipeline, &[&v], Size::linear(40), Size::linear(40)).expect("it runs");
    for (i, &found) in v.read::<f32>().iter().enumerate() {
        let (thread, component) = (i / 8, i % 8);
        let before = |i: usize| if i % 8 == thread % 8 { 100.0 } else { (i % 50) as f32 };
        let expected = match component {
            7 => {
                if before(thread * 8) < 1.0 {
                    1.0
                } else {
                    2.0
                }
            }
            _ => 1.0 + before(i) * 2.0,
        };
        assert_eq!(found, expected, "component {component} of thread {thread}");
    }
}

#[test]
fn source_errors_are_reported() {
    let source = "kernel void k(device float *x [[buffer(0)]]) { x[0] = missing; }";
    let options = CompileOptions { name: "wrong.metal".into(), ..CompileOptions::default() };
    match device().new_library_with_source(source, &options) {
        Err(Error::Source { errors: 1, diagnostics }) => {
            assert!(
                diagnostics.starts_with("wrong.metal:1:55: error: use of undeclared identifier"),
                "{diagnostics}"
            );
            assert!(diagnostics.contains('^'), "{diagnostics}");
        }
        other => panic!("another result: {other:?}"),
    }
    let missing = device().new_library_with_source_file("/does/not/exist.metal", &options);
    assert_eq!(
        missing.expect_err("there is no such file").to_string(),
        "cannot read '/does/not/exist.metal': no such file"
    );
}

#[test]
fn a_missing_function_is_an_error() {
    let library =
        library("kernel void first(device int *x) { *x = 1; }\nkernel void second(device int *x) { *x = 2; }");
    assert_eq!(library.function_names(), ["first", "second"]);
    let error = library.new_function("Second", &FunctionConstantValues::new()).expect_err("no such kernel");
    assert_eq!(error.to_string(), "the library has no kernel 'Second'; did you mean 'second'?");
    let error = library.new_function("other", &FunctionConstantValues::new()).expect_err("no such kernel");
    assert_eq!(error.to_string(), "the library has no kernel 'other'");
}

#[test]
fn options_reach_the_compiler() {
    let source = "kernel void k(device float *x [[buffer(0)]]) { x[0] = VALUE; x[1] = (x[1] - x[2]) + x[2]; }";
    let options = CompileOptions {
        defines: vec![("VALUE".into(), Some("42.0f".into()))],
        math_mode: MathMode::Safe,
        ..CompileOptions::default()
    };
    let library = device().new_library_with_source(source, &options).expect("a library");
    let function = library.new_function("k", &FunctionConstantValues::new()).expect("a function");
    let pipeline = device().new_compute_pipeline_state(&function).expect("a pipeline");
    let buffer = floats(3, |i| [0.0, 1.0, 1e20][i]);
    run(&pipeline, &[&buffer], Size::linear(1), Size::linear(1)).expect("it runs");
    assert_eq!(buffer.read::<f32>(), [42.0, 0.0, 1e20]);
}

/// All positions that a thread can query.
const POSITIONS: &str = "
#include <metal_stdlib>
using namespace metal;
kernel void positions(device uint *out [[buffer(0)]],
                      uint3 in_grid [[thread_position_in_grid]],
                      uint3 in_threadgroup [[thread_position_in_threadgroup]],
                      uint index [[thread_index_in_threadgroup]],
                      uint3 group [[threadgroup_position_in_grid]],
                      uint3 size [[threads_per_threadgroup]],
                      uint3 grid [[threads_per_grid]],
                      uint3 groups [[threadgroups_per_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint simdgroups [[simdgroups_per_threadgroup]],
                      uint3 asked [[dispatch_threads_per_threadgroup]]) {
    device uint *own = out + 24 * (in_grid.x + grid.x * (in_grid.y + grid.y * in_grid.z));
    uint values[24] = {in_grid.x, in_grid.y, in_grid.z, in_threadgroup.x, in_threadgroup.y, in_threadgroup.z,
                       group.x, group.y, group.z, size.x, size.y, size.z, grid.x, grid.y, grid.z,
                       groups.x, groups.y, groups.z, index, lane, simdgroup, simdgroups, asked.x, asked.y};
    for (uint i = 0; i < 24; i++) { own[i] = values[i]; }
}";

#[test]
fn threads_have_their_positions() {
    let pipeline = pipeline(POSITIONS);
    for (grid, size) in [
        ([64, 4, 2], [32, 2, 1]),
        ([65, 5, 3], [32, 4, 2]),
        ([100, 1, 1], [64, 1, 1]),
        ([7, 9, 5], [4, 4, 4]),
        ([1, 40, 3], [1, 33, 2]),
    ] {
        let count = grid.iter().product::<usize>();
        let out = device().new_buffer(count * 24 * 4).expect("memory");
        let sized = |[width, height, depth]: [usize; 3]| Size { width, height, depth };
        run(&pipeline, &[&out], sized(grid), sized(size)).expect("it runs");
        for (thread, found) in out.read::<u32>().chunks(24).enumerate() {
            let at = [thread % grid[0], thread / grid[0] % grid[1], thread / grid[0] / grid[1]];
            let group: [usize; 3] = std::array::from_fn(|i| at[i] / size[i]);
            let inside: [usize; 3] = std::array::from_fn(|i| at[i] % size[i]);
            let actual: [usize; 3] = std::array::from_fn(|i| size[i].min(grid[i] - group[i] * size[i]));
            let groups: [usize; 3] = std::array::from_fn(|i| grid[i].div_ceil(size[i]));
            let index = inside[0] + actual[0] * (inside[1] + actual[1] * inside[2]);
            let simdgroups = actual.iter().product::<usize>().div_ceil(32);
            let rest = [index, index % 32, index / 32, simdgroups, size[0], size[1]];
            let expected: Vec<u32> = [&at, &inside, &group, &actual, &grid, &groups]
                .into_iter()
                .flatten()
                .chain(&rest)
                .map(|&n| n as u32)
                .collect();
            assert_eq!(found, expected, "thread {at:?} of {grid:?} in threadgroups of {size:?}");
        }
    }
}

/// Sums each threadgroup's numbers in a tree, with static and dynamic threadgroup memory.
const TREE: &str = "
#include <metal_stdlib>
using namespace metal;
kernel void tree(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                 threadgroup uint *other [[threadgroup(0)]],
                 uint index [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]],
                 uint group [[threadgroup_position_in_grid]], uint position [[thread_position_in_grid]]) {
    threadgroup uint sums[1024];
    sums[index] = in[position];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < size; step *= 2) {
        uint sum = sums[index] + (index >= step ? sums[index - step] : 0);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sums[index] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    other[size - 1 - index] = sums[index];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[position] = other[index];
}";

#[test]
fn barriers_order_threadgroup_memory() {
    let pipeline = pipeline(TREE);
    assert_eq!(pipeline.static_threadgroup_memory_length(), 4096);
    for threads in [1, 2] {
        let device = Device::cpu_with_options(&CpuOptions { threads: Some(threads) }).expect("a CPU");
        for size in [32, 33, 100, 256, 1000, 1024] {
            let count = size * 5;
            let values: Vec<u32> = (0..count as u32).map(|i| i * i % 1000).collect();
            let input = device.new_buffer_with_bytes(bytemuck::cast_slice(&values)).expect("memory");
            let output = device.new_buffer(count * 4).expect("memory");
            let commands = device.new_command_queue().new_command_buffer();
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            encoder.set_compute_pipeline_state(&pipeline).expect("set");
            encoder.set_buffer(0, &input, 0).expect("set");
            encoder.set_buffer(1, &output, 0).expect("set");
            encoder.set_threadgroup_memory_length(0, (size * 4).next_multiple_of(16)).expect("set");
            encoder.dispatch_threadgroups(Size::linear(5), Size::linear(size)).expect("it is right");
            encoder.end_encoding().expect("it ends");
            commands.commit().expect("it commits");
            commands.wait_until_completed().expect("it runs");
            let expected: Vec<u32> = values
                .chunks(size)
                .flat_map(|group| {
                    let sums = group.iter().scan(0, |sum, value| {
                        *sum += value;
                        Some(*sum)
                    });
                    sums.collect::<Vec<u32>>().into_iter().rev()
                })
                .collect();
            assert_eq!(output.read::<u32>(), expected, "threadgroups of {size}");
        }
    }
}

#[test]
fn arguments_of_one_element_can_be_bytes() {
    let source = "
        struct Parameters { uint count; float factor; };
        kernel void scale(device float *x [[buffer(0)]], constant Parameters &parameters [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
            if (i < parameters.count) { x[i] *= parameters.factor; }
        }";
    let pipeline = pipeline(source);
    let x = floats(64, |i| i as f32);
    let commands = device().new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("set");
    encoder.set_buffer(0, &x, 0).expect("set");
    for (count, factor) in [(40u32, 2.0f32), (20, 10.0)] {
        let bytes: Vec<u8> = count.to_ne_bytes().into_iter().chain(factor.to_ne_bytes()).collect();
        encoder.set_bytes(1, &bytes).expect("set");
        encoder.dispatch_threads(Size::linear(64), Size::linear(64)).expect("it is right");
    }
    encoder.set_bytes(1, &[0; 4]).expect("set");
    assert!(encoder.dispatch_threads(Size::linear(64), Size::linear(64)).is_err(), "half of the parameters");
    encoder.end_encoding().expect("it ends");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    let factor = |i: usize| {
        if i < 20 {
            20.0
        } else if i < 40 {
            2.0
        } else {
            1.0
        }
    };
    assert_eq!(x.read::<f32>(), (0..64).map(|i| i as f32 * factor(i)).collect::<Vec<f32>>());
}

#[test]
fn threads_share_a_pipeline() {
    let pipeline = pipeline(ADD_ARRAYS);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for count in [100, 3000, 17] {
                    add_arrays(&pipeline, count, 48);
                }
            });
        }
    });
}

#[test]
fn values_merge_across_nested_branches() {
    let pipeline = pipeline(
        "#include <metal_stdlib>
         using namespace metal;
         kernel void k(device const float *src [[buffer(0)]], device float *dst [[buffer(1)]],
                       constant uint &n [[buffer(2)]], uint i [[thread_index_in_threadgroup]]) {
           float v = 0;
           if (i < n) v += src[i];
           if (i < 32) v += simd_shuffle_down(v, 1);
           dst[i] = v;
         }",
    );
    for n in [0u32, 4, 32] {
        let (src, dst) = (floats(32, |i| i as f32), floats(32, |_| -7.0));
        let count = device().new_buffer_with_bytes(&n.to_le_bytes()).expect("memory");
        run(&pipeline, &[&src, &dst, &count], Size::linear(32), Size::linear(32)).expect("it runs");
        let value = |i: usize| if i < n as usize { i as f32 } else { 0.0 };
        // The last lane has no neighbour.
        let expected: Vec<f32> = (0..31).map(|i| value(i) + value(i + 1)).collect();
        assert_eq!(dst.read::<f32>()[..31], expected, "{n} lanes");
    }
}

#[test]
fn kernels_compile_in_parallel_and_fail_alone() {
    let library = library(
        "
        #include <metal_stdlib>
        using namespace metal;
        kernel void good(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = float(i); }
        kernel void bad(texture2d<float> t [[texture(0)]], device float *x [[buffer(0)]]) { x[0] = t.get_width(); }",
    );
    assert_eq!(library.function_names(), ["good", "bad"]);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let library = &library;
            scope.spawn(move || {
                let name = if number % 2 == 0 { "good" } else { "bad" };
                let function = library.new_function(name, &FunctionConstantValues::new());
                let pipeline = function.and_then(|function| device().new_compute_pipeline_state(&function));
                match (name, pipeline) {
                    ("good", Ok(pipeline)) => {
                        let x = floats(256, |_| -1.0);
                        run(&pipeline, &[&x], Size::linear(256), Size::linear(64)).expect("it runs");
                        assert_eq!(x.read::<f32>()[255], 255.0);
                    }
                    ("bad", Err(Error::Unsupported { kernel, .. })) => assert_eq!(kernel, "bad"),
                    (_, other) => panic!("{name}: {other:?}"),
                }
            });
        }
    });
}

/// A library with one function, whose module may be invalid.
fn library_of(name: &str, bitcode: &[u8]) -> Library {
    use air::metallib::{Function, FunctionKind, Header, Library};
    let mut library = Library::new(Header::default());
    library.add(Function::new(name, FunctionKind::Kernel, bitcode)).expect("it is the first");
    device().new_library_with_data(library.write().expect("it is written")).expect("its table is right")
}

#[test]
fn damaged_modules_are_errors() {
    let compilation = msl::compile_source("add.metal", ADD_ARRAYS, &msl::Options::default());
    let entry = compilation.program.kernels().next().expect("there is one");
    let function = air::compile_kernel(&compilation.program, entry, air::MathMode::Fast).expect("it compiles");
    let whole = air::metallib::unwrap(function.bitcode().expect("it is whole")).expect("it is wrapped").to_vec();
    let make =
        |name: &str, bitcode: &[u8]| library_of(name, bitcode).new_function(name, &FunctionConstantValues::new());

    assert!(make("add_arrays", &whole).is_ok());
    assert!(make("other", &whole).is_err(), "the module has no kernel of that name");
    for garbage in [&b""[..], b"BC", b"no bitcode at all", &[0xff; 1000]] {
        assert!(matches!(make("add_arrays", garbage), Err(Error::Library(_))));
    }
    for part in 1..40 {
        let result = make("add_arrays", &whole[..whole.len() * part / 40]);
        assert!(matches!(result, Err(Error::Library(_))), "{part} of 40 parts: {result:?}");
    }
}

#[test]
fn an_index_out_of_a_private_array_stays_in_the_thread() {
    // As in MLX's layer norm, whose idle threads index far below zero.
    let source = "#include <metal_stdlib>
        kernel void leave(device const float *from [[buffer(0)]], device float *result [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
            float values[8] = {0};
            for (int k = from[i]; k < 8 || k < int(i) * 100; k++) values[k] = i;
            float sum = 0;
            for (int k = 0; k < 8; k++) { sum += values[(k * 5) % 8]; }
            result[i] = sum;
        }";
    let (from, result) = (floats(96, |i| 8.0 - 50.0 * i as f32), floats(96, |_| -7.0));
    run(&pipeline(source), &[&from, &result], Size::linear(96), Size::linear(96)).expect("it runs");
    let expected = |i: usize| if i == 0 { 0.0 } else { 8.0 * i as f32 };
    assert_eq!(result.read::<f32>(), (0..96).map(expected).collect::<Vec<f32>>());
}

fn ints(values: &[i32]) -> Buffer {
    device().new_buffer_with_bytes(bytemuck::cast_slice(values)).expect("memory")
}

/// Runs a kernel whose threads read `x` and write `r`.
fn run_ints(body: &str, inputs: &[i32]) -> Vec<i32> {
    let source = format!(
        "kernel void k(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {{
            int x = in[i], r = 0;
            {body}
            out[i] = r;
        }}"
    );
    let (from, to) = (ints(inputs), ints(&vec![0; inputs.len()]));
    run(&pipeline(&source), &[&from, &to], Size::linear(inputs.len()), Size::linear(64)).expect("it runs");
    to.read::<i32>().to_vec()
}

/// Such code is compiled without optimization, and its values are on a stack that is large enough.
#[test]
fn a_divergent_switch_may_have_a_thousand_cases() {
    const CASES: i32 = 1000;
    let case = |n: i32| {
        let end = if n % 5 == 0 { "" } else { "break;" };
        format!("case {n}: r = r * 3 + x * {n} + in[{n} & 63]; {end}\n")
    };
    let cases: String = (0..CASES).map(case).collect();
    let inputs: Vec<i32> = (0..90).map(|i| i * 37 % (CASES + 20) - 10).collect();
    let found = run_ints(&format!("switch (x) {{ {cases} default: r -= 7; }}"), &inputs);
    for (&x, &found) in inputs.iter().zip(&found) {
        let mut r = 0i32;
        let mut next = x;
        while (0..CASES).contains(&next) {
            r = r * 3 + x * next + inputs[(next & 63) as usize];
            if next % 5 != 0 {
                break;
            }
            next += 1;
        }
        let expected = if (0..CASES).contains(&next) { r } else { r - 7 };
        assert_eq!(found, expected, "case {x}");
    }
}

#[test]
fn long_sums_wrap_around() {
    let term = |n: i32| match n % 3 {
        0 => format!("r += x * {n} + 1000000007;\n"),
        1 => format!("r = x * {n} - 5 - r;\n"),
        _ => format!("r -= (x << 4) + {n};\n"),
    };
    let terms: String = (0..300).map(term).collect();
    let inputs: Vec<i32> = (0..64).map(|i| i * 0x0123_4567).collect();
    for (&x, &found) in inputs.iter().zip(&run_ints(&terms, &inputs)) {
        let expected = (0..300i32).fold(0i32, |r, n| match n % 3 {
            0 => r.wrapping_add(x.wrapping_mul(n).wrapping_add(1_000_000_007)),
            1 => x.wrapping_mul(n).wrapping_sub(5).wrapping_sub(r),
            _ => r.wrapping_sub((x << 4).wrapping_add(n)),
        });
        assert_eq!(found, expected, "{x}");
    }
}
