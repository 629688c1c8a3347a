//! Arithmetic, comparisons and conversions, on scalars and vectors alike.

use super::*;
use crate::ir::values::value;

/// Panics unless two operands have one type.
fn expect_same(left: Value, right: Value) {
    assert!(left.ty() == right.ty(), "operands of two types: {} and {}", left.text(), right.text());
}

fn is_binary(opcode: Opcode, ty: Type) -> bool {
    use Opcode::*;
    match opcode {
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr
        | LLVMAnd | LLVMOr | LLVMXor => ty.is_int(),
        LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem => ty.is_floating_point(),
        _ => false,
    }
}

/// The length of a vector; 1 for others.
fn length(ty: Type) -> usize {
    if ty.is_vector() { ty.length() } else { 1 }
}

/// The bits of a number; none for pointers.
fn bits(ty: Type) -> Option<u32> {
    match ty.kind() {
        TypeKind::LLVMIntegerTypeKind => Some(ty.int_bits()),
        TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => Some(16),
        TypeKind::LLVMFloatTypeKind => Some(32),
        TypeKind::LLVMDoubleTypeKind => Some(64),
        TypeKind::LLVMX86_FP80TypeKind => Some(80),
        TypeKind::LLVMFP128TypeKind | TypeKind::LLVMPPC_FP128TypeKind => Some(128),
        _ => None,
    }
}

/// True if a cast from one type to another exists.
fn is_cast(opcode: Opcode, from: Type, to: Type) -> bool {
    use Opcode::*;
    let (a, b) = (from.scalar(), to.scalar());
    if opcode == LLVMBitCast {
        let size = |ty: Type, element: Type| bits(element).map(|bits| bits as usize * length(ty));
        let is_pointer = a.is_pointer() && b.is_pointer() && a.address_space() == b.address_space();
        return is_pointer && length(from) == length(to) || size(from, a).is_some() && size(from, a) == size(to, b);
    }
    let is_narrower = bits(b) < bits(a);
    let is_wider = bits(b) > bits(a);
    from.is_vector() == to.is_vector()
        && length(from) == length(to)
        && match opcode {
            LLVMTrunc => a.is_int() && b.is_int() && is_narrower,
            LLVMZExt | LLVMSExt => a.is_int() && b.is_int() && is_wider,
            LLVMFPTrunc => a.is_floating_point() && b.is_floating_point() && is_narrower,
            LLVMFPExt => a.is_floating_point() && b.is_floating_point() && is_wider,
            LLVMUIToFP | LLVMSIToFP => a.is_int() && b.is_floating_point(),
            LLVMFPToUI | LLVMFPToSI => a.is_floating_point() && b.is_int(),
            LLVMPtrToInt => a.is_pointer() && b.is_int(),
            LLVMIntToPtr => a.is_int() && b.is_pointer(),
            LLVMAddrSpaceCast => a.is_pointer() && b.is_pointer() && a.address_space() != b.address_space(),
            _ => false,
        }
}

impl<'m> Builder<'m> {
    pub(crate) fn binary(&self, opcode: Opcode, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        expect_same(left, right);
        assert!(is_binary(opcode, left.ty().scalar()), "{opcode:?} of {}", left.text());
        let (left, right) = (self.operand(left), self.operand(right));
        value!(LLVMBuildBinOp(self.raw(), opcode, left, right, NO_NAME))
    }

    pub(crate) fn add(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(Opcode::LLVMAdd, left, right)
    }

    pub(crate) fn sub(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(Opcode::LLVMSub, left, right)
    }

    pub(crate) fn mul(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(Opcode::LLVMMul, left, right)
    }

    pub(crate) fn and(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(Opcode::LLVMAnd, left, right)
    }

    pub(crate) fn or(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(Opcode::LLVMOr, left, right)
    }

    pub(crate) fn xor(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(Opcode::LLVMXor, left, right)
    }

    pub(crate) fn not(&self, value: Value<'m>) -> Value<'m> {
        assert!(value.ty().scalar().is_int(), "not {}", value.text());
        value!(LLVMBuildNot(self.raw(), self.operand(value), NO_NAME))
    }

    pub(crate) fn fneg(&self, value: Value<'m>) -> Value<'m> {
        assert!(value.ty().scalar().is_floating_point(), "the negative of {}", value.text());
        value!(LLVMBuildFNeg(self.raw(), self.operand(value), NO_NAME))
    }

    pub(crate) fn freeze(&self, value: Value<'m>) -> Value<'m> {
        assert!(value.ty().is_sized(), "freeze {}", value.text());
        value!(LLVMBuildFreeze(self.raw(), self.operand(value), NO_NAME))
    }

    /// Converts a value; one that has the type already stays.
    pub(crate) fn cast(&self, opcode: Opcode, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        if value.ty() == to {
            return value;
        }
        assert!(is_cast(opcode, value.ty(), to), "{opcode:?} of {} to {}", value.text(), to.text());
        value!(LLVMBuildCast(self.raw(), opcode, self.operand(value), self.ty(to), NO_NAME))
    }

    pub(crate) fn bitcast(&self, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        self.cast(Opcode::LLVMBitCast, value, to)
    }

    pub(crate) fn trunc(&self, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        self.cast(Opcode::LLVMTrunc, value, to)
    }

    pub(crate) fn zext(&self, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        self.cast(Opcode::LLVMZExt, value, to)
    }

    pub(crate) fn sext(&self, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        self.cast(Opcode::LLVMSExt, value, to)
    }

    pub(crate) fn icmp(&self, predicate: IntPredicate, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        expect_same(left, right);
        let ty = left.ty().scalar();
        assert!(ty.is_int() || ty.is_pointer(), "a comparison of {}", left.text());
        value!(LLVMBuildICmp(self.raw(), predicate, self.operand(left), self.operand(right), NO_NAME))
    }

    pub(crate) fn fcmp(&self, predicate: RealPredicate, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        expect_same(left, right);
        assert!(left.ty().scalar().is_floating_point(), "a comparison of {}", left.text());
        value!(LLVMBuildFCmp(self.raw(), predicate, self.operand(left), self.operand(right), NO_NAME))
    }

    /// One of two values, by a condition for all elements or for each.
    pub(crate) fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        expect_same(yes, no);
        let by = condition.ty();
        let fits = !by.is_vector() || yes.ty().is_vector() && by.length() == yes.ty().length();
        assert!(is_condition(by.scalar()) && fits, "a choice by {}", condition.text());
        assert!(yes.ty().is_sized(), "a choice of {}", yes.text());
        let (condition, yes, no) = (self.operand(condition), self.operand(yes), self.operand(no));
        value!(LLVMBuildSelect(self.raw(), condition, yes, no, NO_NAME))
    }
}

pub(super) fn is_condition(ty: Type) -> bool {
    ty.is_int() && ty.int_bits() == 1
}
