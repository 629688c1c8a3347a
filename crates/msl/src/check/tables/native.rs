//! Types that the language has without any header: `uint`, `float4`, `packed_half3`, `half4x4`, `atomic_int`,
//! `simdgroup_float8x8`, and the templates behind them.

use crate::types::{FloatKind, IntKind, Ty, TyKind, Types};

/// A class or alias template that the compiler itself defines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::check) enum NativeTemplate {
    /// `vec<T, N>`
    Vec,
    /// `packed_vec<T, N>`
    PackedVec,
    /// `matrix<T, C, R>`
    Matrix,
    /// `simdgroup_matrix<T, C, R>`
    SimdgroupMatrix,
    /// `atomic<T>`
    Atomic,
    /// `__shape_of<T, E>`: `E` in the shape (scalar or vector) of `T`
    ShapeOf,
    /// `__element_of<T>`: the component type of a vector, or the scalar itself
    ElementOf,
}

/// The native template of this name.
pub(in crate::check) fn native_template(name: &str) -> Option<NativeTemplate> {
    Some(match name {
        "vec" => NativeTemplate::Vec,
        "packed_vec" => NativeTemplate::PackedVec,
        "matrix" => NativeTemplate::Matrix,
        "simdgroup_matrix" => NativeTemplate::SimdgroupMatrix,
        "atomic" | "_atomic" => NativeTemplate::Atomic,
        "__shape_of" => NativeTemplate::ShapeOf,
        "__element_of" => NativeTemplate::ElementOf,
        _ => return None,
    })
}

/// The native type of this name.
pub(in crate::check) fn native_type(types: &mut Types, name: &str) -> Option<Ty> {
    if let Some(ty) = scalar_type(name) {
        return Some(ty);
    }
    if let Some(rest) = name.strip_prefix("atomic_") {
        let element = match rest {
            "int" => Ty::INT,
            "uint" => Ty::UINT,
            "bool" => Ty::BOOL,
            "ulong" => Ty::ULONG,
            "float" => Ty::FLOAT,
            _ => return None,
        };
        return Some(types.intern(TyKind::Atomic(element)));
    }
    if let Some(rest) = name.strip_prefix("simdgroup_") {
        let element = scalar_type(rest.strip_suffix("8x8")?)?;
        types.float_kind(element)?;
        return Some(types.intern(TyKind::SimdgroupMatrix { element }));
    }
    let (packed, rest) = match name.strip_prefix("packed_") {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let digit = |byte: u8| matches!(byte, b'2'..=b'4').then(|| byte - b'0');
    if let [stem @ .., columns, b'x', rows] = rest.as_bytes()
        && let (Some(columns), Some(rows)) = (digit(*columns), digit(*rows))
    {
        let element = scalar_type(std::str::from_utf8(stem).ok()?)?;
        let allowed = !packed && matches!(element, Ty::HALF | Ty::FLOAT);
        return allowed.then(|| types.intern(TyKind::Matrix { element, columns, rows }));
    }
    let (stem, len) = rest.split_at_checked(rest.len().checked_sub(1)?)?;
    let len = digit(len.as_bytes()[0])?;
    if !is_vector_stem(stem) {
        return None;
    }
    let element = scalar_type(stem)?;
    Some(match packed {
        true if element == Ty::BOOL => return None,
        true => types.intern(TyKind::PackedVector { element, len }),
        false => types.vector(element, len),
    })
}

/// True if names like `float4` exist for this element name; `int32_t4` does not.
fn is_vector_stem(stem: &str) -> bool {
    stem == "bool"
        || IntKind::ALL.iter().any(|kind| kind.name() == stem)
        || FloatKind::ALL.iter().any(|kind| kind.name() == stem)
}

fn scalar_type(name: &str) -> Option<Ty> {
    Some(match name {
        "bool" => Ty::BOOL,
        "char" | "int8_t" => Ty::CHAR,
        "uchar" | "uint8_t" => Ty::UCHAR,
        "short" | "int16_t" => Ty::SHORT,
        "ushort" | "uint16_t" => Ty::USHORT,
        "int" | "int32_t" => Ty::INT,
        "uint" | "uint32_t" => Ty::UINT,
        "long" | "int64_t" | "ptrdiff_t" | "intptr_t" => Ty::LONG,
        "ulong" | "uint64_t" | "size_t" | "uintptr_t" => Ty::ULONG,
        "half" => Ty::HALF,
        "bfloat" => Ty::BFLOAT,
        "float" => Ty::FLOAT,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_native_types() {
        let mut types = Types::new();
        for name in ["uint", "float4", "packed_half3", "half4x4", "atomic_int", "simdgroup_half8x8", "bool2"] {
            let ty = native_type(&mut types, name).unwrap_or_else(|| panic!("{name} is a type"));
            assert_eq!(types.name(ty), name);
        }
        for name in
            ["float5", "int32_t4", "packed_bool2", "uint4x4", "atomic_half", "simdgroup_int8x8", "", "4", "é"]
        {
            assert_eq!(native_type(&mut types, name), None, "{name} is no type");
        }
    }
}
