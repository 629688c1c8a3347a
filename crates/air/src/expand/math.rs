//! Functions on floating-point numbers. Those of a few instructions are here, the others in the library.
//!
//! `half` and `bfloat` are computed in `float`, which has more than twice their bits, so that rounding a sum, product,
//! quotient or root a second time changes nothing; and LLVM has no vectors of most of its functions on `half`.

use super::emit::shaped;
use super::{Expansion, Result, is_approximate};
use crate::ir::{Opcode, RealPredicate, Type, Value};

/// LLVM's intrinsics that have no vectors: they call the C library for each element, or compute one after the other.
const WITHOUT_VECTORS: &[&str] = &[
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "cosh",
    "exp",
    "exp10",
    "exp2",
    "fptosi.sat",
    "fptoui.sat",
    "ldexp",
    "log",
    "log10",
    "log2",
    "pow",
    "powi",
    "sin",
    "sinh",
    "tan",
    "tanh",
];

/// LLVM's intrinsics that have vectors, but none of `half`.
const WITHOUT_VECTORS_OF_HALF: &[&str] = &[
    "ceil",
    "floor",
    "fma",
    "maximumnum",
    "maxnum",
    "minimumnum",
    "minnum",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "sqrt",
    "trunc",
];

/// Functions whose fast variants are right for all of `half`.
const FAST_ON_HALF: &[&str] =
    &["cos", "exp", "exp10", "exp2", "log", "log10", "log2", "rsqrt", "sin", "tan", "tanh"];

/// True if an intrinsic of LLVM may have to be expanded.
pub(super) fn is_expanded(base: &str) -> bool {
    WITHOUT_VECTORS.contains(&base) || WITHOUT_VECTORS_OF_HALF.contains(&base)
}

impl<'m> Expansion<'m> {
    /// One of AIR's functions on floating point; `None` for one that is not known.
    pub(super) fn math(&mut self, base: &str, is_fast: bool, arguments: &[Value<'m>]) -> Result<Option<Value<'m>>> {
        let Some(ty) = arguments.first().map(|argument| argument.ty()) else { return Ok(None) };
        let scalar = ty.scalar();
        if !scalar.is_float_like() {
            return Ok(None);
        }
        if let Some(value) = self.order(base, is_fast, arguments) {
            return Ok(Some(value));
        }
        if scalar == self.float() {
            return self.on_float(base, is_fast, arguments);
        }
        let widen = |&argument: &Value<'m>| match argument.ty() == ty {
            true => self.separated(base, self.widened(argument)),
            false => argument,
        };
        let wide: Vec<Value<'m>> = arguments.iter().map(widen).collect();
        let value = match base {
            "sincos" | "frexp" | "modf" => self.with_result_in_memory(base, true, wide[0], arguments, ty)?,
            // The neighbours of a number depend on its type.
            "nextafter" => None,
            _ => self.on_float(base, FAST_ON_HALF.contains(&base), &wide)?,
        };
        // The exponent of a number is an integer, and a dot product a scalar.
        let narrow = |value: Value<'m>| match value.ty().scalar() == self.float() {
            true => self.narrowed(value, shaped(value.ty(), scalar)),
            false => value,
        };
        Ok(value.map(narrow))
    }

    fn float(&self) -> Type<'m> {
        Type::float(self.b.context())
    }

    /// LLVM would compute the rounding of an extended `half` in `half` again, for which it has no vectors.
    fn separated(&self, base: &str, value: Value<'m>) -> Value<'m> {
        match base {
            "ceil" | "floor" | "rint" | "round" | "trunc" => self.llvm_function("llvm.arithmetic.fence", &[value]),
            _ => value,
        }
    }

    fn on_float(&mut self, base: &str, is_fast: bool, arguments: &[Value<'m>]) -> Result<Option<Value<'m>>> {
        let ty = arguments[0].ty();
        let llvm = |name: &str| self.llvm_function(name, arguments);
        Ok(Some(match (base, arguments) {
            ("ceil", [_]) => llvm("llvm.ceil"),
            ("floor", [_]) => llvm("llvm.floor"),
            ("trunc", [_]) => llvm("llvm.trunc"),
            // Not `llvm.rint`, which depends on the rounding mode.
            ("rint", [_]) => llvm("llvm.roundeven"),
            ("round", [_]) => llvm("llvm.round"),
            ("sqrt", [_]) => llvm("llvm.sqrt"),
            ("fma", [_, _, _]) => llvm("llvm.fma"),
            ("rsqrt", &[x]) if is_fast => self.fdiv(ty.real(1.0), self.llvm_function("llvm.sqrt", &[x])),
            ("divide", &[x, y]) => self.fdiv(x, y),
            ("mix", &[x, y, a]) => {
                let difference = self.fsub(y, x);
                self.llvm_function("llvm.fmuladd", &[difference, a, x])
            }
            ("fdim", &[x, y]) => self.b.select(self.at_least(y, x), ty.zero(), self.fsub(x, y)),
            ("fract", &[x]) => self.fract(x),
            ("dot", &[x, y]) => self.dot(x, y),
            ("sincos" | "frexp" | "modf", &[x, _]) => {
                return self.with_result_in_memory(base, is_fast, x, arguments, ty);
            }
            ("fmod", &[x, y]) if is_fast => {
                let quotient = self.fdiv(x, y);
                let whole = self.llvm_function("llvm.trunc", &[quotient]);
                self.llvm_function("llvm.fma", &[self.b.fneg(whole), y, x])
            }
            _ => return self.in_library(base, is_fast, arguments),
        }))
    }

    /// `x - floor(x)`, below 1 even where that rounds up to it. Infinity has no fraction.
    fn fract(&self, x: Value<'m>) -> Value<'m> {
        let below_one = x.ty().real(1.0 - 2f64.powi(-24));
        let whole = self.llvm_function("llvm.floor", &[x]);
        let fraction = self.fsub(x, whole);
        let bounded = self.b.select(self.greater(fraction, below_one), below_one, fraction);
        let is_whole = self.b.fcmp(RealPredicate::LLVMRealOEQ, whole, x);
        self.b.select(is_whole, x.ty().zero(), bounded)
    }

    fn dot(&self, x: Value<'m>, y: Value<'m>) -> Value<'m> {
        let length = if x.ty().is_vector() { x.ty().length() } else { 1 };
        let part = |index| (self.component(x, index), self.component(y, index));
        let (first_x, first_y) = part(0);
        (1..length).fold(self.fmul(first_x, first_y), |sum, index| {
            let (x, y) = part(index);
            self.llvm_function("llvm.fmuladd", &[x, y, sum])
        })
    }

    /// Functions with a second result, which goes to memory: the sine and the cosine, the mantissa and the exponent,
    /// the fraction and the whole. `ty` is the type in memory, unless that is the exponent.
    fn with_result_in_memory(
        &mut self,
        base: &str,
        is_fast: bool,
        x: Value<'m>,
        arguments: &[Value<'m>],
        ty: Type<'m>,
    ) -> Result<Option<Value<'m>>> {
        let &[_, place] = arguments else { return Ok(None) };
        let (first, second) = match base {
            "sincos" => (self.in_library("sin", is_fast, &[x])?, self.in_library("cos", is_fast, &[x])?),
            "frexp" => {
                (self.in_library("frexp_mantissa", false, &[x])?, self.in_library("frexp_exponent", false, &[x])?)
            }
            "modf" => {
                (self.in_library("modf_fraction", false, &[x])?, Some(self.llvm_function("llvm.trunc", &[x])))
            }
            _ => return Ok(None),
        };
        let (Some(first), Some(second)) = (first, second) else { return Ok(None) };
        let (stored, bytes) = match second.ty().scalar() == self.float() && ty.scalar() != self.float() {
            true => (self.narrowed(second, ty), 2),
            false => (second, 4),
        };
        self.b.store(stored, place, bytes);
        Ok(Some(first))
    }

    /// One of LLVM's intrinsics; `None` to leave it alone.
    pub(super) fn llvm(&mut self, base: &str, call: Value<'m>) -> Result<Option<Value<'m>>> {
        let arguments = call.arguments();
        let Some(scalar) = arguments.first().map(|argument| argument.ty().scalar()) else { return Ok(None) };
        if scalar == self.float() && !WITHOUT_VECTORS.contains(&base) {
            return Ok(None);
        }
        let base = match (base, &arguments[..]) {
            ("roundeven" | "nearbyint", _) => "rint",
            ("minnum" | "minimumnum", _) => "fmin",
            ("maxnum" | "maximumnum", _) => "fmax",
            ("fptosi.sat", &[x]) => return Ok(Some(self.to_integer(self.widened(x), call.ty(), true))),
            ("fptoui.sat", &[x]) => return Ok(Some(self.to_integer(self.widened(x), call.ty(), false))),
            ("powi", &[x, exponent]) => {
                let exponent = self.b.cast(Opcode::LLVMSIToFP, exponent, scalar);
                return self.math("pow", is_approximate(call), &[x, self.splat(exponent, call.ty())]);
            }
            (base, _) => base,
        };
        self.math(base, is_approximate(call), &arguments)
    }
}
