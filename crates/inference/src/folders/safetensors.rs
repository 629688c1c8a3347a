//! Headers of `.safetensors` files.
//!
//! ```text
//! size of the header: u64 │ {"name": {"dtype": …, "shape": […], "data_offsets": [start, end]}, …} │ data
//! ```
//!
//! The crate `safetensors` reads the same, but the last of several tensors with one name wins there.

use crate::weights::{FileError, FileErrorKind};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;
use std::ops::Range;

/// Largest header, as in the format's own reader.
const MAX_HEADER: u64 = 100_000_000;
/// Most dimensions of a tensor.
const MAX_DIMENSIONS: usize = 8;
const TRUNCATED: &str = "the file is truncated or corrupt; download it again";

/// A tensor of a safetensors file.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) name: String,
    pub(super) kind: NumberType,
    /// Its sizes, that of a row last.
    pub(super) shape: Vec<usize>,
    /// Index of its file.
    pub(super) file: usize,
    /// Its bytes in the file.
    pub(super) range: Range<u64>,
}

impl Stored {
    /// Numbers of a row.
    pub(super) fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Number of rows in all dimensions but the last.
    pub(super) fn rows(&self) -> usize {
        self.shape.split_last().map_or(1, |(_, rows)| rows.iter().product())
    }

    /// `[1024, 64]`
    pub(super) fn shown(&self) -> String {
        format!("{:?} {}", self.kind, self.shape.iter().map(usize::to_string).collect::<Vec<_>>().join("×"))
    }
}

/// Type of numbers in safetensors files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the format's names")]
pub(super) enum NumberType {
    BOOL,
    U8,
    I8,
    F8_E4M3,
    F8_E5M2,
    F8_E8M0,
    U16,
    I16,
    F16,
    BF16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
}

impl NumberType {
    /// Size in bytes.
    pub(super) fn size(self) -> u64 {
        use NumberType::*;
        match self {
            BOOL | U8 | I8 | F8_E4M3 | F8_E5M2 | F8_E8M0 => 1,
            U16 | I16 | F16 | BF16 => 2,
            U32 | I32 | F32 => 4,
            U64 | I64 | F64 => 8,
        }
    }
}

#[derive(Deserialize)]
struct HeaderEntry {
    dtype: NumberType,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// Entries in the order of the header. A map would hide names that are there twice.
struct Entries(Vec<(String, HeaderEntry)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let entry = map.next_value::<HeaderEntry>();
                    entries.push((
                        name.clone(),
                        entry.map_err(|error| {
                            de::Error::custom(format_args!("tensor '{}': {error}", printable(&name)))
                        })?,
                    ));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntryVisitor)
    }
}

/// Reads the header of a file. `file` is its index among those of the model.
pub(super) fn read(bytes: &[u8], file: usize) -> Result<Vec<Stored>, FileError> {
    let damaged = |message: String| FileError::new(FileErrorKind::Damaged, message);
    if bytes.starts_with(b"version https://git-lfs") {
        let message = "is a Git LFS pointer, not the model itself: get the model with git lfs pull";
        return Err(FileError::new(FileErrorKind::NotAModel, message).at(0));
    }
    let Some((size, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(damaged(format!("ends within its first 8 bytes: {TRUNCATED}")).at(0));
    };
    let size = u64::from_le_bytes(*size);
    if size > MAX_HEADER {
        return Err(damaged(format!("the header has {size} bytes, more than {MAX_HEADER}: {TRUNCATED}")).at(0));
    }
    if size > rest.len() as u64 {
        let message = format!("the header has {size} bytes, but the file ends after {}: {TRUNCATED}", rest.len());
        return Err(damaged(message).at(0));
    }
    let (header, data) = rest.split_at(size as usize);
    let Entries(entries) = serde_json::from_slice(header)
        .map_err(|error| damaged(format!("the header is not one of safetensors: {error}")).at(8))?;
    let start = 8 + size;
    let mut tensors = Vec::with_capacity(entries.len());
    for (name, entry) in entries {
        let tensor = place(name, entry, data.len() as u64, start, file);
        tensors.push(tensor.map_err(|message| damaged(message).at(8))?);
    }
    check_names_and_ranges(&tensors).map_err(|message| damaged(message).at(8))?;
    Ok(tensors)
}

fn place(name: String, entry: HeaderEntry, len: u64, start: u64, file: usize) -> Result<Stored, String> {
    let HeaderEntry { dtype, shape, data_offsets: [from, to] } = entry;
    let shown = printable(&name);
    if shape.len() > MAX_DIMENSIONS {
        return Err(format!("tensor '{shown}' has {} dimensions, more than {MAX_DIMENSIONS}", shape.len()));
    }
    let size = shape.iter().try_fold(dtype.size(), |size, &dimension| size.checked_mul(dimension));
    let shape = shape.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>();
    let (Some(size), Ok(shape)) = (size, shape) else {
        return Err(format!("tensor '{shown}': its size overflows"));
    };
    if from > to {
        return Err(format!("tensor '{shown}' begins at {from}, after its end {to}"));
    }
    if to > len {
        return Err(format!("tensor '{shown}' ends {} bytes after the end of the file: {TRUNCATED}", to - len));
    }
    if to - from != size {
        return Err(format!("tensor '{shown}' has {} bytes, but its shape and type need {size}", to - from));
    }
    Ok(Stored { name, kind: dtype, shape, file, range: start + from..start + to })
}

fn check_names_and_ranges(tensors: &[Stored]) -> Result<(), String> {
    let mut in_order: Vec<&Stored> = tensors.iter().collect();
    in_order.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some(pair) = in_order.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(format!("tensor '{}' is there twice", printable(&pair[0].name)));
    }
    in_order.retain(|tensor| !tensor.range.is_empty());
    in_order.sort_by_key(|tensor| tensor.range.start);
    match in_order.windows(2).find(|pair| pair[1].range.start < pair[0].range.end) {
        Some(pair) => {
            Err(format!("tensors '{}' and '{}' overlap", printable(&pair[0].name), printable(&pair[1].name)))
        }
        None => Ok(()),
    }
}

/// Escapes a name for messages, and shortens a long one.
pub(super) fn printable(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", name[..end].escape_debug()),
        None => name.escape_debug().to_string(),
    }
}
