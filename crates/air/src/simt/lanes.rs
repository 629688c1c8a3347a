//! The lanes of a warp: their numbers, their masks, and values that go from one to another.

use crate::ir::{Builder, IntPredicate, Opcode, Type, Value};

/// All lanes of a simdgroup.
const ALL: i64 = 0xffff_ffff;

/// The lanes that take part in a function between lanes.
#[derive(Clone, Copy)]
pub(super) struct Active<'m> {
    /// One bit for each lane, as an `i32`.
    pub(super) mask: Value<'m>,
    /// True if it is known to be all 32.
    pub(super) is_full: bool,
}

impl<'m> Active<'m> {
    /// All 32 lanes.
    pub(super) fn full(b: &Builder<'m>) -> Active<'m> {
        Active { mask: Type::int(b.context(), 32).constant(ALL), is_full: true }
    }

    /// The lanes that run the code at this place. PTX does not promise that all lanes which took the same way run
    /// together; ptxas has them meet again where the ways join, which is what Metal's rules ask for.
    pub(super) fn here(b: &Builder<'m>) -> Active<'m> {
        Active { mask: b.intrinsic("llvm.nvvm.activemask", &[], &[]), is_full: false }
    }

    /// True, as an `i1`, if a lane takes part.
    pub(super) fn has(&self, b: &Builder<'m>, lane: Value<'m>) -> Value<'m> {
        let bit = b.and(b.binary(Opcode::LLVMLShr, self.mask, lane), lane.ty().constant(1));
        b.icmp(IntPredicate::LLVMIntNE, bit, lane.ty().zero())
    }

    /// The first lane that takes part.
    pub(super) fn first(&self, b: &Builder<'m>) -> Value<'m> {
        let int = Type::int(b.context(), 32);
        if self.is_full {
            return int.zero();
        }
        b.intrinsic("llvm.cttz", &[int], &[self.mask, Type::int(b.context(), 1).constant(1)])
    }
}

/// The number of this lane, as an `i32`.
pub(super) fn lane<'m>(b: &Builder<'m>) -> Value<'m> {
    b.intrinsic("llvm.nvvm.read.ptx.sreg.laneid", &[], &[])
}

/// Lane `lane ^ distance`, `lane - distance`, `lane + distance`, or the lane that is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Movement {
    Xor,
    Up,
    Down,
    From,
}

/// The value that another lane has. A lane beyond the first or the last is the lane itself.
pub(super) fn moved<'m>(
    b: &Builder<'m>,
    active: Active<'m>,
    movement: Movement,
    value: Value<'m>,
    operand: Value<'m>,
) -> Value<'m> {
    let int = Type::int(b.context(), 32);
    let (name, last) = match movement {
        Movement::Xor => ("llvm.nvvm.shfl.sync.bfly.i32", 31),
        Movement::Up => ("llvm.nvvm.shfl.sync.up.i32", 0),
        Movement::Down => ("llvm.nvvm.shfl.sync.down.i32", 31),
        Movement::From => ("llvm.nvvm.shfl.sync.idx.i32", 31),
    };
    by_words(b, value, &|word| b.intrinsic(name, &[], &[active.mask, word, operand, int.constant(last)]))
}

/// The value of the lane with this number.
pub(super) fn from_lane<'m>(b: &Builder<'m>, active: Active<'m>, value: Value<'m>, lane: Value<'m>) -> Value<'m> {
    moved(b, active, Movement::From, value, lane)
}

/// The value of the lane whose number differs in these bits.
pub(super) fn from_partner<'m>(b: &Builder<'m>, active: Active<'m>, value: Value<'m>, bits: i64) -> Value<'m> {
    moved(b, active, Movement::Xor, value, Type::int(b.context(), 32).constant(bits))
}

/// Applies a function on 32-bit words to a scalar or vector of any numbers.
fn by_words<'m>(b: &Builder<'m>, value: Value<'m>, function: &dyn Fn(Value<'m>) -> Value<'m>) -> Value<'m> {
    let ty = value.ty();
    let int = Type::int(b.context(), 32);
    if ty == int {
        return function(value);
    }
    let elements = if ty.is_vector() { ty.length() as u32 } else { 1 };
    let each = element_bits(ty.scalar());
    if elements > 1 && each == 32 {
        let place = |index: u32| int.constant(index.into());
        return (0..elements).fold(ty.poison(), |result, index| {
            let moved = by_words(b, b.extract(value, place(index)), function);
            b.insert(result, moved, place(index))
        });
    }
    let bits = elements * each;
    let words = bits.div_ceil(32);
    let wide = Type::int(b.context(), words * 32);
    let raw = Type::int(b.context(), bits);
    let whole = match ty.scalar().is_pointer() {
        true => b.cast(Opcode::LLVMPtrToInt, value, raw),
        false => b.bitcast(value, raw),
    };
    let whole = b.zext(whole, wide);
    let mut result = wide.zero();
    for index in 0..words {
        let shift = wide.constant(i64::from(index) * 32);
        let word = if words == 1 { whole } else { b.trunc(b.binary(Opcode::LLVMLShr, whole, shift), int) };
        let moved = b.zext(function(word), wide);
        result = if words == 1 { moved } else { b.or(result, b.binary(Opcode::LLVMShl, moved, shift)) };
    }
    let result = b.trunc(result, raw);
    match ty.scalar().is_pointer() {
        true => b.cast(Opcode::LLVMIntToPtr, result, ty),
        false => b.bitcast(result, ty),
    }
}

fn element_bits(ty: Type) -> u32 {
    if ty.is_int() {
        ty.int_bits()
    } else if ty.is_half() || ty.is_bfloat() {
        16
    } else if ty.is_pointer() || ty == Type::double(ty.context()) {
        64
    } else {
        32
    }
}

/// Widens or narrows an integer without regard to its sign.
pub(super) fn resize<'m>(b: &Builder<'m>, value: Value<'m>, to: Type<'m>) -> Value<'m> {
    let is_wider = value.ty().int_bits() < to.int_bits();
    b.cast(if is_wider { Opcode::LLVMZExt } else { Opcode::LLVMTrunc }, value, to)
}
