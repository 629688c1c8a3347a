//! Writing files, front to back: what is in a tensor is asked for when its turn comes.

use std::fmt;
use std::io::{self, Write};

use super::header::{ALIGNMENT, DEFAULT_ALIGNMENT};
use super::metadata::Metadata;
use super::value::{Array, Value};
use crate::weights::TensorType;

/// A file that is to be written: keys, and tensors by their shape.
///
/// ```
/// use inference::gguf::{Builder, Gguf};
/// use inference::weights::TensorType;
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
    tensors: Vec<Tensor>,
}

#[derive(Clone, Debug)]
struct Tensor {
    name: String,
    kind: TensorType,
    dimensions: Vec<u64>,
}

impl Tensor {
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
    /// A file of version 3 without anything in it.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// In another version: 2 and 3 look the same.
    #[must_use]
    pub fn version(mut self, version: u32) -> Builder {
        self.version = version;
        self
    }

    /// With a key. `general.alignment`, a `u32`, decides where tensors begin.
    #[must_use]
    pub fn key(mut self, key: &str, value: impl Into<Value>) -> Builder {
        self.metadata.set(key, value);
        self
    }

    /// With a tensor; the size of a row is first.
    #[must_use]
    pub fn tensor(mut self, name: &str, kind: TensorType, dimensions: &[u64]) -> Builder {
        self.tensors.push(Tensor { name: name.to_owned(), kind, dimensions: dimensions.to_vec() });
        self
    }

    /// How large the file will be.
    pub fn size(&self) -> io::Result<u64> {
        let (head, alignment) = self.head()?;
        let offsets = self.offsets(alignment)?;
        Ok((head.len() as u64).next_multiple_of(alignment) + offsets.last().copied().unwrap_or(0))
    }

    /// The file in memory; `fill` is called as by [`Builder::write`].
    pub fn to_bytes(&self, mut fill: impl FnMut(usize, &mut dyn Write) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let size = usize::try_from(self.size()?).map_err(io::Error::other)?;
        bytes
            .try_reserve_exact(size)
            .map_err(|error| io::Error::other(format!("no memory for {size} bytes: {error}")))?;
        self.write(&mut bytes, &mut fill)?;
        Ok(bytes)
    }

    /// Writes the file. `fill` writes the bytes of a tensor, by its number, in order; exactly as many as it has.
    pub fn write(
        &self,
        out: &mut dyn Write,
        fill: &mut dyn FnMut(usize, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (head, alignment) = self.head()?;
        out.write_all(&head)?;
        pad(out, head.len() as u64, alignment)?;
        for (index, tensor) in self.tensors.iter().enumerate() {
            let mut counted = Counted { out, bytes: 0 };
            fill(index, &mut counted)?;
            let (written, size) = (counted.bytes, tensor.size());
            if size != Some(written) {
                return invalid(format!("tensor '{}': {written} bytes were written of {size:?}", tensor.name));
            }
            pad(out, written, alignment)?;
        }
        Ok(())
    }

    /// All before the data without the padding, and the alignment.
    fn head(&self) -> io::Result<(Vec<u8>, u64)> {
        let alignment = match self.metadata.get_optional::<u32>(ALIGNMENT) {
            Ok(alignment) => alignment.map_or(DEFAULT_ALIGNMENT, u64::from),
            Err(error) => return invalid(error),
        };
        if !alignment.is_power_of_two() {
            return invalid(format!("the alignment {alignment} is not a power of two"));
        }
        let offsets = self.offsets(alignment)?;
        let mut head = b"GGUF".to_vec();
        head.extend(self.version.to_le_bytes());
        head.extend((self.tensors.len() as u64).to_le_bytes());
        head.extend((self.metadata.len() as u64).to_le_bytes());
        for (key, value) in self.metadata.iter() {
            put_string(&mut head, key.as_bytes());
            head.extend((value.kind() as u32).to_le_bytes());
            put_value(&mut head, value);
        }
        for (tensor, offset) in self.tensors.iter().zip(offsets) {
            put_string(&mut head, tensor.name.as_bytes());
            head.extend((tensor.dimensions.len() as u32).to_le_bytes());
            for dimension in &tensor.dimensions {
                head.extend(dimension.to_le_bytes());
            }
            head.extend(tensor.kind.code().to_le_bytes());
            head.extend(offset.to_le_bytes());
        }
        Ok((head, alignment))
    }

    /// Where each tensor begins in the data, and where the data ends.
    fn offsets(&self, alignment: u64) -> io::Result<Vec<u64>> {
        let mut offsets = vec![0u64];
        for tensor in &self.tensors {
            let end = tensor.size().and_then(|size| offsets.last()?.checked_add(size));
            let Some(end) = end.and_then(|end| end.checked_next_multiple_of(alignment)) else {
                return invalid(format!(
                    "tensor '{}' of {:?} cannot be {}",
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

fn put_string(head: &mut Vec<u8>, text: &[u8]) {
    head.extend((text.len() as u64).to_le_bytes());
    head.extend(text);
}

fn put_value(head: &mut Vec<u8>, value: &Value) {
    match value {
        Value::U8(value) => head.push(*value),
        Value::I8(value) => head.extend(value.to_le_bytes()),
        Value::U16(value) => head.extend(value.to_le_bytes()),
        Value::I16(value) => head.extend(value.to_le_bytes()),
        Value::U32(value) => head.extend(value.to_le_bytes()),
        Value::I32(value) => head.extend(value.to_le_bytes()),
        Value::F32(value) => head.extend(value.to_le_bytes()),
        Value::U64(value) => head.extend(value.to_le_bytes()),
        Value::I64(value) => head.extend(value.to_le_bytes()),
        Value::F64(value) => head.extend(value.to_le_bytes()),
        Value::Bool(value) => head.push(u8::from(*value)),
        Value::String(value) => put_string(head, value.as_bytes()),
        Value::Array(array) => put_array(head, array),
    }
}

fn put_array(head: &mut Vec<u8>, array: &Array) {
    head.extend((array.kind() as u32).to_le_bytes());
    head.extend((array.len() as u64).to_le_bytes());
    match array {
        Array::String(strings) => strings.iter().for_each(|text| put_string(head, text)),
        Array::Array(arrays) => arrays.iter().for_each(|array| put_array(head, array)),
        numbers => {
            (0..numbers.len()).filter_map(|index| numbers.get(index)).for_each(|number| put_value(head, &number))
        }
    }
}

/// Counts what goes through.
struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
