//! The code of a library, as Apple's compiler leaves it: inlined, in registers, simplified.
//!
//! ```text
//! lower ── attributes ── CLEAN ── cases ── aliases ── OPTIMIZE ── legal ── attributes of what is left ── unused arguments
//! ```
//!
//! Loops stay loops: Apple's compiler leaves unrolling to the driver, which reads the hints. Left out on purpose,
//! beside unrolling: vectorization; tables for switches and whatever else makes globals, which would be in no address space
//! that Metal has; `indvars`, which computes results of loops in integers of odd widths; reassociation, which changes
//! sums.
//!
//! **Invariant:** functions across threads are `convergent` before any pass runs, and so is each function that calls
//! one: no pass moves them into or out of a branch.
//!
//! **Invariant:** afterwards there is nothing that LLVM 14 cannot express (see `legal`).

mod aliases;
mod attributes;
mod legal;
#[cfg(test)]
mod tests;

use crate::cases;
use crate::expand::flags;
use crate::ir::{ContextRef, Metadata, ModuleRef, Node, Operand, Rewrite, passes, replace_operands};
use crate::lower::{Error, MathMode, Result};
use crate::metadata::UNUSED;
use inkwell::module::Module;
use msl::Program;
use msl::program::{EntryPoint, FunctionId};
use std::convert::Infallible;

/// Every function in one, and variables in registers. Unused functions and variables go.
const CLEAN: &str = "always-inline,globaldce,function(\
    sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>)";

/// The rest, with the knowledge which accesses cannot meet.
const OPTIMIZE: &str = "function(\
    loop-simplify,lcssa,loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm),\
    simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>,loop(loop-deletion),sroa<modify-cfg>,\
    gvn,sccp,bdce,instcombine<no-verify-fixpoint>,dse,loop-mssa(licm),adce,\
    simplifycfg<no-switch-to-lookup>,instcombine<no-verify-fixpoint>,tailcallelim),globaldce";

/// The position of a kernel's list of arguments among the operands of its node.
const ARGUMENTS: usize = 2;

/// Optimizes the module of one kernel, which was lowered for a library.
pub(crate) fn optimize(module: &mut Module, program: &Program, entry: &EntryPoint, math: MathMode) -> Result<()> {
    // LLVM would use the promises of fast mathematics against code that works with infinities.
    flags::drop_promises(&Rewrite::new(module));
    attributes::before(ModuleRef::of(module), program, entry, math)?;
    run(module, CLEAN)?;
    cases::drop_unreachable(module).map_err(Error::Internal)?;
    aliases::annotate(ModuleRef::of(module), &entry.name);
    run(module, OPTIMIZE)?;
    finish(module, program, &entry.name, entry.function)?;
    mark_unused(module, &entry.name);
    module.verify().map_err(|error| Error::Internal(error.to_string()))
}

/// Optimizes the module of a function that is linked to kernels. Its pointers may point to the same memory.
pub(crate) fn optimize_linked(
    module: &mut Module,
    program: &Program,
    name: &str,
    function: FunctionId,
    math: MathMode,
) -> Result<()> {
    flags::drop_promises(&Rewrite::new(module));
    attributes::of_functions(ModuleRef::of(module), math);
    attributes::of_linked(ModuleRef::of(module), name);
    run(module, CLEAN)?;
    cases::drop_unreachable(module).map_err(Error::Internal)?;
    run(module, OPTIMIZE)?;
    finish(module, program, name, function)?;
    module.verify().map_err(|error| Error::Internal(error.to_string()))
}

fn finish(module: &mut Module, program: &Program, name: &str, function: FunctionId) -> Result<()> {
    legal::legalize(&Rewrite::new(module))?;
    run(module, "function(dce),strip-dead-prototypes")?;
    attributes::after(ModuleRef::of(module), program, name, function);
    Ok(())
}

fn run(module: &mut Module, pipeline: &str) -> Result<()> {
    passes::run(module, pipeline).map_err(Error::Internal)
}

/// Marks the arguments that no code uses any more.
fn mark_unused(module: &mut Module, kernel: &str) {
    let result: std::result::Result<(), Infallible> =
        replace_operands(module, c"air.kernel", ARGUMENTS, |context, entry| {
            let operands = entry.operands();
            let [Operand::Global(function), _, Operand::Node(list), ..] = &operands[..] else { return Ok(None) };
            if function.name() != kernel {
                return Ok(None);
            }
            let is_used: Vec<bool> = function.parameters().iter().map(|parameter| parameter.has_use()).collect();
            let arguments = list.operands().into_iter().map(|argument| match argument {
                Operand::Node(argument) => Some(marked(context, argument, &is_used)),
                _ => None,
            });
            Ok(Some(Metadata::node(context, &arguments.collect::<Vec<_>>())))
        });
    let Ok(()) = result;
}

/// The node of an argument, with the mark if nothing uses it.
fn marked<'m>(context: ContextRef<'m>, argument: Node<'m>, is_used: &[bool]) -> Metadata<'m> {
    let operands = argument.operands();
    let is_marked = operands.iter().any(|operand| matches!(operand, Operand::Text(text) if text == UNUSED));
    let position = match operands.first() {
        Some(Operand::Int(position)) => usize::try_from(*position).ok(),
        _ => None,
    };
    if is_marked || position.and_then(|position| is_used.get(position)) != Some(&false) {
        return argument.metadata();
    }
    let mut operands = argument.metadata_operands();
    operands.push(Some(Metadata::string(context, UNUSED)));
    Metadata::node(context, &operands)
}
