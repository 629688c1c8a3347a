//! Sums of products of bytes, for which CPUs and GPUs have an instruction: `vpdpbusd`, `sdot`, `dp4a`.
//!
//! ```text
//! sum + a₀·b₀ + a₁·b₁ + a₂·b₂ + a₃·b₃   ──   call i32 @metalworks.dot.u8s8(i32 a, i32 b, i32 sum)
//! ```
//!
//! aᵢ and bᵢ are the bytes i of two words, each extended to 32 bits, signed or unsigned. The pattern is the expression,
//! not the name of a function: additions in any order, bytes that are elements of vectors (`as_type<char4>(word)`) or
//! made by shifts and masks. Integers wrap, so the order of additions does not matter.
//!
//! It is recognized in the code of one thread as soon as that is inlined. Later, LLVM merges the masks of a word with
//! those of its bytes. Products of unsigned bytes with unsigned bytes stay as they are, unless the bits of a word say
//! that its bytes are below 128.

use crate::ir::{Builder, ModuleRef, Opcode, Rewrite, Type, Value};
use inkwell::module::Module;

/// A sum of products: of four bytes with signed bytes, by the kind of the former, or of two numbers ([`crate::bfloats`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dot {
    /// Below 128.
    Small,
    /// Unsigned.
    Unsigned,
    /// Signed.
    Signed,
    /// No bytes: two of `bfloat`.
    Bfloats,
}

impl Dot {
    const ALL: [Dot; 4] = [Dot::Small, Dot::Unsigned, Dot::Signed, Dot::Bfloats];

    /// The name of the function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Dot::Small => "metalworks.dot.u7s8",
            Dot::Unsigned => "metalworks.dot.u8s8",
            Dot::Signed => "metalworks.dot.s8s8",
            Dot::Bfloats => "metalworks.dot.bf16",
        }
    }

    /// The sum that a function of this name computes.
    pub(crate) fn named(name: &str) -> Option<Dot> {
        Dot::ALL.into_iter().find(|dot| dot.name() == name)
    }

    /// The function of a sum, declared on first use.
    pub(crate) fn declaration<'m>(self, module: ModuleRef<'m>) -> Value<'m> {
        module.function(self.name()).unwrap_or_else(|| {
            let int = Type::int(module.context(), 32);
            let sum = if self == Dot::Bfloats { Type::float(module.context()) } else { int };
            let function = module.add_function(self.name(), sum.function(&[int, int, sum]));
            for name in ["nounwind", "willreturn", "speculatable", "nosync", "nofree"] {
                function.add_attribute(name);
            }
            // It accesses no memory at all.
            function.add_number_attribute("memory", 0);
            function
        })
    }

    /// The sum as plain code, on numbers or on vectors of them.
    pub(crate) fn plain<'m>(self, b: &Builder<'m>, [left, right, sum]: [Value<'m>; 3]) -> Value<'m> {
        let ty = left.ty();
        let number = |value: i64| match ty.is_vector() {
            true => Value::constant_vector(&vec![ty.element().constant(value); ty.length()]),
            false => ty.constant(value),
        };
        let signed = |word: Value<'m>, i: i64| {
            let high = b.binary(Opcode::LLVMShl, word, number(24 - 8 * i));
            b.binary(Opcode::LLVMAShr, high, number(24))
        };
        let unsigned =
            |word: Value<'m>, i: i64| b.and(b.binary(Opcode::LLVMLShr, word, number(8 * i)), number(0xff));
        if self == Dot::Bfloats {
            let lower = |word: Value<'m>| b.binary(Opcode::LLVMShl, word, number(16));
            let upper = |word: Value<'m>| b.and(word, number(-0x1_0000));
            let float = |word: Value<'m>| b.bitcast(word, sum.ty());
            let factors = [[lower(left), lower(right)], [upper(left), upper(right)]];
            return factors.into_iter().fold(sum, |sum, [left, right]| {
                b.intrinsic("llvm.fma", &[sum.ty()], &[float(left), float(right), sum])
            });
        }
        (0..4).fold(sum, |sum, i| {
            let left = if self == Dot::Signed { signed(left, i) } else { unsigned(left, i) };
            b.add(sum, b.mul(left, signed(right, i)))
        })
    }
}

/// Turns sums of products of bytes into calls. The functions that are called have no body.
pub(crate) fn recognize(module: &mut Module) {
    let rewrite = Rewrite::new(module);
    let module = rewrite.module();
    let functions = module.functions();
    for block in functions.iter().flat_map(|function| function.blocks()) {
        for instruction in block.instructions() {
            // Calls are made as soon as their products are complete. So they stay in the order in which the kernel's author
            // computes independent sums, whose instructions wait for each other less.
            if is_addition(instruction) {
                replace(&rewrite, module, instruction);
            }
        }
    }
}

/// The most terms of a sum that is looked at.
const MOST_TERMS: usize = 512;

/// Replaces a sum that has products of bytes in it.
fn replace<'m>(rewrite: &'m Rewrite, module: ModuleRef<'m>, root: Value<'m>) {
    let Some(terms) = terms(root) else { return };
    let (mut products, mut others) = (Vec::new(), Vec::new());
    for term in terms {
        match product(term) {
            Some(factors) => products.push((term, factors)),
            None => others.push(term),
        }
    }
    let mut dots = Vec::new();
    while let Some(dot) = take_four(&mut products) {
        dots.push(dot);
    }
    if dots.is_empty() {
        return;
    }
    let b = Builder::new(module);
    b.before(root);
    let sum = others.into_iter().reduce(|sum, term| b.add(sum, term)).unwrap_or_else(|| root.ty().zero());
    let sum = dots.into_iter().fold(sum, |sum, (dot, left, right)| {
        let arguments = [left.word(&b), right.word(&b), sum];
        b.call(dot.declaration(module), &arguments)
    });
    // Products without three others may find them in a later addition, which does not look into calls.
    let sum = products.into_iter().fold(sum, |sum, (term, _)| b.add(sum, term));
    root.replace_all_uses_with(sum);
    rewrite.erase(root);
}

fn is_addition(value: Value) -> bool {
    value.is(Opcode::LLVMAdd) && value.ty().is_int() && value.ty().int_bits() == 32
}

/// True for an addition whose only use is another one of the same block.
fn is_part(addition: Value) -> bool {
    matches!(addition.users()[..], [user] if is_addition(user) && user.block() == addition.block())
}

/// The terms of a sum; `None` if they are too few or too many.
fn terms(root: Value<'_>) -> Option<Vec<Value<'_>>> {
    let (mut open, mut terms) = (vec![root], Vec::new());
    while let Some(value) = open.pop() {
        if value == root || (is_addition(value) && value.block() == root.block() && is_part(value)) {
            // The operand on the left is looked at first.
            open.extend([value.operand(1), value.operand(0)]);
        } else {
            terms.push(value);
        }
        if open.len() + terms.len() > MOST_TERMS {
            return None;
        }
    }
    (terms.len() >= 4).then_some(terms)
}

/// Bits of a word: `(word >> shift) & mask`, or a whole byte of it with its sign.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Byte<'m> {
    /// An `i32`, or a vector of four `i8`.
    word: Value<'m>,
    shift: u32,
    mask: u32,
    is_signed: bool,
}

/// A word of four bytes: `(word >> shift) & mask`.
#[derive(Clone, Copy, Debug)]
struct Bytes<'m> {
    word: Value<'m>,
    shift: u32,
    mask: u32,
    is_signed: bool,
}

impl<'m> Bytes<'m> {
    /// The word, as code.
    fn word(self, b: &Builder<'m>) -> Value<'m> {
        let int = Type::int(b.context(), 32);
        let word = if self.word.ty().is_vector() { b.bitcast(self.word, int) } else { self.word };
        let moved = match self.shift {
            0 => word,
            shift => b.binary(Opcode::LLVMLShr, word, int.constant(i64::from(shift))),
        };
        match self.mask {
            u32::MAX => moved,
            mask => b.and(moved, int.constant(i64::from(mask as i32))),
        }
    }

    /// True if no byte can be 128 or above.
    fn is_small(self) -> bool {
        let bits = if self.word.ty().is_vector() { u32::MAX } else { possible_bits(self.word, 8) };
        (bits >> self.shift) & self.mask & 0x8080_8080 == 0
    }
}

/// The bits of a word that may be set.
fn possible_bits(word: Value, depth: u32) -> u32 {
    if let Some(number) = word.as_int() {
        return number as u32;
    }
    if depth == 0 || !word.is_instruction() || !word.ty().is_int() || word.ty().int_bits() != 32 {
        return u32::MAX;
    }
    let bits = |index: usize| possible_bits(word.operand(index), depth - 1);
    let shift = || word.operand(1).as_int().and_then(|shift| u32::try_from(shift).ok()).filter(|&shift| shift < 32);
    match (word.opcode(), word.operand_count()) {
        (Opcode::LLVMAnd, _) => bits(0) & bits(1),
        (Opcode::LLVMOr | Opcode::LLVMXor, _) => bits(0) | bits(1),
        (Opcode::LLVMShl, _) => shift().map_or(u32::MAX, |shift| bits(0) << shift),
        (Opcode::LLVMLShr, _) => shift().map_or(u32::MAX, |shift| bits(0) >> shift),
        _ => u32::MAX,
    }
}

type Product<'m> = (Value<'m>, [Byte<'m>; 2]);

/// Takes four products of the bytes of two words from a list.
fn take_four<'m>(products: &mut Vec<Product<'m>>) -> Option<(Dot, Bytes<'m>, Bytes<'m>)> {
    for first in 0..products.len() {
        let [left, right] = products[first].1;
        let next = |byte: Byte<'m>, i: u32| {
            move |other: Byte<'m>| {
                other.word == byte.word && other.shift == byte.shift + 8 * i && other.is_signed == byte.is_signed
            }
        };
        let find = |i: u32| {
            let (is_left, is_right) = (next(left, i), next(right, i));
            products.iter().enumerate().find_map(|(at, &(_, [a, b]))| match at == first {
                true => None,
                false if is_left(a) && is_right(b) => Some((at, [a, b])),
                false if is_left(b) && is_right(a) => Some((at, [b, a])),
                false => None,
            })
        };
        let (Some(second), Some(third), Some(fourth)) = (find(1), find(2), find(3)) else { continue };
        let all = [(first, [left, right]), second, third, fourth];
        let words = [0, 1].map(|side| {
            let Byte { word, shift, is_signed, .. } = all[0].1[side];
            let masks = (0u32..).zip(&all).map(|(i, (_, bytes))| bytes[side].mask << (8 * i));
            Bytes { word, shift, mask: masks.fold(0, |mask, byte| mask | byte), is_signed }
        });
        let Some(dot) = kind(words) else { continue };
        let mut taken = all.map(|(at, _)| at);
        taken.sort_unstable();
        if taken.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        for at in taken.into_iter().rev() {
            products.remove(at);
        }
        return Some(dot);
    }
    None
}

/// The sum of products of two words, in the order of its function's arguments.
fn kind<'m>([a, b]: [Bytes<'m>; 2]) -> Option<(Dot, Bytes<'m>, Bytes<'m>)> {
    let is_signed = |word: Bytes<'m>| word.is_signed || word.is_small();
    let orders = [(a, b), (b, a)];
    let find = |dot: Dot, fits: &dyn Fn(Bytes<'m>) -> bool| {
        let mut fitting = orders.into_iter().filter(|&(left, right)| fits(left) && is_signed(right));
        fitting.next().map(|(left, right)| (dot, left, right))
    };
    find(Dot::Small, &|word| word.is_small())
        .or_else(|| find(Dot::Unsigned, &|word| !word.is_signed))
        .or_else(|| find(Dot::Signed, &|word| word.is_signed))
}

/// The factors of a product of bytes.
fn product(term: Value<'_>) -> Option<[Byte<'_>; 2]> {
    if term.is(Opcode::LLVMMul) {
        return Some([byte(term.operand(0))?, byte(term.operand(1))?]);
    }
    let (vector, index) = element(term)?;
    if !vector.is(Opcode::LLVMMul) {
        return None;
    }
    Some([byte_of_element(vector.operand(0), index)?, byte_of_element(vector.operand(1), index)?])
}

/// The vector and the number of an element that is taken from it.
fn element(value: Value<'_>) -> Option<(Value<'_>, u32)> {
    if !value.is(Opcode::LLVMExtractElement) {
        return None;
    }
    Some((value.operand(0), u32::try_from(value.operand(1).as_int()?).ok()?))
}

/// A byte that was extended to 32 bits.
fn byte(value: Value<'_>) -> Option<Byte<'_>> {
    if !value.is_instruction() {
        return None;
    }
    let operand = || value.operand(0);
    let number = || value.operand(1).as_int().and_then(|number| u32::try_from(number).ok());
    match value.opcode() {
        Opcode::LLVMZExt => narrow(operand(), false),
        Opcode::LLVMSExt => narrow(operand(), true),
        Opcode::LLVMExtractElement => element(value).and_then(|(vector, index)| byte_of_element(vector, index)),
        Opcode::LLVMAnd => {
            let mask = number().filter(|mask| (1..=0xff).contains(mask))?;
            let (word, shift) = shifted(operand());
            Some(Byte { word, shift, mask, is_signed: false })
        }
        Opcode::LLVMLShr => {
            let shift = number().filter(|shift| (24..32).contains(shift))?;
            Some(Byte { word: operand(), shift, mask: 0xff, is_signed: false })
        }
        Opcode::LLVMAShr if number() == Some(24) => {
            let left = operand().is(Opcode::LLVMShl).then(|| operand().operand(1).as_int()).flatten();
            let (word, shift) = match left {
                Some(left @ (8 | 16 | 24)) => (operand().operand(0), 24 - left as u32),
                _ => (operand(), 24),
            };
            Some(Byte { word, shift, mask: 0xff, is_signed: true })
        }
        _ => None,
    }
}

/// An element of a vector of numbers of 32 bits that were bytes.
fn byte_of_element(vector: Value<'_>, index: u32) -> Option<Byte<'_>> {
    let is_signed = vector.is(Opcode::LLVMSExt);
    if !is_signed && !vector.is(Opcode::LLVMZExt) {
        return None;
    }
    byte_of_vector(vector.operand(0), index, is_signed)
}

/// A number of eight bits.
fn narrow(value: Value<'_>, is_signed: bool) -> Option<Byte<'_>> {
    if let Some((vector, index)) = element(value) {
        return byte_of_vector(vector, index, is_signed);
    }
    if !value.is(Opcode::LLVMTrunc) || value.ty().int_bits() != 8 || value.operand(0).ty().int_bits() != 32 {
        return None;
    }
    let (word, shift) = shifted(value.operand(0));
    Some(Byte { word, shift, mask: 0xff, is_signed })
}

/// A byte of a vector of four.
fn byte_of_vector(vector: Value<'_>, index: u32, is_signed: bool) -> Option<Byte<'_>> {
    let ty = vector.ty();
    if !ty.is_vector() || ty.length() != 4 || !ty.element().is_int() || ty.element().int_bits() != 8 || index >= 4 {
        return None;
    }
    let is_word = |value: &Value| value.ty().is_int() && value.ty().int_bits() == 32;
    let word = vector.is(Opcode::LLVMBitCast).then(|| vector.operand(0)).filter(is_word).unwrap_or(vector);
    Some(Byte { word, shift: 8 * index, mask: 0xff, is_signed })
}

/// A word and the number of bits that it was shifted to the right by, so that its lowest byte is one of the word.
fn shifted(value: Value<'_>) -> (Value<'_>, u32) {
    let is_shift = value.is(Opcode::LLVMLShr) || value.is(Opcode::LLVMAShr);
    match is_shift.then(|| value.operand(1).as_int()).flatten() {
        Some(shift @ 0..=24) => (value.operand(0), shift as u32),
        Some(shift @ 25..=31) if value.is(Opcode::LLVMLShr) => (value.operand(0), shift as u32),
        _ => (value, 0),
    }
}
