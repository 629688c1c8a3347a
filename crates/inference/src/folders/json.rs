//! JSON files of a folder, and typed access to their values.

use crate::weights::{FileError, FileErrorKind, WeightFile};
use serde_json::Value as Json;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Largest JSON file: several times that of any model.
const MAX_SIZE: usize = 256 << 20;

/// A JSON file, or an object in it.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    path: &'a Path,
    /// Path of the object in the file, with a dot at its end.
    prefix: &'a str,
    json: &'a Json,
}

/// Contents of a JSON file.
pub(super) struct JsonFile {
    path: PathBuf,
    json: Json,
}

impl JsonFile {
    /// Reads a file; `None` if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Option<JsonFile>, FileError> {
        if !path.exists() && !path.is_symlink() {
            return Ok(None);
        }
        let file = WeightFile::open(path)?;
        let bytes = file.bytes();
        if bytes.len() > MAX_SIZE {
            let message = format!("has {} bytes, more than {MAX_SIZE}", bytes.len());
            return Err(FileError::new(FileErrorKind::Unsupported, message).of(Some(path)));
        }
        let json: Json = serde_json::from_slice(bytes).map_err(|error| {
            FileError::new(FileErrorKind::Damaged, format!("is not valid JSON: {error}")).of(Some(path))
        })?;
        if !json.is_object() {
            let message = format!("expected an object, found {}", describe(&json));
            return Err(FileError::new(FileErrorKind::Damaged, message).of(Some(path)));
        }
        Ok(Some(JsonFile { path: path.to_owned(), json }))
    }

    pub(super) fn object(&self) -> Object<'_> {
        Object { path: &self.path, prefix: "", json: &self.json }
    }
}

impl<'a> Object<'a> {
    /// Value of a key; `None` if it is missing or null.
    pub(super) fn find(&self, key: &str) -> Option<&'a Json> {
        self.json.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, FileError> {
        self.typed(key, "a string", Json::as_str)
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, FileError> {
        self.typed(key, "true or false", Json::as_bool)
    }

    pub(super) fn count(&self, key: &str) -> Result<Option<u64>, FileError> {
        self.typed(key, "a whole number", Json::as_u64)
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, FileError> {
        self.typed(key, "a number", Json::as_f64)
    }

    pub(super) fn array(&self, key: &str) -> Result<Option<&'a Vec<Json>>, FileError> {
        self.typed(key, "an array", Json::as_array)
    }

    /// Numbers of an array.
    pub(super) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, FileError> {
        self.typed(key, "an array of numbers", |json| json.as_array()?.iter().map(Json::as_f64).collect())
    }

    pub(super) fn object(&self, key: &str, prefix: &'a str) -> Result<Option<Object<'a>>, FileError> {
        let json = self.typed(key, "an object", |json| json.is_object().then_some(json))?;
        Ok(json.map(|json| Object { path: self.path, prefix, json }))
    }

    /// Keys and values.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a String, &'a Json)> + use<'a> {
        self.json.as_object().into_iter().flatten()
    }

    /// A value that must be there.
    pub(super) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, FileError> {
        value.ok_or_else(|| {
            let message = format!("there is no key '{}{key}'", self.prefix);
            FileError::new(FileErrorKind::MissingKey, message).of(Some(self.path))
        })
    }

    /// An error about a key.
    pub(super) fn wrong(&self, key: &str, problem: impl Display) -> FileError {
        let message = format!("key '{}{key}': {problem}", self.prefix);
        FileError::new(FileErrorKind::WrongValue, message).of(Some(self.path))
    }

    /// An error about something that is not supported.
    pub(super) fn unsupported(&self, problem: impl Display) -> FileError {
        FileError::new(FileErrorKind::Unsupported, problem.to_string()).of(Some(self.path))
    }

    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        convert: impl FnOnce(&'a Json) -> Option<T>,
    ) -> Result<Option<T>, FileError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        let converted = convert(value);
        converted
            .map(Some)
            .ok_or_else(|| self.wrong(key, format_args!("expected {expected}, found {}", describe(value))))
    }
}

/// A value in messages: its type, and a scalar itself.
pub(super) fn describe(json: &Json) -> String {
    match json {
        Json::Null => "null".into(),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => format!("the string {:?}", text.chars().take(40).collect::<String>()),
        Json::Array(values) => format!("an array of {}", values.len()),
        Json::Object(_) => "an object".into(),
    }
}
