//! Calls that inlining alone does not remove.
//!
//! ```text
//! pointers  a call through a function pointer becomes a switch over functions
//! cost      functions that inlining would multiply
//! graph     functions that call each other in a cycle
//! cycle     a cycle, or all functions that are not inlined, becomes one function: a loop with a stack of frames in
//!           private memory
//! ```
//!
//! After [`flatten`] the kernel is the only function with a body, so that widening sees loops and branches and no call
//! of a function.
//!
//! The stack is bounded, and a thread that needs more of it fails, as does one that executes a trap: it calls [`FAIL`] with
//! the number of a message, and ends. The runtime reports the message.

pub(crate) mod cost;
mod cycle;
mod graph;
pub(crate) mod pointers;

use crate::ir::{Builder, ModuleRef, Opcode, Rewrite, Type, Value, passes};
use crate::thread::{Error, Result};
use inkwell::module::Module;

/// Reports a failure of the thread: `void (i32)`, given the number of the message, from 1. The thread ends after it.
pub(crate) const FAIL: &str = "metalworks.fail";

/// The start of the names of the functions that return the memory of a stack, `ptr ()`.
const STACK: &str = "metalworks.stack.";

/// Before cycles are taken apart: functions outside of them are inlined, and calls at the end of a function become
/// loops.
const LOOPS: &str = "always-inline,globaldce,function(\
    sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>,\
    tailcallelim,simplifycfg<no-switch-to-lookup>)";

/// Values that live in several blocks go to memory.
const DEMOTE: &str = "function(reg2mem)";

const INLINE: &str = "always-inline,globaldce";

/// Lets functions be called that call each other in a cycle, or that inlining would multiply; all others are inlined.
pub(crate) fn keep_cycles(module: &Module) {
    cost::keep_in_library(module);
    for function in graph::cycles(ModuleRef::of(module)).into_iter().flatten() {
        function.remove_attribute("alwaysinline");
    }
}

/// Turns recursion into loops where a call is the last thing that a function does. Other calls stay. A module without
/// recursion is left alone.
pub(crate) fn loop_tail_calls(module: &mut Module) -> std::result::Result<(), String> {
    if graph::cycles(ModuleRef::of(module)).is_empty() {
        return Ok(());
    }
    passes::run(module, "function(sroa<modify-cfg>,simplifycfg<no-switch-to-lookup>,tailcallelim)")
}

/// Marks every function but the kernel to be inlined, unless it calls itself, directly or through others, or is kept.
pub(crate) fn mark(module: ModuleRef, kernel: Value) {
    let separate: Vec<Value> = graph::groups(module).into_iter().flatten().collect();
    for function in module.functions() {
        if function.is_declaration() || function == kernel {
            continue;
        }
        function.make_internal();
        if separate.contains(&function) {
            function.make_separate();
        } else {
            function.make_inlined();
        }
    }
}

/// Makes threads fail that execute a trap.
pub(crate) fn fail_at_traps(rewrite: &Rewrite, failures: &mut Vec<String>) {
    let module = rewrite.module();
    let Some(trap) = module.function("llvm.trap") else { return };
    let calls: Vec<Value> = trap.users().into_iter().filter(|user| user.is(Opcode::LLVMCall)).collect();
    if calls.is_empty() {
        return;
    }
    failures.push("the kernel executed a trap (__builtin_trap)".into());
    let number = Type::int(module.context(), 32).constant(failures.len() as i64);
    let builder = Builder::new(module);
    for call in calls {
        builder.before(call);
        builder.call(fail_function(module), &[number]);
        rewrite.erase(call);
    }
}

/// Removes recursion. Functions are marked by [`mark`]; those that are not in a cycle may still be there afterwards.
/// Adds the messages of the failures that the kernel can report.
pub(crate) fn flatten(module: &mut Module, kernel: &str, failures: &mut Vec<String>) -> Result<()> {
    let has_calls = !graph::groups(ModuleRef::of(module)).is_empty();
    if has_calls {
        unroll(module, kernel, failures)?;
    } else if failures.is_empty() {
        return Ok(());
    }
    remark(module, kernel)?;
    run(module, INLINE)?;
    finish(module, kernel)
}

/// Turns cycles of calls into loops.
fn unroll(module: &mut Module, kernel: &str, failures: &mut Vec<String>) -> Result<()> {
    // Blocks move between functions, and lines belong to one.
    passes::strip_debug_info(module);
    run(module, LOOPS)?;
    remark(module, kernel)?;
    run(module, INLINE)?;
    if !graph::groups(ModuleRef::of(module)).is_empty() {
        cycle::check(&Rewrite::new(module))?;
        run(module, DEMOTE)?;
        cycle::split(&Rewrite::new(module));
        run(module, DEMOTE)?;
        cycle::convert(&Rewrite::new(module), failures)?;
        module.verify().map_err(|error| Error::Internal(error.to_string()))?;
    }
    Ok(())
}

fn run(module: &mut Module, text: &str) -> Result<()> {
    passes::run(module, text).map_err(Error::Internal)
}

fn remark(module: &Module, kernel: &str) -> Result<()> {
    let module = ModuleRef::of(module);
    let kernel = module.function(kernel).ok_or_else(|| Error::Internal("the kernel was lost".into()))?;
    mark(module, kernel);
    Ok(())
}

/// Gives the stacks their memory, now that the kernel is all there is, and ends threads that fail.
fn finish(module: &mut Module, kernel: &str) -> Result<()> {
    let rewrite = Rewrite::new(module);
    let module = rewrite.module();
    let kernel = module.function(kernel).ok_or_else(|| Error::Internal("the kernel was lost".into()))?;
    let builder = Builder::new(module);
    for function in module.functions() {
        let Some(bytes) = cycle::stack_bytes(&function.name()) else { continue };
        let calls: Vec<Value> = function.users().into_iter().filter(|user| user.is(Opcode::LLVMCall)).collect();
        let Some(first) = calls.first() else { continue };
        builder.before(*first);
        let stack = builder.entry_alloca(Type::int(module.context(), 8).array(bytes), cycle::ALIGNMENT);
        for call in calls {
            call.replace_all_uses_with(stack);
            rewrite.erase(call);
        }
    }
    for block in kernel.blocks() {
        let instructions = block.instructions();
        let [.., call, end] = instructions[..] else { continue };
        let fails = call.is(Opcode::LLVMCall) && call.callee().is_some_and(|callee| callee.name() == FAIL);
        if fails && end.is(Opcode::LLVMUnreachable) {
            rewrite.erase_terminator(block);
            builder.at_end(block);
            builder.ret();
        }
    }
    Ok(())
}

/// The function [`FAIL`] of a module.
fn fail_function(module: ModuleRef) -> Value {
    module.function(FAIL).unwrap_or_else(|| {
        let context = module.context();
        let ty = Type::void(context).function(&[Type::int(context, 32)]);
        let function = module.add_function(FAIL, ty);
        // No lane may be made to fail by another's condition.
        function.add_attribute("convergent");
        function.add_attribute("nounwind");
        function
    })
}
