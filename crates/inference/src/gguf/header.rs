//! Header of a GGUF file: metadata and the tensor table. The tensor data follows it.
//!
//! ```text
//! GGUF │ version │ tensors │ keys │ key, type, value … │ name, dimensions, type, offset … │ padding │ data
//! ```
//!
//! The reader makes one pass, and checks every count against the remaining bytes before it allocates: the size of the
//! file bounds time and memory.

use super::cursor::{Cursor, TRUNCATED};
use super::metadata::Metadata;
use super::value::{Array, Strings, Value, ValueType};
use crate::weights::{FileError, FileErrorKind, TensorInfo, TensorType};

/// Alignment of tensors in a file without the key [`ALIGNMENT`].
pub(super) const DEFAULT_ALIGNMENT: u64 = 32;
/// Key of the alignment of tensors.
pub(super) const ALIGNMENT: &str = "general.alignment";
/// Most dimensions of a tensor.
const MAX_DIMENSIONS: u32 = 4;
/// Deepest nesting of arrays: more than any model needs.
const MAX_DEPTH: usize = 8;
/// Size in bytes of a tensor's table entry without its name and dimensions.
const MIN_TENSOR_SIZE: u64 = 8 + 4 + 4 + 8;
/// Size in bytes of the smallest metadata entry: length of an empty key, type, one-byte value.
const MIN_ENTRY_SIZE: u64 = 8 + 4 + 1;
/// Cause and advice for errors about invalid bytes.
const CORRUPT: &str = "the file is corrupt; download it again";

/// Contents of a header.
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) metadata: Metadata,
    /// Every range is within the file.
    pub(super) tensors: Vec<TensorInfo>,
}

/// Reads the header of a file. `file` is its index among the parts of the model.
pub(super) fn read(bytes: &[u8], file: usize) -> Result<Header, FileError> {
    let cursor = &mut Cursor::new(bytes);
    let version = version(bytes, cursor)?;
    let tensor_count = cursor.count(MIN_TENSOR_SIZE, "the number of tensors")?;
    let entry_count = cursor.count(MIN_ENTRY_SIZE, "the number of keys")?;
    let mut metadata = Metadata::default();
    for index in 0..entry_count {
        entry(cursor, index, &mut metadata)?;
    }
    let alignment = alignment(&metadata)?;
    let tensors_at = cursor.offset();
    let mut tensors = Vec::new();
    for index in 0..tensor_count {
        tensors.push(tensor(cursor, index, alignment, file)?);
    }
    place_tensors(&mut tensors, cursor.offset().next_multiple_of(alignment), bytes.len() as u64)
        .map_err(|error| error.at(tensors_at))?;
    Ok(Header { version, metadata, tensors })
}

fn version(bytes: &[u8], cursor: &mut Cursor<'_>) -> Result<u32, FileError> {
    if !bytes.starts_with(b"GGUF") {
        return Err(FileError::new(FileErrorKind::NotAModel, not_gguf(bytes)).at(0));
    }
    cursor.take(4, "the magic number")?;
    let version = cursor.u32("the version")?;
    let unsupported = |message: &str| Err(FileError::new(FileErrorKind::Unsupported, message).at(4));
    match version {
        2 | 3 => {}
        1 => {
            return unsupported("is GGUF version 1, which is obsolete since 2023: convert the model again");
        }
        0 => return Err(cursor.error(4, format!("is GGUF version 0, which does not exist: {CORRUPT}"))),
        version if version.swap_bytes() < 0x1_0000 => {
            return unsupported("is big-endian: convert the model without --bigendian");
        }
        version => return unsupported(&format!("is GGUF version {version}; versions 2 and 3 are supported")),
    }
    Ok(version)
}

/// Guesses from its first bytes what a file is that does not begin with `GGUF`, and says what to do.
fn not_gguf(start: &[u8]) -> String {
    let message = match start {
        [] => "is empty: download it again",
        _ if b"GGUF".starts_with(start) => return format!("ends within its first 4 bytes: {TRUNCATED}"),
        _ if start.starts_with(b"version https://git-lfs") => {
            "is a Git LFS pointer, not the model itself: get the model with git lfs pull"
        }
        _ if start.starts_with(b"PK\x03\x04") => "is a PyTorch checkpoint or a ZIP file: convert the model to GGUF",
        _ if [b"lmgg", b"tjgg", b"fmgg", b"algg"].iter().any(|magic| start.starts_with(*magic)) => {
            "is a GGML file from before GGUF: convert the model again"
        }
        _ if start.get(8) == Some(&b'{') => "seems to be a safetensors file: open the folder that it is in",
        _ if start.starts_with(b"<") => "seems to be a web page, not the model: download it again",
        _ => "is not a GGUF file: it does not begin with 'GGUF'",
    };
    message.to_owned()
}

fn entry(cursor: &mut Cursor<'_>, index: usize, metadata: &mut Metadata) -> Result<(), FileError> {
    let offset = cursor.offset();
    let key = cursor.name("the key").map_err(|error| error.within(&format!("key {index}")))?.to_owned();
    let context = format!("key '{}'", printable(&key));
    let value = value_type(cursor).and_then(|kind| value(cursor, kind));
    let value = value.map_err(|error| error.within(&context))?;
    let added = metadata.add(key, value);
    added.map_err(|_| cursor.error(offset, format!("duplicate {context}: {CORRUPT}")))
}

/// Escapes a name for messages, and shortens a long one.
fn printable(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", name[..end].escape_debug()),
        None => name.escape_debug().to_string(),
    }
}

fn value_type(cursor: &mut Cursor<'_>) -> Result<ValueType, FileError> {
    let offset = cursor.offset();
    let code = cursor.u32("the value type")?;
    ValueType::from_code(code).ok_or_else(|| cursor.error(offset, format!("unknown value type {code}: {CORRUPT}")))
}

fn value(cursor: &mut Cursor<'_>, kind: ValueType) -> Result<Value, FileError> {
    let what = "the value";
    match kind {
        ValueType::Array => array(cursor, 1).map(Value::Array),
        ValueType::String => {
            let offset = cursor.offset();
            let text = std::str::from_utf8(cursor.string(what)?);
            text.map(Value::from).map_err(|_| cursor.error(offset, "the string is not UTF-8"))
        }
        kind => {
            // Read a scalar as an array of one.
            let one = numbers(cursor, kind, 1)?;
            one.get(0).ok_or_else(|| cursor.error(cursor.offset(), "the value is missing"))
        }
    }
}

fn array(cursor: &mut Cursor<'_>, depth: usize) -> Result<Array, FileError> {
    let offset = cursor.offset();
    if depth > MAX_DEPTH {
        return Err(cursor.error(offset, format!("arrays are nested more than {MAX_DEPTH} deep")));
    }
    let kind = value_type(cursor)?;
    let count = cursor.count(kind.min_size(), "the number of elements")?;
    match kind {
        ValueType::Array => {
            // Reserve nothing: each nesting level could claim as many elements as the file has room for.
            let mut arrays = Vec::new();
            for _ in 0..count {
                arrays.push(array(cursor, depth + 1)?);
            }
            Ok(Array::Array(arrays))
        }
        ValueType::String => {
            let mut strings = Strings::with_capacity(count);
            for index in 0..count {
                let text =
                    cursor.string("the string").map_err(|error| error.within(&format!("element {index}")))?;
                strings.push(text);
            }
            Ok(Array::String(strings))
        }
        kind => numbers(cursor, kind, count),
    }
}

/// Reads `count` values of a fixed-size type: any but strings and arrays.
fn numbers(cursor: &mut Cursor<'_>, kind: ValueType, count: usize) -> Result<Array, FileError> {
    let offset = cursor.offset();
    // Cannot overflow: `count` was checked against the remaining bytes.
    let bytes = cursor.take(count as u64 * kind.min_size(), "the value")?;
    macro_rules! decoded {
        ($number:ident) => {
            bytes
                .chunks_exact(size_of::<$number>())
                .map(|chunk| {
                    let mut number = [0; size_of::<$number>()];
                    number.copy_from_slice(chunk);
                    $number::from_le_bytes(number)
                })
                .collect()
        };
    }
    Ok(match kind {
        ValueType::U8 => Array::U8(bytes.to_vec()),
        ValueType::I8 => Array::I8(decoded!(i8)),
        ValueType::U16 => Array::U16(decoded!(u16)),
        ValueType::I16 => Array::I16(decoded!(i16)),
        ValueType::U32 => Array::U32(decoded!(u32)),
        ValueType::I32 => Array::I32(decoded!(i32)),
        ValueType::F32 => Array::F32(decoded!(f32)),
        ValueType::U64 => Array::U64(decoded!(u64)),
        ValueType::I64 => Array::I64(decoded!(i64)),
        ValueType::F64 => Array::F64(decoded!(f64)),
        ValueType::Bool => match bytes.iter().position(|&byte| byte > 1) {
            None => Array::Bool(bytes.iter().map(|&byte| byte == 1).collect()),
            Some(at) => {
                let message = format!("expected a bool, 0 or 1, found {}: {CORRUPT}", bytes[at]);
                return Err(cursor.error(offset + at as u64, message));
            }
        },
        ValueType::String | ValueType::Array => {
            return Err(cursor.error(offset, format!("expected a number, found {kind}")));
        }
    })
}

fn alignment(metadata: &Metadata) -> Result<u64, FileError> {
    let alignment = metadata.get_optional::<u32>(ALIGNMENT)?.map_or(DEFAULT_ALIGNMENT, u64::from);
    if !alignment.is_power_of_two() {
        let message = format!("key '{ALIGNMENT}': {alignment} is not a power of two: {CORRUPT}");
        return Err(FileError::new(FileErrorKind::Damaged, message));
    }
    Ok(alignment)
}

/// Reads one entry of the tensor table. Its range is relative to the data until [`place_tensors`] makes it absolute.
fn tensor(cursor: &mut Cursor<'_>, index: usize, alignment: u64, file: usize) -> Result<TensorInfo, FileError> {
    let offset = cursor.offset();
    let name = cursor.name("the name").map_err(|error| error.within(&format!("tensor {index}")))?;
    let context = format!("tensor '{}'", printable(name));
    let wrong =
        |message: String| FileError::new(FileErrorKind::Damaged, format!("{context}: {message}")).at(offset);
    let within = |error: FileError| error.within(&context);

    let dimension_count = cursor.u32("the number of dimensions").map_err(within)?;
    if dimension_count > MAX_DIMENSIONS {
        return Err(wrong(format!("has {dimension_count} dimensions, more than {MAX_DIMENSIONS}")));
    }
    let mut dimensions = Vec::new();
    for _ in 0..dimension_count {
        dimensions.push(cursor.u64("a dimension").map_err(within)?);
    }
    let code = cursor.u32("the type").map_err(within)?;
    let kind = TensorType::from_code(code).ok_or_else(|| {
        let message =
            format!("{context}: unknown tensor type {code}: the file is corrupt, or newer than this program");
        FileError::new(FileErrorKind::Unsupported, message).at(offset)
    })?;
    let start = cursor.u64("the offset").map_err(within)?;
    if !start.is_multiple_of(alignment) {
        return Err(wrong(format!("begins at {start}, which is not a multiple of the alignment {alignment}")));
    }
    let columns = dimensions.first().copied().unwrap_or(1);
    if !columns.is_multiple_of(kind.block_len()) {
        return Err(wrong(format!(
            "its rows of {columns} elements are not a multiple of the {} elements in a {kind} block",
            kind.block_len()
        )));
    }
    let elements = dimensions.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension));
    let size = elements.and_then(|elements| (elements / kind.block_len()).checked_mul(kind.block_size()));
    let end = size.and_then(|size| start.checked_add(size));
    let (Some(_), Some(end)) = (size, end) else {
        return Err(wrong(format!("the size of {dimensions:?} elements overflows")));
    };
    Ok(TensorInfo { name: name.to_owned(), dimensions, kind, file, range: start..end })
}

/// Offsets the ranges by the start of the data. Returns an error if one exceeds the file or two overlap.
fn place_tensors(tensors: &mut [TensorInfo], data: u64, len: u64) -> Result<(), FileError> {
    let damaged = |message: String| FileError::new(FileErrorKind::Damaged, message);
    for tensor in &mut *tensors {
        let name = printable(&tensor.name);
        let Some(end) = tensor.range.end.checked_add(data).filter(|&end| end <= len) else {
            let missing = tensor.range.end.saturating_add(data) - len;
            return Err(damaged(format!(
                "tensor '{name}' ends {missing} bytes after the end of the file: {TRUNCATED}"
            )));
        };
        tensor.range = tensor.range.start + data..end;
    }
    let mut in_order: Vec<&TensorInfo> = tensors.iter().filter(|tensor| !tensor.range.is_empty()).collect();
    in_order.sort_by_key(|tensor| tensor.range.start);
    for pair in in_order.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            let (first, second) = (printable(&pair[0].name), printable(&pair[1].name));
            return Err(damaged(format!("tensors '{first}' and '{second}' overlap: {CORRUPT}")));
        }
    }
    Ok(())
}
