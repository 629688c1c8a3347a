//! Attributes of functions, parameters and calls, as in `mlx.metallib`. Its kernels are instances of templates compiled
//! without fast mathematics; the attributes of fast mathematics, of threadgroup arguments and of other kernels are
//! those in public output of Apple's compiler.

use crate::ir::{Block, ModuleRef, Opcode, Type, Value};
use crate::lower::{Error, MathMode, Result};
use inkwell::llvm_sys::{LLVMFastMathAllowReassoc, LLVMFastMathNoInfs, LLVMFastMathNoNaNs};
use msl::Program;
use msl::program::{BindingKind, EntryPoint, FunctionId};
use msl::types::TyKind;
use std::collections::HashSet;

/// Of every function with a body.
const BODY: [(&str, &str); 4] = [
    ("frame-pointer", "all"),
    ("no-builtins", ""),
    ("no-trapping-math", "true"),
    ("stack-protector-buffer-size", "8"),
];

/// Of those that are compiled with fast mathematics.
const FAST: [&str; 5] = crate::expand::flags::PROMISING;

/// Attributes of a function across threads.
const GROUP: [(&str, u64); 4] = [("convergent", 0), ("mustprogress", 0), ("nounwind", 0), ("willreturn", 0)];

/// Attributes of a declaration without effects; 0 of `memory`: it accesses none.
const PURE: [(&str, u64); 6] =
    [("mustprogress", 0), ("nofree", 0), ("nosync", 0), ("nounwind", 0), ("willreturn", 0), ("memory", 0)];

/// Attributes that a call repeats from the declaration.
const REPEATED: [&str; 4] = ["convergent", "nounwind", "willreturn", "memory"];

/// Adds those that passes need.
pub(super) fn before(module: ModuleRef, program: &Program, entry: &EntryPoint, math: MathMode) -> Result<()> {
    of_functions(module, math);
    let kernel = kernel(module, entry)?;
    if let Some(threads) = entry.max_total_threads {
        kernel.add_text_attribute("max-work-group-size", &threads.to_string());
    }
    parameters(kernel, program, entry);
    Ok(())
}

/// Adds those of every function that passes need.
pub(super) fn of_functions(module: ModuleRef, math: MathMode) {
    let functions = module.functions();
    for function in functions.iter().filter(|function| is_air(**function) && !function.has_attributes()) {
        // Others were declared with theirs.
        let is_across_threads =
            ["air.simd", "air.quad", "air.wg."].iter().any(|start| function.name().starts_with(start));
        let attributes = if is_across_threads { &GROUP[..] } else { &PURE[..] };
        attributes.iter().for_each(|(name, value)| function.add_number_attribute(name, *value));
    }
    let convergent = convergent(&functions);
    for function in functions.into_iter().filter(|function| !function.is_declaration()) {
        function.add_attribute("mustprogress");
        function.add_attribute("nounwind");
        if convergent.contains(&function) {
            function.add_attribute("convergent");
        }
        BODY.iter().for_each(|(name, value)| function.add_text_attribute(name, value));
        function.add_text_attribute("min-legal-vector-width", &vector_width(function).to_string());
        if math == MathMode::Fast {
            FAST.iter().for_each(|name| function.add_text_attribute(name, "true"));
        }
    }
}

/// Adds those of the parameters of a function that is linked to kernels.
pub(super) fn of_linked(module: ModuleRef, name: &str) {
    let Some(function) = module.function(name) else { return };
    (0u32..)
        .zip(function.parameters())
        .for_each(|(index, _)| function.add_parameter_attribute(index, "noundef", 0));
}

/// Adds the others, and the linkage of the function of this name.
pub(super) fn after(module: ModuleRef, program: &Program, name: &str, id: FunctionId) {
    for function in module.functions() {
        if is_air(function) || function.name() == name {
            function.make_unnamed(true);
        }
        for instruction in function.blocks().into_iter().flat_map(Block::instructions) {
            call(instruction);
            promise(instruction);
        }
    }
    // Instances of templates are the same in all files.
    let is_instance = program.function(id).name.ends_with('>');
    if let Some(function) = module.function(name).filter(|_| is_instance) {
        function.make_weak();
    }
    const THREADGROUP: u32 = 3;
    let variables = module.globals().into_iter().filter(|global| global.ty().address_space() == THREADGROUP);
    variables.for_each(|variable| variable.make_unnamed(false));
}

fn kernel<'m>(module: ModuleRef<'m>, entry: &EntryPoint) -> Result<Value<'m>> {
    module.function(&entry.name).ok_or_else(|| Error::Internal(format!("no function '{}'", entry.name)))
}

/// True for a function of AIR.
fn is_air(function: Value) -> bool {
    function.is_declaration() && function.name().starts_with("air.")
}

/// The functions that call one across threads, directly or not.
fn convergent<'m>(functions: &[Value<'m>]) -> HashSet<Value<'m>> {
    let mut found: HashSet<Value> =
        functions.iter().copied().filter(|function| function.attribute("convergent").is_some()).collect();
    let mut pending: Vec<Value> = found.iter().copied().collect();
    while let Some(function) = pending.pop() {
        for call in function.users().into_iter().filter(|user| user.is(Opcode::LLVMCall)) {
            let caller = call.block().function();
            if found.insert(caller) {
                pending.push(caller);
            }
        }
    }
    found
}

/// The width in bits of the largest vector that goes into a function or into one that it calls, or comes out.
fn vector_width(function: Value) -> u64 {
    let mut width = signature_width(function);
    for instruction in function.blocks().into_iter().flat_map(Block::instructions) {
        if instruction.is(Opcode::LLVMCall)
            && let Some(callee) = instruction.callee()
        {
            width = width.max(signature_width(callee)).max(bits(instruction.ty()));
        }
    }
    width
}

fn signature_width(function: Value) -> u64 {
    function.parameters().into_iter().map(|parameter| bits(parameter.ty())).max().unwrap_or(0)
}

/// The width of a vector; 0 for other types.
fn bits(ty: Type) -> u64 {
    if !ty.is_vector() {
        return 0;
    }
    let scalar = ty.scalar();
    let element = match () {
        () if scalar.is_int() => scalar.int_bits(),
        () if scalar.is_pointer() => 64,
        () if scalar.is_half() || scalar.is_bfloat() => 16,
        () => 32,
    };
    ty.length() as u64 * u64::from(element)
}

/// Attributes of the kernel's parameters: no two buffers overlap; a reference has an object behind it.
fn parameters(kernel: Value, program: &Program, entry: &EntryPoint) {
    let source = program.function(entry.function);
    for (index, binding) in (0u32..).zip(&entry.bindings) {
        kernel.add_parameter_attribute(index, "noundef", 0);
        if !matches!(binding.kind, BindingKind::Buffer(_) | BindingKind::Threadgroup(_)) {
            continue;
        }
        let Some(local) = source.locals.get(binding.param.0 as usize) else { continue };
        if let TyKind::Reference { to, .. } = *program.types.kind(local.ty.ty)
            && let Some(layout) = program.types.layout(to.ty).filter(|layout| layout.size != 0)
        {
            kernel.add_parameter_attribute(index, "align", layout.align);
            kernel.add_parameter_attribute(index, "dereferenceable", layout.size);
        }
        kernel.add_parameter_text_attribute(index, "air-buffer-no-alias");
    }
}

/// Repeats attributes of the declaration at a call of AIR's functions.
fn call(instruction: Value) {
    if !instruction.is(Opcode::LLVMCall) {
        return;
    }
    let Some(callee) = instruction.callee().filter(|callee| is_air(*callee)) else { return };
    for name in REPEATED {
        if let Some(value) = callee.attribute(name) {
            instruction.add_call_attribute(name, value);
        }
    }
}

/// Makes the flags of an instruction that is computed fast those of Apple's compiler: `fast`. (Our own passes have run;
/// those of the driver know these flags, and the kernels that work with infinities all the same.)
fn promise(instruction: Value) {
    if let Some(flags) = instruction.fast_math().filter(|flags| flags & LLVMFastMathAllowReassoc != 0) {
        instruction.set_fast_math(flags | LLVMFastMathNoNaNs | LLVMFastMathNoInfs);
    }
}
