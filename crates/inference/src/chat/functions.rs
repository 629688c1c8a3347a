//! Functions that `transformers` adds to Jinja, and values formatted as in Python.

use std::fmt;
use std::time::SystemTime;

use jiff::Zoned;
use jiff::tz::TimeZone;
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// Adds the functions. `now` is the time for `strftime_now`.
pub(super) fn add_to(environment: &mut Environment<'static>, now: Zoned) {
    environment.add_filter("tojson", to_json);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", move |format: &str| strftime(&now, format));
    environment.add_test("iterable", is_iterable);
}

/// Message of an exception that a template raised.
#[derive(Debug)]
pub(super) struct Raised(pub(super) String);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Raised(message)))
}

fn strftime(now: &Zoned, format: &str) -> Result<String, Error> {
    jiff::fmt::strtime::format(format, now)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("strftime_now({format:?}): {error}")))
}

/// A time in UTC; without one the current time in the system's time zone.
pub(super) fn time(given: Option<SystemTime>) -> Zoned {
    let given = given.and_then(|time| jiff::Timestamp::try_from(time).ok());
    given.map_or_else(Zoned::now, |time| time.to_zoned(TimeZone::UTC))
}

/// Unlike minijinja's test, false for `none`: templates test `tools` before they count them.
fn is_iterable(value: &Value) -> bool {
    use ValueKind::{Iterable, Map, Seq, String, Undefined};
    matches!(value.kind(), Undefined | String | Seq | Map | Iterable)
}

/// Formats a value as Python does.
pub(super) fn format(output: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Bool => Ok(output.write_str(if value.is_true() { "True" } else { "False" })?),
        ValueKind::None => Ok(output.write_str("None")?),
        _ => minijinja::escape_formatter(output, state, value),
    }
}

/// Python's `json.dumps(value, ensure_ascii=False)`, which has spaces after commas and colons.
fn to_json(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let ensure_ascii: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let json = match indent {
        Some(indent) => write_json(value, PrettyFormatter::with_indent(" ".repeat(indent.min(64)).as_bytes())),
        None => write_json(value, PythonFormatter),
    };
    let json = json.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    Ok(Value::from_safe_string(if ensure_ascii == Some(true) { escape_to_ascii(&json) } else { json }))
}

fn escape_to_ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            text.push(character);
        } else {
            text.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text
}

fn write_json(value: &Value, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}
