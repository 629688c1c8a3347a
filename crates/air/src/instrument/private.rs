//! Private arrays: conditions about the index.

use super::accesses::{is_private, opcode};
use super::{Instrumentation, at};
use crate::ir::{IntPredicate, Opcode, Type, Value};
use abi::{Object, Operation, Site};

/// Checks an access to private memory; true if it is one.
pub(super) fn access<'m>(
    pass: &mut Instrumentation<'m>,
    instruction: Value<'m>,
    pointer: Value<'m>,
    ty: Type<'m>,
    operation: Operation,
) -> bool {
    const THREAD: u32 = 0;
    if !is_private(pass, pointer) {
        // A constant of the program behind a pointer to private memory has no base of its type.
        return pointer.ty().address_space() == THREAD;
    }
    let Some(root) = pass.provenance.root(pointer) else { return true };
    let Object::Private { size, .. } = root.object else { return true };
    pass.b.before(instruction);
    let Some(offset) = offset(pass, pointer, root.base) else { return true };
    let bytes = match ty.is_vector() {
        true => pass.layout.size(ty.element()) * ty.length() as u64,
        false => pass.layout.size(ty),
    };
    let end = (size + 1).saturating_sub(bytes);
    let holds = pass.b.icmp(IntPredicate::LLVMIntULT, offset, pass.int(64).constant(end as i64));
    let site = Site { operation, object: root.object, bytes: bytes as u32, alignment: 1, ..at(instruction) };
    if holds.as_int() != Some(-1) && holds.as_int() != Some(1) {
        let site = pass.site(site);
        pass.check(holds, site, offset);
    }
    true
}

/// The distance of a pointer from its root, in bytes; none if it comes through a phi or select.
fn offset<'m>(pass: &Instrumentation<'m>, mut pointer: Value<'m>, root: Value<'m>) -> Option<Value<'m>> {
    let wide = pass.int(64);
    let mut total = wide.zero();
    while pointer != root {
        match opcode(pointer)? {
            Opcode::LLVMGetElementPtr => total = pass.b.add(total, distance(pass, pointer)?),
            Opcode::LLVMBitCast | Opcode::LLVMFreeze => {}
            _ => return None,
        }
        pointer = pointer.operand(0);
    }
    Some(total)
}

/// The bytes that a getelementptr adds.
fn distance<'m>(pass: &Instrumentation<'m>, address: Value<'m>) -> Option<Value<'m>> {
    let (b, wide) = (&pass.b, pass.int(64));
    let mut total = wide.zero();
    let mut stepped = address.source_element_type();
    for (position, index) in address.operands().into_iter().skip(1).enumerate() {
        if position > 0 && stepped.is_struct() {
            let member = usize::try_from(index.as_int()?).ok()?;
            total = b.add(total, wide.constant(pass.layout.offset(stepped, member) as i64));
            stepped = *stepped.members().get(member)?;
            continue;
        }
        if position > 0 {
            stepped = stepped.element();
        }
        if !index.ty().is_int() || index.ty().int_bits() > 64 {
            return None;
        }
        let index = if index.ty() == wide { index } else { b.sext(index, wide) };
        total = b.add(total, b.mul(index, wide.constant(pass.layout.size(stepped) as i64)));
    }
    Some(total)
}
