//! Sums of four products of bytes ([`crate::bytes`]) for 32 lanes, by the instruction that the CPU has for them.
//!
//! ```text
//! AVX-512 VNNI, AVX-VNNI   vpdpbusd: unsigned by signed. Of signed bytes, a·b = (a + 128)·b − 128·b
//! AVX2, AVX-512            vpmaddubsw, vpmaddwd where no sum of two products exceeds 16 bits: bytes below 128 by signed.
//!                          Otherwise vpmaddwd of the even bytes and of the odd bytes
//! AArch64 dotprod, i8mm    sdot: signed by signed, usdot: unsigned by signed. With sdot alone,
//!                          a·b = (a − 128)·b + 64·b + 64·b
//! ```
//!
//! Sums of two products of `bfloat` ([`crate::bfloats`]) are `vdpbf16ps` with AVX-512 BF16.

use super::lanes::splatted;
use crate::bytes::Dot;
use crate::ir::{Builder, Opcode, Type, Value};
use abi::LANES;

/// An extension with products of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ByteProducts {
    Avx512Vnni,
    AvxVnni,
    Avx2,
    Usdot,
    Sdot,
    Plain,
}

/// The attribute of a function with this choice.
const ATTRIBUTE: &str = "byte-products";

/// The attribute of a function for a CPU with AVX-512 BF16.
const BFLOATS: &str = "bfloat-products";

/// Says that the CPU of a function has AVX-512 BF16, before its code is written.
pub(super) fn choose_bfloats_for(function: Value) {
    function.add_text_attribute(BFLOATS, "avx512bf16");
}

impl ByteProducts {
    const NAMES: [(ByteProducts, &str); 5] = [
        (ByteProducts::Avx512Vnni, "avx512vnni"),
        (ByteProducts::AvxVnni, "avxvnni"),
        (ByteProducts::Avx2, "avx2"),
        (ByteProducts::Usdot, "i8mm"),
        (ByteProducts::Sdot, "dotprod"),
    ];

    /// Chooses it for a function, before its code is written. Without a choice it is `Plain`.
    pub(super) fn choose_for(self, function: Value) {
        if let Some((_, name)) = ByteProducts::NAMES.iter().find(|(products, _)| *products == self) {
            function.add_text_attribute(ATTRIBUTE, name);
        }
    }

    fn of(function: Value) -> ByteProducts {
        let chosen = function.text_attribute(ATTRIBUTE);
        let mut names = ByteProducts::NAMES.into_iter();
        let found = names.find(|(_, name)| chosen.as_deref() == Some(*name));
        found.map_or(ByteProducts::Plain, |(products, _)| products)
    }

    /// Words in a register.
    fn words(self) -> usize {
        match self {
            ByteProducts::Avx512Vnni => 16,
            ByteProducts::AvxVnni | ByteProducts::Avx2 => 8,
            ByteProducts::Usdot | ByteProducts::Sdot => 4,
            ByteProducts::Plain => LANES,
        }
    }
}

/// The sum for all lanes, or for the numbers that they share. The values are two words and the sum so far.
pub(super) fn emit<'m>(b: &Builder<'m>, dot: Dot, values: &[Value<'m>]) -> Value<'m> {
    let [mut left, mut right, sum] = [values[0], values[1], values[2]];
    if dot == Dot::Bfloats {
        let has_instruction = b.block().function().text_attribute(BFLOATS).is_some();
        return if has_instruction && sum.ty().is_vector() {
            bfloats(b, [left, right, sum])
        } else {
            dot.plain(b, [left, right, sum])
        };
    }
    // The correction for the sign of the left side depends on the right side alone: that one is better the same for all lanes.
    if dot == Dot::Signed && sum.ty().is_vector() && splatted(left).is_some() {
        (left, right) = (right, left);
    }
    let products = ByteProducts::of(b.block().function());
    if products == ByteProducts::Plain || !sum.ty().is_vector() {
        return dot.plain(b, [left, right, sum]);
    }
    let words = products.words();
    by_registers(b, words, [left, right, sum], |values| Register { b, products, words }.sum(dot, values))
}

/// Sums of two products of `bfloat`.
fn bfloats<'m>(b: &Builder<'m>, values: [Value<'m>; 3]) -> Value<'m> {
    const WORDS: usize = 16;
    let pairs = |words: Value<'m>| b.bitcast(words, Type::bfloat(b.context()).vector(2 * WORDS));
    by_registers(b, WORDS, values, |[left, right, sum]| {
        b.intrinsic("llvm.x86.avx512bf16.dpbf16ps.512", &[], &[sum, pairs(left), pairs(right)])
    })
}

/// The sums for all lanes, as many at a time as fit a register.
fn by_registers<'m>(
    b: &Builder<'m>,
    words: usize,
    values: [Value<'m>; 3],
    sum: impl Fn([Value<'m>; 3]) -> Value<'m>,
) -> Value<'m> {
    let part = |value: Value<'m>, first: usize| {
        let pattern: Vec<i32> = (first..first + words).map(|lane| lane as i32).collect();
        b.shuffle(value, value.ty().poison(), &pattern)
    };
    let mut parts: Vec<Value<'m>> =
        (0..LANES).step_by(words).map(|first| sum(values.map(|value| part(value, first)))).collect();
    while parts.len() > 1 {
        parts = parts.chunks(2).map(|pair| join(b, pair[0], pair[1])).collect();
    }
    parts[0]
}

/// One vector after the other.
pub(super) fn join<'m>(b: &Builder<'m>, low: Value<'m>, high: Value<'m>) -> Value<'m> {
    let pattern: Vec<i32> = (0..2 * low.ty().length() as i32).collect();
    b.shuffle(low, high, &pattern)
}

/// Code for as many words as fit a register.
struct Register<'a, 'm> {
    b: &'a Builder<'m>,
    products: ByteProducts,
    words: usize,
}

impl<'m> Register<'_, 'm> {
    fn sum(&self, dot: Dot, [left, right, sum]: [Value<'m>; 3]) -> Value<'m> {
        let all = |byte: i64| self.repeat(32, byte * 0x0101_0101);
        let flipped = || self.b.xor(left, all(0x80));
        match (self.products, dot) {
            (ByteProducts::Avx512Vnni | ByteProducts::AvxVnni, Dot::Signed) => {
                let surplus = self.vnni(sum.ty().zero(), all(0x80), right);
                self.vnni(self.b.sub(sum, surplus), flipped(), right)
            }
            (ByteProducts::Avx512Vnni | ByteProducts::AvxVnni, _) => self.vnni(sum, left, right),
            (ByteProducts::Avx2, Dot::Small) => {
                let pairs =
                    self.b.intrinsic("llvm.x86.avx2.pmadd.ub.sw", &[], &[self.bytes(left), self.bytes(right)]);
                self.b.add(sum, self.pairs(pairs, self.repeat(16, 1)))
            }
            (ByteProducts::Avx2, _) => {
                let is_signed = dot == Dot::Signed;
                let even = self.pairs(self.even(left, is_signed), self.even(right, true));
                let odd = self.pairs(self.odd(left, is_signed), self.odd(right, true));
                self.b.add(self.b.add(sum, even), odd)
            }
            (ByteProducts::Usdot, Dot::Unsigned) => self.neon("usdot", sum, left, right),
            (ByteProducts::Sdot, Dot::Unsigned) => {
                let sum = self.neon("sdot", sum, all(64), right);
                self.neon("sdot", self.neon("sdot", sum, all(64), right), flipped(), right)
            }
            (ByteProducts::Usdot | ByteProducts::Sdot, _) => self.neon("sdot", sum, left, right),
            (_, Dot::Bfloats) | (ByteProducts::Plain, _) => dot.plain(self.b, [left, right, sum]),
        }
    }

    fn vnni(&self, sum: Value<'m>, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        let name = match self.products {
            ByteProducts::Avx512Vnni => "llvm.x86.avx512.vpdpbusd.512",
            _ => "llvm.x86.avx512.vpdpbusd.256",
        };
        self.b.intrinsic(name, &[], &[sum, self.bytes(left), self.bytes(right)])
    }

    fn neon(&self, name: &str, sum: Value<'m>, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        let (left, right) = (self.bytes(left), self.bytes(right));
        self.b.intrinsic(&format!("llvm.aarch64.neon.{name}"), &[sum.ty(), left.ty()], &[sum, left, right])
    }

    /// Sums of two products of 16 bits.
    fn pairs(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.intrinsic("llvm.x86.avx2.pmadd.wd", &[], &[left, right])
    }

    /// The bytes 0 and 2 of each word, as 16 bits.
    fn even(&self, words: Value<'m>, is_signed: bool) -> Value<'m> {
        let (b, eight) = (self.b, self.repeat(16, 8));
        let high = b.binary(Opcode::LLVMShl, self.halves(words), eight);
        b.binary(if is_signed { Opcode::LLVMAShr } else { Opcode::LLVMLShr }, high, eight)
    }

    /// The bytes 1 and 3 of each word, as 16 bits.
    fn odd(&self, words: Value<'m>, is_signed: bool) -> Value<'m> {
        let opcode = if is_signed { Opcode::LLVMAShr } else { Opcode::LLVMLShr };
        self.b.binary(opcode, self.halves(words), self.repeat(16, 8))
    }

    fn halves(&self, words: Value<'m>) -> Value<'m> {
        self.b.bitcast(words, Type::int(self.b.context(), 16).vector(2 * self.words))
    }

    fn bytes(&self, words: Value<'m>) -> Value<'m> {
        self.b.bitcast(words, Type::int(self.b.context(), 8).vector(4 * self.words))
    }

    /// A register with the same number in all elements of `bits` bits.
    fn repeat(&self, bits: u32, number: i64) -> Value<'m> {
        let element = Type::int(self.b.context(), bits).constant(number);
        Value::constant_vector(&vec![element; self.words * 32 / bits as usize])
    }
}
