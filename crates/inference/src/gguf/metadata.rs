//! Metadata: key-value pairs, and typed access to them.

use std::collections::HashMap;

use super::value::{Array, Strings, Value};
use crate::weights::{FileError, FileErrorKind};

/// Key-value pairs in file order.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    entries: Vec<(String, Value)>,
    by_key: HashMap<String, usize>,
}

impl Metadata {
    /// Adds a key. Returns the value as the error if the key exists.
    pub(super) fn add(&mut self, key: String, value: Value) -> Result<(), Value> {
        if self.by_key.contains_key(&key) {
            return Err(value);
        }
        self.by_key.insert(key.clone(), self.entries.len());
        self.entries.push((key, value));
        Ok(())
    }

    /// Sets a key, replacing its value if it exists.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        match self.by_key.get(key) {
            Some(&index) => self.entries[index].1 = value.into(),
            None => {
                self.by_key.insert(key.to_owned(), self.entries.len());
                self.entries.push((key.to_owned(), value.into()));
            }
        }
    }

    /// Iterates over the key-value pairs in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of a key as stored, or `None` if there is no such key.
    pub fn find(&self, key: &str) -> Option<&Value> {
        self.by_key.get(key).map(|&index| &self.entries[index].1)
    }

    /// Returns the value of a key as `T`. An integer of any width converts if its value fits.
    pub fn get<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<T, FileError> {
        match self.get_optional(key)? {
            Some(value) => Ok(value),
            None => {
                let expected = T::expected();
                let mut message = format!("there is no key '{key}' ({expected}) in the metadata");
                // In a model of another architecture, the same key has another prefix.
                let similar = key.split_once('.').and_then(|(_, end)| {
                    self.iter().find(|(other, _)| other.split_once('.').is_some_and(|(_, other)| other == end))
                });
                if let Some((similar, _)) = similar {
                    message += &format!("; there is '{similar}'");
                }
                Err(FileError::new(FileErrorKind::MissingKey, message))
            }
        }
    }

    /// A count of the architecture, whose name begins the key.
    pub(crate) fn count(&self, end: &str) -> Result<u32, FileError> {
        self.get(&format!("{}.{end}", self.get::<&str>("general.architecture")?))
    }

    /// Returns the value of a key as `T`, or `None` if there is no such key. A value of another type is an error.
    pub fn get_optional<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<Option<T>, FileError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        T::from_value(value).map(Some).map_err(|mismatch| {
            let (expected, found) = (T::expected(), value.describe());
            let message = match mismatch {
                Mismatch::Type => format!("key '{key}': expected {expected}, found {found}"),
                Mismatch::Value(what) => format!("key '{key}': expected {expected}, found {found}: {what}"),
            };
            FileError::new(FileErrorKind::WrongValue, message)
        })
    }
}

/// Reason why a value does not convert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// The type differs.
    Type,
    /// The type converts, but this value does not; the message says why.
    Value(String),
}

/// Conversion from a metadata value.
pub trait FromValue<'a>: Sized {
    /// Name of the expected type, for messages.
    fn expected() -> String;

    /// Converts a value.
    fn from_value(value: &'a Value) -> Result<Self, Mismatch>;
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl FromValue<'_> for $integer {
            fn expected() -> String {
                stringify!($integer).into()
            }

            fn from_value(value: &Value) -> Result<$integer, Mismatch> {
                let integer = value.integer().ok_or(Mismatch::Type)?;
                <$integer>::try_from(integer).map_err(|_| Mismatch::Value(format!("{integer} does not fit")))
            }
        }

        impl FromValue<'_> for Vec<$integer> {
            fn expected() -> String {
                concat!("array of ", stringify!($integer)).into()
            }

            fn from_value(value: &Value) -> Result<Vec<$integer>, Mismatch> {
                elements(value)
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 usize);

macro_rules! floats {
    ($($float:ident)*) => {$(
        impl FromValue<'_> for $float {
            fn expected() -> String {
                stringify!($float).into()
            }

            fn from_value(value: &Value) -> Result<$float, Mismatch> {
                value.float().map(|value| value as $float).ok_or(Mismatch::Type)
            }
        }

        impl FromValue<'_> for Vec<$float> {
            fn expected() -> String {
                concat!("array of ", stringify!($float)).into()
            }

            fn from_value(value: &Value) -> Result<Vec<$float>, Mismatch> {
                elements(value)
            }
        }
    )*};
}

floats!(f32 f64);

/// Converts the elements of a numeric or boolean array.
fn elements<T: for<'e> FromValue<'e>>(value: &Value) -> Result<Vec<T>, Mismatch> {
    let Value::Array(array) = value else { return Err(Mismatch::Type) };
    if matches!(array, Array::String(_) | Array::Array(_)) {
        return Err(Mismatch::Type);
    }
    let of_index = |index| {
        let element = array.get(index).ok_or(Mismatch::Type)?;
        T::from_value(&element).map_err(|mismatch| match mismatch {
            Mismatch::Value(what) => Mismatch::Value(format!("element {index}: {what}")),
            Mismatch::Type => Mismatch::Type,
        })
    };
    (0..array.len()).map(of_index).collect()
}

impl FromValue<'_> for bool {
    fn expected() -> String {
        "bool".into()
    }

    fn from_value(value: &Value) -> Result<bool, Mismatch> {
        if let Value::Bool(value) = value { Ok(*value) } else { Err(Mismatch::Type) }
    }
}

impl<'a> FromValue<'a> for &'a str {
    fn expected() -> String {
        "string".into()
    }

    fn from_value(value: &'a Value) -> Result<&'a str, Mismatch> {
        if let Value::String(value) = value { Ok(value) } else { Err(Mismatch::Type) }
    }
}

impl FromValue<'_> for String {
    fn expected() -> String {
        "string".into()
    }

    fn from_value(value: &Value) -> Result<String, Mismatch> {
        <&str>::from_value(value).map(str::to_owned)
    }
}

impl<'a> FromValue<'a> for &'a Strings {
    fn expected() -> String {
        "array of string".into()
    }

    fn from_value(value: &'a Value) -> Result<&'a Strings, Mismatch> {
        if let Value::Array(Array::String(strings)) = value { Ok(strings) } else { Err(Mismatch::Type) }
    }
}

impl<'a> FromValue<'a> for Vec<&'a str> {
    fn expected() -> String {
        "array of string".into()
    }

    fn from_value(value: &'a Value) -> Result<Vec<&'a str>, Mismatch> {
        let texts = <&Strings>::from_value(value)?.iter().enumerate();
        let utf8 = |(index, text): (usize, &'a [u8])| {
            std::str::from_utf8(text).map_err(|_| Mismatch::Value(format!("element {index} is not UTF-8")))
        };
        texts.map(utf8).collect()
    }
}

impl<'a> FromValue<'a> for &'a Array {
    fn expected() -> String {
        "array".into()
    }

    fn from_value(value: &'a Value) -> Result<&'a Array, Mismatch> {
        if let Value::Array(array) = value { Ok(array) } else { Err(Mismatch::Type) }
    }
}
