//! The metadata of an AIR module: versions, options, the kernel's arguments, function constants.
//!
//! ```text
//! !llvm.module.flags      limits on resources                        emit
//! !llvm.ident             the compiler
//! !air.version            {i32 2, i32 6, i32 0}
//! !air.language_version   {"Metal", i32 3, i32 1, i32 0}
//! !air.compile_options    {"air.compile.fast_math_enable"}, …
//! !air.kernel             {ptr function, {}, {arguments}[, {"air.max_work_group_size", i32 n}]}
//! !air.function_constants {ptr global, "bool", "name", i32 index, i1 used}, …   constants
//!
//! !metalworks.kernel             {ptr function, "file", i32 line}
//! !metalworks.function_constants {"name", "bool", i32 index, i32 required[, "default"]}, … all of the program
//! !metalworks.threadgroup        {ptr global, "name", "type"}, … in the order of the source
//! ```
//!
//! The first part is as Apple's compiler writes it in `mlx.metallib`; code for nodes that do not occur there says so.
//! The second part is ours: facts for reflection that Apple's AIR does not carry. [`crate::reflect`] reads both.

mod constants;
mod emit;
mod linked;
mod objects;
mod structs;
#[cfg(test)]
mod tests;

pub(crate) use constants::{function_constant_global, host_value, is_set_at_start, variable};
pub(crate) use emit::{ATOMIC, FUNCTION_TABLE, ORIGIN_CONSTANTS, ORIGIN_KERNEL, ORIGIN_THREADGROUP, UNUSED, emit};
pub(crate) use linked::{emit_export, emit_intersection, emit_visible};
