//! NSNumber.

use super::string;
use super::value::NS_VALUE;
use crate::runtime::{Flag, Id, Strong};
use std::ffi::c_char;

/// The value of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
}

impl Number {
    fn signed(self) -> i64 {
        match self {
            Number::Bool(value) => value.into(),
            Number::Signed(value) => value,
            Number::Unsigned(value) => value as i64,
            Number::Float(value) => value as i64,
            Number::Double(value) => value as i64,
        }
    }

    fn unsigned(self) -> u64 {
        match self {
            Number::Float(value) => value as u64,
            Number::Double(value) => value as u64,
            other => other.signed() as u64,
        }
    }

    fn double(self) -> f64 {
        match self {
            Number::Unsigned(value) => value as f64,
            Number::Float(value) => value.into(),
            Number::Double(value) => value,
            other => other.signed() as f64,
        }
    }

    /// The encoding of its type.
    fn code(self) -> *const c_char {
        let code = match self {
            Number::Bool(_) => c"C",
            Number::Signed(_) => c"q",
            Number::Unsigned(_) => c"Q",
            Number::Float(_) => c"f",
            Number::Double(_) => c"d",
        };
        code.as_ptr()
    }

    fn text(self) -> String {
        match self {
            Number::Bool(value) => u8::from(value).to_string(),
            Number::Signed(value) => value.to_string(),
            Number::Unsigned(value) => value.to_string(),
            Number::Float(value) => value.to_string(),
            Number::Double(value) => value.to_string(),
        }
    }

    fn is_equal(self, other: Number) -> bool {
        match (self, other) {
            (Number::Float(_) | Number::Double(_), _) | (_, Number::Float(_) | Number::Double(_)) => {
                self.double() == other.double()
            }
            _ => self.signed() == other.signed(),
        }
    }
}

macro_rules! numbers {
    ($($with:literal $init:literal $ty:ty => $make:expr,)*) => {
        class! {
            NS_NUMBER = "NSNumber": NS_VALUE, new Number, []
            methods {
                $(
                    + $with (_class, value: $ty) -> Id { Strong::new($make(value)).autorelease() }
                    - $init (this, value: $ty) -> Id { this.set($make(value)) }
                )*
                - "boolValue" (this) -> bool { this.double() != 0.0 }
                - "charValue" (this) -> i8 { this.signed() as i8 }
                - "unsignedCharValue" (this) -> u8 { this.unsigned() as u8 }
                - "shortValue" (this) -> i16 { this.signed() as i16 }
                - "unsignedShortValue" (this) -> u16 { this.unsigned() as u16 }
                - "intValue" (this) -> i32 { this.signed() as i32 }
                - "unsignedIntValue" (this) -> u32 { this.unsigned() as u32 }
                - "integerValue" (this) -> isize { this.signed() as isize }
                - "unsignedIntegerValue" (this) -> usize { this.unsigned() as usize }
                - "longValue" (this) -> i64 { this.signed() }
                - "unsignedLongValue" (this) -> u64 { this.unsigned() }
                - "longLongValue" (this) -> i64 { this.signed() }
                - "unsignedLongLongValue" (this) -> u64 { this.unsigned() }
                - "floatValue" (this) -> f32 { this.double() as f32 }
                - "doubleValue" (this) -> f64 { this.double() }
                - "objCType" (this) -> *const c_char { this.code() }
                - "isEqual:" (this, other: Id) -> bool { other.cast::<Number>().is_some_and(|other| this.is_equal(*other)) }
                - "isEqualToNumber:" (this, other: Id) -> bool {
                    other.cast::<Number>().is_some_and(|other| this.is_equal(*other))
                }
                - "compare:" (this, other: Id) -> isize {
                    let other = other.cast::<Number>().map_or(0.0, |other| other.double());
                    this.double().partial_cmp(&other).map_or(0, |order| order as isize)
                }
                - "hash" (this) -> usize { this.double().to_bits() as usize }
                - "stringValue" (this) -> Id { string::new(&this.text()).autorelease() }
                - "description" (this) -> Id { string::new(&this.text()).autorelease() }
            }
        }
    };
}

numbers! {
    "numberWithBool:" "initWithBool:" Flag => |value: Flag| Number::Bool(value != 0),
    "numberWithChar:" "initWithChar:" i8 => |value: i8| Number::Signed(value.into()),
    "numberWithUnsignedChar:" "initWithUnsignedChar:" u8 => |value: u8| Number::Unsigned(value.into()),
    "numberWithShort:" "initWithShort:" i16 => |value: i16| Number::Signed(value.into()),
    "numberWithUnsignedShort:" "initWithUnsignedShort:" u16 => |value: u16| Number::Unsigned(value.into()),
    "numberWithInt:" "initWithInt:" i32 => |value: i32| Number::Signed(value.into()),
    "numberWithUnsignedInt:" "initWithUnsignedInt:" u32 => |value: u32| Number::Unsigned(value.into()),
    "numberWithInteger:" "initWithInteger:" isize => |value: isize| Number::Signed(value as i64),
    "numberWithUnsignedInteger:" "initWithUnsignedInteger:" usize => |value: usize| Number::Unsigned(value as u64),
    "numberWithLong:" "initWithLong:" i64 => Number::Signed,
    "numberWithUnsignedLong:" "initWithUnsignedLong:" u64 => Number::Unsigned,
    "numberWithLongLong:" "initWithLongLong:" i64 => Number::Signed,
    "numberWithUnsignedLongLong:" "initWithUnsignedLongLong:" u64 => Number::Unsigned,
    "numberWithFloat:" "initWithFloat:" f32 => Number::Float,
    "numberWithDouble:" "initWithDouble:" f64 => Number::Double,
}
