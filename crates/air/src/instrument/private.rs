//! Private arrays, and vectors that are indexed at run time: conditions about the index.

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

/// Checks the index of a vector's element.
pub(super) fn element<'m>(pass: &mut Instrumentation<'m>, instruction: Value<'m>) {
    let is_extract = instruction.is(Opcode::LLVMExtractElement);
    let index = instruction.operand(if is_extract { 1 } else { 2 });
    let vector = instruction.operand(0).ty();
    if index.as_int().is_some() || !index.ty().is_int() || index.ty().int_bits() > 64 {
        return;
    }
    let element = pass.layout.size(vector.element());
    let object = Object::Private { name: String::new(), size: element * vector.length() as u64 };
    let operation = if is_extract { Operation::Read } else { Operation::Write };
    let site = Site { operation, object, bytes: element as u32, alignment: 1, ..at(instruction) };
    pass.b.before(instruction);
    let limit = index.ty().constant(vector.length() as i64);
    let holds = pass.b.icmp(IntPredicate::LLVMIntULT, index, limit);
    let wide = pass.int(64);
    let wide_index = if index.ty() == wide { index } else { pass.b.sext(index, wide) };
    let offset = pass.b.mul(wide_index, wide.constant(element as i64));
    let site = pass.site(site);
    pass.check(holds, site, offset);
}
