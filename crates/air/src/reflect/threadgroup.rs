//! The threadgroup variables that a kernel reaches: globals in address space 3.

use crate::metadata::ORIGIN_THREADGROUP;
use crate::metadata::read::{Global, Operand, named};
use inkwell::llvm_sys::core::{
    LLVMGetAlignment, LLVMGetFirstBasicBlock, LLVMGetFirstInstruction, LLVMGetNextBasicBlock,
    LLVMGetNextInstruction, LLVMGetNumOperands, LLVMGetOperand, LLVMGetPointerAddressSpace, LLVMGlobalGetValueType,
    LLVMIsAConstant, LLVMIsAFunction, LLVMIsAGlobalVariable, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::llvm_sys::target::{LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use msl::reflect::ThreadgroupVariable;
use std::collections::HashSet;

const THREADGROUP: u32 = 3;

/// The variables, and the bytes that they take one after the other, each at its alignment: first those that the module
/// lists, with their names and types, then others that the kernel reaches, in the order of the module.
pub(super) fn memory(module: &Module, kernel: Global) -> (Vec<ThreadgroupVariable>, u64) {
    let mut found: Vec<(LLVMValueRef, String, String)> = Vec::new();
    for node in named(module, ORIGIN_THREADGROUP) {
        if let [Operand::Global(global), Operand::Text(name), Operand::Text(ty), ..] = &node.operands()[..]
            && is_threadgroup(global.as_value_ref())
        {
            found.push((global.as_value_ref(), name.clone(), ty.clone()));
        }
    }
    let reached = reached(kernel.as_value_ref());
    for global in module.get_globals() {
        let value = global.as_value_ref();
        if reached.contains(&value) && is_threadgroup(value) && found.iter().all(|(other, ..)| *other != value) {
            found.push((value, variable_name(&global.get_name().to_string_lossy()), String::new()));
        }
    }
    let mut variables = Vec::new();
    let mut total = 0u64;
    for (value, name, ty) in found {
        // SAFETY: the module and its global are alive; the type of a global variable has a size.
        let (size, align) = unsafe {
            let layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
            let ty = LLVMGlobalGetValueType(value);
            let align = LLVMGetAlignment(value).max(LLVMABIAlignmentOfType(layout, ty));
            (LLVMABISizeOfType(layout, ty), u64::from(align.max(1)))
        };
        total = total.div_ceil(align).saturating_mul(align).saturating_add(size);
        variables.push(ThreadgroupVariable { name, ty, size, align });
    }
    (variables, total)
}

fn is_threadgroup(global: LLVMValueRef) -> bool {
    // SAFETY: the type of a global variable is a pointer.
    unsafe {
        !LLVMIsAGlobalVariable(global).is_null() && LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == THREADGROUP
    }
}

/// All constants, globals and functions that a function mentions, directly or not.
fn reached(kernel: LLVMValueRef) -> HashSet<LLVMValueRef> {
    let mut reached = HashSet::from([kernel]);
    let mut pending = vec![kernel];
    while let Some(value) = pending.pop() {
        // SAFETY: every value in `pending` belongs to the module, and functions are asked for their blocks only.
        unsafe {
            if LLVMIsAFunction(value).is_null() {
                operands(value, &mut reached, &mut pending);
                continue;
            }
            let mut block = LLVMGetFirstBasicBlock(value);
            while !block.is_null() {
                let mut instruction = LLVMGetFirstInstruction(block);
                while !instruction.is_null() {
                    operands(instruction, &mut reached, &mut pending);
                    instruction = LLVMGetNextInstruction(instruction);
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
    }
    reached
}

/// Adds the constants among the operands of a value.
///
/// # Safety
///
/// `value` is alive, and an instruction or a constant.
unsafe fn operands(value: LLVMValueRef, reached: &mut HashSet<LLVMValueRef>, pending: &mut Vec<LLVMValueRef>) {
    // SAFETY: instructions and constants have operands; one may be missing, but none is dead.
    unsafe {
        for index in 0..LLVMGetNumOperands(value).max(0) as u32 {
            let operand = LLVMGetOperand(value, index);
            if !operand.is_null() && !LLVMIsAConstant(operand).is_null() && reached.insert(operand) {
                pending.push(operand);
            }
        }
    }
}

/// `tile` of `_ZZ4gemmIfEvPfE4tile.3`: the variable of a function as the Itanium C++ ABI mangles it, and a number that
/// the linker added. Other names are what they are.
fn variable_name(name: &str) -> String {
    if !name.starts_with("_ZZ") {
        return name.into();
    }
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.rsplit_once('.').filter(|(_, number)| is_number(number)).map_or(name, |(name, _)| name);
    let mut parts = name.match_indices('E').filter_map(|(at, _)| {
        let rest = &name[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        let (identifier, suffix) = rest[digits..].split_at_checked(length)?;
        let is_end = suffix.is_empty() || suffix.strip_prefix('_').is_some_and(is_number);
        (is_end && !identifier.is_empty()).then(|| identifier.to_owned())
    });
    parts.next().unwrap_or_else(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::variable_name;

    #[test]
    fn names_of_variables() {
        assert_eq!(variable_name("tile"), "tile");
        assert_eq!(
            variable_name("_ZZ14rms_single_rowIfLi4EEvPU9MTLdeviceKT_S2_E14local_inv_mean.0"),
            "local_inv_mean"
        );
        assert_eq!(variable_name("_ZZ1kvE2Bs"), "Bs");
        assert_eq!(variable_name("_ZZ1kvE3E1x_0"), "E1x");
        assert_eq!(variable_name("_ZZ"), "_ZZ");
        assert_eq!(variable_name("_ZZéE9é"), "_ZZéE9é");
    }
}
