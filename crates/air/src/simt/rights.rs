//! Matrices that are right operands of products, and nothing else. Their columns are in the lanes, as the GPU's products
//! want them, from where they are loaded: also around a loop, which loads those of its next round.

use super::matrix::is_matrix;
use super::tiles::Tiles;
use crate::ir::{Opcode, Value};
use rustc_hash::FxHashSet;

/// The loads and phis among `instructions` that lead to right operands of `tiles` alone.
pub(super) fn find<'m>(instructions: &[Value<'m>], tiles: &Tiles<'m>) -> FxHashSet<Value<'m>> {
    let is_load = |value: Value<'m>| {
        let name = if value.is(Opcode::LLVMCall) { value.callee().map(Value::name) } else { None };
        name.is_some_and(|name| name.starts_with("air.simdgroup_matrix_8x8_load."))
    };
    let can_be = |value: &Value<'m>| is_matrix(value.ty()) && (value.is(Opcode::LLVMPHI) || is_load(*value));
    let mut found: FxHashSet<Value<'m>> = instructions.iter().copied().filter(can_be).collect();
    loop {
        let takes = |value: Value<'m>, user: Value<'m>| {
            let is_operand = tiles.members.contains(&user) && user.operand(0) != value && user.operand(2) != value;
            is_operand || found.contains(&user)
        };
        let is_right = |value: &&Value<'m>| {
            let incoming = if value.is(Opcode::LLVMPHI) { value.incoming() } else { Vec::new() };
            value.users().into_iter().all(|user| takes(**value, user))
                && incoming.iter().all(|(incoming, _)| found.contains(incoming))
        };
        let next: FxHashSet<Value<'m>> =
            instructions.iter().filter(|value| found.contains(*value)).filter(is_right).copied().collect();
        if next.len() == found.len() {
            return found;
        }
        found = next;
    }
}
