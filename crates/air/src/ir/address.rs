//! Addresses as sums.

use super::{Layout, Opcode, Value};

/// An address: `base + Σ value · factor + offset`.
pub(crate) struct Address<'m> {
    pub(crate) base: Value<'m>,
    pub(crate) terms: Vec<(Value<'m>, i64)>,
    pub(crate) offset: i64,
}

/// The longest chain of pointers that is followed.
const DEEPEST: usize = 16;

impl<'m> Address<'m> {
    /// The parts of a pointer; `None` if a number does not fit.
    pub(crate) fn of(pointer: Value<'m>, layout: Layout<'m>) -> Option<Address<'m>> {
        let mut address = Address { base: pointer, terms: Vec::new(), offset: 0 };
        for _ in 0..DEEPEST {
            if address.base.is(Opcode::LLVMBitCast) {
                address.base = address.base.operand(0);
                continue;
            }
            if !address.base.is(Opcode::LLVMGetElementPtr) {
                break;
            }
            let operands = address.base.operands();
            let mut stepped = address.base.source_element_type();
            for (position, &index) in operands[1..].iter().enumerate() {
                if position > 0 && stepped.is_struct() {
                    let member = usize::try_from(index.as_int()?).ok()?;
                    address.offset =
                        address.offset.checked_add(i64::try_from(layout.offset(stepped, member)).ok()?)?;
                    stepped = stepped.members()[member];
                    continue;
                }
                if position > 0 {
                    stepped = stepped.element();
                }
                let size = i64::try_from(layout.size(stepped)).ok()?;
                match index.as_int() {
                    Some(number) => address.offset = address.offset.checked_add(number.checked_mul(size)?)?,
                    None => address.terms.push((index, size)),
                }
            }
            address.base = operands[0];
        }
        Some(address)
    }
}
