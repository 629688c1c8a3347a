//! Outputs of an operation.

use crate::formats::{Activation, Format};
use crate::metal::library::BufferSlice;
use compute::{Buffer, Result};
use half::f16;
use std::fmt;

/// Type of an output's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Number {
    F32,
    F16,
    U32,
    /// Rounded to this format in the KV cache.
    Q8_0,
    Q4_0,
}

impl Number {
    /// Size of a number in bytes; those of quantized types count as f32.
    pub const fn size(self) -> usize {
        match self {
            Number::F32 | Number::U32 | Number::Q8_0 | Number::Q4_0 => 4,
            Number::F16 => 2,
        }
    }

    /// The number with these bits, in f64, which represents all of them exactly.
    pub fn value(self, bits: u32) -> f64 {
        match self {
            Number::F32 | Number::Q8_0 | Number::Q4_0 => f64::from(f32::from_bits(bits)),
            Number::F16 => f64::from(f16::from_bits(bits as u16)),
            Number::U32 => f64::from(bits),
        }
    }

    /// Numbers of the KV cache in this format, of those that it can have.
    pub(crate) fn cached(format: Format) -> Number {
        match format {
            Format::F16 => Number::F16,
            Format::Q8_0 => Number::Q8_0,
            Format::Q4_0 => Number::Q4_0,
            _ => Number::F32,
        }
    }
}

impl From<Activation> for Number {
    fn from(activation: Activation) -> Number {
        match activation {
            Activation::F32 => Number::F32,
            Activation::F16 => Number::F16,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Number::F32 => "f32",
            Number::F16 => "f16",
            Number::U32 => "u32",
            Number::Q8_0 => "q8_0",
            Number::Q4_0 => "q4_0",
        })
    }
}

/// Decodes the bytes of an array.
pub(super) type Decode = fn(&[u8]) -> Vec<f64>;

/// An output of an operation: its own buffer, or an input that it updates in place.
#[derive(Clone, Debug)]
pub struct Output {
    /// Name of the argument.
    pub name: &'static str,
    /// Type of its numbers.
    pub number: Number,
    /// Number of its numbers.
    pub count: usize,
    /// Expected numbers by the formula of the operation; NaN where poison must stay. `None` if no formula was
    /// evaluated, as for [`super::Purpose::Measure`].
    pub expected: Option<Vec<f64>>,
    buffer: Buffer,
    /// Decodes the bytes of quantized types.
    decode: Option<Decode>,
}

impl Output {
    /// Bytes after the end of a checked output, which must not be written.
    pub(crate) const GUARD: usize = 256;

    /// Every byte of an output before it is written: as a float a NaN, as a token one that does not exist.
    const POISON: u8 = 0xff;

    pub(crate) fn written(name: &'static str, number: Number, buffer: Buffer, count: usize) -> Output {
        Output { name, number, count, expected: None, buffer, decode: None }
    }

    pub(crate) fn changed(name: &'static str, number: Number, buffer: Buffer) -> Output {
        Output { name, number, count: buffer.len() / number.size(), expected: None, buffer, decode: None }
    }

    /// An input of blocks, which the operation updates in place.
    pub(crate) fn changed_blocks(name: &'static str, number: Number, buffer: Buffer, decode: Decode) -> Output {
        let count = decode(&buffer.read::<u8>()).len();
        Output { name, number, count, expected: None, buffer, decode: Some(decode) }
    }

    pub(crate) fn slice(&self) -> BufferSlice<'_> {
        BufferSlice::new(&self.buffer, 0, self.count * self.number.size())
    }

    /// Writes a number that the operation reads before it changes it.
    pub(crate) fn set(&self, index: usize, bits: u32) -> Result<()> {
        self.buffer.write(index * self.number.size(), &[bits])
    }

    pub(crate) fn poison(&self) -> Result<()> {
        self.buffer.write(0, &vec![Output::POISON; self.buffer.len()])
    }

    /// Bits of all numbers.
    pub fn bits(&self) -> Vec<u32> {
        let bytes = self.buffer.read::<u8>();
        if let Some(decode) = self.decode {
            return decode(&bytes).into_iter().map(|number| (number as f32).to_bits()).collect();
        }
        let bytes = &bytes[..(self.count * self.number.size()).min(bytes.len())];
        match self.number.size() {
            2 => bytes.as_chunks().0.iter().map(|bytes| u32::from(u16::from_le_bytes(*bytes))).collect(),
            _ => bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
        }
    }

    /// Current numbers.
    pub fn numbers(&self) -> Vec<f64> {
        self.bits().into_iter().map(|bits| self.number.value(bits)).collect()
    }

    /// Returns true if something was written after the end of the output.
    pub fn is_overrun(&self) -> bool {
        let end = self.count * self.number.size();
        self.buffer.read::<u8>().get(end..).is_some_and(|behind| behind.iter().any(|byte| *byte != Output::POISON))
    }
}
