//! `metalworks exec`: kernels that run, from shaders and from libraries.
#![cfg(llvm)]

mod support;

use support::{Run, Scratch, metalworks, metalworks_with_cache, metalworks_with_stdin, npy};

const ADD_ARRAYS: &str = "examples/add_arrays.metal";
const GEMV: &str = "examples/gemv.metal";

/// Runs `metalworks exec` with arguments that are parted by blanks.
fn exec(arguments: &str) -> Run {
    metalworks(std::iter::once("exec").chain(arguments.split_whitespace()))
}

/// The shader, and its library.
fn both_forms(scratch: &Scratch, shader: &str) -> [String; 2] {
    let library = format!("{}/library.metallib", scratch.path());
    metalworks(["compile", shader, "-o", &library]).exits(0);
    [shader.to_owned(), library]
}

/// Numbers without a pattern, the same each time, from -1 to 1.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let hash = |index: usize| (index as u32).wrapping_add(seed.wrapping_mul(7919)).wrapping_mul(2_654_435_761) >> 8;
    (0..count).map(|index| hash(index) as f32 / (1 << 23) as f32 - 1.0).collect()
}

#[test]
fn add_arrays_adds_1024_floats() {
    let (a, b) = (numbers(1024, 1), numbers(1024, 2));
    let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let scratch = Scratch::new();
    let (a, b) = (scratch.file("a.npy", npy::floats(&a)), scratch.file("b.npy", npy::floats(&b)));
    for (number, file) in both_forms(&scratch, ADD_ARRAYS).into_iter().enumerate() {
        let out = format!("{}/sum{number}.npy", scratch.path());
        let run = exec(&format!(
            "{file} add_arrays --arg 0=@{a} --arg 1=@{b} --arg 2=zeros:f32:1024 --grid 4,1,1 --threadgroup 256,1,1 \
             --out 2={out}"
        ))
        .exits(0);
        assert!(
            run.stdout.starts_with("add_arrays: 4,1,1 threadgroups, 256,1,1 threads in each"),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains(&format!("result (2): float32 (1024,) in {out}\n")), "{}", run.stdout);
        assert_eq!(npy::read_floats(&out), sum);
    }
}

/// The kernel's own code decides: the constant is not on the argument.
#[test]
fn an_argument_that_the_kernel_does_not_use_needs_no_binding() {
    let scratch = Scratch::new();
    let shader = scratch.file(
        "shift.metal",
        "constant bool SHIFT [[function_constant(0)]];
         kernel void shift(device float *x [[buffer(0)]], device const float *by [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
             if (SHIFT) { x[i] += by[i]; } else { x[i] *= 2.0f; }
         }",
    );
    for file in both_forms(&scratch, &shader) {
        let run = |shift: bool, more: &str| {
            let flags = "--threads 33 --arg x=iota:f32:33 --print x:3";
            exec(&format!("{file} shift --const SHIFT=bool:{shift} {flags} {more}"))
        };
        for _ in 0..2 {
            // The second time, an archive says that it is not used.
            assert!(run(false, "").exits(0).stdout.contains("  0 2 4"));
        }
        assert!(run(false, "--arg by=ones:f32:33").exits(0).stdout.contains("  0 2 4"));
        assert!(run(true, "--arg by=ones:f32:33").exits(0).stdout.contains("  1 2 3"));
        run(true, "").exits(1).says("--arg 1=VALUE");
    }
}

#[test]
fn functions_call_themselves_and_come_from_tables() {
    let scratch = Scratch::new();
    let shader = scratch.file(
        "calls.metal",
        "#include <metal_stdlib>
         using namespace metal;
         int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
         [[visible]] int fibonacci(int n) { return fib(n); }
         [[visible]] int twice(int n) { return 2 * n; }
         kernel void deep(device int *out, constant int &n, uint i [[thread_position_in_grid]]) { out[i] = fib(n); }
         kernel void apply(device int *out, visible_function_table<int(int)> table [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
             out[i] = table[i % table.size()](i);
         }",
    );
    for file in both_forms(&scratch, &shader) {
        let deep = |n: i32| {
            exec(&format!("{file} deep --threads 40 --arg out=zeros:i32:40 --arg n=i32:{n} --print out:1"))
        };
        assert!(deep(10).exits(0).stdout.contains("\n  55"));
        deep(i32::MAX).exits(1).says("kernel 'deep': call stack of 16384 bytes exhausted: recursion deeper than ");

        let apply =
            |table: &str| exec(&format!("{file} apply --threads 8 --arg out=zeros:i32:8 {table} --print out"));
        for _ in 0..2 {
            // The second time, the code comes from an archive.
            let run = apply("--arg table=functions:fibonacci,twice").exits(0);
            assert!(run.stdout.contains("\n  0 2 1 6 3 10 8 14\n"), "{}", run.stdout);
        }
        let run = apply("--arg 1=functions:twice,fibonacci").exits(0);
        assert!(run.stdout.contains("\n  0 1 4 2 8 5 12 13\n"), "{}", run.stdout);
        apply("--arg table=functions:twice,").exits(1).says("call through a function pointer that is null");
        apply("--arg table=functions:deep").exits(1).says("not a visible function");
        apply("--arg table=zeros:i32:8").exits(1).says("bind it with --arg table=functions:F,G");
        apply("").exits(1).says("--arg 1=functions:NAMES");
    }
}

/// A number of rows that is not a multiple of anything.
const ROWS: usize = 37;

#[test]
fn gemv_is_specialized_for_its_length_and_bias() {
    let scratch = Scratch::new();
    let forms = both_forms(&scratch, GEMV);
    for length in [128, 4096] {
        let (weights, x, bias) = (numbers(ROWS * length, 3), numbers(length, 4), numbers(ROWS, 5));
        let shape = format!("({ROWS}, {length})");
        let weights_file = scratch.file("weights.npy", npy::file("<f4", &shape, &npy::bytes(&weights)));
        let (x_file, bias_file) =
            (scratch.file("x.npy", npy::floats(&x)), scratch.file("bias.npy", npy::floats(&bias)));
        for (file, with_bias) in forms.iter().flat_map(|file| [(file, false), (file, true)]) {
            let out = format!("{}/y.npy", scratch.path());
            let bind_bias = if with_bias { format!("--arg bias=@{bias_file}") } else { String::new() };
            exec(&format!(
                "{file} gemv --const 0=u32:{length} --const USE_BIAS=bool:{with_bias} --arg weights=@{weights_file} \
                 --arg x=@{x_file} {bind_bias} --arg y=full:f32:{ROWS}:nan --grid {ROWS} --threadgroup 32 --out y={out}"
            ))
            .exits(0);
            let y = npy::read_floats(&out);
            assert_eq!(y.len(), ROWS);
            for row in 0..ROWS {
                let products = weights[row * length..][..length].iter().zip(&x);
                let dot: f64 = products.map(|(&weight, &x)| f64::from(weight) * f64::from(x)).sum();
                let expected = if with_bias { dot + f64::from(bias[row]) } else { dot };
                let error = (f64::from(y[row]) - expected).abs();
                assert!(error < 1e-6 * length as f64, "{file}, K = {length}, row {row}: {} and {expected}", y[row]);
            }
        }
    }
}

#[test]
fn threads_need_not_fill_the_last_threadgroup() {
    let scratch = Scratch::new();
    let out = format!("{}/sum.bin", scratch.path());
    for threadgroup in ["", "--threadgroup 256,1,1", "--threadgroup 7"] {
        exec(&format!(
            "{ADD_ARRAYS} add_arrays --arg 0=iota:f32:1024 --arg 1=ones:f32:1024 --arg 2=zeros:f32:1024 \
             --threads 1000,1,1 {threadgroup} --out 2={out}"
        ))
        .exits(0);
        let sum = npy::from_bytes(&std::fs::read(&out).expect("it was written"));
        let expected: Vec<f32> = (0..1024).map(|i| if i < 1000 { i as f32 + 1.0 } else { 0.0 }).collect();
        assert_eq!(sum, expected);
    }
}

#[test]
fn values_are_printed() {
    let arguments = format!("{ADD_ARRAYS} add_arrays --arg 0=iota:f32:20 --arg 1=full:f32:20:0.5 --threads 20");
    for (count, expected) in [
        ("", "\n  0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5 … and 12 more\n"),
        (":10", "\n  0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5\n  8.5 9.5 … and 10 more\n"),
        (":99", "\n  8.5 9.5 10.5 11.5 12.5 13.5 14.5 15.5\n  16.5 17.5 18.5 19.5\n"),
        (":0", " … and 20 more\n"),
    ] {
        let run = exec(&format!("{arguments} --arg 2=zeros:f32:4x5 --print result{count} --device cpu")).exits(0);
        assert!(run.stdout.contains("\nresult (2): float32 (4, 5)"), "{}", run.stdout);
        assert!(run.stdout.ends_with(expected), "{}", run.stdout);
    }
    let run = exec(&format!("{arguments} --arg 2=zeros:f32:20 --print 2 --json")).exits(0).json();
    assert_eq!((&run["kernel"], &run["threads"]), (&"add_arrays".into(), &serde_json::json!([20, 1, 1])));
    assert_eq!(run["outputs"][0]["shape"], serde_json::json!([20]));
    assert_eq!((&run["outputs"][0]["dtype"], &run["outputs"][0]["values"][3]), (&"float32".into(), &3.5.into()));
    assert_eq!(run.get("time"), None);
}

#[test]
fn times_are_printed() {
    let arguments = format!("{ADD_ARRAYS} add_arrays --arg 0=ones:f32:4096 --arg 1=ones:f32:4096 --threads 4096");
    let arguments = format!("{arguments} --arg 2=zeros:f32:4096 --repeat 100 --time");
    let run = exec(&arguments).exits(0);
    let cells: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let [.., headings, row] = &cells[..] else { panic!("no table in {}", run.stdout) };
    assert_eq!(headings.join(" "), "runs median min bytes bound GB/s pipeline made in");
    let [runs, median, unit, least, least_unit, bytes, rate, "compiled", made, made_unit] = row[..] else {
        panic!("{row:?}")
    };
    let nanoseconds = |number: &str, unit: &str| {
        let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
        let (_, unit) = units.iter().find(|(name, _)| *name == unit).expect("a unit");
        number.parse::<f64>().expect("a number") * unit
    };
    assert_eq!((runs, bytes), ("100", "49152"));
    let (median, least) = (nanoseconds(median, unit), nanoseconds(least, least_unit));
    assert!(least > 0.0 && least <= median && rate.parse::<f64>().expect("a rate") > 0.0, "{row:?}");
    assert!(nanoseconds(made, made_unit) > 0.0, "{row:?}");
    let time = &exec(&format!("{arguments} --json")).exits(0).json()["time"];
    assert_eq!((&time["runs"], &time["bytes_bound"]), (&100.into(), &49152.into()));
    assert!(
        time["min_ns"].as_u64() <= time["median_ns"].as_u64() && time["gigabytes_per_second"].is_f64(),
        "{time}"
    );
}

#[test]
fn outputs_are_those_of_the_first_run() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "count.metal",
        "kernel void count(device uint *n [[buffer(0)]], uint i [[thread_position_in_grid]]) { n[i] += 1; }\n",
    );
    let run = exec(&format!("{file} count --arg n=u32:5,6,7 --threads 3 --repeat 10 --print n")).exits(0);
    assert!(run.stdout.ends_with("n (0): uint32 (3,)\n  6 7 8\n"), "{}", run.stdout);
}

/// One kernel that copies for each type, and its dtype in NumPy.
const TYPES: [(&str, &str, usize); 13] = [
    ("bool", "|b1", 1),
    ("char", "|i1", 1),
    ("uchar", "|u1", 1),
    ("short", "<i2", 2),
    ("ushort", "<u2", 2),
    ("int", "<i4", 4),
    ("uint", "<u4", 4),
    ("long", "<i8", 8),
    ("ulong", "<u8", 8),
    ("half", "<f2", 2),
    ("bfloat", "<u2", 2),
    ("bfloat", "|V2", 2),
    ("float", "<f4", 4),
];

#[test]
fn every_type_of_numbers_has_its_dtype() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "copy.metal",
        "#include <metal_stdlib>\nusing namespace metal;\n\
         kernel void copy(device const TYPE *x [[buffer(0)]], device TYPE *y [[buffer(1)]],\n\
                          uint i [[thread_position_in_grid]]) { y[i] = x[i]; }\n",
    );
    for (ty, descr, size) in TYPES {
        // No byte makes a number that is not one; a bool is 0 or 1.
        let byte = |i: usize| if ty == "bool" { (i % 2) as u8 } else { (i * 3 % 60) as u8 };
        let data: Vec<u8> = (0..6 * size).map(byte).collect();
        let x = scratch.file("x.npy", npy::file(descr, "(2, 3)", &data));
        let out = format!("{}/y.npy", scratch.path());
        exec(&format!("{file} copy -D TYPE={ty} --arg x=@{x} --arg y=@{x} --threads 6 --out y={out}")).exits(0);
        assert_eq!(npy::read(&out), (descr.to_owned(), "(2, 3)".to_owned(), data.clone()), "{ty}");
        let run =
            exec(&format!("{file} copy -D TYPE={ty} --arg x=@{x} --arg y=zeros:{ty}:6 --threads 6 --out y={out}"));
        run.exits(0);
        let written = if descr == "|V2" { "<u2" } else { descr };
        assert_eq!(npy::read(&out), (written.to_owned(), "(6,)".to_owned(), data), "{ty}");
    }
}

#[test]
fn big_endian_arrays_are_swapped() {
    let scratch = Scratch::new();
    let big_endian: Vec<u8> = [1f32, 2.0, -3.5].iter().flat_map(|number| number.to_be_bytes()).collect();
    let x = scratch.file("x.npy", npy::file(">f4", "(3,)", &big_endian));
    let run = exec(&format!(
        "{ADD_ARRAYS} add_arrays --arg 0=@{x} --arg 1=@{x} --arg 2=zeros:f32:3 --threads 3 --print 2"
    ));
    assert!(run.exits(0).stdout.ends_with("  2 4 -7\n"));
}

/// A kernel with a struct, a vector, and threadgroup memory of both kinds.
const SCALE: &str = "
#include <metal_stdlib>
using namespace metal;
struct Params { uint n; float scale; };
kernel void scale(constant Params &params [[buffer(0)]], constant float4 &offset [[buffer(1)]],
                  device float4 *data [[buffer(2)]], threadgroup float4 *scratch [[threadgroup(0)]],
                  uint i [[thread_index_in_threadgroup]]) {
  if (i < params.n) { scratch[i] = data[i] * params.scale + offset; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < params.n) { data[i] = scratch[params.n - 1 - i]; }
}
";

#[test]
fn structs_vectors_and_threadgroup_memory_are_bound() {
    let scratch = Scratch::new();
    let file = scratch.file("scale.metal", SCALE);
    let params = scratch.file("params.bin", [2u32.to_le_bytes(), 10f32.to_le_bytes()].concat());
    for params in ["struct:scale=10,n=2".to_owned(), format!("@{params}")] {
        let run = exec(&format!(
            "{file} scale --arg 0={params} --arg offset=float4:0.5,0,0,0 --arg data=float4:1,2,3,4,5,6,7,8 \
             --threadgroup-memory scratch=64 --grid 1 --threadgroup 64 --print data"
        ))
        .exits(0);
        assert!(
            run.stdout.ends_with("data (2): float32 (2, 4)\n  50.5 60 70 80 10.5 20 30 40\n"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn a_shader_may_come_from_stdin_and_has_the_language_flags() {
    let scratch = Scratch::new();
    scratch.file("include/factor.h", "#define FACTOR 3\n");
    let shader = b"#include \"factor.h\"\nkernel void k(device int *x [[buffer(0)]]) { *x = FACTOR * WIDTH; }\n";
    let include = format!("{}/include", scratch.path());
    let arguments = ["-I", &include, "-D", "WIDTH=4", "--arg", "0=i32:0", "--threads", "1", "--print", "0"];
    let run = metalworks_with_stdin(["exec", "-", "k"].into_iter().chain(arguments), shader).exits(0);
    assert!(run.stdout.ends_with("x (0): int32 (1,)\n  12\n"), "{}", run.stdout);
}

#[test]
fn safe_math_computes_as_written() {
    let scratch = Scratch::new();
    let file = scratch
        .file("round.metal", "kernel void k(device float *x [[buffer(0)]]) { x[2] = (x[0] + x[1]) - x[0]; }\n");
    let run = exec(&format!("{file} k --safe-math --arg 0=f32:100000000,1,7 --threads 1 --print 0")).exits(0);
    assert!(run.stdout.ends_with("  100000000 1 0\n"), "{}", run.stdout);
}

#[test]
fn math_modes_have_their_macros() {
    let scratch = Scratch::new();
    let shader = "#include <metal_stdlib>\n#ifdef __FAST_MATH__\n#define FAST 1\n#else\n#define FAST 0\n#endif\n\
                  kernel void k(device int *x [[buffer(0)]]) {
        x[0] = FAST + 2 * __FINITE_MATH_ONLY__ + 4 * __METAL_MAYBE_FAST_MATH__;\n}\n";
    let file = scratch.file("modes.metal", shader);
    for (flags, value) in
        [("", 7), ("--math fast", 7), ("--math relaxed", 4), ("--math safe", 0), ("--safe-math", 0)]
    {
        let run = exec(&format!("{file} k {flags} --arg 0=i32:9 --threads 1 --print 0")).exits(0);
        assert!(run.stdout.ends_with(&format!("  {value}\n")), "{flags}: {}", run.stdout);
    }
    for (flags, value) in [("--math-functions precise", 3), ("--math safe --math-functions fast", 4)] {
        let run = exec(&format!("{file} k {flags} --arg 0=i32:9 --threads 1 --print 0")).exits(0);
        assert!(run.stdout.ends_with(&format!("  {value}\n")), "{flags}: {}", run.stdout);
    }
    let run = exec(&format!("{file} k --math strict --arg 0=i32:9 --threads 1")).exits(2);
    assert!(run.stderr.contains("possible values: fast, relaxed, safe"), "{}", run.stderr);
}

#[test]
fn math_functions_are_chosen_apart_from_the_mode() {
    let scratch = Scratch::new();
    let shader = "#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device float *x [[buffer(0)]]) {
        x[0] = exp(x[0]);\n}\n";
    let file = scratch.file("functions.metal", shader);
    for (flags, fast) in [
        ("", true),
        ("--math safe", false),
        ("--math-functions precise", false),
        ("--math safe --math-functions fast", true),
    ] {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let run = metalworks([&["compile", &file, "--emit", "air", "k"][..], &flags].concat()).exits(0);
        let (has_fast, has_precise) =
            (run.stdout.contains("@air.fast_exp.f32"), run.stdout.contains("@air.exp.f32"));
        assert_eq!((has_fast, has_precise), (fast, !fast), "{flags:?}: {}", run.stdout);
    }
}

#[test]
fn safe_math_has_the_macros_and_functions_of_apples_compiler() {
    let scratch = Scratch::new();
    let shader = "#include <metal_stdlib>\nkernel void k(device float *x [[buffer(0)]]) {
        x[2] = __metal_fmod(x[0], x[1], __METAL_MAYBE_FAST_MATH__);
        x[3] = metal::isnan(x[3] - x[3]) + 2 * __METAL_MAYBE_FAST_MATH__;\n}\n";
    let file = scratch.file("macros.metal", shader);
    let arguments = "k --arg 0=f32:3e38,0.1,7,inf --threads 1 --print 0";
    let run = exec(&format!("{file} {arguments} --safe-math")).exits(0);
    assert!(run.stdout.ends_with(" 0.07959481 1\n"), "{}", run.stdout);
    let run = exec(&format!("{file} {arguments}")).exits(0);
    assert!(run.stdout.ends_with(" 3\n"), "{}", run.stdout);
}

#[test]
fn an_array_parameter_of_a_library_takes_all_its_elements() {
    let scratch = Scratch::new();
    let shader =
        "kernel void k(device long *x [[buffer(0)]], constant long s[3] [[buffer(1)]]) { *x = s[0] + s[2]; }\n";
    let file = scratch.file("array.metal", shader);
    let library = format!("{}/array.metallib", scratch.path());
    metalworks(["compile", &file, "-o", &library]).exits(0);
    for file in [&file, &library] {
        let run = exec(&format!("{file} k --arg 0=i64:0 --arg 1=i64:5,6,7 --threads 1 --print 0")).exits(0);
        assert!(run.stdout.ends_with("  12\n"), "{}", run.stdout);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_not_fine() {
    let arguments =
        "--arg 0=ones:f32:8 --arg 1=ones:f32:8 --arg 2=zeros:f32:8 --threads 8 --out 2=/no/such/folder/y.npy";
    let run = exec(&format!("{ADD_ARRAYS} add_arrays {arguments}")).exits(2);
    run.says("cannot write '/no/such/folder/y.npy': No such file");
}

/// Waits until a process has a handler for a signal.
#[cfg(target_os = "linux")]
fn wait_for_handler(process: u32, signal: u32) {
    loop {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("it has signals");
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a mask");
        if caught >> (signal - 1) & 1 == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_stops_an_endless_kernel() {
    use std::process::{Command, Stdio};
    let scratch = Scratch::new();
    let shader = scratch.file(
        "endless.metal",
        "#include <metal_stdlib>
         using namespace metal;
         kernel void endless(device atomic_uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
             while (atomic_load_explicit(x, memory_order_relaxed) == 0) {}
             atomic_store_explicit(x + i, 1, memory_order_relaxed);
         }",
    );
    let child = Command::new(env!("CARGO_BIN_EXE_metalworks"))
        .args(["exec", &shader, "endless", "--arg", "0=zeros:u32:64", "--threads", "64", "--no-cache"])
        .args(["--device", "cpu"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The thread that executes kernels handles this one: the kernel begins.
    wait_for_handler(child.id(), 23);
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "metalworks: error: kernel 'endless': cancelled in threadgroup (0, 0, 0)\n"
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_fault_names_the_argument() {
    let scratch = Scratch::new();
    let shader = scratch.file(
        "wild.metal",
        "kernel void wild(device float *x [[buffer(0)]], constant long &by [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
             x[by + i] = 1;
         }",
    );
    // Half a TiB before the buffer there is nothing.
    let run = exec(&format!(
        "{shader} wild --arg x=zeros:f32:64 --arg by=i64:-137438953472 --threads 64 --no-cache --device cpu"
    ))
    .exits(1);
    run.says(" bytes before 'x' (buffer(0), 256 bytes), in threadgroup (0, 0, 0)");
}

const SHIFTED: &str = "\
kernel void shifted(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    out[i] = in[i + 4];
}
";

#[test]
fn validation_shows_the_line() {
    let scratch = Scratch::new();
    let shader = scratch.file("shifted.metal", SHIFTED);
    let run = |flags: &str, elements: usize| {
        exec(&format!(
            "{shader} shifted --device cpu --arg 0=iota:f32:{elements} --arg 1=zeros:f32:64 --threads 64 {flags}"
        ))
    };
    let found = run("--validate --no-cache", 64).exits(1);
    let expected = "shifted.metal:3:14: error: out-of-bounds read: 4 bytes at offset 256 of 'in' (buffer(0), 256 \
                    bytes) [out-of-bounds-read]\n    out[i] = in[i + 4];\n             ^\n";
    assert!(found.stderr.contains(expected), "{}", found.stderr);
    assert!(found.stderr.ends_with("\n1 finding\n"), "{}", found.stderr);
    // A kernel that does not run has no findings, and no list without any.
    let refused = run("--validate --format json --const 0=u32:1", 64).exits(1);
    assert_eq!(refused.stdout, "");
    let right = run("--validate", 68).exits(0);
    assert_eq!(right.stderr, "no findings\n");
    // The first one ends it.
    let found = run("--validate=bounds --findings 1", 64).exits(1);
    assert!(found.stderr.ends_with("\n1 finding\n") && found.stdout.is_empty(), "{}", found.stdout);
    // Code without checks is not mixed with code that has them.
    let plain = run("", 64).exits(0);
    assert_eq!(plain.stderr, "");
}

#[test]
fn the_number_of_findings_and_of_steps_is_limited() {
    let scratch = Scratch::new();
    let text = "kernel void k(device float *x [[buffer(0)]], device uint *n [[buffer(1)]]) {
    x[1] = 1;
    x[2] = 2;
    x[3] = 3;
    for (uint i = 0; i < n[0]; ++i) { n[1] += i; }
}";
    let shader = scratch.file("three.metal", text);
    let arguments =
        format!("{shader} k --device cpu --no-cache --arg 0=zeros:f32:1 --arg 1=u32:1000,0 --threads 1");
    let all = exec(&format!("{arguments} --validate=bounds")).exits(1);
    assert!(all.stderr.ends_with("\n3 findings\n"), "{}", all.stderr);
    let two = exec(&format!("{arguments} --validate=bounds --findings 2")).exits(1);
    let limit = "\n2 findings, the limit; --findings 20 shows more if there are any\n";
    assert!(two.stderr.ends_with(limit), "{}", two.stderr);
    let steps = exec(&format!("{arguments} --validate=bounds --steps 100")).exits(1);
    assert!(
        steps.stderr.contains("three.metal:5:5: error: ") && steps.stderr.contains("[endless-loop]"),
        "{}",
        steps.stderr
    );
    // Findings of any program are logged; `exec` fails with them, too.
    let logged = metalworks_with_cache(
        std::iter::once("exec").chain(arguments.split_whitespace()),
        "off",
        &[("METALWORKS_VALIDATION", "shader,bounds,findings=2")],
    );
    let logged = logged.exits(1).stderr;
    assert_eq!(logged.matches("[out-of-bounds-write]").count(), 2, "{logged}");
    assert!(logged.contains("there are more than 2 findings"), "{logged}");
}

#[test]
fn findings_have_formats_for_machines() {
    let scratch = Scratch::new();
    let shader = scratch.file("shifted.metal", SHIFTED);
    let run = |format: &str, elements: usize| {
        let run = exec(&format!(
            "{shader} shifted --device cpu --arg 0=iota:f32:{elements} --arg 1=zeros:f32:64 --threads 64 \
             --validate=bounds --format {format}"
        ));
        let run = run.exits(if elements < 68 { 1 } else { 0 });
        assert_eq!(run.stderr, "");
        serde_json::from_str::<serde_json::Value>(&run.stdout).expect("JSON")
    };
    let json = run("json", 64);
    assert_eq!(json["findings"][0]["id"], "out-of-bounds-read");
    assert_eq!(json["findings"][0]["object"]["name"], "in");
    assert_eq!(json["findings"][0]["locations"][0]["line"], 3);
    assert_eq!(run("json", 68)["findings"], serde_json::json!([]));
    let sarif = run("sarif", 64);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "out-of-bounds-read");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!(run("sarif", 68)["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn mistakes_that_keep_a_kernel_from_running_are_findings() {
    let scratch = Scratch::new();
    let shader = scratch.file(
        "limits.metal",
        "constant uint K [[function_constant(0)]];
kernel void unset(device uint *y [[buffer(0)]]) { y[0] = K; }
kernel void sum(device float *y [[buffer(0)]], threadgroup float *t [[threadgroup(0)]],
                uint i [[thread_position_in_threadgroup]]) {
    threadgroup float own[4096];
    own[i] = y[i];
    t[i] = own[i];
    y[i] = t[i];
}
kernel void own(device float *y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[9000];
    tile[i] = y[i];
    y[i] = tile[i];
}
",
    );
    let run =
        |arguments: &str| exec(&format!("{shader} {arguments} --threads 32 --device cpu --no-cache")).exits(1);
    let found = run("unset --arg y=zeros:u32:1 --validate");
    let expected = "limits.metal:2:1: error: function constant that was not set: 'K' (index 0, uint) [unset-constant]\n\
                    kernel void unset(device uint *y [[buffer(0)]]) { y[0] = K; }\n^\n\
                    note: in kernel 'unset'\n\
                    note: set it, or ask is_function_constant_defined before it is read\n1 finding\n";
    assert!(found.stderr.ends_with(expected), "{}", found.stderr);
    let found = run("sum --arg y=zeros:f32:32 --threadgroup-memory t=32768 --validate");
    found.says(
        "limits.metal:3:1: error: threadgroup memory over the limit: 16384 bytes of the kernel's own variables, \
         32768 of 't' (threadgroup 0); the limit is 32768 [threadgroup-memory-limit]\nkernel void sum(",
    );
    let found = run("own --arg y=zeros:f32:32 --validate --format json");
    let json = serde_json::from_str::<serde_json::Value>(&found.stdout).expect("JSON");
    let finding = &json["findings"][0];
    assert_eq!(
        (finding["id"].as_str(), finding["kernel"].as_str()),
        (Some("threadgroup-memory-limit"), Some("own"))
    );
    assert_eq!(finding["thread"], serde_json::Value::Null);
    assert_eq!((&finding["locations"][0]["line"], &finding["locations"][0]["column"]), (&10.into(), &1.into()));
    // Without validation they are errors.
    run("unset --arg y=zeros:u32:1").says("function constant not set: 'K' (index 0, uint)");
}

/// Each finding is at the line that makes it, or at its kernel.
#[test]
fn sarif_has_the_line_of_every_kind() {
    let scratch = Scratch::new();
    let shader = scratch.file(
        "kinds.metal",
        "#include <metal_stdlib>
using namespace metal;
constant uint K [[function_constant(0)]];
kernel void unset(device uint *y [[buffer(0)]]) { y[0] = K; }
kernel void constant_input(device const uint *y [[buffer(0)]]) {
    *(device uint *)y = 1;
}
kernel void barrier(device uint *y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    if (i < 8) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[i] = i;
}
kernel void add(device uint *y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    y[i] += 1;
}
kernel void hoard(device uint *y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    uint all[200000];
    for (uint at = 0; at < 200000; ++at) { all[at] = y[i] + at; }
    y[i] = all[y[i] % 200000];
}
kernel void race(device uint *y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    y[0] = i;
}
",
    );
    for (kernel, values, rule, line) in [
        ("unset", "zeros", "unset-constant", 4),
        ("constant_input", "zeros", "read-only-write", 6),
        ("barrier", "zeros", "divergent-barrier", 10),
        ("add", "uninit", "uninitialized-read", 15),
        ("hoard", "zeros", "private-memory-limit", 17),
        ("race", "zeros", "race", 23),
    ] {
        let run = exec(&format!(
            "{shader} {kernel} --arg y={values}:u32:32 --threads 32 --threadgroup 32 --device cpu --no-cache --validate \
             --format sarif"
        ));
        let sarif = run.exits(1).json();
        let [result] = &sarif["runs"][0]["results"].as_array().expect("results")[..] else { panic!("{sarif}") };
        assert_eq!(result["ruleId"], rule);
        let location = &result["locations"][0];
        assert_eq!(location["physicalLocation"]["region"]["startLine"], line, "{rule}");
        assert_eq!(location["logicalLocations"][0]["name"], kernel);
    }
}

#[test]
fn uninitialized_arguments_must_be_written_first() {
    let scratch = Scratch::new();
    let shader = scratch.file(
        "add.metal",
        "kernel void add(device float *y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    y[i] += 1.0f;
}
",
    );
    let run = |value: &str, flags: &str| {
        exec(&format!("{shader} add --arg y={value}:f32:64 --threads 64 --device cpu --no-cache {flags}"))
    };
    let found = run("uninit", "--validate").exits(1);
    found.says(
        "add.metal:2:5: error: read of memory that was never written: 4 bytes at offset 0 of 'y' (buffer(0), 256 bytes), ",
    );
    assert_eq!(run("zeros", "--validate").exits(0).stderr, "no findings\n");
    run("uninit", "").exits(0);
}

#[test]
fn messages_of_kernels_go_to_stderr() {
    let scratch = Scratch::new();
    let shader = scratch.file(
        "log.metal",
        "#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
constant os_log tiles(\"com.example\", \"tiles\");
kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i == 3) { tiles.log_error(\"x[%u] is %f\", i, x[i]); }
}
",
    );
    let library = format!("{}/log.metallib", scratch.path());
    metalworks(["compile", "--std", "metal3.2", &shader, "-o", &library]).exits(0);
    for (file, flags) in [(&shader, "--std metal3.2"), (&library, "")] {
        // The second run takes the code from the cache.
        for _ in 0..2 {
            let run = exec(&format!("{file} k {flags} --device cpu --arg x=iota:f32:32 --threads 32")).exits(0);
            let message = "log.metal:6:19: error: x[3] is 3.000000 (com.example: tiles; \
                           threadgroup (0, 0, 0), thread (3, 0, 0))\n";
            assert!(run.stderr.ends_with(message), "{}", run.stderr);
        }
    }
}
