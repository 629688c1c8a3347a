//! Results of an operation.

use crate::formats::Activation;
use crate::metal::library::BufferSlice;
use compute::{Buffer, Result};
use half::f16;
use std::fmt;

/// The type of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Number {
    F32,
    F16,
    U32,
}

impl Number {
    /// Bytes of a number.
    pub const fn size(self) -> usize {
        match self {
            Number::F32 | Number::U32 => 4,
            Number::F16 => 2,
        }
    }

    /// The bits of a number, as a number in f64, which has room for all of them.
    pub fn value(self, bits: u32) -> f64 {
        match self {
            Number::F32 => f64::from(f32::from_bits(bits)),
            Number::F16 => f64::from(f16::from_bits(bits as u16)),
            Number::U32 => f64::from(bits),
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
        })
    }
}

/// A result of an operation: a buffer of its own, or one that it changes.
#[derive(Clone, Debug)]
pub struct Output {
    /// As the operation calls it.
    pub name: &'static str,
    /// The type of its numbers.
    pub number: Number,
    /// Count of its numbers.
    pub count: usize,
    /// All numbers that it should have, by the formula of the operation; NaN where NaN must stay. None where no formula was
    /// computed: [`super::Purpose::Measure`] needs none.
    pub expected: Option<Vec<f64>>,
    buffer: Buffer,
}

impl Output {
    /// Bytes behind a result that is checked: nothing may be written there.
    pub(crate) const GUARD: usize = 256;

    /// Every byte of a result before it is written: NaN, or a token that does not exist.
    const POISON: u8 = 0xff;

    pub(crate) fn written(name: &'static str, number: Number, buffer: Buffer, count: usize) -> Output {
        Output { name, number, count, expected: None, buffer }
    }

    pub(crate) fn changed(name: &'static str, number: Number, buffer: Buffer) -> Output {
        Output { name, number, count: buffer.len() / number.size(), expected: None, buffer }
    }

    pub(crate) fn slice(&self) -> BufferSlice<'_> {
        BufferSlice::new(&self.buffer, 0, self.count * self.number.size())
    }

    pub(crate) fn poison(&self) -> Result<()> {
        self.buffer.write(0, &vec![Output::POISON; self.buffer.len()])
    }

    /// The bits of all numbers.
    pub fn bits(&self) -> Vec<u32> {
        let bytes = self.buffer.read::<u8>();
        let bytes = &bytes[..(self.count * self.number.size()).min(bytes.len())];
        match self.number.size() {
            2 => bytes.as_chunks().0.iter().map(|bytes| u32::from(u16::from_le_bytes(*bytes))).collect(),
            _ => bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
        }
    }

    /// All numbers that it has now.
    pub fn numbers(&self) -> Vec<f64> {
        self.bits().into_iter().map(|bits| self.number.value(bits)).collect()
    }

    /// Returns true if something was written behind the result.
    pub fn is_overrun(&self) -> bool {
        let end = self.count * self.number.size();
        self.buffer.read::<u8>().get(end..).is_some_and(|behind| behind.iter().any(|byte| *byte != Output::POISON))
    }
}
