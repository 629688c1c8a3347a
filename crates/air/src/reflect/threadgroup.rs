//! The threadgroup variables that a kernel reaches: globals in address space 3.

use crate::ir::{Block, Layout, ModuleRef, Operand, Value, named};
use crate::metadata::ORIGIN_THREADGROUP;
use msl::reflect::ThreadgroupVariable;
use std::collections::HashSet;

const THREADGROUP: u32 = 3;

/// The variables, and the bytes that they take one after the other, each at its alignment: first those that the module
/// lists, with their names and types, then others that the kernel reaches, in the order of the module.
pub(super) fn memory<'m>(module: ModuleRef<'m>, kernel: Value<'m>) -> (Vec<ThreadgroupVariable>, u64) {
    let mut found: Vec<(Value, String, String)> = Vec::new();
    for node in named(module, ORIGIN_THREADGROUP) {
        if let [Operand::Global(global), Operand::Text(name), Operand::Text(ty), ..] = &node.operands()[..]
            && is_threadgroup(*global)
        {
            found.push((*global, name.clone(), ty.clone()));
        }
    }
    let reached = reached(kernel);
    for global in module.globals() {
        if reached.contains(&global) && is_threadgroup(global) && found.iter().all(|(other, ..)| *other != global) {
            found.push((global, variable_name(&global.name()), String::new()));
        }
    }
    let layout = Layout::of(module);
    let mut variables = Vec::new();
    let mut total = 0u64;
    for (global, name, ty) in found {
        let value_type = global.global_type();
        let align = u64::from(global.alignment().max(layout.align(value_type)).max(1));
        let size = layout.size(value_type);
        total = total.div_ceil(align).saturating_mul(align).saturating_add(size);
        variables.push(ThreadgroupVariable { name, ty, size, align });
    }
    (variables, total)
}

pub(super) fn is_threadgroup(global: Value) -> bool {
    global.is_global_variable() && global.ty().address_space() == THREADGROUP
}

/// All constants, globals and functions that a function mentions, directly or not.
fn reached<'m>(kernel: Value<'m>) -> HashSet<Value<'m>> {
    let mut reached = HashSet::from([kernel]);
    let mut pending = vec![kernel];
    while let Some(value) = pending.pop() {
        let mut add = |operand: Value<'m>| {
            if operand.is_constant() && reached.insert(operand) {
                pending.push(operand);
            }
        };
        if value.is_function() {
            let instructions = value.blocks().into_iter().flat_map(Block::instructions);
            instructions.flat_map(Value::operands).for_each(&mut add);
        } else {
            value.operands().into_iter().for_each(&mut add);
        }
    }
    reached
}

/// `tile` of `_ZZ4gemmIfEvPfE4tile.3`: the variable of a function as the Itanium C++ ABI mangles it, and a number that
/// the linker added. Other names stay.
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
