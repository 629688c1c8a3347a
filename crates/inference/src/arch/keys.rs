//! Reader of the metadata keys of an architecture.

use super::Architecture;
use crate::error::{Error, Result};
use crate::gguf::{Array, FromValue, Gguf, Value};
use crate::weights::FileError;

/// Largest plausible count. Keeps later products from overflowing.
const MAX_COUNT: u64 = 1 << 24;

/// Reader of the keys with the architecture as prefix.
pub(super) struct Keys<'a> {
    pub(super) model: &'a Gguf,
    pub(super) architecture: &'static Architecture,
}

impl<'a> Keys<'a> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture.name)
    }

    pub(super) fn get<T: FromValue<'a>>(&self, name: &str) -> std::result::Result<T, FileError> {
        self.model.get(&self.key(name))
    }

    pub(super) fn optional<T: FromValue<'a>>(&self, name: &str) -> std::result::Result<Option<T>, FileError> {
        self.model.get_optional(&self.key(name))
    }

    pub(super) fn count(&self, name: &str) -> Result<usize> {
        let value: u64 = self.get(name)?;
        self.checked(name, value)
    }

    pub(super) fn optional_count(&self, name: &str) -> Result<Option<usize>> {
        self.optional(name)?.map(|value| self.checked(name, value)).transpose()
    }

    /// An optional count, which may be 0, and is without the key.
    pub(super) fn optional_count_or_zero(&self, name: &str) -> Result<usize> {
        match self.optional::<u64>(name)? {
            None | Some(0) => Ok(0),
            Some(value) => self.checked(name, value),
        }
    }

    /// Counts of each layer: one for all, or an array.
    pub(super) fn counts(&self, name: &str, layers: usize) -> Result<Vec<usize>> {
        match self.optional_counts(name, layers)? {
            Some(counts) => Ok(counts),
            None => Ok(vec![self.count(name)?; layers]),
        }
    }

    /// [`Keys::counts`] of an optional key.
    pub(super) fn optional_counts(&self, name: &str, layers: usize) -> Result<Option<Vec<usize>>> {
        let Some(Value::Array(array)) = self.model.metadata().find(&self.key(name)) else {
            return Ok(self.optional_count(name)?.map(|count| vec![count; layers]));
        };
        if array.len() != layers {
            let (key, count) = (self.key(name), array.len());
            return self.reject(format_args!("'{key}' has {count} numbers for {layers} layers"));
        }
        let counts: Vec<u64> = self.get(name)?;
        counts.into_iter().map(|value| self.checked(name, value)).collect::<Result<_>>().map(Some)
    }

    /// Flags of each layer; `None` if the key is missing or no array.
    pub(super) fn flags(&self, name: &str, layers: usize) -> Result<Option<Vec<bool>>> {
        let flags = match self.model.metadata().find(&self.key(name)) {
            Some(Value::Array(Array::Bool(flags))) => flags.clone(),
            Some(Value::Array(_)) => self.get::<Vec<u64>>(name)?.into_iter().map(|flag| flag != 0).collect(),
            _ => return Ok(None),
        };
        match flags.len() {
            count if count == layers => Ok(Some(flags)),
            count => self.reject(format_args!("'{}' has {count} flags for {layers} layers", self.key(name))),
        }
    }

    /// A number above 0.
    pub(super) fn positive(&self, name: &str) -> Result<Option<f64>> {
        match self.optional::<f64>(name)? {
            Some(number) if !(number.is_finite() && number > 0.0) => {
                self.reject(format_args!("'{}' is {number}: it must be above 0", self.key(name)))
            }
            number => Ok(number),
        }
    }

    /// A number above 0, or 0 for none.
    pub(super) fn positive_or_none(&self, name: &str) -> Result<Option<f64>> {
        match self.optional::<f64>(name)? {
            Some(0.0) => Ok(None),
            _ => self.positive(name),
        }
    }

    fn checked(&self, name: &str, value: u64) -> Result<usize> {
        match value {
            1..=MAX_COUNT => Ok(value as usize),
            _ => self.reject(format_args!("'{}' is {value}: it must be 1 to {MAX_COUNT}", self.key(name))),
        }
    }

    pub(super) fn reject<T>(&self, problem: std::fmt::Arguments<'_>) -> Result<T> {
        let path = self.model.path().map(|path| format!("{}: ", path.display())).unwrap_or_default();
        Err(Error::Model(format!("{path}the model ({}): {problem}", self.architecture.name)))
    }
}
