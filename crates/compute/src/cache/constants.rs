//! Function constants in keys: compared bit by bit, and built without allocation.

use abi::{ConstantKey, ConstantValue, Constants};
use half::{bf16, f16};
use std::fmt;

/// Identifies a function constant: a borrowed [`ConstantKey`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ConstantName<'a> {
    /// The number in `[[function_constant(n)]]`.
    Index(u32),
    /// The name of the variable.
    Name(&'a str),
}

impl<'a> From<&'a ConstantKey> for ConstantName<'a> {
    fn from(key: &'a ConstantKey) -> ConstantName<'a> {
        match key {
            ConstantKey::Index(index) => ConstantName::Index(*index),
            ConstantKey::Name(name) => ConstantName::Name(name),
        }
    }
}

impl From<ConstantName<'_>> for ConstantKey {
    fn from(name: ConstantName<'_>) -> ConstantKey {
        match name {
            ConstantName::Index(index) => ConstantKey::Index(index),
            ConstantName::Name(name) => ConstantKey::Name(name.to_owned()),
        }
    }
}

/// The function constants of a kernel, for lookups in [`crate::PipelineCache`].
///
/// A struct with a field for each constant is the usual implementation:
///
/// ```
/// use metalworks_compute::{ConstantBits, ConstantName, KernelConstants};
///
/// struct GemvConstants {
///     k: u32,
///     use_bias: bool,
/// }
///
/// impl KernelConstants for GemvConstants {
///     fn for_each(&self, mut each: impl FnMut(ConstantName<'_>, ConstantBits)) {
///         each(ConstantName::Name("K"), self.k.into());
///         each(ConstantName::Name("USE_BIAS"), self.use_bias.into());
///     }
/// }
/// ```
///
/// There are implementations for `()`, for [`crate::FunctionConstantValues`], and for lists such as
/// `[("K", 4096u32.into()), ("USE_BIAS", true.into())]`.
pub trait KernelConstants {
    /// Calls `each` once for every constant that is set, in any order. If a constant is set twice, the later value
    /// counts.
    fn for_each(&self, each: impl FnMut(ConstantName<'_>, ConstantBits));
}

impl<C: KernelConstants + ?Sized> KernelConstants for &C {
    fn for_each(&self, each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        (**self).for_each(each);
    }
}

impl KernelConstants for () {
    fn for_each(&self, _each: impl FnMut(ConstantName<'_>, ConstantBits)) {}
}

impl KernelConstants for Constants {
    fn for_each(&self, mut each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        for (key, value) in self.iter() {
            each(key.into(), value.into());
        }
    }
}

impl KernelConstants for [(&str, ConstantBits)] {
    fn for_each(&self, mut each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        for (name, value) in self {
            each(ConstantName::Name(name), *value);
        }
    }
}

impl<const N: usize> KernelConstants for [(&str, ConstantBits); N] {
    fn for_each(&self, each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        self.as_slice().for_each(each);
    }
}

/// The bits of a function constant: two values are equal if their types and bits are, so that NaN equals itself and 0.0
/// differs from -0.0. Unlike [`ConstantValue`], it does not allocate.
#[derive(Clone, Copy, Debug)]
pub struct ConstantBits {
    kind: ConstantKind,
    /// Number of components; 1 for a scalar.
    count: u8,
    /// The components; zero from `count` on.
    bits: [u64; 4],
}

macro_rules! scalars {
    ($($kind:ident $ty:ty, $to:expr, $from:expr;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum ConstantKind {
            $($kind,)*
            /// Not a Metal vector: no components or too many, or mixed types.
            Malformed,
        }

        /// The type and bits of a scalar.
        fn scalar(value: &ConstantValue) -> Option<(ConstantKind, u64)> {
            match value {
                $(ConstantValue::$kind(value) => Some((ConstantKind::$kind, $to(*value))),)*
                ConstantValue::Vector(_) => None,
            }
        }

        impl ConstantKind {
            fn value(self, bits: u64) -> Option<ConstantValue> {
                match self {
                    $(ConstantKind::$kind => Some(ConstantValue::$kind($from(bits))),)*
                    ConstantKind::Malformed => None,
                }
            }
        }

        $(
            impl From<$ty> for ConstantBits {
                fn from(value: $ty) -> ConstantBits {
                    ConstantBits { kind: ConstantKind::$kind, count: 1, bits: [$to(value), 0, 0, 0] }
                }
            }

            impl From<[$ty; 2]> for ConstantBits {
                fn from([x, y]: [$ty; 2]) -> ConstantBits {
                    ConstantBits { kind: ConstantKind::$kind, count: 2, bits: [$to(x), $to(y), 0, 0] }
                }
            }

            impl From<[$ty; 3]> for ConstantBits {
                fn from([x, y, z]: [$ty; 3]) -> ConstantBits {
                    ConstantBits { kind: ConstantKind::$kind, count: 3, bits: [$to(x), $to(y), $to(z), 0] }
                }
            }

            impl From<[$ty; 4]> for ConstantBits {
                fn from([x, y, z, w]: [$ty; 4]) -> ConstantBits {
                    ConstantBits { kind: ConstantKind::$kind, count: 4, bits: [$to(x), $to(y), $to(z), $to(w)] }
                }
            }
        )*
    };
}

scalars! {
    Bool bool, u64::from, |bits| bits != 0;
    Char i8, |value| value as u64, |bits| bits as i8;
    Uchar u8, u64::from, |bits| bits as u8;
    Short i16, |value| value as u64, |bits| bits as i16;
    Ushort u16, u64::from, |bits| bits as u16;
    Int i32, |value| value as u64, |bits| bits as i32;
    Uint u32, u64::from, |bits| bits as u32;
    Long i64, |value| value as u64, |bits| bits as i64;
    Ulong u64, |value| value, |bits| bits;
    Half f16, |value: f16| u64::from(value.to_bits()), |bits| f16::from_bits(bits as u16);
    Bfloat bf16, |value: bf16| u64::from(value.to_bits()), |bits| bf16::from_bits(bits as u16);
    Float f32, |value: f32| u64::from(value.to_bits()), |bits| f32::from_bits(bits as u32);
}

impl PartialEq for ConstantBits {
    /// Compares the first component before the others: most constants are scalars, and loading all four at once, just
    /// after they were stored one by one, stalls the CPU (no store forwarding).
    #[inline]
    fn eq(&self, other: &ConstantBits) -> bool {
        let same = self.kind == other.kind && self.count == other.count && self.bits[0] == other.bits[0];
        same && (self.count <= 1 || self.bits[1..] == other.bits[1..])
    }
}

impl Eq for ConstantBits {}

impl From<&ConstantValue> for ConstantBits {
    fn from(value: &ConstantValue) -> ConstantBits {
        let malformed = ConstantBits { kind: ConstantKind::Malformed, count: 0, bits: [0; 4] };
        let parts = match value {
            ConstantValue::Vector(parts) if (2..=4).contains(&parts.len()) => parts.as_slice(),
            ConstantValue::Vector(_) => return malformed,
            scalar => std::slice::from_ref(scalar),
        };
        let Some((kind, _)) = scalar(&parts[0]) else { return malformed };
        let mut bits = [0; 4];
        for (bits, part) in bits.iter_mut().zip(parts) {
            match scalar(part) {
                Some((other, value)) if other == kind => *bits = value,
                _ => return malformed,
            }
        }
        ConstantBits { kind, count: parts.len() as u8, bits }
    }
}

impl ConstantBits {
    /// The value; `None` if it is not a Metal vector.
    pub(super) fn value(&self) -> Option<ConstantValue> {
        match self.count {
            1 => self.kind.value(self.bits[0]),
            count => {
                let parts = self.bits[..usize::from(count)].iter().map(|bits| self.kind.value(*bits));
                parts.collect::<Option<Vec<_>>>().filter(|parts| parts.len() > 1).map(ConstantValue::Vector)
            }
        }
    }

    /// Passes the words to hash to `word`.
    pub(super) fn hash(&self, mut word: impl FnMut(u64)) {
        word(self.bits[0].rotate_left(16) ^ (self.kind as u64) << 8 ^ u64::from(self.count));
        if self.count > 1 {
            self.bits[1..].iter().for_each(|bits| word(*bits));
        }
    }
}

/// The value in the name of a pipeline: `4096`, `1` for `true`, `8x8` for a vector.
impl fmt::Display for ConstantBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == ConstantKind::Malformed {
            return f.write_str("?");
        }
        for (index, bits) in self.bits[..usize::from(self.count)].iter().enumerate() {
            if index > 0 {
                f.write_str("x")?;
            }
            match self.kind.value(*bits) {
                Some(ConstantValue::Bool(value)) => write!(f, "{}", u8::from(value))?,
                Some(ConstantValue::Char(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Uchar(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Short(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Ushort(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Int(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Uint(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Long(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Ulong(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Half(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Bfloat(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Float(value)) => write!(f, "{value}")?,
                Some(ConstantValue::Vector(_)) | None => {}
            }
        }
        Ok(())
    }
}
