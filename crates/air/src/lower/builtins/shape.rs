//! The shapes of numbers, and the suffixes by which AIR names them: `f32`, `v4f16`, `u.i32`, `s.v2i8`, `bf16`.

use msl::types::{FloatKind, IntKind, Ty, TyKind, Types};

/// The type of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scalar {
    Bool,
    Int(IntKind),
    Float(FloatKind),
}

/// A scalar or a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    pub(super) scalar: Scalar,
    /// `None` for a scalar.
    pub(super) len: Option<u32>,
}

impl Shape {
    /// The shape of a register type; simdgroup matrices are vectors of 64.
    pub(super) fn of(types: &Types, ty: Ty) -> Option<Shape> {
        let scalar = |scalar| Some(Shape { scalar, len: None });
        match *types.kind(ty) {
            TyKind::Bool => scalar(Scalar::Bool),
            TyKind::Int(kind) => scalar(Scalar::Int(kind)),
            TyKind::Float(kind) => scalar(Scalar::Float(kind)),
            TyKind::Enum(id) => Shape::of(types, types.enum_(id).underlying),
            TyKind::Atomic(element) => Shape::of(types, element),
            TyKind::Vector { element, len } | TyKind::PackedVector { element, len } => {
                Some(Shape { len: Some(u32::from(len)), ..Shape::of(types, element)? })
            }
            TyKind::SimdgroupMatrix { element } => Some(Shape { len: Some(64), ..Shape::of(types, element)? }),
            _ => None,
        }
    }

    /// One component.
    pub(super) fn element(self) -> Shape {
        Shape { len: None, ..self }
    }

    /// As many components of another kind.
    pub(super) fn with(self, scalar: Scalar) -> Shape {
        Shape { scalar, ..self }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self.scalar, Scalar::Float(_))
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self.scalar, Scalar::Int(kind) if kind.is_signed())
    }

    /// `v4i32`
    pub(super) fn suffix(self) -> String {
        let scalar = match self.scalar {
            Scalar::Bool => "i1".to_string(),
            Scalar::Int(kind) => format!("i{}", kind.bits()),
            Scalar::Float(FloatKind::Half) => "f16".to_string(),
            Scalar::Float(FloatKind::BFloat) => "bf16".to_string(),
            Scalar::Float(FloatKind::Float) => "f32".to_string(),
        };
        match self.len {
            Some(len) => format!("v{len}{scalar}"),
            None => scalar,
        }
    }

    /// `s.v4i32`: functions that depend on the sign of integers.
    pub(super) fn signed_suffix(self) -> String {
        match self.scalar {
            Scalar::Float(_) => self.suffix(),
            _ if self.is_signed() => format!("s.{}", self.suffix()),
            _ => format!("u.{}", self.suffix()),
        }
    }
}
