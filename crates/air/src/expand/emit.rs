//! Arithmetic that is the same for a scalar and a short vector.

use super::Expansion;
use crate::ir::{IntPredicate, Opcode, RealPredicate, Type, Value};

/// `scalar` in the shape of `like`: itself, or a vector as long.
pub(super) fn shaped<'m>(like: Type<'m>, scalar: Type<'m>) -> Type<'m> {
    if like.is_vector() { scalar.vector(like.length()) } else { scalar }
}

impl<'m> Expansion<'m> {
    /// `float` in the shape of a type.
    pub(super) fn floats(&self, like: Type<'m>) -> Type<'m> {
        shaped(like, Type::float(self.b.context()))
    }

    /// An integer type in the shape of another type.
    pub(super) fn ints(&self, like: Type<'m>, bits: u32) -> Type<'m> {
        shaped(like, Type::int(self.b.context(), bits))
    }

    pub(super) fn fsub(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.binary(Opcode::LLVMFSub, left, right)
    }

    pub(super) fn fmul(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.binary(Opcode::LLVMFMul, left, right)
    }

    pub(super) fn fdiv(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.binary(Opcode::LLVMFDiv, left, right)
    }

    pub(super) fn shl(&self, value: Value<'m>, count: Value<'m>) -> Value<'m> {
        self.b.binary(Opcode::LLVMShl, value, count)
    }

    /// Shifts to the right, with the sign or without.
    pub(super) fn shr(&self, is_signed: bool, value: Value<'m>, count: Value<'m>) -> Value<'m> {
        self.b.binary(if is_signed { Opcode::LLVMAShr } else { Opcode::LLVMLShr }, value, count)
    }

    /// `left < right`; false for NaN.
    pub(super) fn less(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.fcmp(RealPredicate::LLVMRealOLT, left, right)
    }

    /// `left > right`; false for NaN.
    pub(super) fn greater(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.fcmp(RealPredicate::LLVMRealOGT, left, right)
    }

    /// `left >= right`; false for NaN.
    pub(super) fn at_least(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.fcmp(RealPredicate::LLVMRealOGE, left, right)
    }

    pub(super) fn is_nan(&self, value: Value<'m>) -> Value<'m> {
        self.b.fcmp(RealPredicate::LLVMRealUNO, value, value)
    }

    pub(super) fn equal(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.b.icmp(IntPredicate::LLVMIntEQ, left, right)
    }

    /// An intrinsic of LLVM that is overloaded on the type of its first argument alone.
    pub(super) fn llvm_function(&self, name: &str, arguments: &[Value<'m>]) -> Value<'m> {
        self.b.intrinsic(name, &[arguments[0].ty()], arguments)
    }

    /// Half, `bfloat` or `float` as `float`.
    pub(super) fn widened(&self, value: Value<'m>) -> Value<'m> {
        self.b.cast(Opcode::LLVMFPExt, value, self.floats(value.ty()))
    }

    /// A `float` as half, `bfloat` or `float`.
    pub(super) fn narrowed(&self, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        self.b.cast(Opcode::LLVMFPTrunc, value, to)
    }

    /// Integers of another width; a sign is kept if there is one.
    pub(super) fn resized(&self, is_signed: bool, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        let (old, new) = (value.ty().scalar().int_bits(), to.scalar().int_bits());
        match old.cmp(&new) {
            std::cmp::Ordering::Less if is_signed => self.b.sext(value, to),
            std::cmp::Ordering::Less => self.b.zext(value, to),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.b.trunc(value, to),
        }
    }

    /// A scalar in the shape of a type: itself, or in every component.
    pub(super) fn splat(&self, scalar: Value<'m>, like: Type<'m>) -> Value<'m> {
        if !like.is_vector() || scalar.ty().is_vector() {
            return scalar;
        }
        let vector = scalar.ty().vector(like.length());
        let first = self.b.insert(vector.poison(), scalar, self.index(0));
        self.b.shuffle(first, vector.poison(), &vec![0; like.length()])
    }

    /// A component of a vector; a scalar is its own.
    pub(super) fn component(&self, value: Value<'m>, index: usize) -> Value<'m> {
        if value.ty().is_vector() { self.b.extract(value, self.index(index)) } else { value }
    }

    pub(super) fn index(&self, index: usize) -> Value<'m> {
        Type::int(self.b.context(), 64).constant(index as i64)
    }

    /// Applies a function to the components, one after the other.
    pub(super) fn by_component(&self, function: Value<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let shape = arguments[0].ty();
        if !shape.is_vector() {
            return self.b.call(function, arguments);
        }
        let mut result: Option<Value<'m>> = None;
        for index in 0..shape.length() {
            let parts: Vec<Value<'m>> = arguments.iter().map(|&argument| self.component(argument, index)).collect();
            let part = self.b.call(function, &parts);
            let vector = result.unwrap_or_else(|| part.ty().vector(shape.length()).poison());
            result = Some(self.b.insert(vector, part, self.index(index)));
        }
        result.unwrap_or_else(|| shape.poison())
    }
}
