//! Address spaces of AIR in those of NVPTX: device (1) and threadgroup (3) memory have the same numbers on both; the
//! constant address space (2) becomes generic (0). Where the address comes from a buffer of the entry, LLVM finds that
//! it is global memory, and where it comes from a parameter by value, that it is a parameter.
//!
//! A pointer's address space is part of its type, and so of every instruction on the way to an access. LLVM's C API
//! cannot change the type of a value, so the module is written as text, and read again without the address space.

use super::{Error, Result};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// The same module for NVPTX, without target and data layout.
pub(super) fn translate<'ctx>(context: &'ctx Context, module: &Module) -> Result<Module<'ctx>> {
    let text = without_constant_space(&module.print_to_string().to_string());
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernel");
    context.create_module_from_ir(buffer).map_err(|error| Error::Internal(error.to_string()))
}

/// Takes the constant address space out of LLVM's text. Names and texts in quotes stay as they are.
fn without_constant_space(text: &str) -> String {
    const SPACE: &str = "addrspace(2) ";
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // The layout and the target of AIR.
        if line.starts_with("target ") {
            continue;
        }
        let mut changed = String::with_capacity(line.len());
        for (index, part) in line.split('"').enumerate() {
            if index > 0 {
                changed.push('"');
            }
            // Every second part is between quotes; a quote within is written `\22`.
            if index % 2 == 0 {
                changed.push_str(&part.replace(SPACE, "").replace(" addrspace(2)", ""));
            } else {
                changed.push_str(part);
            }
        }
        if changed != line {
            // A cast between two address spaces that are now one.
            changed = without_casts(&changed);
        }
        result.push_str(&changed);
    }
    result
}

/// An `addrspacecast` from generic to generic becomes a `bitcast`.
fn without_casts(line: &str) -> String {
    const CAST: &str = "addrspacecast ";
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(CAST) {
        let (before, cast) = rest.split_at(at);
        let operand = &cast[CAST.len()..];
        let ends = operand.find(" to ptr").map(|to| &operand[to + " to ptr".len()..]);
        let from_generic = !operand.trim_start_matches('(').starts_with("ptr addrspace");
        let to_generic = ends.is_some_and(|after| !after.starts_with(" addrspace"));
        result.push_str(before);
        result.push_str(if from_generic && to_generic { "bitcast " } else { CAST });
        rest = operand;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_space_becomes_generic() {
        let change = without_constant_space;
        assert_eq!(change("load i8, ptr addrspace(2) %x, align 1\n"), "load i8, ptr %x, align 1\n");
        assert_eq!(
            change("@t = internal addrspace(2) constant [2 x i8] c\"ab\"\n"),
            "@t = internal constant [2 x i8] c\"ab\"\n"
        );
        assert_eq!(change("define void @f(ptr addrspace(2)) {\n"), "define void @f(ptr) {\n");
        assert_eq!(change("@\"f addrspace(2) g\" = global i8 0\n"), "@\"f addrspace(2) g\" = global i8 0\n");
        assert_eq!(change("target triple = \"air64\"\nx\n"), "x\n");
    }

    #[test]
    fn casts_to_the_same_space_are_none() {
        let change = without_constant_space;
        assert_eq!(change("%1 = addrspacecast ptr addrspace(2) %0 to ptr\n"), "%1 = bitcast ptr %0 to ptr\n");
        assert_eq!(
            change("%1 = addrspacecast ptr addrspace(2) %0 to ptr addrspace(1)\n"),
            "%1 = addrspacecast ptr %0 to ptr addrspace(1)\n"
        );
    }
}
