//! Arguments that exist only under a condition, when the condition is known.

use super::error::Error;
use crate::ir::{ModuleRef, Value};
use crate::metadata::read::{Node, Operand, named};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

/// Where a kernel's list of arguments is among the operands of its node.
const ARGUMENTS: u32 = 2;

/// Takes the arguments whose condition is false away from the metadata, and the condition from the others. A parameter
/// keeps its position; one that does not exist is null wherever it was used.
pub(super) fn decide(module: &Module, kernel: &str) -> Result<(), Error> {
    let context = ModuleRef::of(module).context();
    for entry in named(module, c"air.kernel") {
        let operands = entry.operands();
        let [Operand::Global(function), _, Operand::Node(list), ..] = &operands[..] else { continue };
        let function = Value(function.as_value_ref());
        if function.name() != kernel {
            continue;
        }
        let parameters = function.parameters();
        let mut kept = Vec::new();
        let mut has_changed = false;
        for argument in list.operands() {
            let Operand::Node(argument) = argument else {
                return Err(Error::Malformed("an argument of the kernel is no node".into()));
            };
            let parameter = parameter(&parameters, argument)?;
            match condition(argument)? {
                None => kept.push(argument.as_metadata()),
                Some((at, true)) => {
                    has_changed = true;
                    let mut rest = argument.raw_operands();
                    rest.drain(at..at + 2);
                    kept.push(node(context, &mut rest));
                }
                Some((_, false)) => {
                    has_changed = true;
                    parameter.replace_all_uses_with(parameter.ty().zero());
                }
            }
        }
        if has_changed {
            // SAFETY: both nodes belong to the module's context, and the entry has an operand at this position.
            unsafe { LLVMReplaceMDNodeOperandWith(entry.as_value_ref(), ARGUMENTS, node(context, &mut kept)) };
        }
    }
    Ok(())
}

/// The parameter that an argument's node describes.
fn parameter(parameters: &[Value], argument: Node) -> Result<Value, Error> {
    let position = match argument.operands().first() {
        Some(Operand::Int(position)) => usize::try_from(*position).ok(),
        _ => None,
    };
    let parameter = position.and_then(|position| parameters.get(position));
    parameter.copied().ok_or_else(|| Error::Malformed("an argument describes no parameter of the kernel".into()))
}

/// Where an argument's condition stands among its operands, and what it says.
fn condition(argument: Node) -> Result<Option<(usize, bool)>, Error> {
    let operands = argument.operands();
    let found = operands.windows(2).enumerate().find_map(|(at, pair)| match pair {
        [Operand::Text(text), Operand::Node(condition)] if text == "air.function_constant" => {
            Some((at, *condition))
        }
        _ => None,
    });
    let Some((at, condition)) = found else { return Ok(None) };
    let predicate = match condition.operands().first() {
        Some(Operand::Global(global)) => Value(global.as_value_ref()),
        _ => return Err(Error::Malformed("the condition of an argument names no variable".into())),
    };
    let value = predicate.is_global_variable().then(|| predicate.initializer()).flatten().and_then(Value::as_int);
    match value {
        Some(value) => Ok(Some((at, value != 0))),
        None => Err(Error::Unsupported("the condition of an argument, which is no known number,".into())),
    }
}

fn node(context: LLVMContextRef, operands: &mut [LLVMMetadataRef]) -> LLVMMetadataRef {
    // SAFETY: the operands belong to the context.
    unsafe { LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len()) }
}
