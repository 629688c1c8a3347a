//! The head of a file: metadata and the table of tensors, which the data follows.
//!
//! ```text
//! GGUF │ version │ tensors │ keys │ key, type, value … │ name, dimensions, type, offset … │ padding │ data
//! ```
//!
//! Every number is checked against the bytes that are left before anything is allocated for it, and nothing is read
//! twice: time and memory are bounded by the size of the file.

use super::cursor::Cursor;
use super::metadata::Metadata;
use super::value::{Array, Strings, Value, ValueType};
use crate::weights::{FileError, FileErrorKind, TensorInfo, TensorType};

/// Where tensors begin if the file does not say.
pub(super) const DEFAULT_ALIGNMENT: u64 = 32;
/// What says where they begin.
pub(super) const ALIGNMENT: &str = "general.alignment";
/// Tensors have at most this many dimensions.
const MAX_DIMENSIONS: u32 = 4;
/// Arrays are nested at most this deep: more than any model needs.
const MAX_DEPTH: usize = 8;
/// Bytes of a tensor's line without name and dimensions.
const LEAST_TENSOR: u64 = 8 + 4 + 4 + 8;
/// Bytes of a key's line without its name: length, type, a value of one byte.
const LEAST_ENTRY: u64 = 8 + 4 + 1;

/// What the head says.
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) metadata: Metadata,
    /// With ranges that are within the file.
    pub(super) tensors: Vec<TensorInfo>,
}

/// Reads the head of a file, the part `file` of a model.
pub(super) fn read(bytes: &[u8], file: usize) -> Result<Header, FileError> {
    let cursor = &mut Cursor::new(bytes);
    let version = version(bytes, cursor)?;
    let tensor_count = cursor.count(LEAST_TENSOR, "the number of tensors")?;
    let entry_count = cursor.count(LEAST_ENTRY, "the number of keys")?;
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
    place(&mut tensors, cursor.offset().next_multiple_of(alignment), bytes.len() as u64)
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
            return unsupported(
                "is of version 1 of GGUF, which was in use for some days of 2023: convert the model again",
            );
        }
        0 => return Err(cursor.error(4, "has version 0, which there is not: it is damaged; get it again")),
        version if version.swap_bytes() < 0x1_0000 => {
            return unsupported("is for machines that store the high byte first: convert it without --bigendian");
        }
        version => return unsupported(&format!("is of version {version} of GGUF; versions 2 and 3 are read")),
    }
    Ok(version)
}

/// What a file is that does not begin with `GGUF`, as far as its beginning tells.
fn not_gguf(start: &[u8]) -> String {
    let what = match start {
        [] => "is empty: get it again",
        _ if b"GGUF".starts_with(start) => {
            "ends within its first 4 bytes: it is damaged or not whole; get it again"
        }
        _ if start.starts_with(b"version https://git-lfs") => {
            "is a pointer of Git LFS and not the model itself: get it with git lfs pull"
        }
        _ if start.starts_with(b"PK\x03\x04") => "is an archive of PyTorch or ZIP: convert the model to GGUF",
        _ if [b"lmgg", b"tjgg", b"fmgg", b"algg"].iter().any(|magic| start.starts_with(*magic)) => {
            "is a GGML file from before GGUF: convert the model again"
        }
        _ if start.get(8) == Some(&b'{') => "is a file of safetensors, it seems: convert the model to GGUF",
        _ if start.starts_with(b"<") => "is a web page, it seems, and not the model: get it again",
        _ => "is not a GGUF file: it does not begin with 'GGUF'",
    };
    what.to_owned()
}

fn entry(cursor: &mut Cursor<'_>, index: usize, metadata: &mut Metadata) -> Result<(), FileError> {
    let offset = cursor.offset();
    let key = cursor.name("the key").map_err(|error| error.within(&format!("key {index}")))?.to_owned();
    let context = format!("key '{}'", shown(&key));
    let value = value_type(cursor).and_then(|kind| value(cursor, kind));
    let value = value.map_err(|error| error.within(&context))?;
    let added = metadata.add(key, value);
    added.map_err(|_| cursor.error(offset, format!("{context} is there twice: the file is damaged; get it again")))
}

/// A name for messages, which may be long.
fn shown(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", name[..end].escape_debug()),
        None => name.escape_debug().to_string(),
    }
}

fn value_type(cursor: &mut Cursor<'_>) -> Result<ValueType, FileError> {
    let offset = cursor.offset();
    let code = cursor.u32("the type of a value")?;
    ValueType::from_code(code).ok_or_else(|| {
        let message =
            format!("there is no type of values with the number {code}: the file is damaged; get it again");
        cursor.error(offset, message)
    })
}

fn value(cursor: &mut Cursor<'_>, kind: ValueType) -> Result<Value, FileError> {
    let what = "the value";
    match kind {
        ValueType::Array => array(cursor, 1).map(Value::Array),
        ValueType::String => {
            let offset = cursor.offset();
            let text = std::str::from_utf8(cursor.string(what)?);
            text.map(Value::from).map_err(|_| cursor.error(offset, "the text is not UTF-8"))
        }
        kind => {
            // A number is an array of one.
            let one = numbers(cursor, kind, 1)?;
            one.get(0).ok_or_else(|| cursor.error(cursor.offset(), "there is no value"))
        }
    }
}

fn array(cursor: &mut Cursor<'_>, depth: usize) -> Result<Array, FileError> {
    let offset = cursor.offset();
    if depth > MAX_DEPTH {
        return Err(cursor.error(offset, format!("arrays are nested more than {MAX_DEPTH} deep")));
    }
    let kind = value_type(cursor)?;
    let count = cursor.count(kind.least_size(), "the number of elements")?;
    match kind {
        ValueType::Array => {
            // Not with this capacity: each level could ask for as much as the file has room for.
            let mut arrays = Vec::new();
            for _ in 0..count {
                arrays.push(array(cursor, depth + 1)?);
            }
            Ok(Array::Array(arrays))
        }
        ValueType::String => {
            let mut strings = Strings::with_capacity(count);
            for index in 0..count {
                let text = cursor.string("the text").map_err(|error| error.within(&format!("element {index}")))?;
                strings.push(text);
            }
            Ok(Array::String(strings))
        }
        kind => numbers(cursor, kind, count),
    }
}

/// Numbers of any type but text and arrays.
fn numbers(cursor: &mut Cursor<'_>, kind: ValueType, count: usize) -> Result<Array, FileError> {
    let offset = cursor.offset();
    // The number is within the bytes that are left, so that this cannot overflow.
    let bytes = cursor.take(count as u64 * kind.least_size(), "the value")?;
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
                let message =
                    format!("a bool is 0 or 1, and this is {}: the file is damaged; get it again", bytes[at]);
                return Err(cursor.error(offset + at as u64, message));
            }
        },
        ValueType::String | ValueType::Array => return Err(cursor.error(offset, "texts and arrays are no numbers")),
    })
}

fn alignment(metadata: &Metadata) -> Result<u64, FileError> {
    let alignment = metadata.get_optional::<u32>(ALIGNMENT)?.map_or(DEFAULT_ALIGNMENT, u64::from);
    if !alignment.is_power_of_two() {
        let message =
            format!("key '{ALIGNMENT}': {alignment} is not a power of two: the file is damaged; get it again");
        return Err(FileError::new(FileErrorKind::Damaged, message));
    }
    Ok(alignment)
}

/// A line of the table. Its range counts from the start of the data until [`place`] is done.
fn tensor(cursor: &mut Cursor<'_>, index: usize, alignment: u64, file: usize) -> Result<TensorInfo, FileError> {
    let offset = cursor.offset();
    let name = cursor.name("the name").map_err(|error| error.within(&format!("tensor {index}")))?;
    let context = format!("tensor '{}'", shown(name));
    let wrong =
        |message: String| FileError::new(FileErrorKind::Damaged, format!("{context}: {message}")).at(offset);
    let within = |error: FileError| error.within(&context);

    let dimension_count = cursor.u32("the number of dimensions").map_err(within)?;
    if dimension_count > MAX_DIMENSIONS {
        return Err(wrong(format!("has {dimension_count} dimensions; there are {MAX_DIMENSIONS} at most")));
    }
    let mut dimensions = Vec::new();
    for _ in 0..dimension_count {
        dimensions.push(cursor.u64("a dimension").map_err(within)?);
    }
    let code = cursor.u32("the type").map_err(within)?;
    let kind = TensorType::from_code(code).ok_or_else(|| {
        let message = format!(
            "{context}: there is no type of tensors with the number {code}: the file is damaged, or newer than this program"
        );
        FileError::new(FileErrorKind::Unsupported, message).at(offset)
    })?;
    let start = cursor.u64("the offset").map_err(within)?;
    if !start.is_multiple_of(alignment) {
        return Err(wrong(format!("begins at {start}, which is no multiple of the alignment {alignment}")));
    }
    let columns = dimensions.first().copied().unwrap_or(1);
    if !columns.is_multiple_of(kind.block_len()) {
        return Err(wrong(format!(
            "its rows of {columns} are no whole blocks of {kind}, which have {}",
            kind.block_len()
        )));
    }
    let elements = dimensions.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension));
    let size = elements.and_then(|elements| (elements / kind.block_len()).checked_mul(kind.block_size()));
    let end = size.and_then(|size| start.checked_add(size));
    let (Some(_), Some(end)) = (size, end) else {
        return Err(wrong(format!("its size of {dimensions:?} is more than there can be")));
    };
    Ok(TensorInfo { name: name.to_owned(), dimensions, kind, file, range: start..end })
}

/// Moves the ranges to where the data begins, and checks that they are in the file and apart from each other.
fn place(tensors: &mut [TensorInfo], data: u64, len: u64) -> Result<(), FileError> {
    let damaged = |message: String| FileError::new(FileErrorKind::Damaged, message);
    for tensor in &mut *tensors {
        let name = shown(&tensor.name);
        let Some(end) = tensor.range.end.checked_add(data).filter(|&end| end <= len) else {
            let missing = tensor.range.end.saturating_add(data) - len;
            return Err(damaged(format!(
                "tensor '{name}' ends {missing} bytes after the end of the file: it is damaged or not whole; get it again"
            )));
        };
        tensor.range = tensor.range.start + data..end;
    }
    let mut in_order: Vec<&TensorInfo> = tensors.iter().filter(|tensor| !tensor.range.is_empty()).collect();
    in_order.sort_by_key(|tensor| tensor.range.start);
    for pair in in_order.windows(2) {
        if pair[1].range.start < pair[0].range.end {
            let (first, second) = (shown(&pair[0].name), shown(&pair[1].name));
            return Err(damaged(format!(
                "tensors '{first}' and '{second}' have bytes in common: the file is damaged; get it again"
            )));
        }
    }
    Ok(())
}
