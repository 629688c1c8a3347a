//! Sums of two products of numbers with the precision of `bfloat`, for which CPUs have an instruction: `vdpbf16ps`.
//!
//! ```text
//! sum + a₀·b₀ + a₁·b₁   ──   call float @metalworks.dot.bf16(i32 a, i32 b, float sum)
//! ```
//!
//! aᵢ and bᵢ are floats whose lower 16 bits are zero: the halves of two words, `as_type<float>(word << 16)` and
//! `as_type<float>(word & 0xffff0000)`. Those of b are halves of one word, and those of a may be made one. Only with fast
//! math: the instructions round otherwise than two additions do.

use crate::bytes::Dot;
use crate::ir::{Builder, Opcode, Rewrite, Type, Value};
use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMFastMathAllowReassoc};
use inkwell::module::Module;

/// Turns sums of such products into calls. The function that is called has no body.
pub(crate) fn recognize(module: &mut Module) {
    let rewrite = Rewrite::new(module);
    let module = rewrite.module();
    for block in module.functions().iter().flat_map(|function| function.blocks()) {
        for instruction in block.instructions() {
            if let Some((start, words)) = pair_of_products(instruction) {
                let b = Builder::new(module);
                b.before(instruction);
                let [left, right] = words.map(|word| word.code(&b));
                let sum = b.call(Dot::Bfloats.declaration(module), &[left, right, start]);
                instruction.replace_all_uses_with(sum);
                rewrite.erase(instruction);
            }
        }
    }
}

/// The upper 16 bits of a float whose lower ones are zero.
#[derive(Clone, Copy, PartialEq)]
enum Half<'m> {
    /// The lower half of a word.
    Lower(Value<'m>),
    /// The upper half of a word.
    Upper(Value<'m>),
}

/// Two numbers, the first one in the lower half of a word.
#[derive(Clone, Copy)]
struct Pair<'m>([Half<'m>; 2]);

impl<'m> Pair<'m> {
    /// The word that has both numbers in it, if there is one.
    fn word(self) -> Option<Value<'m>> {
        match self.0 {
            [Half::Lower(first), Half::Upper(second)] if first == second => Some(first),
            _ => None,
        }
    }

    /// The word, as code.
    fn code(self, b: &Builder<'m>) -> Value<'m> {
        let int = Type::int(b.context(), 32);
        let lower = |word| b.and(word, int.constant(0xffff));
        self.word().unwrap_or_else(|| {
            let first = match self.0[0] {
                Half::Lower(word) => lower(word),
                Half::Upper(word) => b.binary(Opcode::LLVMLShr, word, int.constant(16)),
            };
            let second = match self.0[1] {
                Half::Lower(word) => b.binary(Opcode::LLVMShl, word, int.constant(16)),
                Half::Upper(word) => b.and(word, int.constant(UPPER)),
            };
            b.or(first, second)
        })
    }
}

/// The upper half of a word.
const UPPER: i64 = -0x1_0000;

/// The sum so far and the factors of the two products that are added to it, if the last addition is this instruction. The
/// second factors are one word.
fn pair_of_products(last: Value<'_>) -> Option<(Value<'_>, [Pair<'_>; 2])> {
    if !is_addition(last) {
        return None;
    }
    [[0, 1], [1, 0]].into_iter().find_map(|[sum, product]| {
        let (first, second) = (last.operand(sum), factors(last.operand(product))?);
        let is_part = is_addition(first) && first.block() == last.block() && first.users().len() == 1;
        if !is_part {
            return None;
        }
        [[0, 1], [1, 0]].into_iter().find_map(|[sum, product]| {
            let words = paired(factors(first.operand(product))?, second)?;
            Some((first.operand(sum), words))
        })
    })
}

fn is_addition(value: Value) -> bool {
    value.is(Opcode::LLVMFAdd) && value.ty().is_float() && is_fast(value)
}

/// True if an instruction may be computed in another order, and without rounding in between.
fn is_fast(instruction: Value) -> bool {
    const BOTH: u32 = LLVMFastMathAllowReassoc | LLVMFastMathAllowContract;
    instruction.fast_math().is_some_and(|flags| flags & BOTH == BOTH)
}

/// The factors of a product of such numbers.
fn factors(product: Value<'_>) -> Option<[Half<'_>; 2]> {
    let is_product = product.is(Opcode::LLVMFMul) && product.ty().is_float() && is_fast(product);
    is_product.then(|| Some([half(product.operand(0))?, half(product.operand(1))?])).flatten()
}

/// The factors of two products as words.
fn paired<'m>(first: [Half<'m>; 2], second: [Half<'m>; 2]) -> Option<[Pair<'m>; 2]> {
    let orders = [(first, second), (second, first)];
    orders.into_iter().find_map(|([a, b], [c, d])| {
        let ways = [([a, c], [b, d]), ([b, c], [a, d]), ([a, d], [b, c]), ([b, d], [a, c])];
        let mut ways = ways.into_iter().map(|(left, right)| [Pair(left), Pair(right)]);
        ways.find(|[_, right]| right.word().is_some())
    })
}

/// A float that is half a word.
fn half(value: Value<'_>) -> Option<Half<'_>> {
    let bits = value.is(Opcode::LLVMBitCast).then(|| value.operand(0))?;
    let is_int = bits.ty().is_int() && bits.ty().int_bits() == 32;
    let number = || bits.operand(1).as_int();
    match is_int && bits.is_instruction() {
        true if bits.is(Opcode::LLVMShl) && number() == Some(16) => Some(Half::Lower(bits.operand(0))),
        true if bits.is(Opcode::LLVMAnd) && number().map(|mask| mask as i32) == Some(UPPER as i32) => {
            Some(Half::Upper(bits.operand(0)))
        }
        _ => None,
    }
}
