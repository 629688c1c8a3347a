//! The functions of the standard library that have a constant value: computed in `f64`, then rounded. Results of
//! transcendental functions may differ from a GPU's in the last digit, as those differ among GPUs.

use super::float;
use super::memory::Slot;
use super::number::{self, Scalar, truth};
use super::operators::{map, zip};
use super::{SUBEXPRESSION, UNINITIALIZED};
use crate::program::{BinaryOp, Function, Value};
use crate::types::{FloatKind, IntKind, Ty, TyKind, Types};

type Outcome<T> = Result<T, String>;

/// The result of a builtin, or `None` if it has no constant value.
pub(super) fn call(types: &Types, function: &Function, name: &str, args: &[Slot]) -> Option<Outcome<Slot>> {
    let name = name.trim_start_matches("metal::");
    let name = name.strip_prefix("fast::").or_else(|| name.strip_prefix("precise::")).unwrap_or(name);
    if function.result.is_unknown() {
        return Some(Ok(Slot::UNKNOWN));
    }
    if let ("_uniform_value", [value]) = (name, args) {
        return Some(Ok(value.clone()));
    }
    // A builtin that is not about numbers (`is_function_constant_defined`) must not become unknown with its argument.
    let result = Scalar::of(types, function.result)?;
    let known = known_name(name);
    if known && args.contains(&Slot::UNKNOWN) {
        return Some(Ok(Slot::UNKNOWN));
    }
    let param = function.params.first().and_then(|param| function.locals.get(param.0 as usize))?;
    let param_ty = types.referent(param.ty).ty;
    let kind = Scalar::of(types, param_ty)?;
    match (name, args) {
        ("as_type", [value]) => return Some(bit_cast(types, value, param_ty, function.result)),
        ("any" | "all", [value]) => return Some(reduce_truth(value, name == "all")),
        ("select", [no, yes, condition]) => return Some(select(no, yes, condition)),
        ("dot" | "length" | "length_squared" | "distance" | "distance_squared" | "normalize" | "cross", _) => {
            return Some(geometric(name, kind, args));
        }
        ("transpose", [Slot::Aggregate(columns)]) => return Some(transpose(columns)),
        _ => {}
    }
    if !known {
        return None;
    }
    Some(by_component(args, &|values| component(name, kind, result, values)))
}

/// True if [`component`] knows the function.
fn known_name(name: &str) -> bool {
    INT_OR_FLOAT.contains(&name) || FLOAT.contains(&name) || INT.contains(&name) || CLASSIFY.contains(&name)
}

const INT_OR_FLOAT: &[&str] =
    &["abs", "min", "max", "clamp", "sign", "min3", "max3", "median3", "fmin", "fmax", "fabs", "saturate"];
const FLOAT: &[&str] = &[
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "fract",
    "sqrt",
    "rsqrt",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "pow",
    "powr",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sinpi",
    "cospi",
    "tanpi",
    "atan2",
    "fmod",
    "copysign",
    "fdim",
    "step",
    "ldexp",
    "fma",
    "mix",
    "smoothstep",
    "fmin3",
    "fmax3",
    "fmedian3",
    "divide",
];
const INT: &[&str] = &[
    "clz",
    "ctz",
    "popcount",
    "reverse_bits",
    "rotate",
    "mulhi",
    "madhi",
    "mul24",
    "mad24",
    "addsat",
    "subsat",
    "hadd",
    "rhadd",
    "absdiff",
    "extract_bits",
    "insert_bits",
];
const CLASSIFY: &[&str] = &["isnan", "isinf", "isfinite", "isnormal", "signbit", "isordered", "isunordered"];

/// Calls `compute` for each component; numbers go with all components of vectors.
fn by_component(args: &[Slot], compute: &dyn Fn(&[Value]) -> Outcome<Value>) -> Outcome<Slot> {
    let len = args.iter().find_map(|arg| if let Slot::Aggregate(parts) = arg { Some(parts.len()) } else { None });
    let scalar = |slot: &Slot| match slot {
        Slot::Scalar(value) => Ok(value.clone()),
        Slot::Uninit => Err(UNINITIALIZED.to_string()),
        _ => Err(SUBEXPRESSION.to_string()),
    };
    let Some(len) = len else {
        let values = args.iter().map(scalar).collect::<Outcome<Vec<Value>>>()?;
        return one(&values, compute).map(Slot::Scalar);
    };
    let component = |index: usize| {
        let pick = |arg: &Slot| match arg {
            Slot::Aggregate(parts) => scalar(parts.get(index).ok_or(SUBEXPRESSION)?),
            arg => scalar(arg),
        };
        let values = args.iter().map(pick).collect::<Outcome<Vec<Value>>>()?;
        one(&values, compute).map(Slot::Scalar)
    };
    (0..len).map(component).collect::<Outcome<_>>().map(Slot::Aggregate)
}

fn one(values: &[Value], compute: &dyn Fn(&[Value]) -> Outcome<Value>) -> Outcome<Value> {
    if values.contains(&Value::Unknown) { Ok(Value::Unknown) } else { compute(values) }
}

fn component(name: &str, kind: Scalar, result: Scalar, values: &[Value]) -> Outcome<Value> {
    let found = match kind {
        Scalar::Float(kind) => float_component(name, kind, values),
        Scalar::Int(kind) => {
            let ints: Option<Vec<i128>> =
                values.iter().map(|value| if let Value::Int(int) = value { Some(*int) } else { None }).collect();
            ints.and_then(|ints| int_component(name, kind, &ints)).map(Value::Int)
        }
        Scalar::Bool => None,
    };
    let value = found.ok_or_else(|| super::non_constexpr(name))?;
    number::convert_scalar(&value, result).ok_or_else(|| SUBEXPRESSION.into())
}

fn float_component(name: &str, kind: FloatKind, values: &[Value]) -> Option<Value> {
    if let ("ldexp", [Value::Float(x), Value::Int(exponent)]) = (name, values) {
        return Some(Value::Float(x * 2f64.powi((*exponent).clamp(-1000, 1000) as i32)));
    }
    let floats: Option<Vec<f64>> =
        values.iter().map(|value| if let Value::Float(float) = value { Some(*float) } else { None }).collect();
    match *floats? {
        [x] => classify(name, kind, x).or_else(|| float_unary(name, kind, x).map(Value::Float)),
        [x, y] => match name {
            "isordered" => Some(Value::Bool(!x.is_nan() && !y.is_nan())),
            "isunordered" => Some(Value::Bool(x.is_nan() || y.is_nan())),
            _ => float_binary(name, x, y).map(Value::Float),
        },
        [x, y, z] => float_ternary(name, kind, x, y, z).map(Value::Float),
        _ => None,
    }
}

fn classify(name: &str, kind: FloatKind, x: f64) -> Option<Value> {
    let truth = match name {
        "isnan" => x.is_nan(),
        "isinf" => x.is_infinite(),
        "isfinite" => x.is_finite(),
        "isnormal" => x.is_finite() && x.abs() >= float::smallest_normal(kind),
        "signbit" => x.is_sign_negative(),
        _ => return None,
    };
    Some(Value::Bool(truth))
}

fn float_unary(name: &str, kind: FloatKind, x: f64) -> Option<f64> {
    use std::f64::consts::PI;
    Some(match name {
        "abs" | "fabs" => x.abs(),
        "sign" if x.is_nan() => 0.0,
        "sign" if x == 0.0 => x,
        "sign" => 1f64.copysign(x),
        "saturate" if x.is_nan() => 0.0,
        "saturate" => x.clamp(0.0, 1.0),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "trunc" => x.trunc(),
        "round" => x.round(),
        "rint" => x.round_ties_even(),
        "fract" => float::round_to(kind, x - x.floor()).min(float::below_one(kind)),
        "sqrt" => x.sqrt(),
        "rsqrt" => 1.0 / x.sqrt(),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "exp10" => 10f64.powf(x),
        "log" => x.ln(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "asinh" => x.asinh(),
        "acosh" => x.acosh(),
        "atanh" => x.atanh(),
        // The remainder is exact; π times it is not, except where the sine or cosine is 0 or ±1.
        "sinpi" if x % 1.0 == 0.0 => 0f64.copysign(x),
        "sinpi" => (PI * (x % 2.0)).sin(),
        "cospi" if (x % 1.0).abs() == 0.5 => 0.0,
        "cospi" => (PI * (x % 2.0)).cos(),
        "tanpi" => (PI * (x % 1.0)).tan(),
        _ => return None,
    })
}

fn float_binary(name: &str, x: f64, y: f64) -> Option<f64> {
    Some(match name {
        "min" | "fmin" => x.min(y),
        "max" | "fmax" => x.max(y),
        "pow" | "powr" => x.powf(y),
        "atan2" => x.atan2(y),
        "fmod" => x % y,
        "copysign" => x.copysign(y),
        "fdim" if x.is_nan() || y.is_nan() => f64::NAN,
        "fdim" => (x - y).max(0.0),
        "step" => f64::from(u8::from(y >= x)),
        "divide" => x / y,
        _ => return None,
    })
}

fn float_ternary(name: &str, kind: FloatKind, x: f64, y: f64, z: f64) -> Option<f64> {
    Some(match name {
        "fma" => float::fma(kind, x, y, z),
        "clamp" => x.max(y).min(z),
        "mix" => x + float::round_to(kind, float::round_to(kind, y - x) * z),
        "smoothstep" => {
            let t = ((z - x) / (y - x)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }
        "min3" | "fmin3" => x.min(y).min(z),
        "max3" | "fmax3" => x.max(y).max(z),
        "median3" | "fmedian3" => x.min(y).max(x.max(y).min(z)),
        _ => return None,
    })
}

/// The result before it is wrapped to its type.
fn int_component(name: &str, kind: IntKind, values: &[i128]) -> Option<i128> {
    let bits = kind.bits();
    // As an unsigned number of its width.
    let pattern = |value: i128| (value & ((1i128 << bits) - 1)) as u64;
    let range = if kind.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    Some(kind.wrap(match (name, values) {
        ("abs", [x]) => x.abs(),
        ("sign", [x]) => x.signum(),
        ("clz", [x]) => i128::from(pattern(*x).leading_zeros() - (64 - bits)),
        ("ctz", [x]) => i128::from(pattern(*x).trailing_zeros().min(bits)),
        ("popcount", [x]) => i128::from(pattern(*x).count_ones()),
        ("reverse_bits", [x]) => i128::from(pattern(*x).reverse_bits() >> (64 - bits)),
        ("min", [x, y]) => *x.min(y),
        ("max", [x, y]) => *x.max(y),
        ("absdiff", [x, y]) => (x - y).abs(),
        ("addsat", [x, y]) => (x + y).clamp(range.0, range.1),
        ("subsat", [x, y]) => (x - y).clamp(range.0, range.1),
        ("hadd", [x, y]) => (x + y) >> 1,
        ("rhadd", [x, y]) => (x + y + 1) >> 1,
        ("mulhi", [x, y]) => high_product(kind, *x, *y),
        ("madhi", [x, y, z]) => high_product(kind, *x, *y) + z,
        ("mul24", [x, y]) => x.wrapping_mul(*y),
        ("mad24", [x, y, z]) => x.wrapping_mul(*y).wrapping_add(*z),
        ("rotate", [x, y]) => {
            let by = (pattern(*y) % u64::from(bits)) as u32;
            let wide = u128::from(pattern(*x));
            ((wide << by) | (wide >> (bits - by))) as i128
        }
        ("clamp", [x, low, high]) => *x.max(low).min(high),
        ("min3", [x, y, z]) => *x.min(y).min(z),
        ("max3", [x, y, z]) => *x.max(y).max(z),
        ("median3", [x, y, z]) => *x.min(y).max(x.max(y).min(z)),
        ("extract_bits", [x, offset, count]) => {
            let (offset, count) = bit_range(*offset, *count, bits)?;
            let field = i128::from(pattern(*x)) >> offset & ((1i128 << count) - 1);
            let sign = kind.is_signed() && count > 0 && field >> (count - 1) & 1 == 1;
            if sign { field - (1i128 << count) } else { field }
        }
        ("insert_bits", [base, insert, offset, count]) => {
            let (offset, count) = bit_range(*offset, *count, bits)?;
            let mask = ((1i128 << count) - 1) << offset;
            (base & !mask) | ((insert << offset) & mask)
        }
        _ => return None,
    }))
}

fn bit_range(offset: i128, count: i128, bits: u32) -> Option<(u32, u32)> {
    let in_range = offset >= 0 && count >= 0 && offset + count <= i128::from(bits);
    in_range.then_some((offset as u32, count as u32))
}

/// The upper half of a product.
fn high_product(kind: IntKind, x: i128, y: i128) -> i128 {
    if kind.is_signed() { (x * y) >> kind.bits() } else { ((x as u128 * y as u128) >> kind.bits()) as i128 }
}

fn select(no: &Slot, yes: &Slot, condition: &Slot) -> Outcome<Slot> {
    match (no, yes, condition) {
        (_, _, Slot::Scalar(Value::Unknown)) => Ok(Slot::UNKNOWN),
        (_, _, Slot::Scalar(condition)) => {
            let truth = truth(condition).ok_or(SUBEXPRESSION)?;
            Ok(if truth { yes.clone() } else { no.clone() })
        }
        (Slot::Aggregate(no), Slot::Aggregate(yes), Slot::Aggregate(condition))
            if no.len() == yes.len() && no.len() == condition.len() =>
        {
            let all = no.iter().zip(yes).zip(condition);
            all.map(|((no, yes), condition)| select(no, yes, condition))
                .collect::<Outcome<_>>()
                .map(Slot::Aggregate)
        }
        _ if *no == Slot::UNKNOWN || *yes == Slot::UNKNOWN => Ok(Slot::UNKNOWN),
        _ => Err(SUBEXPRESSION.into()),
    }
}

fn reduce_truth(value: &Slot, all: bool) -> Outcome<Slot> {
    let parts = match value {
        Slot::Aggregate(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut unknown = false;
    for part in parts {
        match part {
            Slot::Scalar(Value::Unknown) => unknown = true,
            Slot::Scalar(value) if truth(value).ok_or(SUBEXPRESSION)? != all => {
                return Ok(Slot::Scalar(Value::Bool(!all)));
            }
            Slot::Scalar(_) => {}
            _ => return Err(SUBEXPRESSION.into()),
        }
    }
    Ok(if unknown { Slot::UNKNOWN } else { Slot::Scalar(Value::Bool(all)) })
}

fn geometric(name: &str, kind: Scalar, args: &[Slot]) -> Outcome<Slot> {
    if args.contains(&Slot::UNKNOWN) {
        return Ok(Slot::UNKNOWN);
    }
    let binary = |op, a: &Slot, b: &Slot| zip(a, b, &|a, b| number::binary(op, kind, a, b));
    let dot = |a: &Slot, b: &Slot| -> Outcome<Slot> {
        let Slot::Aggregate(products) = binary(BinaryOp::Mul, a, b)? else { return Err(SUBEXPRESSION.into()) };
        let mut products = products.into_iter();
        let first = products.next().ok_or(SUBEXPRESSION)?;
        products.try_fold(first, |sum, product| binary(BinaryOp::Add, &sum, &product))
    };
    let root = |slot: &Slot| {
        map(slot, &|value| match (value, kind) {
            (Value::Unknown, _) => Ok(Value::Unknown),
            (Value::Float(value), Scalar::Float(kind)) => Ok(Value::Float(float::round_to(kind, value.sqrt()))),
            _ => Err(SUBEXPRESSION.into()),
        })
    };
    match (name, args) {
        ("dot", [a, b]) => dot(a, b),
        ("length_squared", [a]) => dot(a, a),
        ("length", [a]) => root(&dot(a, a)?),
        ("normalize", [a]) => binary(BinaryOp::Div, a, &root(&dot(a, a)?)?),
        ("distance" | "distance_squared", [a, b]) => {
            let difference = binary(BinaryOp::Sub, a, b)?;
            let squared = dot(&difference, &difference)?;
            if name == "distance" { root(&squared) } else { Ok(squared) }
        }
        ("cross", [Slot::Aggregate(a), Slot::Aggregate(b)]) if a.len() == 3 && b.len() == 3 => {
            let component = |i: usize| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let left = binary(BinaryOp::Mul, &a[j], &b[k])?;
                binary(BinaryOp::Sub, &left, &binary(BinaryOp::Mul, &a[k], &b[j])?)
            };
            (0..3).map(component).collect::<Outcome<_>>().map(Slot::Aggregate)
        }
        _ => Err(SUBEXPRESSION.into()),
    }
}

fn transpose(columns: &[Slot]) -> Outcome<Slot> {
    let columns: Option<Vec<&Vec<Slot>>> =
        columns.iter().map(|column| if let Slot::Aggregate(cells) = column { Some(cells) } else { None }).collect();
    let columns = columns.ok_or(SUBEXPRESSION)?;
    let rows = columns.iter().map(|column| column.len()).min().unwrap_or(0);
    let row = |index: usize| Slot::Aggregate(columns.iter().map(|column| column[index].clone()).collect());
    Ok(Slot::Aggregate((0..rows).map(row).collect()))
}

// --- bits ------------------------------------------------------------------------------------------------------

/// The bits of numbers or vectors as another type of the same size. A vector of three is that of its three components.
fn bit_cast(types: &Types, value: &Slot, from: Ty, to: Ty) -> Outcome<Slot> {
    if *value == Slot::UNKNOWN {
        return Ok(Slot::UNKNOWN);
    }
    let (source, target) = Scalar::of(types, from).zip(Scalar::of(types, to)).ok_or(SUBEXPRESSION)?;
    let parts = match value {
        Slot::Aggregate(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            Slot::Scalar(Value::Unknown) => return Ok(Slot::UNKNOWN),
            Slot::Scalar(value) => push_bytes(&mut bytes, source, value)?,
            _ => return Err(SUBEXPRESSION.into()),
        }
    }
    let width = byte_width(target);
    let len = match types.kind(to) {
        TyKind::Matrix { .. } => return Err(SUBEXPRESSION.into()),
        _ => types.vector_parts(to).map(|(_, len)| usize::from(len)),
    };
    if bytes.len() != width * len.unwrap_or(1) {
        return Err("size of source and destination of as_type differ".into());
    }
    let mut values = bytes.chunks(width).map(|bytes| Slot::Scalar(from_bytes(target, bytes)));
    match len {
        Some(_) => Ok(Slot::Aggregate(values.collect())),
        None => values.next().ok_or_else(|| SUBEXPRESSION.into()),
    }
}

fn byte_width(kind: Scalar) -> usize {
    match kind {
        Scalar::Bool => 1,
        Scalar::Int(kind) => kind.bits() as usize / 8,
        Scalar::Float(FloatKind::Float) => 4,
        Scalar::Float(FloatKind::Half | FloatKind::BFloat) => 2,
    }
}

fn push_bytes(bytes: &mut Vec<u8>, kind: Scalar, value: &Value) -> Outcome<()> {
    let bits = match (value, kind) {
        (Value::Bool(value), _) => i128::from(*value),
        (Value::Int(value), _) => *value,
        (Value::Float(value), Scalar::Float(kind)) => i128::from(float::to_bits(kind, *value)),
        _ => return Err(SUBEXPRESSION.into()),
    };
    bytes.extend_from_slice(&bits.to_le_bytes()[..byte_width(kind)]);
    Ok(())
}

fn from_bytes(kind: Scalar, bytes: &[u8]) -> Value {
    let bits = bytes.iter().rev().fold(0i128, |bits, &byte| bits << 8 | i128::from(byte));
    match kind {
        Scalar::Bool => Value::Bool(bits != 0),
        Scalar::Int(kind) => Value::Int(kind.wrap(bits)),
        Scalar::Float(kind) => Value::Float(float::from_bits(kind, bits as u32)),
    }
}
