//! Machine code for one function, called on arrays.

use crate::expand::expand;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};
use std::fmt::Write;

/// The exact function of one number.
pub(super) type Truth = fn(f32) -> f32;

/// Elements that lie side by side in memory, and their type in LLVM.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    ty: &'a str,
    bytes: *const u8,
    len: usize,
}

impl<'a> Array<'a> {
    /// `ty` must take as much memory as an `E`; `i1` takes a byte.
    pub(super) fn new<E: Copy>(ty: &'a str, elements: &'a [E]) -> Array<'a> {
        Array { ty, bytes: elements.as_ptr().cast(), len: elements.len() }
    }
}

/// The IR of a loop that applies `function` to the elements of arrays.
fn source(function: &str, result: &str, arguments: &[&str]) -> String {
    let mut text = format!("declare {result} @{function}({})\n", arguments.join(", "));
    let parameters: String = (0..arguments.len()).map(|index| format!("ptr %a{index}, ")).collect();
    let _ = writeln!(text, "define void @run({parameters}ptr %out, i64 %n) {{\nentry:\n  br label %loop\nloop:");
    text.push_str("  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n");
    for (index, ty) in arguments.iter().enumerate() {
        let memory = if *ty == "i1" { "i8" } else { ty };
        let _ = writeln!(text, "  %p{index} = getelementptr {memory}, ptr %a{index}, i64 %i");
        let _ = writeln!(text, "  %m{index} = load {memory}, ptr %p{index}, align 1");
        let cast = if *ty == "i1" { "trunc" } else { "bitcast" };
        let _ = writeln!(text, "  %x{index} = {cast} {memory} %m{index} to {ty}");
    }
    let values: Vec<String> = arguments.iter().enumerate().map(|(index, ty)| format!("{ty} %x{index}")).collect();
    let _ = writeln!(text, "  %r = call {result} @{function}({})", values.join(", "));
    let memory = if result == "i1" { "i8" } else { result };
    let cast = if result == "i1" { "zext" } else { "bitcast" };
    let _ = writeln!(text, "  %o = {cast} {result} %r to {memory}");
    let _ = writeln!(text, "  %q = getelementptr {memory}, ptr %out, i64 %i\n  store {memory} %o, ptr %q, align 1");
    text.push_str("  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %n\n");
    text.push_str("  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n");
    text
}

/// Applies a function to the elements of arrays of the same length, with results of LLVM's type `ty`.
pub(super) fn apply<R: Copy + Default>(function: &str, ty: &str, arguments: &[Array]) -> Vec<R> {
    let types: Vec<&str> = arguments.iter().map(|array| array.ty).collect();
    apply_ir(&source(function, ty, &types), arguments)
}

/// Runs the function `run` of a module on arrays of the same length.
pub(super) fn apply_ir<R: Copy + Default>(source: &str, arguments: &[Array]) -> Vec<R> {
    let len = arguments.first().map_or(0, |array| array.len);
    assert!(len > 0 && arguments.iter().all(|array| array.len == len), "arrays of one length");
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(source.as_bytes(), "test");
    let mut module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}\n{source}"));
    expand(&mut module).unwrap_or_else(|error| panic!("{error}"));
    module.verify().unwrap_or_else(|error| panic!("{error}\n{}", module.print_to_string()));
    let left = module.get_functions().find(|function| function.get_name().to_string_lossy().starts_with("air."));
    assert!(left.is_none(), "{left:?}");

    Target::initialize_native(&InitializationConfig::default()).expect("this machine");
    let triple = TargetMachine::get_default_triple();
    let machine = Target::from_triple(&triple)
        .expect("this machine")
        .create_target_machine(
            &triple,
            &TargetMachine::get_host_cpu_name().to_string_lossy(),
            &TargetMachine::get_host_cpu_features().to_string_lossy(),
            OptimizationLevel::Default,
            RelocMode::Default,
            CodeModel::JITDefault,
        )
        .expect("a target machine");
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    // The code must be right after LLVM's optimizations, too.
    let options = inkwell::passes::PassBuilderOptions::create();
    module.run_passes("default<O2>", &machine, options).expect("optimization");
    let engine = module.create_jit_execution_engine(OptimizationLevel::Default).expect("machine code");
    let address = engine.get_function_address("run").expect("the function");
    let mut out = vec![R::default(); len];
    let (result, count) = (out.as_mut_ptr().cast::<u8>(), len as u64);
    // SAFETY: the function has these parameters, and accesses `len` elements of each array.
    unsafe {
        match *arguments {
            [a] => {
                let run: extern "C" fn(*const u8, *mut u8, u64) = std::mem::transmute(address);
                run(a.bytes, result, count);
            }
            [a, b] => {
                let run: extern "C" fn(*const u8, *const u8, *mut u8, u64) = std::mem::transmute(address);
                run(a.bytes, b.bytes, result, count);
            }
            [a, b, c] => {
                let run: extern "C" fn(*const u8, *const u8, *const u8, *mut u8, u64) =
                    std::mem::transmute(address);
                run(a.bytes, b.bytes, c.bytes, result, count);
            }
            [a, b, c, d] => {
                let run: extern "C" fn(*const u8, *const u8, *const u8, *const u8, *mut u8, u64) =
                    std::mem::transmute(address);
                run(a.bytes, b.bytes, c.bytes, d.bytes, result, count);
            }
            _ => panic!("up to four arguments"),
        }
    }
    out
}
