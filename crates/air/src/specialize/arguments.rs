//! Arguments that exist only under a condition, when the condition is known.

use super::error::Error;
use crate::ir::{Metadata, Node, Operand, Value, replace_operands};
use inkwell::module::Module;

/// The position of a kernel's list of arguments among the operands of its node.
const ARGUMENTS: usize = 2;

/// Takes the arguments whose condition is false away from the metadata, and the condition from the others. A parameter
/// keeps its position; one that does not exist is null wherever it was used.
pub(super) fn decide(module: &mut Module, kernel: &str) -> Result<(), Error> {
    replace_operands(module, c"air.kernel", ARGUMENTS, |context, entry| {
        let operands = entry.operands();
        let [Operand::Global(function), _, Operand::Node(list), ..] = &operands[..] else { return Ok(None) };
        if function.name() != kernel || !function.is_function() {
            return Ok(None);
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
                None => kept.push(Some(argument.metadata())),
                Some((at, true)) => {
                    has_changed = true;
                    let mut rest = argument.metadata_operands();
                    rest.drain(at..at + 2);
                    kept.push(Some(Metadata::node(context, &rest)));
                }
                Some((_, false)) => {
                    has_changed = true;
                    parameter.replace_all_uses_with(parameter.ty().zero());
                }
            }
        }
        Ok(has_changed.then(|| Metadata::node(context, &kept)))
    })
}

/// The parameter that an argument's node describes.
fn parameter<'m>(parameters: &[Value<'m>], argument: Node) -> Result<Value<'m>, Error> {
    let position = match argument.operands().first() {
        Some(Operand::Int(position)) => usize::try_from(*position).ok(),
        _ => None,
    };
    let parameter = position.and_then(|position| parameters.get(position));
    parameter.copied().ok_or_else(|| Error::Malformed("an argument describes no parameter of the kernel".into()))
}

/// The position of an argument's condition among its operands, and its value.
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
        Some(Operand::Global(global)) => *global,
        _ => return Err(Error::Malformed("the condition of an argument names no variable".into())),
    };
    let value = predicate.is_global_variable().then(|| predicate.initializer()).flatten().and_then(Value::as_int);
    match value {
        Some(value) => Ok(Some((at, value != 0))),
        None => Err(Error::Unsupported("the condition of an argument, which is no known number,".into())),
    }
}
