//! Modules that are wrong, and Apple's.

use super::*;
use crate::metallib::{Function, Library, apple_library, corpus};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use msl::reflect::{Access, ArgumentKind};
use std::collections::BTreeMap;

fn parse(text: &str) -> Result<Reflection> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "text");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}"));
    reflect(&module)
}

/// A kernel with these arguments.
fn kernel(arguments: &str) -> Result<Reflection> {
    parse(&format!(
        "define void @k() {{ ret void }}\n!air.kernel = !{{!0}}\n!0 = !{{ptr @k, !1, !2}}\n!1 = !{{}}\n{arguments}"
    ))
}

#[test]
fn a_module_without_metadata() {
    assert_eq!(parse("define void @k() { ret void }").unwrap(), Reflection::default());
}

#[test]
fn wrong_metadata() {
    let problem = |found: Result<Reflection>| found.expect_err("it is wrong").to_string();
    let no_function = "!air.kernel = !{!0}\n!0 = !{null, !0}";
    assert_eq!(problem(parse(no_function)), "metadata of 'air.kernel': an entry does not begin with a function");
    let cases = [
        ("!2 = !{i32 1}", "an argument is no node"),
        ("!2 = !{!3}\n!3 = !{}", "an argument does not begin with its position"),
        ("!2 = !{!3}\n!3 = !{i32 0}", "an argument does not say what it is"),
        ("!2 = !{!3}\n!3 = !{i32 0, !\"air.buffer\"}", "an argument has no name"),
        ("!2 = !{!3}\n!3 = !{i32 0, !\"air.buffer\", !\"air.arg_name\", !\"x\"}", "argument 'x' has no index"),
        (
            "!2 = !{!3}\n!3 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i64 -1, !\"air.arg_name\", !\"x\"}",
            "an index is too large",
        ),
        (
            "!2 = !{!3}\n!3 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 1, !\"air.address_space\", i32 77, \
             !\"air.arg_name\", !\"x\"}",
            "an address space is not known",
        ),
        (
            "!2 = !{!3}\n!3 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 1, !\"air.struct_type_info\", !4, \
             !\"air.arg_name\", !\"x\"}\n!4 = !{!\"air.struct_type_info\", !4, i32 0}",
            "a field is not {offset, size, length, type, name}",
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(problem(kernel(arguments)), format!("metadata of 'k': {expected}"));
    }
}

#[test]
fn names_that_look_like_properties() {
    let found = kernel(
        "!2 = !{!3}\n!3 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 7, i32 1, !\"air.read\", \
         !\"air.address_space\", i32 1, !\"air.arg_type_name\", !\"float\", !\"air.arg_name\", !\"air.read_write\"}",
    );
    let argument = &found.unwrap().kernels[0].arguments[0];
    assert_eq!((argument.name.as_str(), argument.access), ("air.read_write", Access::Read));
    assert_eq!(argument.ty, "const device float *");
}

#[test]
fn the_size_of_an_array_parameter_makes_no_reference() {
    let argument = |size: u32| {
        let found = kernel(&format!(
            "!2 = !{{!3}}\n!3 = !{{i32 0, !\"air.buffer\", !\"air.buffer_size\", i32 {size}, !\"air.location_index\", \
             i32 4, i32 1, !\"air.read\", !\"air.address_space\", i32 2, !\"air.arg_type_size\", i32 8, \
             !\"air.arg_type_align_size\", i32 8, !\"air.arg_type_name\", !\"long\", !\"air.arg_name\", !\"strides\"}}"
        ));
        let argument = found.unwrap().kernels[0].arguments[0].clone();
        (argument.is_reference, argument.ty, argument.element_size)
    };
    assert_eq!(argument(8), (true, "constant long &".into(), 8));
    assert_eq!(argument(24), (false, "constant long *".into(), 8));
}

#[test]
fn argument_buffers() {
    let found = kernel(
        "!2 = !{!3}\n!3 = !{i32 0, !\"air.indirect_buffer\", !\"air.buffer_size\", i32 32, !\"air.location_index\", \
         i32 1, i32 1, !\"air.read\", !\"air.address_space\", i32 2, !\"air.struct_type_info\", !4, \
         !\"air.arg_type_size\", i32 32, !\"air.arg_type_align_size\", i32 8, !\"air.arg_type_name\", !\"Args\", \
         !\"air.arg_name\", !\"args\"}\n!4 = !{i32 0, i32 8, i32 0, !\"float\", !\"p\", !\"air.indirect_argument\", \
         !5, i32 8, i32 8, i32 0, !\"texture2d<float, read>\", !\"t\", !\"air.indirect_argument\", !6, i32 16, i32 4, \
         i32 0, !\"uint\", !\"n\", !\"air.indirect_argument\", !7, i32 24, i32 8, i32 0, !\"sampler\", !\"s\", \
         !\"air.indirect_argument\", i32 3}\n!5 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 0, i32 1, \
         !\"air.read_write\", !\"air.address_space\", i32 1, !\"air.arg_type_size\", i32 4, \
         !\"air.arg_type_align_size\", i32 4, !\"air.arg_type_name\", !\"float\", !\"air.arg_name\", !\"p\"}\n\
         !6 = !{i32 1, !\"air.texture\", !\"air.location_index\", i32 1, i32 1, !\"air.read\", \
         !\"air.arg_type_name\", !\"texture2d<float, read>\", !\"air.arg_name\", !\"t\"}\n!7 = !{i32 2, \
         !\"air.indirect_constant\", !\"air.location_index\", i32 2, i32 1, !\"air.arg_type_name\", !\"uint\", \
         !\"air.arg_name\", !\"n\"}",
    );
    let argument = &found.unwrap().kernels[0].arguments[0];
    assert_eq!((argument.kind, argument.index, &*argument.ty), (ArgumentKind::Buffer, 1, "constant Args &"));
    let fields = argument.fields.iter().map(|field| (&*field.name, &*field.ty, field.offset, field.id));
    let texture = "texture2d<float, access::read>";
    let expected = [
        ("p", "device float *", 0, Some(0)),
        ("t", texture, 8, Some(1)),
        ("n", "uint", 16, Some(2)),
        ("s", "sampler", 24, Some(3)),
    ];
    assert_eq!(fields.collect::<Vec<_>>(), expected);
}

#[test]
fn textures_and_samplers() {
    let found = kernel(
        "!2 = !{!3, !4}\n!3 = !{i32 0, !\"air.texture\", !\"air.location_index\", i32 2, i32 1, !\"air.write\", \
         !\"air.arg_type_name\", !\"texture2d<float, write>\", !\"air.arg_name\", !\"t\"}\n!4 = !{i32 1, \
         !\"air.sampler\", !\"air.location_index\", i32 1, i32 1, !\"air.arg_type_name\", !\"sampler\", \
         !\"air.arg_name\", !\"s\"}",
    );
    let arguments = &found.unwrap().kernels[0].arguments;
    assert_eq!((arguments[0].kind, arguments[0].access), (ArgumentKind::Texture, Access::Write));
    assert_eq!(arguments[0].ty, "texture2d<float, access::write>");
    assert_eq!((arguments[1].kind, arguments[1].index), (ArgumentKind::Sampler, 1));
}

#[test]
fn code_says_which_arguments_are_used_or_else_the_compiler_does() {
    let found = |function: &str| {
        let argument = |position: u32, mark: &str| {
            format!(
                "!{{i32 {position}, !\"air.buffer\", !\"air.location_index\", i32 {position}, i32 1, !\"air.read\", \
                 !\"air.address_space\", i32 1, !\"air.arg_name\", !\"air.arg_unused\"{mark}}}"
            )
        };
        let (unmarked, marked) = (argument(0, ""), argument(1, ", !\"air.arg_unused\""));
        let reflection = parse(&format!(
            "{function}\n!air.kernel = !{{!0}}\n!0 = !{{ptr @k, !1, !2}}\n!1 = !{{}}\n!2 = !{{!3, !4}}\n\
             !3 = {unmarked}\n!4 = {marked}"
        ));
        let arguments = reflection.unwrap().kernels.remove(0).arguments;
        arguments.into_iter().map(|argument| argument.is_used).collect::<Vec<_>>()
    };
    let parameters = "ptr addrspace(1) %a, ptr addrspace(1) %b";
    let store =
        |to: &str| format!("define void @k({parameters}) {{ store i8 0, ptr addrspace(1) %{to} ret void }}");
    assert_eq!(found(&store("a")), [true, false]);
    assert_eq!(found(&store("b")), [false, true], "the mark is wrong");
    assert_eq!(found(&format!("declare void @k({parameters})")), [true, false]);
}

#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn apples_array_parameters_are_no_references() {
    let file = apple_library();
    let library = Library::parse(&file).unwrap();
    let (reflection, _) = reflect_function(library.function("rope_float16").unwrap());
    let arguments = &reflection.kernels[0].arguments;
    let types: BTreeMap<_, _> = arguments.iter().map(|found| (found.name.as_str(), found.ty.as_str())).collect();
    assert_eq!((types["strides"], types["out_strides"]), ("constant long *", "constant long *"));
    assert_eq!((types["offset_stride"], types["scale"]), ("constant long &", "constant float &"));
}

fn reflect_function(function: &Function) -> (Reflection, u32) {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(function.bitcode().unwrap(), function.name());
    let module = Module::parse_bitcode_from_buffer(&buffer, &context).unwrap_or_else(|error| panic!("{error}"));
    let parameters = module.get_function(function.name()).expect("the function").count_params();
    (reflect(&module).unwrap_or_else(|error| panic!("{error}")), parameters)
}

#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn every_parameter_of_apples_kernels_is_described() {
    let file = apple_library();
    let library = Library::parse(&file).unwrap();
    for function in library.functions().iter().step_by(40) {
        let (reflection, parameters) = reflect_function(function);
        let [kernel] = &reflection.kernels[..] else { panic!("{}: not one kernel", function.name()) };
        assert_eq!(kernel.name, function.name());
        assert_eq!(kernel.arguments.len() + kernel.builtins.len(), parameters as usize, "{}", kernel.name);
        for argument in &kernel.arguments {
            assert!(argument.element_size != 0 && argument.element_align != 0, "{}: {argument:?}", kernel.name);
            assert!(!argument.name.is_empty() && !argument.element_type.is_empty(), "{}", kernel.name);
        }
        assert_eq!(library_constants(&reflection), sorted(function), "{}", kernel.name);
    }
}

fn sorted<'a>(function: &Function<'a>) -> Vec<Constant<'a>> {
    let mut constants = function.constants.clone();
    constants.sort_by(|a, b| (a.index, &a.name).cmp(&(b.index, &b.name)));
    constants
}

#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn one_of_apples_kernels_in_full() {
    let file = apple_library();
    let library = Library::parse(&file).unwrap();
    let name = "steel_gemm_fused_nt_float32_float32_bm64_bn64_bk16_wm2_wn2";
    let (reflection, _) = reflect_function(library.function(name).unwrap());
    let kernel = &reflection.kernels[0];
    let types: BTreeMap<_, _> =
        kernel.arguments.iter().map(|found| (found.name.as_str(), found.ty.as_str())).collect();
    assert_eq!(types["A"], "const device float *");
    assert_eq!(types["D"], "device float *");
    assert_eq!(types["params"], "constant mlx::steel::GEMMParams *");
    let params = kernel.arguments.iter().find(|argument| argument.name == "params").unwrap();
    assert_eq!(params.fields.len(), 14);
    assert_eq!((params.fields[8].name.as_str(), params.fields[8].offset), ("batch_stride_a", 32));
    let conditions: Vec<_> =
        kernel.arguments.iter().filter_map(|found| found.function_constant.as_deref()).collect();
    assert_eq!(conditions, ["use_out_source", "use_out_source", "has_batch", "has_batch"]);
    assert_eq!(kernel.function_constants, [10, 100, 110, 200, 201, 202]);
    assert_eq!(kernel.max_total_threads_per_threadgroup, Some(128));
    let variables: Vec<_> =
        kernel.threadgroup_memory.iter().map(|found| (found.name.as_str(), found.size)).collect();
    assert_eq!(variables, [("Bs", 5120), ("As", 5120)]);
    assert_eq!(kernel.static_threadgroup_memory, 10240);
}

/// Two of MLX's kernels; the library has them by the same names.
const MLX: &str = "
#include \"mlx/backend/metal/kernels/utils.h\"
#include \"mlx/backend/metal/kernels/steel/gemm/gemm.h\"
#include \"mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_fused.h\"
#include \"mlx/backend/metal/kernels/sdpa_vector.h\"
instantiate_kernel(\"steel_gemm_fused_nt_float32_float32_bm64_bn64_bk16_wm2_wn2\",
                   gemm, float, 64, 64, 16, 2, 2, false, true, float)
instantiate_kernel(\"sdpa_vector_2pass_1_float_64_64\", sdpa_vector_2pass_1, float, 64, 64)
";

/// Without what Apple's AIR does not carry and what a source does not know, and in one order.
fn comparable(mut kernel: Kernel) -> Kernel {
    for argument in &mut kernel.arguments {
        argument.is_used = true;
    }
    for variable in &mut kernel.threadgroup_memory {
        variable.ty.clear();
    }
    kernel.threadgroup_memory.sort_by(|a, b| a.name.cmp(&b.name));
    Kernel { file: String::new(), line: 0, ..kernel }
}

#[test]
#[ignore = "needs MLX's headers and mlx.metallib in the corpus (scripts/corpus.sh)"]
fn mlx_and_its_library_agree() {
    let file = apple_library();
    let library = Library::parse(&file).unwrap();
    let options = msl::Options { include_dirs: vec![corpus().join("mlx")], ..msl::Options::default() };
    let compilation = msl::compile_source("mlx.metal", MLX, &options);
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let source = compilation.reflect();
    assert_eq!(source.kernels.len(), 2);
    for kernel in source.kernels {
        let (apple, _) = reflect_function(library.function(&kernel.name).expect("the same name"));
        assert_eq!(comparable(apple.kernels[0].clone()), comparable(kernel));
    }
}
