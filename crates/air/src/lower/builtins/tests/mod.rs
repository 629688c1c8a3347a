//! Every function that the library's headers declare, for every type of its family, makes valid LLVM.
//!
//! The declarations are read from the headers themselves, so that none can be forgotten: each becomes a function of a
//! generated source that calls it, and what the checked program then names is lowered.

mod headers;

use super::super::{Error, Lowering, MathMode};
use inkwell::AddressSpace as LlvmSpace;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::{BasicMetadataTypeEnum, BasicType};
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue};
use msl::program::{Function, Program};
use std::collections::BTreeSet;

/// Makes an LLVM function that hands its arguments to a builtin.
fn lower_one<'ctx, 'p>(
    lowering: &mut Lowering<'ctx, 'p>,
    function: &'p Function,
    number: usize,
) -> Result<(), Error> {
    let context = lowering.context;
    let pointer = context.ptr_type(LlvmSpace::from(0));
    let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
    for param in &function.params {
        let ty = function.locals[param.0 as usize].ty.ty;
        params.push(if lowering.is_register(ty) { lowering.register_type(ty)?.into() } else { pointer.into() });
    }
    let is_void = function.result == msl::types::Ty::VOID;
    let in_memory = !is_void && !lowering.is_register(function.result);
    if in_memory {
        params.push(pointer.into());
    }
    let ty = match is_void || in_memory {
        true => context.void_type().fn_type(&params, false),
        false => lowering.register_type(function.result)?.fn_type(&params, false),
    };
    let llvm = lowering.module.add_function(&format!("{} {number}", function.name), ty, None);
    lowering.builder.position_at_end(context.append_basic_block(llvm, ""));
    let mut args: Vec<BasicValueEnum<'ctx>> = llvm.get_param_iter().collect();
    let result = if in_memory { args.pop().map(BasicValueEnum::into_pointer_value) } else { None };
    let value = lowering.builtin(function, &args, result, function.span)?;
    assert_eq!(value.is_some(), !is_void && !in_memory, "{}: a value", function.name);
    if let Some(value) = value {
        assert_eq!(value.get_type(), lowering.register_type(function.result)?, "{}: its type", function.name);
    }
    lowering.builder.build_return(value.as_ref().map(|value| value as &dyn inkwell::values::BasicValue<'ctx>))?;
    Ok(())
}

fn lowering<'ctx, 'p>(context: &'ctx Context, program: &'p Program, math: MathMode) -> Lowering<'ctx, 'p> {
    Lowering::new(context, context.create_module("builtins"), program.into(), math)
}

#[test]
fn every_declared_function_is_lowered() {
    let options = msl::Options { std: msl::LanguageVersion::new(3, 2), ..Default::default() };
    let source = headers::generated_source();
    let compilation = msl::compile_source("builtins.metal", &source, &options);
    let errors: Vec<_> = compilation.diagnostics.iter().take(5).collect();
    assert!(!compilation.has_errors(), "{errors:#?}\n{}", &source);
    let program = &compilation.program;
    let builtins: Vec<_> = program.functions.iter().filter(|function| function.builtin.is_some()).collect();
    for math in [MathMode::Fast, MathMode::Safe] {
        let context = Context::create();
        let mut lowering = lowering(&context, program, math);
        let mut names = BTreeSet::new();
        let mut unsupported = BTreeSet::new();
        let mut lowered = 0;
        for (number, function) in builtins.iter().enumerate() {
            match lower_one(&mut lowering, function, number) {
                Ok(()) => {
                    names.insert(function.builtin.clone());
                    lowered += 1;
                }
                Err(Error::Unsupported { what, .. }) => {
                    let _ = lowering.builder.build_unreachable();
                    unsupported.insert(what);
                }
                Err(error) => panic!("{}: {error}", function.name),
            }
        }
        if let Err(error) = lowering.module.verify() {
            panic!("{}", error.to_string());
        }
        assert!(unsupported.is_empty(), "{lowered} lowered; not: {unsupported:#?}");
        assert!(names.len() >= 328 && lowered >= 3444, "{} functions, {lowered} overloads", names.len());

        let module = lowering.module.print_to_string().to_string();
        for declaration in DECLARATIONS {
            assert!(module.contains(&format!("declare {declaration} #")), "{declaration}");
        }
        assert_eq!(module.contains("call fast "), math == MathMode::Fast, "{math:?}");
        assert_expanded(&mut lowering.module);
    }
}

/// Functions that concern one thread alone become plain LLVM; those of fragment functions do not.
fn assert_expanded(module: &mut Module) {
    let name = |function: &FunctionValue| function.get_name().to_string_lossy().into_owned();
    let is_graphics =
        |name: &str| ["dfdx", "dfdy", "fwidth", "discard_fragment"].iter().any(|of| name.starts_with(of));
    for function in module.get_functions().filter(|function| is_graphics(&name(function))) {
        // SAFETY: nothing calls it.
        unsafe { function.delete() };
    }
    crate::expand::expand(module).unwrap_or_else(|error| panic!("{error}"));
    module.verify().unwrap_or_else(|error| panic!("{error}"));
    let is_used =
        |function: &FunctionValue| function.as_global_value().as_pointer_value().get_first_use().is_some();
    let left: BTreeSet<String> = module.get_functions().filter(is_used).map(|function| name(&function)).collect();
    let groups = ["simd_", "quad_", "simdgroup", "wg.", "atomic.", "get_"];
    let is_left = |name: &&String| {
        name.strip_prefix("air.").is_some_and(|name| !groups.iter().any(|of| name.starts_with(of)))
    };
    assert_eq!(left.iter().find(is_left), None);
    assert!(left.contains("air.simd_sum.f32") && left.contains("llvm.fma.f32") && !left.contains("llvm.exp.f32"));
}

/// Some of what Apple's compiler declares in `mlx.metallib`.
const DECLARATIONS: &[&str] = &[
    "i32 @air.clamp.s.i32(i32, i32, i32)",
    "float @air.atomic.global.add.f32(ptr addrspace(1) captures(none), float, i32, i32, i1)",
    "float @air.dot.v4f32(<4 x float>, <4 x float>)",
    "float @air.fast_exp2.f32(float)",
    "float @air.ldexp.f32(float, i32)",
    "i16 @air.get_simdgroup_size.i16()",
    "i16 @air.simd_shuffle_and_fill_up.u.i16(i16, i16, i16, i16)",
    "half @air.simd_shuffle_down.f16(half, i16)",
    "i8 @air.simd_prefix_inclusive_product.s.i8(i8)",
    "i1 @air.simd_all(i1)",
    "void @air.wg.barrier(i32, i32)",
    "<64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) readonly captures(none), i64, <2 x i64>, i1)",
    "<64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>)",
];

/// The message names the function that the kernel calls.
#[test]
fn textures_are_not_supported_yet() {
    let source = "#include <metal_stdlib>
using namespace metal;
        kernel void k(texture2d<float> t [[texture(0)]], device float4 *o [[buffer(0)]]) { o[0] = t.read(uint2(0)); }";
    let compilation = msl::compile_source("texture.metal", source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{:#?}", compilation.diagnostics);
    let is_read = |function: &&Function| function.builtin.as_deref().is_some_and(|name| name.ends_with("::read"));
    let read = compilation.program.functions.iter().find(is_read).expect("a builtin");
    let context = Context::create();
    let mut lowering = lowering(&context, &compilation.program, MathMode::Fast);
    let error = lower_one(&mut lowering, read, 0).expect_err("not supported").to_string();
    assert_eq!(error, "the function 'texture2d<float, access::sample>::read' of textures is not supported yet");
}
