//! Numbers on the command line: types by Metal's and short names, and their values.

use std::str::FromStr;

use abi::ConstantValue;
use half::{bf16, f16};

/// A numeric type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    Bool,
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Bfloat,
    Float,
}

/// Metal's name, short name, and size in bytes.
const SCALARS: [(Scalar, &str, &str, usize); 12] = [
    (Scalar::Bool, "bool", "bool", 1),
    (Scalar::Char, "char", "i8", 1),
    (Scalar::Uchar, "uchar", "u8", 1),
    (Scalar::Short, "short", "i16", 2),
    (Scalar::Ushort, "ushort", "u16", 2),
    (Scalar::Int, "int", "i32", 4),
    (Scalar::Uint, "uint", "u32", 4),
    (Scalar::Long, "long", "i64", 8),
    (Scalar::Ulong, "ulong", "u64", 8),
    (Scalar::Half, "half", "f16", 2),
    (Scalar::Bfloat, "bfloat", "bf16", 2),
    (Scalar::Float, "float", "f32", 4),
];

impl Scalar {
    fn row(self) -> (Scalar, &'static str, &'static str, usize) {
        SCALARS[self as usize]
    }

    /// Metal's name: `uint`.
    pub(crate) fn name(self) -> &'static str {
        self.row().1
    }

    /// The short name: `u32`.
    pub(crate) fn short_name(self) -> &'static str {
        self.row().2
    }

    /// Size in bytes.
    pub(crate) fn size(self) -> usize {
        self.row().3
    }

    /// All types. Of two with the same NumPy dtype, the native one comes first.
    pub(crate) fn all() -> impl Iterator<Item = Scalar> {
        SCALARS.iter().map(|row| row.0)
    }

    /// The type with this name, Metal's or the short one.
    pub(crate) fn named(name: &str) -> Option<Scalar> {
        SCALARS.iter().find(|row| row.1 == name || row.2 == name).map(|row| row.0)
    }

    /// Parses a value of this type.
    pub(crate) fn value(self, text: &str) -> Result<ConstantValue, String> {
        match self {
            Scalar::Bool => match text {
                "true" | "1" => Ok(ConstantValue::Bool(true)),
                "false" | "0" => Ok(ConstantValue::Bool(false)),
                _ => Err(format!("'{text}' is not a bool: write true or false")),
            },
            Scalar::Char => self.integer(text).map(ConstantValue::Char),
            Scalar::Uchar => self.integer(text).map(ConstantValue::Uchar),
            Scalar::Short => self.integer(text).map(ConstantValue::Short),
            Scalar::Ushort => self.integer(text).map(ConstantValue::Ushort),
            Scalar::Int => self.integer(text).map(ConstantValue::Int),
            Scalar::Uint => self.integer(text).map(ConstantValue::Uint),
            Scalar::Long => self.integer(text).map(ConstantValue::Long),
            Scalar::Ulong => self.integer(text).map(ConstantValue::Ulong),
            Scalar::Half | Scalar::Bfloat | Scalar::Float => self.float(text),
        }
    }

    fn integer<T: TryFrom<i128>>(self, text: &str) -> Result<T, String> {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let magnitude = match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => u64::from_str(digits),
        };
        // A sign that the parser itself would accept was either stripped, or is one too many.
        let magnitude = magnitude.ok().filter(|_| !digits.starts_with(['+', '-']) && !digits.contains('+'));
        let Some(magnitude) = magnitude else {
            return Err(format!("'{text}' is not a number of type {}", self.name()));
        };
        T::try_from(sign * i128::from(magnitude)).map_err(|_| format!("{text} does not fit into {}", self.name()))
    }

    fn float(self, text: &str) -> Result<ConstantValue, String> {
        let number =
            f64::from_str(text).map_err(|_| format!("'{text}' is not a number of type {}", self.name()))?;
        let (value, is_finite) = match self {
            Scalar::Half => {
                let value = f16::from_f64(number);
                (ConstantValue::Half(value), value.is_finite())
            }
            Scalar::Bfloat => {
                let value = bf16::from_f64(number);
                (ConstantValue::Bfloat(value), value.is_finite())
            }
            _ => {
                let value = number as f32;
                (ConstantValue::Float(value), value.is_finite())
            }
        };
        // `inf` and `nan` are values; a number that rounds to one of them, such as 1e999, is an error.
        let meant = is_finite || !text.contains(|c: char| c.is_ascii_digit());
        meant.then_some(value).ok_or_else(|| format!("{text} does not fit into {}", self.name()))
    }
}

/// A number, or a vector of two to four of them: `float`, `f32`, `float4`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Element {
    pub(crate) scalar: Scalar,
    pub(crate) components: usize,
}

impl FromStr for Element {
    type Err = String;

    fn from_str(name: &str) -> Result<Element, String> {
        if let Some(scalar) = Scalar::named(name) {
            return Ok(Element { scalar, components: 1 });
        }
        let vector = name.strip_suffix(['2', '3', '4']).and_then(|scalar| {
            let scalar = Scalar::named(scalar).filter(|known| known.name() == scalar)?;
            Some(Element { scalar, components: name[scalar.name().len()..].parse().ok()? })
        });
        vector.ok_or_else(|| {
            let names: Vec<&str> = SCALARS.iter().map(|row| row.2).collect();
            format!("no type '{name}': use {}, Metal's names for them, or vectors such as float4", names.join(", "))
        })
    }
}

/// Appends the bytes of a value in a buffer's layout, with contiguous components.
pub(crate) fn append(bytes: &mut Vec<u8>, value: &ConstantValue) {
    match value {
        ConstantValue::Bool(value) => bytes.push(u8::from(*value)),
        ConstantValue::Char(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Uchar(value) => bytes.push(*value),
        ConstantValue::Short(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Ushort(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Int(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Uint(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Long(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Ulong(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Half(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Bfloat(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Float(value) => bytes.extend(value.to_le_bytes()),
        ConstantValue::Vector(components) => components.iter().for_each(|component| append(bytes, component)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_two_names() {
        for (scalar, name, short, size) in SCALARS {
            assert_eq!((scalar.name(), scalar.short_name(), scalar.size()), (name, short, size));
            assert_eq!((Scalar::named(name), Scalar::named(short)), (Some(scalar), Some(scalar)));
        }
        assert_eq!(Scalar::named("double"), None);
    }

    #[test]
    fn vectors_have_two_to_four_components() {
        assert_eq!("float4".parse(), Ok(Element { scalar: Scalar::Float, components: 4 }));
        assert_eq!("uchar2".parse(), Ok(Element { scalar: Scalar::Uchar, components: 2 }));
        assert_eq!("i32".parse(), Ok(Element { scalar: Scalar::Int, components: 1 }));
        for name in ["float5", "float1", "f324", "", "4", "double", "float44"] {
            let error = name.parse::<Element>().expect_err(name);
            assert!(error.starts_with(&format!("no type '{name}'")) && error.contains("bf16"), "{error}");
        }
    }

    #[test]
    fn integers_out_of_range_are_rejected() {
        assert_eq!(Scalar::Uchar.value("255"), Ok(ConstantValue::Uchar(255)));
        assert_eq!(Scalar::Char.value("-128"), Ok(ConstantValue::Char(-128)));
        assert_eq!(Scalar::Ulong.value("0xffffffffffffffff"), Ok(ConstantValue::Ulong(u64::MAX)));
        assert_eq!(Scalar::Long.value("-9223372036854775808"), Ok(ConstantValue::Long(i64::MIN)));
        assert_eq!(Scalar::Uchar.value("256"), Err("256 does not fit into uchar".into()));
        assert_eq!(Scalar::Uint.value("-1"), Err("-1 does not fit into uint".into()));
        for text in ["", "-", "--1", "-+1", "+-1", "1.5", "0x", "0x-1", "0x+1", "ten", "99999999999999999999"] {
            assert_eq!(Scalar::Int.value(text), Err(format!("'{text}' is not a number of type int")));
        }
    }

    #[test]
    fn floats_are_rounded_but_do_not_become_infinite() {
        assert_eq!(Scalar::Float.value("-1.5e3"), Ok(ConstantValue::Float(-1500.0)));
        assert_eq!(Scalar::Half.value("0.1"), Ok(ConstantValue::Half(f16::from_f64(0.1))));
        assert_eq!(Scalar::Bfloat.value("3"), Ok(ConstantValue::Bfloat(bf16::from_f32(3.0))));
        assert_eq!(Scalar::Float.value("-inf"), Ok(ConstantValue::Float(f32::NEG_INFINITY)));
        assert_eq!(Scalar::Half.value("65536"), Err("65536 does not fit into half".into()));
        assert_eq!(Scalar::Float.value("1e999"), Err("1e999 does not fit into float".into()));
        assert_eq!(Scalar::Float.value("1,5"), Err("'1,5' is not a number of type float".into()));
    }

    #[test]
    fn bools_are_words_or_bits() {
        assert_eq!(Scalar::Bool.value("true"), Scalar::Bool.value("1"));
        assert_eq!(Scalar::Bool.value("false"), Ok(ConstantValue::Bool(false)));
        assert_eq!(Scalar::Bool.value("2"), Err("'2' is not a bool: write true or false".into()));
    }

    #[test]
    fn values_have_the_layout_of_kernels() {
        let mut bytes = Vec::new();
        let value = |scalar: Scalar, text| scalar.value(text).expect(text);
        append(&mut bytes, &ConstantValue::Vector(vec![value(Scalar::Short, "-2"), value(Scalar::Short, "258")]));
        append(&mut bytes, &value(Scalar::Half, "1"));
        append(&mut bytes, &value(Scalar::Bool, "true"));
        assert_eq!(bytes, [0xfe, 0xff, 2, 1, 0, 0x3c, 1]);
        for (scalar, _, _, size) in SCALARS {
            let mut bytes = Vec::new();
            append(&mut bytes, &value(scalar, "1"));
            assert_eq!(bytes.len(), size);
        }
    }
}
