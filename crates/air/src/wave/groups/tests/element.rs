//! Types of numbers, random values of them, and their meaning.

use crate::ir::{ContextRef, Type};
use half::{bf16, f16};

/// The type of one lane's value. Values are their bits in an `u64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Element {
    F32,
    F16,
    BF16,
    Signed(u32),
    Unsigned(u32),
    Bool,
}

pub(super) const FLOATS: [Element; 3] = [Element::F32, Element::F16, Element::BF16];
pub(super) const INTEGERS: [Element; 8] = [
    Element::Signed(8),
    Element::Signed(16),
    Element::Signed(32),
    Element::Signed(64),
    Element::Unsigned(8),
    Element::Unsigned(16),
    Element::Unsigned(32),
    Element::Unsigned(64),
];

pub(super) fn numbers() -> impl Iterator<Item = Element> {
    FLOATS.into_iter().chain(INTEGERS)
}

impl Element {
    pub(super) fn suffix(self) -> String {
        match self {
            Element::F32 => "f32".into(),
            Element::F16 => "f16".into(),
            Element::BF16 => "bf16".into(),
            Element::Signed(bits) => format!("s.i{bits}"),
            Element::Unsigned(bits) => format!("u.i{bits}"),
            Element::Bool => "i1".into(),
        }
    }

    pub(super) fn ty(self, context: ContextRef) -> Type {
        match self {
            Element::F32 => Type::float(context),
            Element::F16 => Type::half(context),
            Element::BF16 => Type::int(context, 16),
            Element::Signed(bits) | Element::Unsigned(bits) => Type::int(context, bits),
            Element::Bool => Type::int(context, 1),
        }
    }

    /// In memory; a bool is a byte there.
    pub(super) fn bytes(self) -> usize {
        match self {
            Element::F32 => 4,
            Element::F16 | Element::BF16 => 2,
            Element::Signed(bits) | Element::Unsigned(bits) => bits as usize / 8,
            Element::Bool => 1,
        }
    }

    pub(super) fn is_float(self) -> bool {
        FLOATS.contains(&self)
    }

    /// The number that the bits are, when they are of a floating-point type.
    pub(super) fn real(self, bits: u64) -> f64 {
        match self {
            Element::F32 => f32::from_bits(bits as u32).into(),
            Element::F16 => f16::from_bits(bits as u16).into(),
            Element::BF16 => bf16::from_bits(bits as u16).into(),
            _ => panic!("{self:?} is an integer"),
        }
    }

    pub(super) fn bits_of_real(self, value: f64) -> u64 {
        match self {
            Element::F32 => (value as f32).to_bits().into(),
            Element::F16 => f16::from_f64(value).to_bits().into(),
            Element::BF16 => bf16::from_f64(value).to_bits().into(),
            _ => panic!("{self:?} is an integer"),
        }
    }

    /// The number that the bits are, when they are of an integer type.
    pub(super) fn integer(self, bits: u64) -> i128 {
        match self {
            Element::Signed(8) => (bits as i8).into(),
            Element::Signed(16) => (bits as i16).into(),
            Element::Signed(32) => (bits as i32).into(),
            Element::Signed(_) => (bits as i64).into(),
            Element::Unsigned(_) | Element::Bool => bits.into(),
            _ => panic!("{self:?} is no integer"),
        }
    }

    /// The low bits of an integer.
    pub(super) fn bits_of_integer(self, value: i128) -> u64 {
        match self.bytes() {
            8 => value as u64,
            bytes => value as u64 & ((1 << (8 * bytes)) - 1),
        }
    }

    /// The largest relative distance to the nearest number of the type.
    pub(super) fn epsilon(self) -> f64 {
        match self {
            Element::F16 => 2f64.powi(-11),
            Element::BF16 => 2f64.powi(-8),
            _ => 2f64.powi(-23),
        }
    }

    pub(super) fn random(self, random: &mut Random) -> u64 {
        match self {
            Element::Bool => random.bits() & 1,
            _ if self.is_float() => self.bits_of_real(random.real()),
            _ => self.bits_of_integer(random.bits().into()),
        }
    }

    pub(super) fn random_lanes(self, random: &mut Random) -> Vec<u64> {
        (0..32).map(|_| self.random(random)).collect()
    }
}

/// SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Between -2 and 2.
    pub(super) fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 51) as f64 - 2.0
    }
}
