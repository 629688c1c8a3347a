//! Functions that choose one of their arguments, on floating-point numbers of any kind.
//!
//! If one of two numbers is NaN, `fmin` and `fmax` take the other one. In fast mathematics a NaN on the right stays:
//! that is the one instruction that x86 has.

use super::Expansion;
use crate::ir::{Type, Value};

/// One of two numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Smaller,
    Larger,
}

impl<'m> Expansion<'m> {
    /// `None` for a function that is not one of these.
    pub(super) fn order(&self, base: &str, is_fast: bool, arguments: &[Value<'m>]) -> Option<Value<'m>> {
        let smaller = |x, y| self.one_of(Which::Smaller, is_fast, x, y);
        let larger = |x, y| self.one_of(Which::Larger, is_fast, x, y);
        Some(match (base, arguments) {
            ("fabs", &[x]) => self.llvm_function("llvm.fabs", &[x]),
            ("copysign", &[x, y]) => self.llvm_function("llvm.copysign", &[x, y]),
            ("fmin", &[x, y]) => smaller(x, y),
            ("fmin3", &[x, y, z]) => smaller(smaller(x, y), z),
            ("fmax", &[x, y]) => larger(x, y),
            ("fmax3", &[x, y, z]) => larger(larger(x, y), z),
            ("fmedian3", &[x, y, z]) => larger(smaller(x, y), smaller(larger(x, y), z)),
            ("clamp", &[x, low, high]) => self.clamp(x, low, high),
            ("saturate", &[x]) => self.clamp(x, x.ty().real(0.0), x.ty().real(1.0)),
            ("sign", &[x]) => self.sign(x),
            _ => return None,
        })
    }

    fn one_of(&self, which: Which, is_fast: bool, x: Value<'m>, y: Value<'m>) -> Value<'m> {
        let is_x = match which {
            Which::Smaller => self.less(x, y),
            Which::Larger => self.greater(x, y),
        };
        if is_fast {
            return self.b.select(is_x, x, y);
        }
        if x.ty().scalar() == Type::float(self.b.context()) {
            return self
                .llvm_function(if which == Which::Smaller { "llvm.minnum" } else { "llvm.maxnum" }, &[x, y]);
        }
        // LLVM has no vectors of these on `half`.
        self.b.select(self.b.or(is_x, self.is_nan(y)), x, y)
    }

    /// NaN becomes `low`.
    fn clamp(&self, x: Value<'m>, low: Value<'m>, high: Value<'m>) -> Value<'m> {
        let raised = self.b.select(self.greater(x, low), x, low);
        self.b.select(self.less(raised, high), raised, high)
    }

    /// Zero keeps its sign, NaN becomes 0.
    fn sign(&self, x: Value<'m>) -> Value<'m> {
        let (zero, one) = (x.ty().zero(), x.ty().real(1.0));
        let signed_one = self.llvm_function("llvm.copysign", &[one, x]);
        let is_signed = self.greater(self.llvm_function("llvm.fabs", &[x]), zero);
        self.b.select(is_signed, signed_one, self.b.select(self.is_nan(x), zero, x))
    }
}
