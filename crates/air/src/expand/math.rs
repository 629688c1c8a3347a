//! Functions on floating-point numbers. Those of a few instructions are here, the others in the library.
//!
//! `half` is computed in `float`, in which its sums, products and quotients are exact enough to be rounded twice; and
//! LLVM has no vectors of most of its functions on `half`.

use super::emit::shaped;
use super::{Expansion, Result, is_approximate};
use crate::ir::{Opcode, RealPredicate, Type, Value};

/// LLVM's intrinsics that are expanded, without `llvm.`. Those on `float` that are a machine instruction are not, those
/// on `half` are.
const LLVM: &[&str] = &[
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "exp10",
    "exp2",
    "floor",
    "fma",
    "ldexp",
    "log",
    "log10",
    "log2",
    "maximumnum",
    "maxnum",
    "minimumnum",
    "minnum",
    "nearbyint",
    "pow",
    "powi",
    "rint",
    "round",
    "roundeven",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
];

/// Whether an intrinsic of LLVM may have to be expanded.
pub(super) fn is_expanded(base: &str) -> bool {
    LLVM.contains(&base)
}

impl Expansion {
    /// One of AIR's functions on floating point; `None` for one that is not known.
    pub(super) fn math(&mut self, base: &str, is_fast: bool, arguments: &[Value]) -> Result<Option<Value>> {
        let Some(ty) = arguments.first().map(|argument| argument.ty()) else { return Ok(None) };
        let scalar = ty.scalar();
        if !scalar.is_float_like() {
            return Ok(None);
        }
        if scalar == Type::float(self.b.context()) {
            return self.on_float(base, is_fast, arguments);
        }
        // The sign and the bits need no `float`.
        if base == "fabs" {
            return Ok(Some(self.llvm_function("llvm.fabs", arguments)));
        }
        let widen = |&argument: &Value| match argument.ty() == ty {
            true => self.separated(base, self.widened(argument)),
            false => argument,
        };
        let wide: Vec<Value> = arguments.iter().map(widen).collect();
        let value = match base {
            "sincos" => self.sincos(true, wide[0], arguments[1], ty)?,
            _ => self.on_float(base, true, &wide)?,
        };
        Ok(value.map(|value| match value.ty().scalar() == Type::float(self.b.context()) {
            // A dot product is a scalar.
            true => self.narrowed(value, shaped(value.ty(), scalar)),
            false => value,
        }))
    }

    /// LLVM would compute the rounding of an extended `half` in `half` again, for which it has no vectors.
    fn separated(&self, base: &str, value: Value) -> Value {
        match base {
            "ceil" | "floor" | "rint" | "round" | "trunc" => self.llvm_function("llvm.arithmetic.fence", &[value]),
            _ => value,
        }
    }

    fn on_float(&mut self, base: &str, is_fast: bool, arguments: &[Value]) -> Result<Option<Value>> {
        let ty = arguments[0].ty();
        let constant = |value| ty.real(value);
        let llvm = |name: &str| self.llvm_function(name, arguments);
        Ok(Some(match (base, arguments) {
            ("fabs", [_]) => llvm("llvm.fabs"),
            ("ceil", [_]) => llvm("llvm.ceil"),
            ("floor", [_]) => llvm("llvm.floor"),
            ("trunc", [_]) => llvm("llvm.trunc"),
            // Not `llvm.rint`, which depends on the rounding mode.
            ("rint", [_]) => llvm("llvm.roundeven"),
            ("round", [_]) => llvm("llvm.round"),
            ("sqrt", [_]) => llvm("llvm.sqrt"),
            ("fma", [_, _, _]) => llvm("llvm.fma"),
            ("copysign", [_, _]) => llvm("llvm.copysign"),
            ("rsqrt", &[x]) => self.fdiv(constant(1.0), self.llvm_function("llvm.sqrt", &[x])),
            ("divide", &[x, y]) => self.fdiv(x, y),
            ("fmin", &[x, y]) => self.fmin(is_fast, x, y),
            ("fmax", &[x, y]) => self.fmax(is_fast, x, y),
            ("fmin3", &[x, y, z]) => self.fmin(is_fast, self.fmin(is_fast, x, y), z),
            ("fmax3", &[x, y, z]) => self.fmax(is_fast, self.fmax(is_fast, x, y), z),
            ("fmedian3", &[x, y, z]) => {
                let (low, high) = (self.fmin(is_fast, x, y), self.fmax(is_fast, x, y));
                self.fmax(is_fast, low, self.fmin(is_fast, high, z))
            }
            ("clamp", &[x, low, high]) => self.clamp(x, low, high),
            ("saturate", &[x]) => self.clamp(x, constant(0.0), constant(1.0)),
            ("mix", &[x, y, a]) => {
                let difference = self.fsub(y, x);
                self.llvm_function("llvm.fmuladd", &[difference, a, x])
            }
            ("fdim", &[x, y]) => self.b.select(self.not_greater(x, y), constant(0.0), self.fsub(x, y)),
            ("fract", &[x]) => self.fract(x),
            ("sign", &[x]) => {
                let one = self.llvm_function("llvm.copysign", &[constant(1.0), x]);
                let is_zero_or_nan = self.b.not(self.greater(self.llvm_function("llvm.fabs", &[x]), constant(0.0)));
                let zero = self.b.select(self.is_nan(x), constant(0.0), x);
                self.b.select(is_zero_or_nan, zero, one)
            }
            ("dot", &[x, y]) => self.dot(x, y),
            ("sincos", &[x, place]) => return self.sincos(is_fast, x, place, ty),
            ("fmod", &[x, y]) if is_fast => {
                let quotient = self.fdiv(x, y);
                let whole = self.llvm_function("llvm.trunc", &[quotient]);
                self.llvm_function("llvm.fma", &[self.b.fneg(whole), y, x])
            }
            _ => return self.in_library(base, is_fast, arguments),
        }))
    }

    fn not_greater(&self, x: Value, y: Value) -> Value {
        self.at_least(y, x)
    }

    /// The smaller one; NaN is not a number, unless both are. When computed fast, a NaN on the right stays: that is the
    /// one instruction that x86 has.
    fn fmin(&self, is_fast: bool, x: Value, y: Value) -> Value {
        match is_fast {
            true => self.b.select(self.less(x, y), x, y),
            false => self.llvm_function("llvm.minnum", &[x, y]),
        }
    }

    fn fmax(&self, is_fast: bool, x: Value, y: Value) -> Value {
        match is_fast {
            true => self.b.select(self.greater(x, y), x, y),
            false => self.llvm_function("llvm.maxnum", &[x, y]),
        }
    }

    /// NaN becomes `low`.
    fn clamp(&self, x: Value, low: Value, high: Value) -> Value {
        let raised = self.b.select(self.greater(x, low), x, low);
        self.b.select(self.less(raised, high), raised, high)
    }

    /// `x - floor(x)`, below 1 even where that rounds up to it. Infinity has no fraction.
    fn fract(&self, x: Value) -> Value {
        let below_one = x.ty().real(1.0 - 2f64.powi(-24));
        let whole = self.llvm_function("llvm.floor", &[x]);
        let fraction = self.fsub(x, whole);
        let bounded = self.b.select(self.greater(fraction, below_one), below_one, fraction);
        let is_infinite = self.equal_floats(whole, x);
        self.b.select(is_infinite, self.llvm_function("llvm.copysign", &[x.ty().zero(), x]), bounded)
    }

    fn equal_floats(&self, x: Value, y: Value) -> Value {
        self.b.fcmp(RealPredicate::LLVMRealOEQ, x, y)
    }

    fn dot(&self, x: Value, y: Value) -> Value {
        let length = if x.ty().is_vector() { x.ty().length() } else { 1 };
        let part = |index| (self.component(x, index), self.component(y, index));
        let (first_x, first_y) = part(0);
        (1..length).fold(self.fmul(first_x, first_y), |sum, index| {
            let (x, y) = part(index);
            self.llvm_function("llvm.fmuladd", &[x, y, sum])
        })
    }

    /// The sine; the cosine goes to memory, as a `ty`.
    fn sincos(&mut self, is_fast: bool, x: Value, place: Value, ty: Type) -> Result<Option<Value>> {
        let (Some(sine), Some(cosine)) =
            (self.in_library("sin", is_fast, &[x])?, self.in_library("cos", is_fast, &[x])?)
        else {
            return Ok(None);
        };
        let bytes = if ty.scalar().is_half() { 2 } else { 4 };
        self.b.store(self.narrowed(cosine, ty), place, bytes);
        Ok(Some(self.narrowed(sine, ty)))
    }

    /// One of LLVM's intrinsics; `None` to leave it alone.
    pub(super) fn llvm(&mut self, base: &str, call: Value) -> Result<Option<Value>> {
        let arguments = call.arguments();
        let is_float = call.ty().scalar() == Type::float(self.b.context());
        let base = match base {
            "ceil" | "floor" | "trunc" | "sqrt" | "fma" | "round" | "roundeven" | "rint" | "nearbyint"
            | "minnum" | "maxnum"
                if is_float =>
            {
                return Ok(None);
            }
            "roundeven" | "nearbyint" => "rint",
            "minnum" | "minimumnum" => "fmin",
            "maxnum" | "maximumnum" => "fmax",
            "powi" => {
                let exponent = self.b.cast(Opcode::LLVMSIToFP, arguments[1], call.ty().scalar());
                let exponent = self.splat(exponent, call.ty());
                return self.math("pow", is_approximate(call), &[arguments[0], exponent]);
            }
            base => base,
        };
        self.math(base, is_approximate(call), &arguments)
    }
}
