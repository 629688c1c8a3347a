//! From a source to metadata and back.

use crate::lower::{MathMode, lower};
use crate::metallib::{Function, FunctionKind, Header, Library};
use crate::reflect::{library_constants, reflect};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use msl::{Compilation, Options, compile_source};

const SOURCE: &str = "
#include <metal_stdlib>
using namespace metal;
struct Inner { int a; };
struct Base { uint tag; };
struct Params : Base { int n; float3 v; long strides[3]; Inner inner; Inner inners[2]; float grid[3][4]; atomic_int hits; };
template <typename T> struct Complex { T re; T im; };
constant bool has_w [[function_constant(20)]];
constant int steps [[function_constant(3)]];
constant uint3 dims [[function_constant(4)]];
constant half unused [[function_constant(5)]];
[[max_total_threads_per_threadgroup(64)]]
kernel void k(const device float *x [[buffer(0)]], device half *y [[buffer(1)]], constant Params &p [[buffer(2)]],
              constant int *q [[buffer(3)]], device Complex<float> *c [[buffer(4), function_constant(has_w)]],
              device atomic_uint *at [[buffer(5)]], device packed_float3 *pf [[buffer(6)]],
              constant float4x4 &m [[buffer(7), function_constant(has_w)]], threadgroup float *s [[threadgroup(0)]],
              device float &r [[buffer(9)]], uint3 gid [[thread_position_in_grid]],
              ushort lane [[thread_index_in_simdgroup]]) {
    threadgroup float tile[32];
    tile[lane] = 0;
    y[gid.x] = x[gid.x] + dims.x + steps + p.n + q[0] + s[0] + pf[0].x;
    if (has_w) c[0].re = m[0][0];
    r = lane;
}
";

fn compile(source: &str) -> Compilation {
    let compilation = compile_source("k.metal", source, &Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation
}

fn module<'ctx>(context: &'ctx Context, compilation: &Compilation, math: MathMode) -> Module<'ctx> {
    let entry = compilation.program.kernels().next().expect("a kernel");
    let module = lower(context, compilation, entry, math).unwrap_or_else(|error| panic!("{error}"));
    module.verify().unwrap_or_else(|error| panic!("{error}"));
    module
}

#[test]
fn source_and_library_agree() {
    let compilation = compile(SOURCE);
    let context = Context::create();
    let module = module(&context, &compilation, MathMode::Fast);
    let mut library = Library::new(Header::default());
    let mut function = Function::new("k", FunctionKind::Kernel, module.write_bitcode_to_memory().as_slice());
    function.constants = library_constants(&reflect(&module).unwrap());
    library.add(function).unwrap();
    let file = library.write().unwrap();

    let library = Library::parse(&file).unwrap();
    let function = library.function("k").unwrap();
    let names: Vec<_> = function.constants.iter().map(|constant| &*constant.name).collect();
    assert_eq!(names, ["steps", "dims", "has_w"]);
    let buffer = MemoryBuffer::create_from_memory_range_copy(function.bitcode().unwrap(), "k");
    let other = Context::create();
    let read = Module::parse_bitcode_from_buffer(&buffer, &other).unwrap();
    let found = reflect(&read).unwrap();
    assert_eq!(found.kernels[0].static_threadgroup_memory, 128);
    assert_eq!(found.kernels[0].threadgroup_memory[0].name, "tile");
    assert_eq!(found, compilation.reflect());
}

#[test]
fn nodes_are_those_of_apple() {
    let compilation = compile(SOURCE);
    let context = Context::create();
    let text = module(&context, &compilation, MathMode::Safe).print_to_string().to_string();
    let expected = [
        "@_Z5has_w.MTL_FC_INIT_20_b = internal unnamed_addr addrspace(2) externally_initialized constant i8 undef, \
         section \"air.fc_initializer\", align 1",
        "@_Z4dims.MTL_FC_INIT_4_Dv3_j = internal unnamed_addr addrspace(2) externally_initialized constant <3 x i32> \
         undef, section \"air.fc_initializer\", align 16",
        "@__metal_implicit_fc_pred_0 = internal addrspace(2) global i8 0, align 1",
        "@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(2) \
         @__metal_implicit_fc_pred_0 to ptr)], section \"llvm.metadata\"",
        "{ i32 65535, ptr @_GLOBAL__sub_I_metalworks, ptr null }",
        "define internal void @_GLOBAL__sub_I_metalworks() section \"air.static_init\"",
        "call i8 @air.normalize_function_constant_predicate.i8(i8 ",
        "!{i32 2, !\"SDK Version\", [2 x i32] [i32 14, i32 0]}",
        "!{i32 7, !\"air.max_textures\", i32 128}",
        "!{!\"Metalworks\"}",
        "!{i32 2, i32 6, i32 0}",
        "!{!\"Metal\", i32 3, i32 1, i32 0}",
        "!{!\"air.compile.fast_math_disable\"}",
        "!{!\"air.max_work_group_size\", i32 64}",
        "!{i32 0, !\"air.buffer\", !\"air.location_index\", i32 0, i32 1, !\"air.read\", !\"air.address_space\", i32 1, \
         !\"air.arg_type_size\", i32 4, !\"air.arg_type_align_size\", i32 4, !\"air.arg_type_name\", !\"float\", \
         !\"air.arg_name\", !\"x\"}",
        "!\"air.arg_type_name\", !\"metal::_atomic\", !\"air.arg_name\", !\"at\", !\"air.arg_unused\"}",
        "!{i32 0, i32 4, i32 0, !\"uint\", !\"__s\"}",
        "!{ptr addrspace(2) @__metal_implicit_fc_pred_0, !\"bool\", !\"has_w\"}",
        "!{ptr addrspace(2) @_Z5has_w.MTL_FC_INIT_20_b, !\"bool\", !\"has_w\", i32 20, i1 true}",
        "!{i32 10, !\"air.thread_position_in_grid\", !\"air.arg_type_name\", !\"uint3\", !\"air.arg_name\", !\"gid\"}",
    ];
    for line in expected {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
    assert!(!text.contains("unused.MTL_FC_INIT"));
}

#[test]
fn an_array_parameter_has_the_size_of_its_elements() {
    let compilation = compile(
        "#include <metal_stdlib>
         using namespace metal;
         typedef long Strides[3];
         kernel void k(constant long s[3], device const Strides t, constant int (&r)[4], constant int o[1],
                       constant float u[], constant float *p, device float *x, device int m[2][3],
                       threadgroup float w[8]) {
             x[0] = s[1] + t[1] + r[1] + o[0] + u[1] + p[1] + m[1][2] + w[1];
         }",
    );
    let context = Context::create();
    let module = module(&context, &compilation, MathMode::Fast);
    let text = module.print_to_string().to_string();
    let size_of = |name: &str| {
        let node = text.lines().find(|line| line.contains(&format!("!\"air.arg_name\", !\"{name}\""))).expect(name);
        let size = node.split("!\"air.buffer_size\", i32 ").nth(1)?;
        size.split(',').next().map(str::to_owned)
    };
    let sizes = ["s", "t", "r", "o", "u", "p", "x", "m", "w"].map(|name| size_of(name).unwrap_or_default());
    assert_eq!(sizes, ["24", "24", "16", "", "", "", "", "24", ""]);
    let found = reflect(&module).unwrap();
    assert_eq!(found, compilation.reflect());
    let types: Vec<_> = found.kernels[0].arguments.iter().map(|argument| argument.ty.as_str()).collect();
    assert_eq!(types[..3], ["constant long *", "const device long *", "constant int [4] &"]);
}

#[test]
fn the_length_of_an_array_parameter_may_depend_on_a_template() {
    let compilation = compile(
        "template <typename T, int N> kernel void k(constant T s[N], device T *x) { x[0] = s[N - 1]; }
         template [[host_name(\"k\")]] kernel decltype(k<float, 5>) k<float, 5>;",
    );
    let context = Context::create();
    let text = module(&context, &compilation, MathMode::Fast).print_to_string().to_string();
    assert!(text.contains("!{i32 0, !\"air.buffer\", !\"air.buffer_size\", i32 20, "), "{text}");
}

#[test]
fn a_condition_that_is_computed_is_computed_in_the_static_initializer() {
    let compilation = compile(
        "#include <metal_stdlib>
         constant int n [[function_constant(0)]];
         constant bool derived = n > 2;
         kernel void k(device int *x [[buffer(0), function_constant(derived)]]) {}",
    );
    let context = Context::create();
    let text = module(&context, &compilation, MathMode::Fast).print_to_string().to_string();
    let initializer = text.split("@_GLOBAL__sub_I_metalworks() section").nth(1).expect("a static initializer");
    let body = initializer.split("\n}").next().unwrap_or_default();
    assert!(body.contains("load i32, ptr addrspace(2) @_Z1n.MTL_FC_INIT_0_i"), "{body}");
    assert!(body.contains("icmp sgt"), "{body}");
    assert!(body.contains("ptr addrspace(2) @__metal_implicit_fc_pred_0"), "{body}");
    assert!(text.contains("!{ptr addrspace(2) @__metal_implicit_fc_pred_0, !\"bool\", !\"derived\"}"), "{text}");
    assert!(text.contains("!\"n\", i32 0, i1 true}"), "{text}");
}

/// The nodes are those of PyTorch's kernel `fused_adam_float_float`, compiled by Apple's compiler (libtorch 2.15); the
/// struct after the arrays is described as in other modules of that compiler.
#[test]
fn argument_buffers_are_those_of_apple() {
    let source = "
#include <metal_stdlib>
struct Step { device float *sum; uint count; };
struct AdamArguments {
    metal::array<device float *, 32> params [[id(0)]];
    metal::array<device float *, 32> grads [[id(32)]];
    Step step;
};
kernel void k(device AdamArguments &args [[buffer(0)]]) { args.params[1][0] = args.grads[1][0]; *args.step.sum = 1; }
";
    let compilation = compile(source);
    let context = Context::create();
    let module = module(&context, &compilation, MathMode::Safe);
    let text = module.print_to_string().to_string();
    let expected = [
        "!{i32 0, !\"air.indirect_buffer\", !\"air.buffer_size\", i32 528, !\"air.location_index\", i32 0, i32 1, \
         !\"air.read_write\", !\"air.address_space\", i32 1, !\"air.struct_type_info\", !",
        ", i32 0, i32 256, i32 0, !\"metal::array\", !\"params\", !\"air.indirect_argument\", i32 0, \
         !\"air.struct_type_info\", !",
        ", i32 256, i32 256, i32 0, !\"metal::array\", !\"grads\", !\"air.indirect_argument\", i32 32, ",
        ", i32 512, i32 16, i32 0, !\"Step\", !\"step\", !\"air.indirect_argument\", i32 64}",
        "!{i32 0, i32 8, i32 32, !\"float\", !\"__elems\", !\"air.indirect_argument\", !",
        "!{i32 0, !\"air.buffer\", !\"air.location_index\", i32 0, i32 1, !\"air.read_write\", !\"air.address_space\", \
         i32 1, !\"air.arg_type_size\", i32 4, !\"air.arg_type_align_size\", i32 4, !\"air.arg_type_name\", !\"float\", \
         !\"air.arg_name\", !\"__elems\"}",
        "!{i32 1, !\"air.indirect_constant\", !\"air.location_index\", i32 1, i32 1, !\"air.arg_type_name\", !\"uint\", \
         !\"air.arg_name\", !\"count\"}",
    ];
    for line in expected {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
    let found = reflect(&module).unwrap();
    assert_eq!(found, compilation.reflect());
}
