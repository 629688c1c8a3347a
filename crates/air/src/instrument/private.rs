//! Private arrays: conditions about the index.

use super::accesses::is_private;
use super::chosen::{PrivatePlace, private_place};
use super::provenance::{Root, content_size};
use super::{Instrumentation, at};
use crate::ir::{IntPredicate, Type, Value};
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
    let Some(object) = object(pass, pointer) else { return true };
    let Some(PrivatePlace { offset, size }) = private_place(pass, pointer) else { return true };
    let bytes = content_size(&pass.layout, ty);
    let wide = pass.int(64);
    pass.b.before(instruction);
    let end = match size.as_int() {
        Some(size) => wide.constant((size + 1 - bytes as i64).max(0)),
        None => {
            let is_large = pass.b.icmp(IntPredicate::LLVMIntUGE, size, wide.constant(bytes as i64));
            pass.b.select(is_large, pass.b.sub(size, wide.constant(bytes as i64 - 1)), wide.zero())
        }
    };
    let holds = pass.b.icmp(IntPredicate::LLVMIntULT, offset, end);
    let site = Site { operation, object, bytes: bytes as u32, alignment: 1, ..at(instruction) };
    if holds.as_int() != Some(-1) && holds.as_int() != Some(1) {
        let site = pass.site(site);
        pass.check(holds, site, offset);
    }
    true
}

/// The variable that a pointer points into. Of several, the smallest, without a name. None for other memory.
fn object<'m>(pass: &Instrumentation<'m>, pointer: Value<'m>) -> Option<Object> {
    let roots = pass.provenance.roots(pointer)?;
    let size = |root: &Root<'m>| match root.object {
        Object::Private { size, .. } => Some(size),
        _ => None,
    };
    let sizes = roots.iter().map(size).collect::<Option<Vec<u64>>>()?;
    match &roots[..] {
        [root] => Some(root.object.clone()),
        _ => Some(Object::Private { name: String::new(), size: sizes.into_iter().min()? }),
    }
}

/// The bytes that a getelementptr adds.
pub(super) fn distance<'m>(pass: &Instrumentation<'m>, address: Value<'m>) -> Option<Value<'m>> {
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
