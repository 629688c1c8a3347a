//! Arithmetic and conversions of single constants.

use super::float;
use crate::program::{BinaryOp, UnaryOp, Value};
use crate::types::{FloatKind, IntKind, Ty, TyKind, Types};

/// The type of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    Bool,
    Int(IntKind),
    Float(FloatKind),
}

impl Scalar {
    /// Type in which `ty` is computed: an enum as its integer, a vector or matrix as its components.
    pub(crate) fn of(types: &Types, ty: Ty) -> Option<Scalar> {
        match *types.kind(ty) {
            TyKind::Bool => Some(Scalar::Bool),
            TyKind::Int(kind) => Some(Scalar::Int(kind)),
            TyKind::Float(kind) => Some(Scalar::Float(kind)),
            TyKind::Enum(id) => Scalar::of(types, types.enum_(id).underlying),
            TyKind::MemberPointer { member, .. } if !types.is_function(member.ty) => {
                Some(Scalar::Int(IntKind::Long))
            }
            TyKind::Vector { element, .. }
            | TyKind::PackedVector { element, .. }
            | TyKind::Matrix { element, .. }
            | TyKind::Atomic(element) => Scalar::of(types, element),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Int(kind) => kind.name(),
            Scalar::Float(kind) => kind.name(),
        }
    }

    pub(crate) fn zero(self) -> Value {
        match self {
            Scalar::Bool => Value::Bool(false),
            Scalar::Int(_) => Value::Int(0),
            Scalar::Float(_) => Value::Float(0.0),
        }
    }
}

/// Clang's message about a result that does not fit.
pub(super) fn out_of_range(value: impl std::fmt::Display, to: Scalar) -> String {
    format!("value {value} is outside the range of representable values of type '{}'", to.name())
}

/// True if a number is not zero, or a pointer not null; `None` for other values.
pub(crate) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Int(value) => Some(*value != 0),
        Value::Float(value) => Some(*value != 0.0),
        Value::Null => Some(false),
        Value::Function(_) | Value::Str(_) => Some(true),
        Value::Unknown | Value::Aggregate(_) => None,
    }
}

/// One number converted; `None` where the result is undefined, and for other values.
pub(crate) fn convert_scalar(value: &Value, to: Scalar) -> Option<Value> {
    if *value == Value::Unknown {
        return Some(Value::Unknown);
    }
    Some(match to {
        Scalar::Bool => Value::Bool(truth(value)?),
        Scalar::Int(kind) => Value::Int(match value {
            Value::Bool(value) => i128::from(*value),
            Value::Int(value) => kind.wrap(*value),
            Value::Float(value) => {
                // The cast saturates and makes NaN zero; the comparison detects both.
                let whole = value.trunc();
                let int = whole as i128;
                if int as f64 != whole || kind.wrap(int) != int {
                    return None;
                }
                int
            }
            _ => return None,
        }),
        Scalar::Float(kind) => Value::Float(match value {
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Int(value) => float::from_int(kind, *value),
            Value::Float(value) => float::round_to(kind, *value),
            _ => return None,
        }),
    })
}

/// The numeric conversion of a constant: between numbers, by component between vectors or matrices of one shape, from
/// a number to all components of a vector. `None` where the result is undefined (a `float` too large for an `int`)
/// and for types that do not convert.
pub(crate) fn convert(types: &Types, value: &Value, from: Ty, to: Ty) -> Option<Value> {
    if *value == Value::Unknown || from.is_unknown() || to.is_unknown() {
        return Some(Value::Unknown);
    }
    if from == to {
        return Some(value.clone());
    }
    let is_method = types.member_pointer(to).is_some_and(|(_, member)| types.is_function(member.ty));
    if is_method || matches!(types.kind(to), TyKind::Pointer(_)) {
        return matches!(value, Value::Null | Value::Function(_)).then(|| value.clone());
    }
    let scalar = Scalar::of(types, to)?;
    match (types.vector_parts(to), value) {
        (Some((_, len)), Value::Aggregate(parts)) if parts.len() != usize::from(len) => None,
        (Some((_, len)), value) if !matches!(value, Value::Aggregate(_)) => {
            Some(Value::Aggregate(vec![convert_scalar(value, scalar)?; usize::from(len)]))
        }
        _ => convert_components(value, scalar),
    }
}

fn convert_components(value: &Value, to: Scalar) -> Option<Value> {
    match value {
        Value::Aggregate(parts) => {
            parts.iter().map(|part| convert_components(part, to)).collect::<Option<_>>().map(Value::Aggregate)
        }
        value => convert_scalar(value, to),
    }
}

/// True if a constant can be converted in braces, without narrowing: an integer is in range, or exact as a
/// floating-point number; a floating-point number is in range, though perhaps not exact, and never becomes an integer.
/// Infinities and NaN are in the range of every floating-point type.
pub(crate) fn fits(types: &Types, value: &Value, to: Ty) -> bool {
    if *value == Value::Unknown || to.is_unknown() {
        return true;
    }
    let Some(scalar) = Scalar::of(types, to) else {
        return matches!((value, types.kind(to)), (Value::Null, TyKind::Pointer(_) | TyKind::NullPtr));
    };
    fits_components(value, scalar)
}

fn fits_components(value: &Value, to: Scalar) -> bool {
    match (value, to) {
        (Value::Unknown, _) => true,
        (Value::Aggregate(parts), _) => parts.iter().all(|part| fits_components(part, to)),
        (Value::Bool(_), _) => true,
        (Value::Int(value), Scalar::Bool) => matches!(value, 0 | 1),
        (Value::Int(value), Scalar::Int(kind)) => kind.wrap(*value) == *value,
        (Value::Int(value), Scalar::Float(kind)) => {
            let rounded = float::from_int(kind, *value);
            rounded.is_finite() && rounded as i128 == *value
        }
        (Value::Float(value), Scalar::Float(kind)) => {
            !value.is_finite() || float::round_to(kind, *value).is_finite()
        }
        _ => false,
    }
}

/// The most parts a constant may have.
#[cfg(test)]
const MAX_PARTS: u64 = 1 << 20;

/// Zero of any type that has one: `None` for `void`, references, textures, and types that are too large.
#[cfg(test)]
pub(crate) fn zero_value(types: &Types, ty: Ty) -> Option<Value> {
    zero(types, ty, &mut { MAX_PARTS })
}

/// Zero of any type that has one, with `budget` scalars at most; subtracts the scalars that it makes.
pub(super) fn zero(types: &Types, ty: Ty, budget: &mut u64) -> Option<Value> {
    *budget = budget.checked_sub(1)?;
    if let Some(scalar) = Scalar::of(types, ty) {
        return Some(match *types.kind(ty) {
            TyKind::Vector { len, .. } | TyKind::PackedVector { len, .. } => {
                Value::Aggregate(vec![scalar.zero(); usize::from(len)])
            }
            TyKind::Matrix { columns, rows, .. } => {
                let column = Value::Aggregate(vec![scalar.zero(); usize::from(rows)]);
                Value::Aggregate(vec![column; usize::from(columns)])
            }
            _ => scalar.zero(),
        });
    }
    match *types.kind(ty) {
        TyKind::Error | TyKind::Dependent => Some(Value::Unknown),
        TyKind::Pointer(_) | TyKind::NullPtr | TyKind::MemberPointer { .. } => Some(Value::Null),
        TyKind::Array { element, len } => {
            let len = len?;
            if len == 0 {
                return Some(Value::Aggregate(Vec::new()));
            }
            let before = *budget;
            let part = zero(types, element, budget)?;
            let cost = before - *budget;
            *budget = budget.checked_sub(cost.checked_mul(len - 1)?)?;
            Some(Value::Aggregate(vec![part; len as usize]))
        }
        TyKind::Struct(id) => {
            let definition = types.struct_(id);
            if !definition.is_complete || definition.is_opaque {
                return None;
            }
            let count = if definition.is_union { 1 } else { definition.fields.len() };
            let fields = definition.fields.iter().take(count);
            fields.map(|field| zero(types, field.ty.ty, budget)).collect::<Option<_>>().map(Value::Aggregate)
        }
        _ => None,
    }
}

/// `-a`, `~a`, `!a`
pub(super) fn unary(op: UnaryOp, kind: Scalar, value: &Value) -> Result<Value, String> {
    if *value == Value::Unknown {
        return Ok(Value::Unknown);
    }
    match (op, value, kind) {
        (UnaryOp::Not, value, _) => truth(value).map(|truth| Value::Bool(!truth)),
        (UnaryOp::Negate, Value::Int(value), Scalar::Int(kind)) => return checked(kind, -value),
        (UnaryOp::Negate, Value::Float(value), _) => Some(Value::Float(-value)),
        (UnaryOp::BitNot, Value::Int(value), Scalar::Int(kind)) => Some(Value::Int(kind.wrap(!value))),
        (UnaryOp::BitNot, Value::Bool(value), Scalar::Bool) => Some(Value::Bool(!value)),
        _ => None,
    }
    .ok_or_else(not_a_number)
}

fn not_a_number() -> String {
    "subexpression not valid in a constant expression".into()
}

/// The result of integer arithmetic: unsigned numbers wrap, signed ones must fit.
pub(super) fn checked(kind: IntKind, value: i128) -> Result<Value, String> {
    let wrapped = kind.wrap(value);
    if wrapped != value && kind.is_signed() {
        Err(out_of_range(value, Scalar::Int(kind)))
    } else {
        Ok(Value::Int(wrapped))
    }
}

/// `a op b`, both of type `kind` except for the right operand of a shift.
pub(super) fn binary(op: BinaryOp, kind: Scalar, lhs: &Value, rhs: &Value) -> Result<Value, String> {
    if *lhs == Value::Unknown || *rhs == Value::Unknown {
        return Ok(Value::Unknown);
    }
    if matches!(op, BinaryOp::And | BinaryOp::Or) {
        let (lhs, rhs) = truth(lhs).zip(truth(rhs)).ok_or_else(not_a_number)?;
        return Ok(Value::Bool(if op == BinaryOp::And { lhs && rhs } else { lhs || rhs }));
    }
    match (kind, lhs, rhs) {
        (Scalar::Int(kind), Value::Int(lhs), Value::Int(rhs)) => int_binary(op, kind, *lhs, *rhs),
        (Scalar::Float(kind), Value::Float(lhs), Value::Float(rhs)) => float_binary(op, kind, *lhs, *rhs),
        (Scalar::Bool, Value::Bool(lhs), Value::Bool(rhs)) => bool_binary(op, *lhs, *rhs),
        _ => Err(not_a_number()),
    }
}

pub(super) fn compare<T: PartialOrd>(op: BinaryOp, lhs: T, rhs: T) -> Option<bool> {
    Some(match op {
        BinaryOp::Less => lhs < rhs,
        BinaryOp::Greater => lhs > rhs,
        BinaryOp::LessEqual => lhs <= rhs,
        BinaryOp::GreaterEqual => lhs >= rhs,
        BinaryOp::Equal => lhs == rhs,
        BinaryOp::NotEqual => lhs != rhs,
        _ => return None,
    })
}

fn int_binary(op: BinaryOp, kind: IntKind, lhs: i128, rhs: i128) -> Result<Value, String> {
    if let Some(truth) = compare(op, lhs, rhs) {
        return Ok(Value::Bool(truth));
    }
    match op {
        BinaryOp::Add => checked(kind, lhs + rhs),
        BinaryOp::Sub => checked(kind, lhs - rhs),
        // Two `long`s fit into 127 bits; two `ulong`s may not, but they wrap.
        BinaryOp::Mul => checked(kind, lhs.wrapping_mul(rhs)),
        BinaryOp::Div | BinaryOp::Rem if rhs == 0 => Err("division by zero".into()),
        BinaryOp::Div => checked(kind, lhs / rhs),
        BinaryOp::Rem => checked(kind, lhs / rhs).and_then(|_| checked(kind, lhs % rhs)),
        BinaryOp::Shl | BinaryOp::Shr if rhs < 0 => Err(format!("negative shift count {rhs}")),
        BinaryOp::Shl | BinaryOp::Shr if rhs >= i128::from(kind.bits()) => {
            Err(format!("shift count {rhs} >= width of type '{}' ({} bits)", kind.name(), kind.bits()))
        }
        // Bits that leave a signed number are dropped, as since C++20; clang folds those of earlier C++ alike.
        BinaryOp::Shl => Ok(Value::Int(kind.wrap(lhs << rhs))),
        BinaryOp::Shr => Ok(Value::Int(lhs >> rhs)),
        BinaryOp::BitAnd => Ok(Value::Int(lhs & rhs)),
        BinaryOp::BitOr => Ok(Value::Int(lhs | rhs)),
        BinaryOp::BitXor => Ok(Value::Int(lhs ^ rhs)),
        _ => Err(not_a_number()),
    }
}

fn float_binary(op: BinaryOp, kind: FloatKind, lhs: f64, rhs: f64) -> Result<Value, String> {
    if let Some(truth) = compare(op, lhs, rhs) {
        return Ok(Value::Bool(truth));
    }
    let result = match op {
        BinaryOp::Add => lhs + rhs,
        BinaryOp::Sub => lhs - rhs,
        BinaryOp::Mul => lhs * rhs,
        BinaryOp::Div => lhs / rhs,
        _ => return Err(not_a_number()),
    };
    Ok(Value::Float(float::round_to(kind, result)))
}

fn bool_binary(op: BinaryOp, lhs: bool, rhs: bool) -> Result<Value, String> {
    if let Some(truth) = compare(op, lhs, rhs) {
        return Ok(Value::Bool(truth));
    }
    match op {
        BinaryOp::BitAnd => Ok(Value::Bool(lhs & rhs)),
        BinaryOp::BitOr => Ok(Value::Bool(lhs | rhs)),
        BinaryOp::BitXor => Ok(Value::Bool(lhs ^ rhs)),
        _ => Err(not_a_number()),
    }
}
