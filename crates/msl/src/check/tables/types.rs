//! Questions about types that need the tables of classes and enums.

use super::Tables;
use crate::program::{Expr, ExprKind};
use crate::types::{IntKind, QualTy, Ty, TyKind};

impl<'a> Tables<'a> {
    /// True for a scalar: `bool`, an integer, a floating-point number or an unscoped enum.
    pub(in crate::check) fn is_number(&self, ty: Ty) -> bool {
        self.types().is_arithmetic(ty) || self.is_integral_or_unscoped(ty)
    }

    pub(in crate::check) fn is_dependent_type(&self, ty: Ty) -> bool {
        match self.types().kind(ty) {
            TyKind::Dependent => true,
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => self.is_dependent_type(to.ty),
            TyKind::Array { element, .. } => self.is_dependent_type(*element),
            TyKind::Struct(id) => self.class(*id).is_pattern,
            _ => false,
        }
    }

    /// True for a texture, sampler or other type of the graphics library.
    pub(in crate::check) fn is_opaque(&self, ty: Ty) -> bool {
        self.types().struct_id(ty).is_some_and(|id| self.types().struct_(id).is_opaque)
    }

    /// True for an object without a value known to the compiler, such as a sampler, and for an array of them.
    pub(in crate::check) fn holds_opaque(&self, ty: Ty) -> bool {
        match *self.types().kind(ty) {
            TyKind::Array { element, .. } => self.holds_opaque(element),
            TyKind::Struct(id) => {
                let class = self.types().struct_(id);
                class.is_opaque || class.fields.iter().any(|field| self.holds_opaque(field.ty.ty))
            }
            _ => false,
        }
    }

    /// Type of a place after a read: arrays and functions become pointers, qualifiers are dropped.
    pub(in crate::check) fn decayed(&mut self, ty: QualTy) -> Ty {
        match *self.types().kind(ty.ty) {
            TyKind::Array { element, .. } => self.types_mut().pointer(ty.with_ty(element)),
            TyKind::Function { .. } => self.types_mut().pointer(QualTy::plain(ty.ty)),
            _ => ty.ty,
        }
    }

    /// The type in which small integers are computed.
    pub(in crate::check) fn promoted(&self, ty: Ty) -> Ty {
        match self.types().kind(ty) {
            TyKind::Bool => Ty::INT,
            TyKind::Int(kind) if kind.bits() < 32 => Ty::INT,
            TyKind::Enum(id) if !self.types().enum_(*id).scoped => {
                self.promoted(self.types().enum_(*id).underlying)
            }
            _ => ty,
        }
    }

    /// Type of a value as an operand: a bit-field that fits into an `int` or `uint` is one, whatever its declared type.
    /// (Clang: `ASTContext::isPromotableBitField`.)
    pub(in crate::check) fn operand_type(&self, value: &Expr) -> Ty {
        let ty = value.ty.ty;
        match (self.types().int_kind(ty), self.bit_field_width(value)) {
            (Some(_), Some(..32)) => Ty::INT,
            (Some(kind), Some(32)) => Ty::int(if kind.is_signed() { IntKind::Int } else { IntKind::UInt }),
            _ => ty,
        }
    }

    /// Width of the bit-field that an expression reads or designates.
    fn bit_field_width(&self, expr: &Expr) -> Option<u32> {
        match &expr.kind {
            ExprKind::Field { base, field } => {
                let id = self.types().struct_id(base.ty.ty)?;
                self.types().struct_(id).fields[*field as usize].bits.map(|(_, width)| width)
            }
            ExprKind::Load(place)
            | ExprKind::Assign { place, .. }
            | ExprKind::CompoundAssign { place, .. }
            | ExprKind::Increment { place, is_prefix: true, .. }
            | ExprKind::Comma(_, place) => self.bit_field_width(place),
            _ => None,
        }
    }

    pub(in crate::check) fn is_integral_or_unscoped(&self, ty: Ty) -> bool {
        self.types().is_integral(ty) || self.types().enum_id(ty).is_some_and(|id| !self.types().enum_(id).scoped)
    }
}
