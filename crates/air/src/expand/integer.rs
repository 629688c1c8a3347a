//! Functions on integers (<metal_integer>). All wrap around but those that say that they saturate.

use super::Expansion;
use super::convert::{highest_integer, lowest_integer};
use super::names::Class;
use crate::ir::{IntPredicate, Type, Value};

impl<'m> Expansion<'m> {
    /// `None` for a function that is not one on integers.
    pub(super) fn integer(&self, base: &str, sign: Option<Class>, arguments: &[Value<'m>]) -> Option<Value<'m>> {
        let ty = arguments.first()?.ty();
        if !ty.scalar().is_int() {
            return None;
        }
        let signed = sign == Some(Class::Signed);
        let by_sign = |of_signed: &str, of_unsigned: &str, arguments: &[Value<'m>]| {
            self.llvm_function(if signed { of_signed } else { of_unsigned }, arguments)
        };
        let min = |x, y| by_sign("llvm.smin", "llvm.umin", &[x, y]);
        let max = |x, y| by_sign("llvm.smax", "llvm.umax", &[x, y]);
        let zero_counts = Type::int(self.b.context(), 1).zero();
        Some(match (base, arguments) {
            ("abs", &[x]) if signed => self.llvm_function("llvm.abs", &[x, zero_counts]),
            ("abs", &[x]) => x,
            ("abs_diff", &[x, y]) => self.b.sub(max(x, y), min(x, y)),
            ("add_sat", &[x, y]) => by_sign("llvm.sadd.sat", "llvm.uadd.sat", &[x, y]),
            ("sub_sat", &[x, y]) => by_sign("llvm.ssub.sat", "llvm.usub.sat", &[x, y]),
            ("clamp", &[x, low, high]) => min(max(x, low), high),
            ("max", &[x, y]) => max(x, y),
            ("max3", &[x, y, z]) => max(max(x, y), z),
            ("min", &[x, y]) => min(x, y),
            ("min3", &[x, y, z]) => min(min(x, y), z),
            ("median3", &[x, y, z]) => max(min(x, y), min(max(x, y), z)),
            ("clz", &[x, ..]) => self.llvm_function("llvm.ctlz", &[x, zero_counts]),
            ("ctz", &[x, ..]) => self.llvm_function("llvm.cttz", &[x, zero_counts]),
            ("popcount", &[x]) => self.llvm_function("llvm.ctpop", &[x]),
            ("reverse_bits", &[x]) => self.llvm_function("llvm.bitreverse", &[x]),
            ("rotate", &[x, count]) => self.llvm_function("llvm.fshl", &[x, x, count]),
            ("hadd", &[x, y]) => self.b.add(self.b.and(x, y), self.half_of(signed, self.b.xor(x, y))),
            ("rhadd", &[x, y]) => self.b.sub(self.b.or(x, y), self.half_of(signed, self.b.xor(x, y))),
            ("mul24", &[x, y]) => self.b.mul(x, y),
            ("mad24", &[x, y, z]) => self.b.add(self.b.mul(x, y), z),
            ("mul_hi", &[x, y]) => self.high_product(signed, x, y),
            ("mad_hi", &[x, y, z]) => self.b.add(self.high_product(signed, x, y), z),
            ("mad_sat", &[x, y, z]) => self.mad_sat(signed, x, y, z),
            ("extract_bits", &[x, offset, bits]) => self.extract_bits(signed, x, offset, bits),
            ("insert_bits", &[x, inserted, offset, bits]) => self.insert_bits(x, inserted, offset, bits),
            _ => return None,
        })
    }

    fn half_of(&self, signed: bool, value: Value<'m>) -> Value<'m> {
        self.shr(signed, value, value.ty().constant(1))
    }

    /// The upper half of a product.
    fn high_product(&self, signed: bool, x: Value<'m>, y: Value<'m>) -> Value<'m> {
        let ty = x.ty();
        let bits = ty.scalar().int_bits();
        if bits == 64 {
            return self.high_product_of_64(signed, x, y);
        }
        let wide = self.ints(ty, 2 * bits);
        let product = self.b.mul(self.resized(signed, x, wide), self.resized(signed, y, wide));
        self.b.trunc(self.shr(signed, product, wide.constant(bits.into())), ty)
    }

    /// By halves: there are no vectors of 128-bit numbers.
    fn high_product_of_64(&self, signed: bool, x: Value<'m>, y: Value<'m>) -> Value<'m> {
        let ty = x.ty();
        let half = ty.constant(32);
        let low = |value| self.b.and(value, ty.constant(0xffff_ffff));
        let high = |value| self.shr(false, value, half);
        let low_low = self.b.mul(low(x), low(y));
        let low_high = self.b.mul(low(x), high(y));
        let high_low = self.b.mul(high(x), low(y));
        let high_high = self.b.mul(high(x), high(y));
        let middle = self.b.add(self.b.add(high(low_low), low(low_high)), low(high_low));
        let product = self.b.add(self.b.add(high_high, high(low_high)), self.b.add(high(high_low), high(middle)));
        if !signed {
            return product;
        }
        // A negative factor was taken for 2⁶⁴ more than it is.
        let correction = |factor, other| self.b.and(self.shr(true, factor, ty.constant(63)), other);
        self.b.sub(self.b.sub(product, correction(x, y)), correction(y, x))
    }

    /// `x * y + z`, saturated at the end only.
    fn mad_sat(&self, signed: bool, x: Value<'m>, y: Value<'m>, z: Value<'m>) -> Value<'m> {
        let ty = x.ty();
        let bits = ty.scalar().int_bits();
        if bits == 64 {
            return self.mad_sat_of_64(signed, x, y, z);
        }
        let wide = self.ints(ty, 2 * bits);
        let widen = |value| self.resized(signed, value, wide);
        // The product of two n-bit numbers leaves room for an n-bit sum.
        let sum = self.b.add(self.b.mul(widen(x), widen(y)), widen(z));
        let highest = widen(highest_integer(ty, signed));
        let lowest = widen(lowest_integer(ty, signed));
        let bounded = match signed {
            true => {
                let lower = self.llvm_function("llvm.smin", &[sum, highest]);
                self.llvm_function("llvm.smax", &[lower, lowest])
            }
            false => self.llvm_function("llvm.umin", &[sum, highest]),
        };
        self.b.trunc(bounded, ty)
    }

    /// In two halves of 64 bits.
    fn mad_sat_of_64(&self, signed: bool, x: Value<'m>, y: Value<'m>, z: Value<'m>) -> Value<'m> {
        let ty = x.ty();
        let sign = |value| self.shr(true, value, ty.constant(63));
        let low = self.b.mul(x, y);
        let sum = self.b.add(low, z);
        let carry = self.b.zext(self.b.icmp(IntPredicate::LLVMIntULT, sum, low), ty);
        let high = self.b.add(self.high_product_of_64(signed, x, y), carry);
        if !signed {
            return self.b.select(self.equal(high, ty.zero()), sum, ty.all_ones());
        }
        let high = self.b.add(high, sign(z));
        let bound = self.b.xor(sign(high), highest_integer(ty, true));
        self.b.select(self.equal(high, sign(sum)), sum, bound)
    }

    /// `bits` bits of `x` from `offset` on, as a number of their own.
    fn extract_bits(&self, signed: bool, x: Value<'m>, offset: Value<'m>, bits: Value<'m>) -> Value<'m> {
        let ty = x.ty();
        let width = ty.constant(ty.scalar().int_bits().into());
        let (offset, bits) = (self.count(offset, ty), self.count(bits, ty));
        let none = self.equal(bits, ty.zero());
        // No bits at all would need a shift by the whole width, which is not defined.
        let bits = self.b.select(none, ty.constant(1), bits);
        let unused = self.in_width(self.b.sub(width, bits));
        let above = self.in_width(self.b.sub(unused, offset));
        let extracted = self.shr(signed, self.shl(x, above), unused);
        self.b.select(none, ty.zero(), extracted)
    }

    /// `x` with its `bits` bits from `offset` on replaced by the lowest of `inserted`.
    fn insert_bits(&self, x: Value<'m>, inserted: Value<'m>, offset: Value<'m>, bits: Value<'m>) -> Value<'m> {
        let ty = x.ty();
        let width = ty.constant(ty.scalar().int_bits().into());
        let (offset, bits) = (self.in_width(self.count(offset, ty)), self.count(bits, ty));
        let none = self.equal(bits, ty.zero());
        let ones = self.shr(false, ty.all_ones(), self.in_width(self.b.sub(width, bits)));
        let ones = self.b.select(none, ty.zero(), ones);
        let mask = self.shl(ones, offset);
        let kept = self.b.and(x, self.b.not(mask));
        self.b.or(kept, self.b.and(self.shl(inserted, offset), mask))
    }

    /// A number of bits (`uint`) in the type of what it counts.
    fn count(&self, count: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.splat(self.resized(false, count, super::emit::shaped(count.ty(), ty.scalar())), ty)
    }

    /// A count to shift by, in the width; one too large is undefined in Metal, and poison in LLVM.
    fn in_width(&self, count: Value<'m>) -> Value<'m> {
        let ty = count.ty();
        self.b.and(count, ty.constant(i64::from(ty.scalar().int_bits()) - 1))
    }
}
