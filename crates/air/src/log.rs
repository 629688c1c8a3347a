//! Messages of `os_log`, in the code of one thread.
//!
//! AIR has the arguments of a message in private memory. Code for CPUs passes them as 32-bit words instead, so that the
//! memory goes away. GPUs have no place for messages: theirs are dropped.

use crate::ir::{Builder, ModuleRef, Opcode, Rewrite, Type, Value};
use crate::thread::{Error, Result};
use abi::{Operation, Site, SourceLocation};
use inkwell::module::Module;

/// Apple's function: subsystem, category, level, format, arguments, and their size.
pub(crate) const OS_LOG: &str = "air.os_log";

/// The attribute of a call with its place, and the types of its arguments in a second line.
pub(crate) const DESCRIPTION: &str = "metalworks-log";

/// `void (i32 level, subsystem, category, format, i32 site, i32 words …)`; a number follows.
pub(crate) const MESSAGE: &str = "metalworks.log.";

/// Operands of a message before its words.
pub(crate) const FIXED: usize = 5;

/// The most bytes of arguments.
const MOST_BYTES: u64 = 4096;

/// Replaces all messages. Adds their places: the locations, and the types as the instruction.
pub(crate) fn convert(module: &mut Module, for_gpu: bool, sites: &mut Vec<Site>) -> Result<()> {
    let rewrite = Rewrite::new(module);
    let module = rewrite.module();
    let Some(function) = module.function(OS_LOG) else { return Ok(()) };
    let b = Builder::new(module);
    for call in function.users().into_iter().filter(|user| user.is(Opcode::LLVMCall)) {
        if !for_gpu {
            message(module, &b, call, sites)?;
        }
        rewrite.erase(call);
    }
    Ok(())
}

fn message<'m>(module: ModuleRef<'m>, b: &Builder<'m>, call: Value<'m>, sites: &mut Vec<Site>) -> Result<()> {
    let operands = call.arguments();
    let [subsystem, category, level, format, arguments, size] = operands[..] else {
        return Err(Error::Invalid(format!("a call of '{OS_LOG}' with other arguments")));
    };
    let description = call.call_text_attribute(DESCRIPTION);
    let (Some(description), Some(size)) = (description, size.as_int().filter(|size| *size as u64 <= MOST_BYTES))
    else {
        return Err(Error::Unsupported("a message whose arguments are not known".into()));
    };
    let (place, types) = description.split_once('\n').unwrap_or((&description, ""));
    let int = Type::int(b.context(), 32);
    b.before(call);
    let mut all = vec![level, subsystem, category, format, int.constant(sites.len() as i64)];
    let operation = Operation::Message;
    sites.push(Site {
        locations: location(place).into_iter().collect(),
        instruction: types.into(),
        operation,
        ..Site::default()
    });
    for word in 0..size / 4 {
        let at = Type::int(b.context(), 64).constant(4 * word);
        all.push(b.load(int, b.offset(arguments, at), 4));
    }
    let types: Vec<Type<'m>> = all.iter().map(|value| value.ty()).collect();
    let ty = Type::void(b.context()).function(&types);
    let function = module.add_function(&format!("{MESSAGE}{}", sites.len()), ty);
    function.add_attribute("convergent");
    function.add_attribute("nounwind");
    b.call(function, &all);
    Ok(())
}

/// Parses `file:line:column`.
fn location(place: &str) -> Option<SourceLocation> {
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(SourceLocation { file: parts.next()?.into(), line, column, function: String::new() })
}
