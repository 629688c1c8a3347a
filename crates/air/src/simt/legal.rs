//! Code that PTX allows and compilers in drivers get wrong (seen with the driver 580, CUDA 13.0; ptxas 13.4 is right),
//! in other words. Done last, so that LLVM does not find the first ones again.
//!
//! * A store of the lowest byte of a register that float arithmetic wrote: the byte is that of the number converted to
//!   an integer. LLVM writes it for stores of float that are not aligned.
//! * Sums of pairs of 16-bit integers in one register (`add.s16x2`) with a constant whose upper half is 0: the constant
//!   is lost.

use crate::ir::{Block, Builder, Opcode, Rewrite, Type, Value};

/// Rewrites all functions of a module.
pub(super) fn avoid(rewrite: &Rewrite) {
    let module = rewrite.module();
    let b = Builder::new(module);
    for instruction in module.functions().into_iter().flat_map(Value::blocks).flat_map(Block::instructions) {
        b.before(instruction);
        if is_unaligned_store(instruction) {
            store_bytes(&b, instruction);
            rewrite.erase(instruction);
        } else if let Some(new) = by_element(&b, instruction) {
            instruction.replace_all_uses_with(new);
            rewrite.erase(instruction);
        }
    }
}

/// The bytes of a floating-point number.
fn float_bytes(ty: Type) -> u32 {
    if ty.is_half() || ty.is_bfloat() { 2 } else { 4 }
}

fn is_unaligned_store(instruction: Value) -> bool {
    if !instruction.is(Opcode::LLVMStore) || instruction.is_volatile() || instruction.is_atomic() {
        return false;
    }
    let ty = instruction.operand(0).ty().scalar();
    let is_float = ty.is_float_like() && ty != Type::double(ty.context());
    is_float && instruction.alignment() < float_bytes(ty)
}

/// Stores numbers byte by byte. The lowest one, too, comes from an operation on integers.
fn store_bytes<'m>(b: &Builder<'m>, store: Value<'m>) {
    let (value, pointer) = (store.operand(0), store.operand(1));
    let (byte, int, long) = (Type::int(b.context(), 8), Type::int(b.context(), 32), Type::int(b.context(), 64));
    let size = float_bytes(value.ty().scalar());
    let count = if value.ty().is_vector() { value.ty().length() } else { 1 };
    for index in 0..count {
        let part = match value.ty().is_vector() {
            true => b.extract(value, int.constant(index as i64)),
            false => value,
        };
        let bits = b.zext(b.bitcast(part, Type::int(b.context(), 8 * size)), int);
        for place in 0..size {
            let selected = match place {
                // LLVM knows that a byte needs no operation to be the lowest.
                0 => b.assembly("prmt.b32 $0, $1, 0, 0x4440;", "=r,r", int, &[bits]),
                _ => b.binary(Opcode::LLVMLShr, bits, int.constant(8 * i64::from(place))),
            };
            let at = long.constant(index as i64 * i64::from(size) + i64::from(place));
            b.store(b.trunc(selected, byte), b.offset(pointer, at), 1);
        }
    }
}

/// An operation on a vector of 16-bit integers, on each element; `None` for others.
fn by_element<'m>(b: &Builder<'m>, instruction: Value<'m>) -> Option<Value<'m>> {
    let ty = instruction.ty();
    if !ty.is_vector() || !ty.element().is_int() || ty.element().int_bits() != 16 {
        return None;
    }
    let name = match instruction.opcode() {
        Opcode::LLVMAdd | Opcode::LLVMSub => None,
        Opcode::LLVMCall => {
            let name = instruction.callee().and_then(Value::intrinsic_name)?;
            let known = ["llvm.smin", "llvm.smax", "llvm.umin", "llvm.umax"];
            Some(name).filter(|name| known.contains(&name.as_str()))
        }
        _ => return None,
    };
    if instruction.is(Opcode::LLVMCall) && name.is_none() {
        return None;
    }
    let place = |index: usize| Type::int(b.context(), 32).constant(index as i64);
    Some((0..ty.length()).fold(ty.poison(), |result, index| {
        let [x, y] = [0, 1].map(|side| b.extract(instruction.operand(side), place(index)));
        let element = match &name {
            Some(name) => b.intrinsic(name, &[x.ty()], &[x, y]),
            None => b.binary(instruction.opcode(), x, y),
        };
        b.insert(result, element, place(index))
    }))
}
