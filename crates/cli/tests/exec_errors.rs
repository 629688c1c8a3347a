//! `metalworks exec` with wrong arguments: every mistake is reported before anything runs.
#![cfg(llvm)]

mod support;

use support::{Run, Scratch, metalworks, npy};

const ADD_ARRAYS: &str = "examples/add_arrays.metal";
const GEMV: &str = "examples/gemv.metal";

/// Runs `metalworks exec` with arguments that are parted by blanks.
fn exec(arguments: &str) -> Run {
    metalworks(std::iter::once("exec").chain(arguments.split_whitespace()))
}

/// Runs `add_arrays` with one of its arguments, and what is right for the others.
fn add_arrays(a: &str) -> Run {
    exec(&format!("{ADD_ARRAYS} add_arrays --arg a={a} --arg 1=ones:f32:8 --arg 2=zeros:f32:8 --threads 8"))
}

#[test]
fn arguments_that_are_not_bound_are_listed() {
    let run = exec(&format!("{ADD_ARRAYS} add_arrays --arg b=ones:f32:8 --threads 8")).exits(1);
    assert_eq!(run.stdout, "");
    insta::assert_snapshot!(run.stderr, @r"
    metalworks: error: 2 arguments are not bound:
      flag           argument  type
      --arg 0=VALUE  a         const device float *
      --arg 2=VALUE  result    device float *
    ");
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let run = exec(&format!(
        "{GEMV} gemv --const K=u32:4 --const 1=bool:false --arg 0=ones:u32:16 --arg bias=ones:f32:4 --arg 9=u32:1 \
         --arg 1=ones:f32:4 --threadgroup-memory 0=64 --out x=x.npy --out 2=y.npy --grid 4 --threadgroup 32"
    ));
    insta::assert_snapshot!(run.exits(1).stderr, @r"
    metalworks: error: argument 'weights' (buffer 0): it is float, but 'ones:u32:16' is uint: write ones:f32:16, or bytes:ones:u32:16 to bind it as it is
    metalworks: error: argument 'bias' (buffer 3) does not exist with these function constants: USE_BIAS is false
    metalworks: error: --arg 9: the kernel has no such argument; it has 0 'weights', 1 'x', 2 'y'
    metalworks: error: --threadgroup-memory 0: the kernel has no such argument; it has none
    metalworks: error: 1 argument is not bound:
      flag           argument  type
      --arg 2=VALUE  y         device float *
    metalworks: error: argument 'x' (buffer 1) is only read by the kernel (const device float *): it cannot be an output
    metalworks: error: argument 'y' (buffer 2) must be bound to be an output: --arg 2=zeros:TYPE:SHAPE
    ");
}

#[test]
fn an_argument_under_a_false_constant_is_gone_from_a_library_too() {
    let scratch = Scratch::new();
    let library = format!("{}/gemv.metallib", scratch.path());
    metalworks(["compile", GEMV, "-o", &library]).exits(0);
    for file in [GEMV, &library] {
        exec(&format!(
            "{file} gemv --const K=u32:4 --const 1=bool:false --arg 0=ones:f32:16 --arg 1=ones:f32:4 \
             --arg 2=zeros:f32:4 --arg bias=ones:f32:4 --grid 4 --threadgroup 32"
        ))
        .exits(1)
        .says("argument 'bias' (buffer 3) does not exist with these function constants: USE_BIAS is false");
    }
}

#[test]
fn arrays_have_the_dtype_of_the_argument() {
    let scratch = Scratch::new();
    let double = scratch.file("x.npy", npy::file("<f8", "(8,)", &[0; 64]));
    add_arrays(&format!("@{double}")).exits(1).says(&format!(
        "argument 'a' (buffer 0): it is float, but '@{double}' has float64: save it as float32, or bind bytes:@{double}"
    ));
    let half = scratch.file("half.npy", npy::file("<f2", "(8,)", &[0; 16]));
    add_arrays(&format!("@{half}")).exits(1).says("has float16: save it as float32");
    let file = scratch.file("k.metal", "kernel void k(device bfloat *x [[buffer(0)]]) { x[0] = x[1]; }\n");
    exec(&format!("{file} k --arg 0=@{half} --threads 1")).exits(1).says("save it as uint16 (its bits)");
}

#[test]
fn damaged_arrays_are_refused_with_advice() {
    let scratch = Scratch::new();
    let header = |order: &str| format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': (2, 4), }}\n");
    for (content, problem) in [
        (npy::file("<f4", "(9,)", &[0; 32]), "float32 of shape (9,) takes 36 bytes, but there are 32"),
        (npy::file("<f4", "(4294967296, 4294967296)", &[]), "has too many bytes"),
        (npy::file("|O", "(8,)", &[0; 32]), "dtype '|O' cannot be bound"),
        (npy::file_with(&header("True"), &[0; 32]), "the array is in Fortran order: save numpy.ascontiguousarray"),
        (npy::file_with(&header("Maybe"), &[0; 32]), "'Maybe' where True or False should be"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "the file ends in its header: save the array again"),
        (b"\x93NUMPY\x07\x00".to_vec(), ".npy version 7 is unknown"),
        (b"PK\x03\x04".to_vec(), "is not a .npy file"),
        (Vec::new(), "is not a .npy file"),
    ] {
        let file = scratch.file("x.npy", content);
        add_arrays(&format!("@{file}")).exits(1).says("argument 'a' (buffer 0): ").says(&file).says(problem);
    }
}

#[test]
fn files_that_cannot_be_read_or_written_are_not_tried() {
    add_arrays("@no/such/x.npy")
        .exits(2)
        .says("argument 'a' (buffer 0): cannot read 'no/such/x.npy': No such file");
    add_arrays("@examples").exits(2).says("cannot read 'examples'");
    exec("no/such.metal k --threads 1").exits(2).says("error: cannot read 'no/such.metal': no such file");
    exec("no/such.metallib k --threads 1").exits(2).says("error: cannot read 'no/such.metallib': No such file");
    exec("examples k --threads 1").exits(2).says("error: cannot read 'examples': it is a directory");
}

#[test]
fn sizes_are_checked() {
    let scratch = Scratch::new();
    let file = scratch.file("x.bin", [0; 7]);
    add_arrays("zeros:f32:0").exits(1).says("is empty");
    add_arrays(&format!("@{file}"))
        .exits(1)
        .says("has 7 bytes, which is not a whole number of float, 4 bytes each");
    add_arrays("zeros:f32:1000000x1000000")
        .exits(2)
        .says("an array of shape (1000000, 1000000) is larger than the largest buffer");
    add_arrays("rand:f32:4294967296x4294967296x4294967296").exits(2).says("is larger than the largest buffer");
}

#[test]
fn function_constants_are_checked_by_name() {
    let gemv = |constants: &str| exec(&format!("{GEMV} gemv {constants} --grid 1 --threadgroup 32")).exits(1);
    gemv("").says("'K' (index 0, uint)").says("'USE_BIAS' (index 1, bool)");
    gemv("--const K=u32:1").says("'USE_BIAS' (index 1, bool)").does_not_say("'K'");
    gemv("--const K=i32:1 --const 1=bool:true").says("'K'").says("uint").says("int");
    gemv("--const K=u32:1 --const 1=bool:true --const 7=u32:1").says("7").says("'K'");
    gemv("--const K=u32:1 --const 1=bool:true --const TILE=u32:1").says("'TILE'");
    gemv("--const K=u32:1 --const K=u32:1").says("--const: function constant 'K' is set twice");
}

#[test]
fn grids_are_checked() {
    let run = |grid: &str| {
        exec(&format!("{ADD_ARRAYS} add_arrays --arg 0=ones:f32:8 --arg 1=ones:f32:8 --arg 2=zeros:f32:8 {grid}"))
    };
    run("").exits(1).says("give --threads, or --grid and --threadgroup");
    run("--threads 8 --threadgroup 1025").exits(1).says("1025 threads are more than this kernel's limit of 1024");
    run("--grid 1 --threadgroup 32,32,2").exits(1).says("2048 threads are more");
    run("--threads 4294967296 --threadgroup 32").exits(1).says("too many threads");
    run("--grid 1").exits(2).says("--threadgroup <X,Y,Z>");
    run("--grid 1 --threads 8 --threadgroup 8").exits(2).says("cannot be used with");
    run("--threads 0").exits(2).says("every number must be at least 1");
    run("--threads 1,2,3,4").exits(2).says("'1,2,3,4' is not a size");
    let scratch = Scratch::new();
    let file = scratch.file(
        "small.metal",
        "[[max_total_threads_per_threadgroup(64)]] kernel void k(device int *x [[buffer(0)]]) { *x = 1; }\n",
    );
    exec(&format!("{file} k --arg 0=i32:0 --grid 1 --threadgroup 96")).exits(1).says("this kernel's limit of 64");
}

#[test]
fn an_unknown_kernel_is_answered_with_names() {
    exec(&format!("{GEMV} gemw --threads 1")).exits(1).says("no kernel named 'gemw'; did you mean 'gemv'?");
}

#[test]
fn a_function_of_another_stage_is_no_kernel() {
    let scratch = Scratch::new();
    let shader = "kernel void k() {} vertex float4 shade(uint id [[vertex_id]]) { return float4(id); }";
    let path = scratch.file("stages.metal", format!("#include <metal_stdlib>\nusing namespace metal;\n{shader}\n"));
    exec(&format!("{path} shade --threads 1")).exits(1).says("'shade' is a vertex function, not a kernel");
    metalworks(["reflect", &path, "shade"]).exits(1).says("'shade' is a vertex function, not a kernel");
}

#[test]
fn an_unknown_output_is_named_with_its_flag() {
    let arguments = "--arg a=ones:f32:4 --arg b=ones:f32:4 --arg result=zeros:f32:4";
    let run =
        exec(&format!("examples/add_arrays.metal add_arrays --threads 4 {arguments} --print z --out y=/no/y.npy"));
    run.exits(1)
        .says("error: --print z: the kernel has no such argument")
        .says("error: --out y: the kernel has no");
}

#[test]
fn mistakes_in_the_shader_are_diagnostics() {
    let scratch = Scratch::new();
    let file = scratch.file("k.metal", "kernel void k(device flaot *x [[buffer(0)]]) {}\n");
    exec(&format!("{file} k --threads 1"))
        .exits(1)
        .says(&format!("{file}:1:22: error: "))
        .says("1 error generated.");
}

#[test]
fn a_damaged_library_is_refused() {
    let scratch = Scratch::new();
    let library = format!("{}/gemv.metallib", scratch.path());
    metalworks(["compile", GEMV, "-o", &library]).exits(0);
    let whole = std::fs::read(&library).expect("it was written");
    for length in [4, 40, whole.len() / 2, whole.len() - 1] {
        let cut = scratch.file("cut.metallib", &whole[..length]);
        exec(&format!("{cut} gemv --threads 1")).exits(1).says(&cut);
    }
    let mut flipped = whole;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let flipped = scratch.file("flipped.metallib", flipped);
    exec(&format!("{flipped} gemv --const 0=u32:4 --const 1=bool:false --threads 1")).exits(1);
}

#[test]
fn textures_cannot_be_bound() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "k.metal",
        "#include <metal_stdlib>\nusing namespace metal;\n\
         kernel void k(texture2d<float> image [[texture(0)]], device float *x [[buffer(0)]]) { x[0] = image.get_width(); }\n",
    );
    exec(&format!("{file} k --arg 0=f32:0 --arg image=f32:0 --threads 1")).exits(1).says("texture");
}

#[test]
fn a_command_line_that_makes_no_sense_is_not_tried() {
    let run = |flags: &str| exec(&format!("{ADD_ARRAYS} add_arrays {flags}")).exits(2);
    run("--arg 0").says("bind an argument as KEY=VALUE");
    run("--arg 0=f64:1").says("no type 'f64'").does_not_say("did you mean");
    run("--arg 0=zero:f32:8").says("did you mean 'zeros'?");
    run("--arg 0=random:f32:8").says("did you mean 'rand'?");
    run("--arg 0=u8:256").says("256 does not fit into uchar");
    run("--arg 0=zeros:f32").says("zeros:TYPE:SHAPE");
    run("--const 0=128").says("INDEX=TYPE:VALUE");
    run("--threadgroup-memory 0=many").says("KEY=BYTES");
    run("--out 2").says("KEY=FILE");
    run("--out 2=-").says("--print 2");
    run("--print 2:all").says("'all' is not a number of values");
    run("--repeat 0").says("--repeat");
    run("--device gpu").says("gpu");
    exec(ADD_ARRAYS).exits(2).says("<KERNEL>");
}
