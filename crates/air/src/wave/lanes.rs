//! Vectors with one element for each lane of a simdgroup.

use crate::ir::{Builder, IntPredicate, Opcode, Type, Value};
use abi::LANES;

/// `<32 x i1>`: the lanes that are active.
pub(super) type Mask<'m> = Value<'m>;

/// The type of one value per lane.
pub(super) fn lanes_of(scalar: Type) -> Type {
    scalar.vector(LANES)
}

/// The same scalar in every lane.
pub(super) fn splat<'m>(b: &Builder<'m>, scalar: Value<'m>) -> Value<'m> {
    if scalar.is_constant() {
        return if scalar.is_undef() {
            lanes_of(scalar.ty()).undef()
        } else {
            Value::constant_vector(&[scalar; LANES])
        };
    }
    let vector = lanes_of(scalar.ty());
    let first = b.insert(vector.poison(), scalar, Type::int(b.context(), 64).constant(0));
    b.shuffle(first, vector.poison(), &[0; LANES])
}

/// The scalar in every lane of a constant or of what [`splat`] made.
pub(super) fn splatted(vector: Value) -> Option<Value> {
    if vector.is_constant() {
        let first = vector.constant_element(0)?;
        return (1..LANES).all(|lane| vector.constant_element(lane) == Some(first)).then_some(first);
    }
    if !vector.is_instruction()
        || vector.opcode() != Opcode::LLVMShuffleVector
        || vector.shuffle_pattern() != [0; LANES]
    {
        return None;
    }
    let first = vector.operand(0);
    let is_insert = first.is_instruction() && first.opcode() == Opcode::LLVMInsertElement;
    (is_insert && first.operand(2).as_int() == Some(0)).then(|| first.operand(1))
}

/// `start + step * lane` in an integer type, as a constant.
pub(super) fn ramp(scalar: Type, start: i64, step: i64) -> Value {
    let parts: Vec<Value> =
        (0..LANES as i64).map(|lane| scalar.constant(start.wrapping_add(step.wrapping_mul(lane)))).collect();
    Value::constant_vector(&parts)
}

/// The mask as a 32-bit integer, lane 0 in the lowest bit.
pub(super) fn mask_bits<'m>(b: &Builder<'m>, mask: Mask<'m>) -> Value<'m> {
    b.bitcast(mask, Type::int(b.context(), LANES as u32))
}

/// True if any lane is active.
pub(super) fn any<'m>(b: &Builder<'m>, mask: Mask<'m>) -> Value<'m> {
    let bits = mask_bits(b, mask);
    b.icmp(IntPredicate::LLVMIntNE, bits, bits.ty().zero())
}

/// The number of the first active lane, as an `i32`; 32 when there is none.
pub(super) fn first_active<'m>(b: &Builder<'m>, mask: Mask<'m>) -> Value<'m> {
    let bits = mask_bits(b, mask);
    let zero_is_defined = Type::int(b.context(), 1).constant(0);
    b.intrinsic("llvm.cttz", &[bits.ty()], &[bits, zero_is_defined])
}

/// The lanes' own numbers in an integer type.
pub(super) fn lane_numbers(scalar: Type) -> Value {
    ramp(scalar, 0, 1)
}

/// Widens or narrows an integer without regard to its sign.
pub(super) fn resize<'m>(b: &Builder<'m>, value: Value<'m>, to: Type<'m>) -> Value<'m> {
    let (from_bits, to_bits) = (value.ty().scalar().int_bits(), to.scalar().int_bits());
    let opcode = if from_bits < to_bits { Opcode::LLVMZExt } else { Opcode::LLVMTrunc };
    b.cast(opcode, value, to)
}
