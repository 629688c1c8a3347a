//! NumPy's `.npy` files (versions 1 to 3): one array of numbers each, in C order.

mod dtype;
mod header;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::{self, Write};

pub(crate) use dtype::Dtype;
use header::{Fields, damaged};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Alignment of the data in a file, so that it can be mapped.
const ALIGNMENT: usize = 64;

/// Type and shape of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
}

impl Header {
    /// Size of the elements in bytes; `None` on overflow.
    pub(crate) fn byte_len(&self) -> Option<usize> {
        // Check for empty dimensions first, so that their position does not decide if it overflows.
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(self.dtype.size(), |product, &length| product.checked_mul(length))
    }
}

/// Formats a shape as NumPy does: `(3, 4)`, `(7,)`, `()`.
pub(crate) fn display_shape(shape: &[usize]) -> String {
    match shape {
        [length] => format!("({length},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// True if a file with this start is a `.npy` file.
pub(crate) fn is_npy(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Parses a file: type, shape, and data in little endian. The error says what is wrong and what to do, without the name
/// of the file.
pub(crate) fn read(file: &[u8]) -> Result<(Header, Cow<'_, [u8]>), String> {
    let (text, data) = split(file)?;
    let text = std::str::from_utf8(text).map_err(|_| damaged("the header is not text"))?;
    let fields = Fields::parse(text)?;
    let (dtype, reversed) = Dtype::parse(fields.descr)?;
    // A vector is the same in both orders.
    if fields.fortran_order && fields.shape.iter().filter(|&&length| length != 1).count() > 1 {
        return Err("the array is in Fortran order: save numpy.ascontiguousarray of it".into());
    }
    let header = Header { dtype, shape: fields.shape };
    let shape = display_shape(&header.shape);
    match header.byte_len() {
        None => return Err(damaged(&format!("the shape {shape} has too many bytes"))),
        Some(wanted) if wanted != data.len() => {
            let found = data.len();
            return Err(damaged(&format!("{dtype} of shape {shape} takes {wanted} bytes, but there are {found}")));
        }
        Some(_) => {}
    }
    if !reversed {
        return Ok((header, Cow::Borrowed(data)));
    }
    let mut data = data.to_vec();
    data.chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
    Ok((header, Cow::Owned(data)))
}

/// Splits a file into the text of the header and the data.
fn split(file: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let cut_off = || damaged("the file ends in its header");
    let rest = file.strip_prefix(MAGIC).ok_or("it is not a .npy file")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut_off)?;
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
            (u32::from_le_bytes(*length), rest)
        }
        other => return Err(damaged(&format!(".npy version {other} is unknown"))),
    };
    usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length)).ok_or_else(cut_off)
}

/// Writes a file.
pub(crate) fn write(mut to: impl Write, header: &Header, data: &[u8]) -> io::Result<()> {
    let (descr, shape) = (header.dtype.descr(), display_shape(&header.shape));
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Version 2 allows longer headers. Our arrays do not need it, but a shape that was read may.
    let before = |length_bytes: usize| MAGIC.len() + 2 + length_bytes;
    let is_short = text.len() + ALIGNMENT < usize::from(u16::MAX);
    let before = before(if is_short { 2 } else { 4 });
    let padded = (before + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.push_str(&" ".repeat(padded - before - text.len() - 1));
    text.push('\n');
    to.write_all(MAGIC)?;
    match u16::try_from(text.len()) {
        Ok(length) if is_short => {
            to.write_all(&[1, 0])?;
            to.write_all(&length.to_le_bytes())?;
        }
        _ => {
            to.write_all(&[2, 0])?;
            let length = u32::try_from(text.len()).map_err(io::Error::other)?;
            to.write_all(&length.to_le_bytes())?;
        }
    }
    to.write_all(text.as_bytes())?;
    to.write_all(data)
}
