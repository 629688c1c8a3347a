//! MLX arrays: a type and values. A value that a type cannot hold is rounded or wrapped when it is stored, so that
//! references compute with exactly what the kernel reads.

use half::{bf16, f16};

/// A type of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DType {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Float16,
    Float32,
    Bfloat16,
    Complex64,
}

/// MLX's name of each type, and its name in reflection.
const NAMES: [(DType, &str, &str); 13] = [
    (DType::Bool, "bool_", "bool"),
    (DType::Uint8, "uint8", "uchar"),
    (DType::Uint16, "uint16", "ushort"),
    (DType::Uint32, "uint32", "uint"),
    (DType::Uint64, "uint64", "ulong"),
    (DType::Int8, "int8", "char"),
    (DType::Int16, "int16", "short"),
    (DType::Int32, "int32", "int"),
    (DType::Int64, "int64", "long"),
    (DType::Float16, "float16", "half"),
    (DType::Float32, "float32", "float"),
    (DType::Bfloat16, "bfloat16", "bfloat"),
    (DType::Complex64, "complex64", "complex_t"),
];

/// The types that hold real numbers with a fraction.
pub(crate) const FLOATS: [DType; 3] = [DType::Float32, DType::Float16, DType::Bfloat16];

impl DType {
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(dtype, ..)| *dtype == self).map_or("", |(_, name, _)| name)
    }

    /// The type with this name.
    pub(crate) fn named(name: &str) -> Option<DType> {
        NAMES.iter().find(|(_, known, _)| *known == name).map(|(dtype, ..)| *dtype)
    }

    /// The type with this name in reflection.
    pub(crate) fn reflected(name: &str) -> Option<DType> {
        NAMES.iter().find(|(.., known)| *known == name).map(|(dtype, ..)| *dtype)
    }

    /// Takes the name of a type off the end of `text`.
    pub(crate) fn suffix(text: &str) -> Option<(&str, DType)> {
        let ends = |(dtype, name, _): &(DType, &str, &str)| text.strip_suffix(name).map(|rest| (rest, *dtype));
        // "uint8" ends with "int8", "bfloat16" with "float16": the longest name is meant.
        NAMES.iter().filter_map(ends).min_by_key(|(rest, _)| rest.len())
    }

    pub(crate) fn size(self) -> usize {
        match self {
            DType::Bool | DType::Uint8 | DType::Int8 => 1,
            DType::Uint16 | DType::Int16 | DType::Float16 | DType::Bfloat16 => 2,
            DType::Uint32 | DType::Int32 | DType::Float32 => 4,
            DType::Uint64 | DType::Int64 | DType::Complex64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        FLOATS.contains(&self)
    }

    pub(crate) fn is_integer(self) -> bool {
        !self.is_float() && self != DType::Complex64
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64)
    }

    /// Bits of an integer.
    pub(crate) fn bits(self) -> u32 {
        if self == DType::Bool { 1 } else { 8 * self.size() as u32 }
    }

    /// The least and the greatest integer.
    pub(crate) fn range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The same; 0 for other types.
    pub(crate) fn range_or_zero(self) -> (i128, i128) {
        if self.is_integer() { self.range() } else { (0, 0) }
    }

    /// The distance between 1 and the next number.
    pub(crate) fn epsilon(self) -> f64 {
        match self {
            DType::Float16 => 2f64.powi(-10),
            DType::Bfloat16 => 2f64.powi(-7),
            _ => f64::from(f32::EPSILON),
        }
    }

    /// The smallest number that is not denormal.
    pub(crate) fn least_normal(self) -> f64 {
        match self {
            DType::Float16 => 2f64.powi(-14),
            _ => f64::from(f32::MIN_POSITIVE),
        }
    }

    /// `value` as this type holds it.
    pub(crate) fn round(self, value: f64) -> f64 {
        match self {
            DType::Float16 => f16::from_f64(value).to_f64(),
            // By way of f32: `half` rounds f64 to bfloat16 by its upper half alone.
            DType::Bfloat16 => bf16::from_f32(value as f32).to_f64(),
            _ => f64::from(value as f32),
        }
    }

    /// `value` as this type holds it, reduced to its width where it is an integer.
    pub(crate) fn hold(self, value: Scalar) -> Scalar {
        match (self, value) {
            (DType::Bool, Scalar::Int(value)) => Scalar::Int(i128::from(value != 0)),
            (DType::Complex64, value) => {
                let (real, imaginary) = value.complex();
                Scalar::Complex(self.round(real), self.round(imaginary))
            }
            (_, Scalar::Int(value)) if self.is_integer() => Scalar::Int(self.wrap(value)),
            (_, Scalar::Float(value)) if self.is_float() => Scalar::Float(self.round(value)),
            (_, Scalar::Int(value)) if self.is_float() => Scalar::Float(self.round(value as f64)),
            (_, value) => panic!("{self:?} does not hold {value:?}"),
        }
    }

    fn wrap(self, value: i128) -> i128 {
        let modulus = 1i128 << self.bits();
        let wrapped = value.rem_euclid(modulus);
        if self.is_signed() && wrapped >= modulus / 2 { wrapped - modulus } else { wrapped }
    }

    fn write(self, value: Scalar, bytes: &mut Vec<u8>) {
        match (self.hold(value), self) {
            (Scalar::Int(value), _) => bytes.extend_from_slice(&value.to_le_bytes()[..self.size()]),
            (Scalar::Float(value), DType::Float16) => bytes.extend_from_slice(&f16::from_f64(value).to_le_bytes()),
            (Scalar::Float(value), DType::Bfloat16) => {
                bytes.extend_from_slice(&bf16::from_f32(value as f32).to_le_bytes());
            }
            (Scalar::Float(value), _) => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
            (Scalar::Complex(real, imaginary), _) => {
                bytes.extend_from_slice(&(real as f32).to_le_bytes());
                bytes.extend_from_slice(&(imaginary as f32).to_le_bytes());
            }
        }
    }

    /// The element whose bytes these are.
    pub(crate) fn read(self, bytes: &[u8]) -> Scalar {
        let float = |bytes: &[u8]| f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")));
        match self {
            DType::Float16 => Scalar::Float(f16::from_le_bytes(bytes.try_into().expect("two bytes")).to_f64()),
            DType::Bfloat16 => Scalar::Float(bf16::from_le_bytes(bytes.try_into().expect("two bytes")).to_f64()),
            DType::Float32 => Scalar::Float(float(bytes)),
            DType::Complex64 => Scalar::Complex(float(&bytes[..4]), float(&bytes[4..])),
            // A bool that is neither 0 nor 1 is wrong, and stays visible.
            DType::Bool => Scalar::Int(i128::from(bytes[0])),
            _ => {
                let mut wide = [0; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                Scalar::Int(self.wrap(i128::from_le_bytes(wide)))
            }
        }
    }
}

/// A number: integers and bools as integers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Scalar {
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Scalar {
    /// As a real number.
    pub(crate) fn float(self) -> f64 {
        match self {
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) | Scalar::Complex(value, _) => value,
        }
    }

    /// As an integer, towards zero.
    pub(crate) fn int(self) -> i128 {
        match self {
            Scalar::Int(value) => value,
            Scalar::Float(value) | Scalar::Complex(value, _) => value as i128,
        }
    }

    /// As a complex number.
    pub(crate) fn complex(self) -> (f64, f64) {
        match self {
            Scalar::Complex(real, imaginary) => (real, imaginary),
            other => (other.float(), 0.0),
        }
    }

    /// True if C++ converts it to true.
    pub(crate) fn truth(self) -> bool {
        match self {
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
            Scalar::Complex(real, imaginary) => real != 0.0 || imaginary != 0.0,
        }
    }
}

/// Elements of one type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) values: Vec<Scalar>,
}

impl Array {
    /// The values as `dtype` holds them.
    pub(crate) fn new(dtype: DType, values: impl IntoIterator<Item = Scalar>) -> Array {
        Array { dtype, values: values.into_iter().map(|value| dtype.hold(value)).collect() }
    }

    pub(crate) fn floats(dtype: DType, values: impl IntoIterator<Item = f64>) -> Array {
        Array::new(dtype, values.into_iter().map(Scalar::Float))
    }

    pub(crate) fn ints(dtype: DType, values: impl IntoIterator<Item = i128>) -> Array {
        Array::new(dtype, values.into_iter().map(Scalar::Int))
    }

    /// Whole numbers in any type.
    pub(crate) fn floats_or_ints(dtype: DType, length: usize, mut next: impl FnMut() -> f64) -> Array {
        Array::new(dtype, (0..length).map(|_| Scalar::Int(next() as i128)).collect::<Vec<_>>())
    }

    pub(crate) fn float(&self, index: usize) -> f64 {
        self.values[index].float()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.values.len() * self.dtype.size());
        for value in &self.values {
            self.dtype.write(*value, &mut bytes);
        }
        bytes
    }
}
