//! Validation of bound arguments against the kernel's reflection.

use super::{Call, list};
use crate::backend::ArgumentMemory;
use crate::error::{Error, Result};
use crate::kernel::arguments::BufferArgument;
use abi::call::ARGUMENT_SLOTS;
use std::num::NonZeroU64;

/// An argument bound at an index.
#[derive(Clone, Copy)]
pub(crate) struct BoundArgument {
    pub(crate) memory: ArgumentMemory,
    /// The address, for buffers; for `set_bytes` data, a number with its alignment.
    pub(crate) address: usize,
    pub(crate) len: usize,
    pub(crate) read_only: bool,
    /// For a visible function table: the number of its pipeline.
    pub(crate) table_of: Option<NonZeroU64>,
}

/// Checks that everything that the kernel uses is bound and fits.
pub(crate) fn bindings(call: &Call, bound: &[Option<BoundArgument>; ARGUMENT_SLOTS]) -> Result<()> {
    for argument in &call.pipeline.arguments.buffers {
        match &bound[usize::from(argument.index)] {
            Some(bound)
                if bound.len >= argument.size
                    && bound.address & argument.misalignment == 0
                    && !(argument.is_written && bound.read_only)
                    && bound.table_of == argument.is_table.then_some(call.pipeline.number) => {}
            Some(bound) => return Err(misfit(call, argument, bound)),
            None if argument.is_used => return Err(missing(call, argument, bound)),
            None => {}
        }
    }
    Ok(())
}

#[cold]
fn missing(call: &Call, argument: &BufferArgument, bound: &[Option<BoundArgument>; ARGUMENT_SLOTS]) -> Error {
    let indices = bound.iter().zip(0..).filter(|(bound, _)| bound.is_some());
    let others = indices.fold(0, |indices, (_, index)| indices | 1u32 << index);
    let others = others & !call.pipeline.arguments.buffer_indices;
    let hint = match others.count_ones() {
        0 => String::new(),
        1 => format!(" (index {} is bound, but the kernel has no such argument)", list(others)),
        _ => format!(" (indices {} are bound, but the kernel has no such arguments)", list(others)),
    };
    let name = &call.pipeline.reflection.arguments[argument.argument as usize].name;
    let (what, remedy) = match argument.is_table {
        true => ("visible function table", "set_visible_function_table"),
        false => ("buffer", "set_buffer or set_bytes"),
    };
    call.refuse(format_args!(
        "no {what} is bound at index {} for the argument '{name}'; call {remedy}{hint}",
        argument.index
    ))
}

/// Describes why a binding does not fit its argument.
#[cold]
fn misfit(call: &Call, argument: &BufferArgument, bound: &BoundArgument) -> Error {
    let reflected = &call.pipeline.reflection.arguments[argument.argument as usize];
    let element = &reflected.element_type;
    let (what, is_bytes) = match bound.memory {
        ArgumentMemory::Buffer { buffer, offset } => {
            let buffer = call.buffers[buffer as usize].description();
            (format!("{buffer} from offset {offset} on"), false)
        }
        ArgumentMemory::Bytes { len, .. } => (format!("{len} bytes of set_bytes"), true),
    };
    let problem = if argument.is_table && bound.table_of.is_none() {
        "it is a visible function table; call set_visible_function_table".into()
    } else if argument.is_table {
        "the visible function table that is bound belongs to another pipeline state".into()
    } else if bound.table_of.is_some() {
        "it is a buffer, not a visible function table; call set_buffer or set_bytes".into()
    } else if bound.len < argument.size {
        format!("{} bytes from its offset on; one '{element}' takes {}", bound.len, argument.size)
    } else if bound.address & argument.misalignment != 0 {
        let alignment = 1u64 << bound.address.trailing_zeros();
        let space = if reflected.address_space == "constant" { "constant " } else { "" };
        let needed = argument.misalignment + 1;
        format!("it begins at a multiple of {alignment} only; '{space}{element}' needs a multiple of {needed}")
    } else if is_bytes {
        "the kernel may write to it, but set_bytes data is read-only; use a buffer".into()
    } else {
        "the kernel may write to it, but the binding is read-only".into()
    };
    call.refuse(format_args!(
        "buffer {} for the argument '{}': {problem} (bound is {what})",
        argument.index, reflected.name
    ))
}
