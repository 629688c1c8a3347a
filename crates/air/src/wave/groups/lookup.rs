//! Values of lanes whose numbers are not known until the code runs.
//!
//! LLVM has no such instruction for all targets, and the patterns that its selection recognizes do not survive its
//! optimizations. So the CPU's own is used: `vpermi2d` of AVX-512, `vpermd` of AVX2. Elsewhere the values go through
//! memory.

use crate::ir::{Builder, IntPredicate, Opcode, Type, Value};
use crate::wave::lanes::lanes_of;
use abi::LANES;

/// A way to look up the values of other lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::wave) enum Permutation {
    Avx512,
    Avx2,
    Memory,
}

/// The attribute of a function with this choice.
const ATTRIBUTE: &str = "lane-permutation";

impl Permutation {
    /// Chooses it for a function, before its code is written. Without a choice it is `Memory`.
    pub(in crate::wave) fn choose_for(self, function: Value) {
        match self {
            Permutation::Avx512 => function.add_text_attribute(ATTRIBUTE, "avx512f"),
            Permutation::Avx2 => function.add_text_attribute(ATTRIBUTE, "avx2"),
            Permutation::Memory => {}
        }
    }

    fn of(function: Value) -> Permutation {
        match function.text_attribute(ATTRIBUTE).as_deref() {
            Some("avx512f") => Permutation::Avx512,
            Some("avx2") => Permutation::Avx2,
            _ => Permutation::Memory,
        }
    }
}

/// `data` of the lanes `source`, an `i32` below 32 each.
pub(super) fn look_up<'m>(b: &Builder<'m>, data: Value<'m>, source: Value<'m>) -> Value<'m> {
    // The source of an inactive lane may be undefined, and would make an address undefined.
    let source = b.freeze(source);
    match Permutation::of(b.block().function()) {
        Permutation::Avx512 => in_32_bits(b, data, |part| permute_avx512(b, part, source)),
        Permutation::Avx2 => in_32_bits(b, data, |part| permute_avx2(b, part, source)),
        Permutation::Memory => through_memory(b, data, source),
    }
}

/// Applies `permute`, which takes vectors of `i32`, to vectors of any numbers.
fn in_32_bits<'m>(b: &Builder<'m>, data: Value<'m>, permute: impl Fn(Value<'m>) -> Value<'m>) -> Value<'m> {
    let element = data.ty().element();
    let int = |bits| lanes_of(Type::int(b.context(), bits));
    let bits = match element {
        _ if element.is_int() => element.int_bits(),
        _ if element.is_half() => 16,
        _ => 32,
    };
    let number = b.bitcast(data, int(bits));
    if bits <= 32 {
        let permuted = permute(b.zext(number, int(32)));
        return b.bitcast(b.trunc(permuted, int(bits)), data.ty());
    }
    let half = |number| permute(b.trunc(number, int(32)));
    let upper = half(b.binary(Opcode::LLVMLShr, number, int(64).constant(32)));
    let upper = b.binary(Opcode::LLVMShl, b.zext(upper, int(64)), int(64).constant(32));
    b.bitcast(b.or(upper, b.zext(half(number), int(64))), data.ty())
}

/// `length` elements from `start` on.
fn part<'m>(b: &Builder<'m>, vector: Value<'m>, start: usize, length: usize) -> Value<'m> {
    let pattern: Vec<i32> = (start..start + length).map(|index| index as i32).collect();
    b.shuffle(vector, vector.ty().poison(), &pattern)
}

/// Vectors one after the other.
fn concatenate<'m>(b: &Builder<'m>, left: Value<'m>, right: Value<'m>) -> Value<'m> {
    let pattern: Vec<i32> = (0..2 * left.ty().length() as i32).collect();
    b.shuffle(left, right, &pattern)
}

fn permute_avx512<'m>(b: &Builder<'m>, data: Value<'m>, source: Value<'m>) -> Value<'m> {
    let (low, high) = (part(b, data, 0, 16), part(b, data, 16, 16));
    let quarter = |start| {
        let source = part(b, source, start, 16);
        b.intrinsic("llvm.x86.avx512.vpermi2var.d.512", &[], &[low, source, high])
    };
    concatenate(b, quarter(0), quarter(16))
}

/// Each eight lanes from each eight; then the fourth and fifth bit of the number decide.
fn permute_avx2<'m>(b: &Builder<'m>, data: Value<'m>, source: Value<'m>) -> Value<'m> {
    let eighths: Vec<Value<'m>> = (0..4)
        .map(|quarter| {
            let source = part(b, source, 8 * quarter, 8);
            let from = |start| b.intrinsic("llvm.x86.avx2.permd", &[], &[part(b, data, start, 8), source]);
            let has_bit = |bit: i64| {
                let bit = b.and(source, source.ty().constant(bit));
                b.icmp(IntPredicate::LLVMIntNE, bit, source.ty().zero())
            };
            let low = b.select(has_bit(8), from(8), from(0));
            let high = b.select(has_bit(8), from(24), from(16));
            b.select(has_bit(16), high, low)
        })
        .collect();
    let (low, high) = (concatenate(b, eighths[0], eighths[1]), concatenate(b, eighths[2], eighths[3]));
    concatenate(b, low, high)
}

fn through_memory<'m>(b: &Builder<'m>, data: Value<'m>, source: Value<'m>) -> Value<'m> {
    let element = data.ty().element();
    if element.is_int() && element.int_bits() == 1 {
        let bytes = b.zext(data, lanes_of(Type::int(b.context(), 8)));
        return b.trunc(through_memory(b, bytes, source), data.ty());
    }
    let slot = b.entry_alloca(data.ty(), 64);
    b.store(data, slot, 64);
    let size = match element {
        _ if element.is_int() => element.int_bits() / 8,
        _ if element.is_half() => 2,
        _ => 4,
    };
    let long = lanes_of(Type::int(b.context(), 64));
    let source = b.and(source, source.ty().constant(LANES as i64 - 1));
    let offset = b.mul(b.zext(source, long), long.constant(size.into()));
    let pointers = b.offset(slot, offset);
    let all = lanes_of(Type::int(b.context(), 1)).all_ones();
    b.intrinsic("llvm.masked.gather", &[data.ty(), pointers.ty()], &[pointers, all, data.ty().poison()])
}
