//! `bfloat` without its type: a value is held as its 16 bits, and computed as a `float`.
//!
//! LLVM has code for `bfloat` on few machines; on others it calls functions for it, one element at a time. As integers,
//! loads, stores, phis and selects are those of `i16`; a `bfloat` becomes a `float` by a shift, and a `float` a
//! `bfloat` by rounding its bits to nearest even. The type remains in arguments and results of functions, and in
//! simdgroup matrices (vectors of 64), which belong to the code generators.
//!
//! Every instruction is rewritten by itself, between bitcasts; those that meet are taken away at the end.

use super::emit::shaped;
use super::{Error, Expansion, Result};
use crate::ir::{Block, IntPredicate, Opcode, Rewrite, Type, Value};

/// Rewrites all functions of a module.
pub(super) fn expand(rewrite: &Rewrite) -> Result<()> {
    let expansion = Expansion::new(rewrite);
    for function in expansion.module.functions() {
        let instructions = || function.blocks().into_iter().flat_map(|block| block.instructions());
        for instruction in instructions() {
            if concerns(instruction) {
                expansion.rewrite(instruction)?;
            }
        }
        instructions().for_each(skip_bitcasts);
        loop {
            let unused = |value: &Value| is_bitcast(*value) && !value.has_use();
            let unused: Vec<Value> = instructions().filter(unused).collect();
            if unused.is_empty() {
                break;
            }
            unused.into_iter().for_each(|value| rewrite.erase(value));
        }
    }
    Ok(())
}

/// A scalar or short vector of `bfloat`.
fn is_bfloat(ty: Type) -> bool {
    ty.scalar().is_bfloat() && !is_matrix(ty)
}

/// The type of a simdgroup matrix.
fn is_matrix(ty: Type) -> bool {
    ty.is_vector() && ty.length() > 4
}

/// True if an instruction computes with `bfloat`.
fn concerns(instruction: Value) -> bool {
    let types = || instruction.operands().into_iter().map(Value::ty).chain([instruction.ty()]);
    types().any(is_bfloat) && !types().any(|ty| ty.scalar().is_bfloat() && is_matrix(ty))
}

fn is_bitcast(value: Value) -> bool {
    value.is_instruction()
        && value.opcode() == Opcode::LLVMBitCast
        && (is_bfloat(value.ty()) || is_bfloat(value.operand(0).ty()))
}

/// Skips a pair of bitcasts from integers to `bfloat` and back.
fn skip_bitcasts(value: Value) {
    if is_bitcast(value) && is_bitcast(value.operand(0)) && value.operand(0).operand(0).ty() == value.ty() {
        value.replace_all_uses_with(value.operand(0).operand(0));
    }
}

impl<'m> Expansion<'m> {
    fn rewrite(&self, instruction: Value<'m>) -> Result<()> {
        let b = &self.b;
        b.before(instruction);
        let operands = instruction.operands();
        let bits = |index: usize| self.bits(operands[index]);
        let floats = |index: usize| self.bits_to_float(self.bits(operands[index]));
        let integers = |ty: Type<'m>| if is_bfloat(ty) { self.ints(ty, 16) } else { ty };
        let ty = instruction.ty();
        let opcode = instruction.opcode();
        let value = match opcode {
            Opcode::LLVMLoad => {
                let load = b.load(integers(ty), operands[0], instruction.alignment());
                copy_memory_facts(instruction, load)?;
                load
            }
            Opcode::LLVMStore => {
                let store = b.store(bits(0), operands[1], instruction.alignment());
                copy_memory_facts(instruction, store)?;
                self.rewrite.erase(instruction);
                return Ok(());
            }
            Opcode::LLVMPHI => self.phi(instruction, integers(ty)),
            Opcode::LLVMSelect => b.select(operands[0], bits(1), bits(2)),
            Opcode::LLVMExtractElement => b.extract(bits(0), operands[1]),
            Opcode::LLVMInsertElement => b.insert(bits(0), bits(1), operands[2]),
            Opcode::LLVMShuffleVector => b.shuffle(bits(0), bits(1), &instruction.shuffle_pattern()),
            Opcode::LLVMFreeze => b.freeze(bits(0)),
            Opcode::LLVMBitCast if is_bfloat(operands[0].ty()) => b.bitcast(bits(0), integers(ty)),
            Opcode::LLVMBitCast => b.bitcast(operands[0], integers(ty)),
            Opcode::LLVMFNeg => b.xor(bits(0), integers(ty).constant(-0x8000)),
            Opcode::LLVMFAdd | Opcode::LLVMFSub | Opcode::LLVMFMul | Opcode::LLVMFDiv => {
                let result = b.binary(opcode, floats(0), floats(1));
                copy_flags(instruction, result);
                self.float_to_bits(result)
            }
            Opcode::LLVMFCmp => b.fcmp(instruction.real_predicate(), floats(0), floats(1)),
            Opcode::LLVMFPExt => floats(0),
            Opcode::LLVMFPTrunc => self.float_to_bits(operands[0]),
            Opcode::LLVMSIToFP | Opcode::LLVMUIToFP => {
                self.float_to_bits(b.cast(opcode, operands[0], self.floats(ty)))
            }
            Opcode::LLVMFPToSI | Opcode::LLVMFPToUI => b.cast(opcode, floats(0), ty),
            Opcode::LLVMCall => match self.intrinsic_on_float(instruction) {
                Some(value) => value,
                None => return Ok(()),
            },
            // Functions are inlined before machine code is made.
            Opcode::LLVMRet => return Ok(()),
            opcode => return Err(Error::Internal(format!("{opcode:?} of bfloat: {}", instruction.text()))),
        };
        let value = if is_bfloat(ty) { b.bitcast(value, ty) } else { value };
        instruction.replace_all_uses_with(value);
        self.rewrite.erase(instruction);
        Ok(())
    }

    /// The bits of a `bfloat`.
    fn bits(&self, value: Value<'m>) -> Value<'m> {
        self.b.bitcast(value, self.ints(value.ty(), 16))
    }

    fn bits_to_float(&self, bits: Value<'m>) -> Value<'m> {
        let words = self.ints(bits.ty(), 32);
        let word = self.shl(self.b.zext(bits, words), words.constant(16));
        self.b.bitcast(word, self.floats(bits.ty()))
    }

    /// Rounds to nearest, ties to even; a NaN stays one, and becomes quiet.
    fn float_to_bits(&self, float: Value<'m>) -> Value<'m> {
        let words = self.ints(float.ty(), 32);
        let word = self.b.bitcast(float, words);
        let upper = self.shr(false, word, words.constant(16));
        let is_odd = self.b.and(upper, words.constant(1));
        let rounded = self.b.add(word, self.b.add(is_odd, words.constant(0x7fff)));
        let rounded = self.shr(false, rounded, words.constant(16));
        let magnitude = self.b.and(word, words.constant(0x7fff_ffff));
        let is_nan = self.b.icmp(IntPredicate::LLVMIntUGT, magnitude, words.constant(0x7f80_0000));
        let quiet = self.b.or(upper, words.constant(0x40));
        self.b.trunc(self.b.select(is_nan, quiet, rounded), self.ints(float.ty(), 16))
    }

    /// The bits of an incoming value are taken at the end of the block that it comes from.
    fn phi(&self, old: Value<'m>, ty: Type<'m>) -> Value<'m> {
        let phi = self.b.phi(ty);
        let mut known: Vec<(Block<'m>, Value<'m>)> = Vec::new();
        for (value, block) in old.incoming() {
            if let Some(terminator) = block.terminator() {
                self.b.before(terminator);
            }
            // A block that comes twice, as from a switch, must bring the same value.
            let earlier = known.iter().find(|(known, _)| *known == block).map(|&(_, bits)| bits);
            let bits = earlier.unwrap_or_else(|| self.bits(value));
            known.push((block, bits));
            self.b.add_incoming(phi, bits, block);
        }
        // Phis come first in their block.
        let block = old.block();
        let first = block.instructions().into_iter().find(|value| value.opcode() != Opcode::LLVMPHI);
        match first {
            Some(first) => self.b.before(first),
            None => self.b.at_end(block),
        }
        phi
    }

    /// A call of one of LLVM's functions on `bfloat`, on `float`; `None` for other functions.
    fn intrinsic_on_float(&self, call: Value<'m>) -> Option<Value<'m>> {
        let callee = call.callee()?.name();
        let name = callee.strip_suffix("bf16")?.trim_end_matches(|c: char| c == 'v' || c.is_ascii_digit());
        let name = name.strip_suffix('.').filter(|name| name.starts_with("llvm."))?;
        let widen = |argument: Value<'m>| match is_bfloat(argument.ty()) {
            true => self.bits_to_float(self.bits(argument)),
            false => argument,
        };
        let arguments: Vec<Value<'m>> = call.arguments().into_iter().map(widen).collect();
        let result = self.b.intrinsic(name, &[shaped(call.ty(), Type::float(self.b.context()))], &arguments);
        copy_flags(call, result);
        Some(if is_bfloat(call.ty()) { self.float_to_bits(result) } else { result })
    }
}

fn copy_flags(from: Value, to: Value) {
    if let Some(flags) = from.fast_math() {
        to.set_fast_math(flags);
    }
}

/// Copies the properties of an access: volatile or not, aliasing, others that metadata state.
fn copy_memory_facts<'m>(from: Value<'m>, to: Value<'m>) -> Result<()> {
    if from.is_atomic() {
        return Err(Error::Internal("an atomic access to bfloat".into()));
    }
    to.set_volatile(from.is_volatile());
    to.copy_metadata(from);
    Ok(())
}
