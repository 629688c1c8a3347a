//! NumPy element types.

use std::fmt;

use crate::scalar::Scalar;

/// Type of an array's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dtype {
    kind: DtypeKind,
    /// Size in bytes.
    size: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DtypeKind {
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    /// Opaque bytes; NumPy stores dtypes that it does not have, such as bfloat16, as these.
    Void,
}

impl Dtype {
    /// The dtype that `metalworks` writes a type as. NumPy has no bfloat: it is written as its bits, uint16.
    pub(crate) fn of(scalar: Scalar) -> Dtype {
        let kind = match scalar {
            Scalar::Bool => DtypeKind::Bool,
            Scalar::Char | Scalar::Short | Scalar::Int | Scalar::Long => DtypeKind::Int,
            Scalar::Uchar | Scalar::Ushort | Scalar::Uint | Scalar::Ulong | Scalar::Bfloat => DtypeKind::Uint,
            Scalar::Half | Scalar::Float => DtypeKind::Float,
        };
        Dtype { kind, size: scalar.size() }
    }

    /// True if an array of this dtype holds numbers of that type.
    pub(crate) fn holds(self, scalar: Scalar) -> bool {
        self == Dtype::of(scalar) || (scalar == Scalar::Bfloat && self == Dtype { kind: DtypeKind::Void, size: 2 })
    }

    /// The type of its numbers; `None` if Metal does not have it.
    pub(crate) fn scalar(self) -> Option<Scalar> {
        Scalar::all().find(|&scalar| self == Dtype::of(scalar))
    }

    pub(crate) fn size(self) -> usize {
        self.size
    }

    /// The form in a header: `<f4`.
    pub(super) fn descr(self) -> String {
        let kind = match self.kind {
            DtypeKind::Bool => 'b',
            DtypeKind::Int => 'i',
            DtypeKind::Uint => 'u',
            DtypeKind::Float => 'f',
            DtypeKind::Complex => 'c',
            DtypeKind::Void => 'V',
        };
        let order = if self.size == 1 || self.kind == DtypeKind::Void { '|' } else { '<' };
        format!("{order}{kind}{}", self.size)
    }

    /// Parses the form in a header; returns true if the bytes of each element must be swapped.
    pub(super) fn parse(descr: &str) -> Result<(Dtype, bool), String> {
        let unknown =
            || format!("dtype '{descr}' cannot be bound: convert the array, for example with .astype('float32')");
        let (order, rest) = match descr.chars().next() {
            Some(order @ ('<' | '>' | '|' | '=')) => (order, &descr[1..]),
            _ => ('|', descr),
        };
        let kind = match rest.chars().next() {
            Some('b') => DtypeKind::Bool,
            Some('i') => DtypeKind::Int,
            Some('u') => DtypeKind::Uint,
            Some('f') => DtypeKind::Float,
            Some('c') => DtypeKind::Complex,
            Some('V') => DtypeKind::Void,
            _ => return Err(unknown()),
        };
        let digits = &rest[1..];
        let size = digits.parse::<usize>().ok().filter(|_| !digits.starts_with('+')).ok_or_else(unknown)?;
        let exists = match kind {
            DtypeKind::Bool => size == 1,
            DtypeKind::Int | DtypeKind::Uint => [1, 2, 4, 8].contains(&size),
            DtypeKind::Float => [2, 4, 8, 16].contains(&size),
            DtypeKind::Complex => [8, 16].contains(&size),
            DtypeKind::Void => size > 0,
        };
        if !exists {
            return Err(unknown());
        }
        let reversed = order == '>' && size > 1 && kind != DtypeKind::Void;
        if reversed && kind == DtypeKind::Complex {
            return Err(format!(
                "dtype '{descr}' is big endian: save it with .astype('{}')",
                descr.replace('>', "<")
            ));
        }
        Ok((Dtype { kind, size }, reversed))
    }
}

/// NumPy's name: `float32`.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.size.saturating_mul(8);
        match self.kind {
            DtypeKind::Bool => write!(f, "bool"),
            DtypeKind::Int => write!(f, "int{bits}"),
            DtypeKind::Uint => write!(f, "uint{bits}"),
            DtypeKind::Float => write!(f, "float{bits}"),
            DtypeKind::Complex => write!(f, "complex{bits}"),
            DtypeKind::Void => write!(f, "void{bits}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dtype(kind: DtypeKind, size: usize) -> Dtype {
        Dtype { kind, size }
    }

    #[test]
    fn parses_numpy_spelling() {
        assert_eq!(Dtype::parse("<f4"), Ok((dtype(DtypeKind::Float, 4), false)));
        assert_eq!(Dtype::parse(">f4"), Ok((dtype(DtypeKind::Float, 4), true)));
        assert_eq!(Dtype::parse("|u1"), Ok((dtype(DtypeKind::Uint, 1), false)));
        assert_eq!(Dtype::parse(">u1"), Ok((dtype(DtypeKind::Uint, 1), false)));
        assert_eq!(Dtype::parse("=i8"), Ok((dtype(DtypeKind::Int, 8), false)));
        assert_eq!(Dtype::parse("|V2"), Ok((dtype(DtypeKind::Void, 2), false)));
        assert_eq!(Dtype::parse("b1"), Ok((dtype(DtypeKind::Bool, 1), false)));
    }

    #[test]
    fn rejects_other_types_with_advice() {
        for descr in
            ["", "<", "|O", "<U8", "|S3", "<M8[ns]", "<f3", "<i16", "b2", "<f", "<f+4", "<f-4", "|V0", "Σ", "<Σ4"]
        {
            let error = Dtype::parse(descr).expect_err(descr);
            assert!(error.starts_with(&format!("dtype '{descr}' ")) && error.contains(".astype("), "{error}");
        }
        assert!(Dtype::parse("<f99999999999999999999").is_err());
        assert!(Dtype::parse(">c8").expect_err("it cannot be reversed as a whole").contains(".astype('<c8')"));
    }

    #[test]
    fn every_scalar_has_a_dtype_that_holds_it() {
        for name in ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32"] {
            let scalar = Scalar::named(name).expect(name);
            let dtype = Dtype::of(scalar);
            assert!(dtype.holds(scalar) && dtype.size() == scalar.size());
            assert_eq!(Dtype::parse(&dtype.descr()), Ok((dtype, false)));
        }
        assert!(dtype(DtypeKind::Void, 2).holds(Scalar::Bfloat) && !dtype(DtypeKind::Void, 2).holds(Scalar::Half));
        assert!(!Dtype::of(Scalar::Float).holds(Scalar::Int) && !Dtype::of(Scalar::Int).holds(Scalar::Uint));
    }

    #[test]
    fn dtypes_have_numpy_names() {
        assert_eq!(Dtype::of(Scalar::Float).to_string(), "float32");
        assert_eq!(Dtype::of(Scalar::Uchar).to_string(), "uint8");
        assert_eq!(Dtype::of(Scalar::Bool).to_string(), "bool");
        assert_eq!(
            (Dtype::of(Scalar::Bool).descr(), Dtype::of(Scalar::Half).descr()),
            ("|b1".into(), "<f2".into())
        );
    }
}
