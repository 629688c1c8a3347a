//! Pointers that a condition or a loop chooses, such as two buffers that are swapped: the object that each points into,
//! and the distance from its start, are chosen in the same way, by selects and phis beside those of the pointers.

use super::Instrumentation;
use crate::ir::{Opcode, Value};
use abi::Object;

/// The start of the object that a pointer points into. All its roots are known.
pub(super) fn base<'m>(pass: &mut Instrumentation<'m>, mut pointer: Value<'m>) -> Value<'m> {
    let is_choice = |value: Value<'m>| matches!(value.opcode(), Opcode::LLVMSelect | Opcode::LLVMPHI);
    loop {
        if let Some(root) = pass.provenance.is_root(pointer) {
            return root.base;
        }
        if is_choice(pointer) {
            break;
        }
        pointer = pointer.operand(0);
    }
    if let Some(&known) = pass.bases.get(&pointer) {
        return known;
    }
    if pointer.is(Opcode::LLVMSelect) {
        let (yes, no) = (base(pass, pointer.operand(1)), base(pass, pointer.operand(2)));
        pass.b.before(pointer);
        let chosen = pass.b.select(pointer.operand(0), yes, no);
        pass.bases.insert(pointer, chosen);
        return chosen;
    }
    pass.b.before(pointer);
    let phi = pass.b.phi(pointer.ty());
    // The pointer may depend on itself.
    pass.bases.insert(pointer, phi);
    for (value, block) in pointer.incoming() {
        let start = base(pass, value);
        pass.b.add_incoming(phi, start, block);
    }
    phi
}

/// A place in private memory: the distance from the start of its variable, and the bytes of that.
#[derive(Clone, Copy)]
pub(super) struct PrivatePlace<'m> {
    pub(super) offset: Value<'m>,
    pub(super) size: Value<'m>,
}

/// The place that a pointer points to. All its roots are private variables. None if it cannot be computed.
pub(super) fn private_place<'m>(pass: &mut Instrumentation<'m>, pointer: Value<'m>) -> Option<PrivatePlace<'m>> {
    if let Some(&known) = pass.places.get(&pointer) {
        return Some(known);
    }
    let wide = pass.int(64);
    if let Some(root) = pass.provenance.is_root(pointer) {
        let Object::Private { size, .. } = root.object else { return None };
        return Some(PrivatePlace { offset: wide.zero(), size: wide.constant(size as i64) });
    }
    let place = match pointer.opcode() {
        Opcode::LLVMGetElementPtr => {
            let from = private_place(pass, pointer.operand(0))?;
            pass.b.before(pointer);
            let by = super::private::distance(pass, pointer)?;
            PrivatePlace { offset: pass.b.add(from.offset, by), ..from }
        }
        Opcode::LLVMSelect => {
            let yes = private_place(pass, pointer.operand(1))?;
            let no = private_place(pass, pointer.operand(2))?;
            pass.b.before(pointer);
            let select = |yes, no| pass.b.select(pointer.operand(0), yes, no);
            PrivatePlace { offset: select(yes.offset, no.offset), size: select(yes.size, no.size) }
        }
        Opcode::LLVMPHI => {
            pass.b.before(pointer);
            let place = PrivatePlace { offset: pass.b.phi(wide), size: pass.b.phi(wide) };
            // The pointer may depend on itself.
            pass.places.insert(pointer, place);
            for (value, block) in pointer.incoming() {
                // A pointer that cannot be measured is as good as one to the start.
                let from = private_place(pass, value);
                let from = from.unwrap_or(PrivatePlace { offset: wide.zero(), size: wide.constant(i64::MAX) });
                pass.b.add_incoming(place.offset, from.offset, block);
                pass.b.add_incoming(place.size, from.size, block);
            }
            place
        }
        Opcode::LLVMBitCast | Opcode::LLVMFreeze => private_place(pass, pointer.operand(0))?,
        _ => return None,
    };
    pass.places.insert(pointer, place);
    Some(place)
}
