//! Streaming writer: a callback writes the data of each tensor in file order.

use std::fmt;
use std::io::{self, Write};

use super::header::{ALIGNMENT, DEFAULT_ALIGNMENT};
use super::metadata::Metadata;
use super::value::{Array, Value};
use crate::weights::TensorType;

/// Builder of a GGUF file: metadata, and the names, types and shapes of tensors.
///
/// ```
/// use metalworks_inference::gguf::{Builder, Gguf};
/// use metalworks_inference::weights::TensorType;
///
/// let builder = Builder::new().key("general.architecture", "llama").tensor("x", TensorType::F32, &[2, 3]);
/// let bytes = builder.to_bytes(|_, out| out.write_all(&[0; 24]))?;
/// assert_eq!(Gguf::from_bytes(bytes)?.weights().tensor("x")?.shape(), "2×3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    version: u32,
    metadata: Metadata,
    tensors: Vec<TensorEntry>,
}

#[derive(Clone, Debug)]
struct TensorEntry {
    name: String,
    kind: TensorType,
    dimensions: Vec<u64>,
}

impl TensorEntry {
    /// Size in bytes. `None` if it overflows or a row is not a whole number of blocks.
    fn size(&self) -> Option<u64> {
        let rows = self.dimensions.iter().skip(1).try_fold(1u64, |product, &rows| product.checked_mul(rows))?;
        let columns = self.dimensions.first().copied().unwrap_or(1);
        match columns.is_multiple_of(self.kind.block_len()) {
            true => (columns / self.kind.block_len()).checked_mul(self.kind.block_size())?.checked_mul(rows),
            false => None,
        }
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder { version: 3, metadata: Metadata::default(), tensors: Vec::new() }
    }
}

impl Builder {
    /// Creates an empty file of GGUF version 3.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the version. Versions 2 and 3 have the same layout.
    #[must_use]
    pub fn version(mut self, version: u32) -> Builder {
        self.version = version;
        self
    }

    /// Sets a metadata key. `general.alignment`, a `u32`, is the alignment of tensors.
    #[must_use]
    pub fn key(mut self, key: &str, value: impl Into<Value>) -> Builder {
        self.metadata.set(key, value);
        self
    }

    /// Adds a tensor. The first dimension is the length of a row.
    #[must_use]
    pub fn tensor(mut self, name: &str, kind: TensorType, dimensions: &[u64]) -> Builder {
        self.tensors.push(TensorEntry { name: name.to_owned(), kind, dimensions: dimensions.to_vec() });
        self
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> io::Result<u64> {
        let (header, alignment) = self.header()?;
        let offsets = self.offsets(alignment)?;
        Ok((header.len() as u64).next_multiple_of(alignment) + offsets.last().copied().unwrap_or(0))
    }

    /// Writes the file to memory. `fill` is called as by [`Builder::write`].
    pub fn to_bytes(&self, mut fill: impl FnMut(usize, &mut dyn Write) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let size = usize::try_from(self.size()?).map_err(io::Error::other)?;
        bytes
            .try_reserve_exact(size)
            .map_err(|error| io::Error::other(format!("cannot allocate {size} bytes: {error}")))?;
        self.write(&mut bytes, &mut fill)?;
        Ok(bytes)
    }

    /// Writes the file. `fill` is called with the index of each tensor in order, and must write exactly its bytes.
    pub fn write(
        &self,
        out: &mut dyn Write,
        fill: &mut dyn FnMut(usize, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (header, alignment) = self.header()?;
        out.write_all(&header)?;
        pad(out, header.len() as u64, alignment)?;
        for (index, tensor) in self.tensors.iter().enumerate() {
            let mut counting = CountingWriter { out, bytes: 0 };
            fill(index, &mut counting)?;
            let (written, size) = (counting.bytes, tensor.size().unwrap_or(0));
            if size != written {
                return invalid(format!("tensor '{}': expected {size} bytes, {written} were written", tensor.name));
            }
            pad(out, written, alignment)?;
        }
        Ok(())
    }

    /// Returns the header without its padding, and the alignment.
    fn header(&self) -> io::Result<(Vec<u8>, u64)> {
        let alignment = match self.metadata.get_optional::<u32>(ALIGNMENT) {
            Ok(alignment) => alignment.map_or(DEFAULT_ALIGNMENT, u64::from),
            Err(error) => return invalid(error),
        };
        if !alignment.is_power_of_two() {
            return invalid(format!("the alignment {alignment} is not a power of two"));
        }
        let offsets = self.offsets(alignment)?;
        let mut header = b"GGUF".to_vec();
        header.extend(self.version.to_le_bytes());
        header.extend((self.tensors.len() as u64).to_le_bytes());
        header.extend((self.metadata.len() as u64).to_le_bytes());
        for (key, value) in self.metadata.iter() {
            put_string(&mut header, key.as_bytes());
            header.extend((value.kind() as u32).to_le_bytes());
            put_value(&mut header, value);
        }
        for (tensor, offset) in self.tensors.iter().zip(offsets) {
            put_string(&mut header, tensor.name.as_bytes());
            header.extend((tensor.dimensions.len() as u32).to_le_bytes());
            for dimension in &tensor.dimensions {
                header.extend(dimension.to_le_bytes());
            }
            header.extend(tensor.kind.code().to_le_bytes());
            header.extend(offset.to_le_bytes());
        }
        Ok((header, alignment))
    }

    /// Offset of each tensor in the data, and the size of the data.
    fn offsets(&self, alignment: u64) -> io::Result<Vec<u64>> {
        let mut offsets = vec![0u64];
        for tensor in &self.tensors {
            if !tensor.kind.is_in_gguf() {
                return invalid(format!("tensor '{}': GGUF files have no {}", tensor.name, tensor.kind));
            }
            let end = tensor.size().and_then(|size| offsets.last()?.checked_add(size));
            let Some(end) = end.and_then(|end| end.checked_next_multiple_of(alignment)) else {
                return invalid(format!(
                    "tensor '{}': dimensions {:?} are invalid for {}",
                    tensor.name, tensor.dimensions, tensor.kind
                ));
            };
            offsets.push(end);
        }
        Ok(offsets)
    }
}

fn invalid<T>(message: impl fmt::Display) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, message.to_string()))
}

fn pad(out: &mut dyn Write, written: u64, alignment: u64) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(0), written.next_multiple_of(alignment) - written), out).map(drop)
}

fn put_string(header: &mut Vec<u8>, text: &[u8]) {
    header.extend((text.len() as u64).to_le_bytes());
    header.extend(text);
}

fn put_value(header: &mut Vec<u8>, value: &Value) {
    match value {
        Value::U8(value) => header.push(*value),
        Value::I8(value) => header.extend(value.to_le_bytes()),
        Value::U16(value) => header.extend(value.to_le_bytes()),
        Value::I16(value) => header.extend(value.to_le_bytes()),
        Value::U32(value) => header.extend(value.to_le_bytes()),
        Value::I32(value) => header.extend(value.to_le_bytes()),
        Value::F32(value) => header.extend(value.to_le_bytes()),
        Value::U64(value) => header.extend(value.to_le_bytes()),
        Value::I64(value) => header.extend(value.to_le_bytes()),
        Value::F64(value) => header.extend(value.to_le_bytes()),
        Value::Bool(value) => header.push(u8::from(*value)),
        Value::String(value) => put_string(header, value.as_bytes()),
        Value::Array(array) => put_array(header, array),
    }
}

fn put_array(header: &mut Vec<u8>, array: &Array) {
    header.extend((array.kind() as u32).to_le_bytes());
    header.extend((array.len() as u64).to_le_bytes());
    match array {
        Array::String(strings) => strings.iter().for_each(|text| put_string(header, text)),
        Array::Array(arrays) => arrays.iter().for_each(|array| put_array(header, array)),
        numbers => {
            (0..numbers.len()).filter_map(|index| numbers.get(index)).for_each(|number| put_value(header, &number))
        }
    }
}

/// Writer that counts the bytes written.
struct CountingWriter<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for CountingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
