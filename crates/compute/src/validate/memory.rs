//! Validation of threadgroup memory: each argument, and the total.

use super::Call;
use crate::error::Result;
use crate::kernel::arguments::THREADGROUP_ALIGNMENT;
use abi::call::ARGUMENT_SLOTS;

/// The problem with this length for an argument, on a device with a limit of `most` bytes.
pub(crate) fn threadgroup_memory_problem(bytes: usize, most: usize) -> Option<String> {
    if bytes > most {
        Some(format!("at most {most} are available"))
    } else if !bytes.is_multiple_of(THREADGROUP_ALIGNMENT) {
        Some(format!("it must be a multiple of {THREADGROUP_ALIGNMENT}"))
    } else {
        None
    }
}

/// Checks that all threadgroup arguments of the kernel are set, and fit together with its own variables. Each length is
/// a multiple of [`THREADGROUP_ALIGNMENT`].
pub(crate) fn threadgroup_memory(call: &Call, lengths: &[u32; ARGUMENT_SLOTS]) -> Result<()> {
    let arguments = &call.pipeline.arguments;
    let mut total = arguments.own_threadgroup_memory;
    for argument in &arguments.threadgroup_memory {
        let length = lengths[usize::from(argument.index)];
        if length < argument.size && argument.is_used {
            let name = &call.pipeline.reflection.arguments[argument.argument as usize].name;
            return Err(call.refuse(format_args!(
                "threadgroup memory {} for the argument '{name}' has {length} bytes; call \
                 set_threadgroup_memory_length with at least {}",
                argument.index, argument.size
            )));
        }
        total += length as usize;
    }
    let most = call.pipeline.most_threadgroup_memory;
    if total > most {
        return Err(call.refuse(format_args!(
            "{total} bytes of threadgroup memory, the kernel's own variables included; at most {most} are available"
        )));
    }
    Ok(())
}
