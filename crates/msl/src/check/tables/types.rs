//! Questions about types that need the tables of classes and enums.

use super::Tables;
use crate::types::{QualTy, Ty, TyKind};

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

    pub(in crate::check) fn is_integral_or_unscoped(&self, ty: Ty) -> bool {
        self.types().is_integral(ty) || self.types().enum_id(ty).is_some_and(|id| !self.types().enum_(id).scoped)
    }
}
