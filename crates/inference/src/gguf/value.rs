//! Metadata values: 12 scalar types, and arrays.

use std::fmt;

/// Metadata value.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "GGUF's names")]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    String(String),
    Array(Array),
    U64(u64),
    I64(i64),
    F64(f64),
}

/// Array of values of one type.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "GGUF's names")]
pub enum Array {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    Bool(Vec<bool>),
    String(Strings),
    /// The inner arrays may differ in element type.
    Array(Vec<Array>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
}

/// Array of strings in one allocation. They are bytes: some vocabularies have tokens that are part of a character.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Type of a value. The discriminants are the type codes of the file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "GGUF's names")]
#[repr(u32)]
pub enum ValueType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64,
}

impl ValueType {
    const ALL: [ValueType; 13] = [
        ValueType::U8,
        ValueType::I8,
        ValueType::U16,
        ValueType::I16,
        ValueType::U32,
        ValueType::I32,
        ValueType::F32,
        ValueType::Bool,
        ValueType::String,
        ValueType::Array,
        ValueType::U64,
        ValueType::I64,
        ValueType::F64,
    ];

    /// Returns the type of a type code.
    pub fn from_code(code: u32) -> Option<ValueType> {
        ValueType::ALL.get(code as usize).copied()
    }

    /// Smallest size of a value in bytes; the exact size of a fixed-size type.
    pub(super) fn min_size(self) -> u64 {
        match self {
            ValueType::U8 | ValueType::I8 | ValueType::Bool => 1,
            ValueType::U16 | ValueType::I16 => 2,
            ValueType::U32 | ValueType::I32 | ValueType::F32 => 4,
            ValueType::U64 | ValueType::I64 | ValueType::F64 => 8,
            // A string's length; an array's element type and length.
            ValueType::String => 8,
            ValueType::Array => 12,
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ValueType::U8 => "u8",
            ValueType::I8 => "i8",
            ValueType::U16 => "u16",
            ValueType::I16 => "i16",
            ValueType::U32 => "u32",
            ValueType::I32 => "i32",
            ValueType::F32 => "f32",
            ValueType::Bool => "bool",
            ValueType::String => "string",
            ValueType::Array => "array",
            ValueType::U64 => "u64",
            ValueType::I64 => "i64",
            ValueType::F64 => "f64",
        })
    }
}

impl Value {
    /// Type of the value.
    pub fn kind(&self) -> ValueType {
        match self {
            Value::U8(_) => ValueType::U8,
            Value::I8(_) => ValueType::I8,
            Value::U16(_) => ValueType::U16,
            Value::I16(_) => ValueType::I16,
            Value::U32(_) => ValueType::U32,
            Value::I32(_) => ValueType::I32,
            Value::F32(_) => ValueType::F32,
            Value::Bool(_) => ValueType::Bool,
            Value::String(_) => ValueType::String,
            Value::Array(_) => ValueType::Array,
            Value::U64(_) => ValueType::U64,
            Value::I64(_) => ValueType::I64,
            Value::F64(_) => ValueType::F64,
        }
    }

    /// Returns the value of an integer of any width, or `None` for other types.
    pub fn integer(&self) -> Option<i128> {
        match *self {
            Value::U8(value) => Some(value.into()),
            Value::I8(value) => Some(value.into()),
            Value::U16(value) => Some(value.into()),
            Value::I16(value) => Some(value.into()),
            Value::U32(value) => Some(value.into()),
            Value::I32(value) => Some(value.into()),
            Value::U64(value) => Some(value.into()),
            Value::I64(value) => Some(value.into()),
            Value::F32(_) | Value::F64(_) | Value::Bool(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    /// Returns the value of a float of either width, or `None` for other types.
    pub fn float(&self) -> Option<f64> {
        match *self {
            Value::F32(value) => Some(value.into()),
            Value::F64(value) => Some(value),
            _ => None,
        }
    }

    /// Describes the type for messages: `u32`, `array of 3 f32`.
    pub(super) fn describe(&self) -> String {
        match self {
            Value::Array(array) => format!("array of {} {}", array.len(), array.kind()),
            value => value.kind().to_string(),
        }
    }
}

impl Array {
    /// Type of the elements.
    pub fn kind(&self) -> ValueType {
        match self {
            Array::U8(_) => ValueType::U8,
            Array::I8(_) => ValueType::I8,
            Array::U16(_) => ValueType::U16,
            Array::I16(_) => ValueType::I16,
            Array::U32(_) => ValueType::U32,
            Array::I32(_) => ValueType::I32,
            Array::F32(_) => ValueType::F32,
            Array::Bool(_) => ValueType::Bool,
            Array::String(_) => ValueType::String,
            Array::Array(_) => ValueType::Array,
            Array::U64(_) => ValueType::U64,
            Array::I64(_) => ValueType::I64,
            Array::F64(_) => ValueType::F64,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Array::U8(values) => values.len(),
            Array::I8(values) => values.len(),
            Array::U16(values) => values.len(),
            Array::I16(values) => values.len(),
            Array::U32(values) => values.len(),
            Array::I32(values) => values.len(),
            Array::F32(values) => values.len(),
            Array::Bool(values) => values.len(),
            Array::String(values) => values.len(),
            Array::Array(values) => values.len(),
            Array::U64(values) => values.len(),
            Array::I64(values) => values.len(),
            Array::F64(values) => values.len(),
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns one element, or `None` if the index is out of range. Invalid UTF-8 in a string becomes U+FFFD.
    pub fn get(&self, index: usize) -> Option<Value> {
        match self {
            Array::U8(values) => values.get(index).copied().map(Value::U8),
            Array::I8(values) => values.get(index).copied().map(Value::I8),
            Array::U16(values) => values.get(index).copied().map(Value::U16),
            Array::I16(values) => values.get(index).copied().map(Value::I16),
            Array::U32(values) => values.get(index).copied().map(Value::U32),
            Array::I32(values) => values.get(index).copied().map(Value::I32),
            Array::F32(values) => values.get(index).copied().map(Value::F32),
            Array::Bool(values) => values.get(index).copied().map(Value::Bool),
            Array::String(values) => {
                values.get(index).map(|text| Value::String(String::from_utf8_lossy(text).into_owned()))
            }
            Array::Array(values) => values.get(index).cloned().map(Value::Array),
            Array::U64(values) => values.get(index).copied().map(Value::U64),
            Array::I64(values) => values.get(index).copied().map(Value::I64),
            Array::F64(values) => values.get(index).copied().map(Value::F64),
        }
    }
}

impl Strings {
    pub(super) fn with_capacity(count: usize) -> Strings {
        Strings { bytes: Vec::new(), ends: Vec::with_capacity(count) }
    }

    /// Appends a string.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no strings.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns one string, or `None` if the index is out of range.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes.get(start..end)
    }

    /// Iterates over the strings.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for Strings {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Strings {
        let mut strings = Strings::default();
        for text in texts {
            strings.push(text.as_ref());
        }
        strings
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<Strings> for Value {
    fn from(strings: Strings) -> Value {
        Value::Array(Array::String(strings))
    }
}

macro_rules! from_number {
    ($($number:ty => $variant:ident),*) => {$(
        impl From<$number> for Value {
            fn from(value: $number) -> Value {
                Value::$variant(value)
            }
        }

        impl From<Vec<$number>> for Value {
            fn from(values: Vec<$number>) -> Value {
                Value::Array(Array::$variant(values))
            }
        }
    )*};
}

from_number!(u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32);
from_number!(u64 => U64, i64 => I64, f32 => F32, f64 => F64, bool => Bool);
