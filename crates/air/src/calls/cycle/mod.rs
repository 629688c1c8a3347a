//! Functions that call each other in a cycle become one function without calls:
//!
//! ```text
//! cycle(state, …):  dispatch: switch on the state
//!   start of f      parameters ── code of f ── …
//!   call of g in f  arguments to g's parameters; push a frame with the state after the call; state = start of g
//!   return from g   result to g's result; state = that of the frame
//!   after the call  pop the frame; code of f goes on
//! f(…):             cycle(start of f, …)
//! ```
//!
//! Parameters and results pass through variables of `cycle`, which LLVM turns into registers. A frame holds what lives
//! longer than a call: the state to return to, the variables that are read after a call before they are written again,
//! and all whose address is taken. (`reg2mem` has made every value between blocks a variable, and blocks end at calls.)
//! A call whose result is returned at once and that needs no variable of its caller takes over the caller's frame.
//!
//! Lanes come to a place in a cycle at different times, though each of them gets there: functions between lanes would
//! see only some, and are refused.

mod frames;
mod machine;
mod passing;

pub(super) use machine::convert;

use super::graph;
use crate::ir::{Builder, Opcode, Rewrite, Value};
use crate::thread::{Error, Result};

/// The alignment of a stack.
pub(super) const ALIGNMENT: u32 = 16;

/// The name of a variable that a call leaves its result in.
const RESULT: &str = "result.of.call";

/// The bytes of the stack that the function of this name returns.
pub(super) fn stack_bytes(name: &str) -> Option<u64> {
    name.strip_prefix(super::STACK)?.split_once('.')?.1.parse().ok()
}

/// Refuses cycles that cannot be converted, and drops marks that no longer hold in a loop.
pub(super) fn check(rewrite: &Rewrite) -> Result<()> {
    for function in graph::groups(rewrite.module()).into_iter().flatten() {
        if function.remove_parameter_attribute("byval") {
            return Err(Error::Unsupported(format!(
                "recursion of '{}', which copies an argument,",
                function.name()
            )));
        }
        for attribute in ["noalias", "readonly", "readnone", "writeonly", "returned", "sret", "captures"] {
            function.remove_parameter_attribute(attribute);
        }
        for attribute in ["memory", "willreturn", "norecurse", "nofree", "nosync", "noreturn", "speculatable"] {
            function.remove_attribute(attribute);
        }
        let entry = function.blocks().first().copied();
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            if instruction.is(Opcode::LLVMAlloca) {
                let is_static = Some(instruction.block()) == entry && instruction.operand(0).as_int().is_some();
                if !is_static {
                    return Err(Error::Unsupported("a variable of unknown size in a recursive function".into()));
                }
            }
            let Some(callee) = instruction.is(Opcode::LLVMCall).then(|| instruction.callee()).flatten() else {
                continue;
            };
            let name = callee.name();
            if crate::thread::is_convergent(&name) {
                return Err(Error::Unsupported(format!(
                    "'{name}' in the recursive function '{}', which threads enter at different times,",
                    source_name(function)
                )));
            }
            if name.starts_with("llvm.lifetime.") {
                rewrite.erase(instruction);
            }
        }
    }
    Ok(())
}

/// Ends blocks after the calls of a cycle. The result of a call becomes a variable.
pub(super) fn split(rewrite: &Rewrite) {
    let builder = Builder::new(rewrite.module());
    for cycle in graph::groups(rewrite.module()) {
        for &function in &cycle {
            for call in calls_among(&cycle, function) {
                let next = call.block().instructions().into_iter().skip_while(|other| *other != call).nth(1);
                let resume = rewrite.split_before(next.expect("a call does not end its block"));
                if !call.ty().is_void() && call.has_use() {
                    builder.before(resume.first_instruction().expect("a block has an end"));
                    let align = crate::ir::Layout::of(rewrite.module()).align(call.ty());
                    let variable = builder.entry_alloca(call.ty(), align);
                    variable.set_name(RESULT);
                    call.replace_all_uses_with(builder.load(call.ty(), variable, align));
                }
            }
        }
    }
}

/// The calls in `function` of members of its cycle.
fn calls_among<'m>(cycle: &[Value<'m>], function: Value<'m>) -> Vec<Value<'m>> {
    let is_meant = |instruction: &Value<'m>| {
        instruction.is(Opcode::LLVMCall) && instruction.callee().is_some_and(|callee| cycle.contains(&callee))
    };
    function.blocks().into_iter().flat_map(|block| block.instructions()).filter(is_meant).collect()
}

/// A function's name as in the source, as far as it is known: lowering adds a number.
fn source_name(function: Value) -> String {
    let name = function.name();
    match name.rsplit_once('.') {
        Some((start, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => start.into(),
        _ => name,
    }
}
