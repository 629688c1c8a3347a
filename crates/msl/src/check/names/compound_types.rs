//! Pointers, references, arrays and qualified types.

use super::type_names::{DEPENDENT, ERROR};
use crate::check::Checker;
use crate::parse::ast;
use crate::parse::ast::TypeExprKind;
use crate::program::Value;
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// The parameters of a function type, packs expanded.
    pub(super) fn function_type_params(&mut self, params: &'a [ast::Param]) -> Vec<Ty> {
        let mut types = Vec::new();
        for param in params {
            let pattern = match &param.ty.kind {
                TypeExprKind::PackExpansion(inner) => Some(&**inner),
                _ if param.is_pack => Some(&param.ty),
                _ => None,
            };
            let Some(pattern) = pattern else {
                types.push(self.param_type(param).ty);
                continue;
            };
            for binding in self.pack_bindings_in_type(pattern, param.span).unwrap_or_default() {
                let scope = self.pack_scope(&binding);
                let ty = self.in_scope(scope, |this| this.resolve_type(pattern));
                types.push(self.adjust_param_type(ty, param.span).ty);
            }
        }
        types
    }

    pub(super) fn pointer_to(&mut self, pointee: QualTy, span: Span) -> QualTy {
        if pointee.ty == Ty::ERROR {
            return ERROR;
        }
        if let TyKind::Reference { .. } = self.types().kind(pointee.ty) {
            let message = format!("'{}' declared as a pointer to a reference", self.name_of(pointee.ty));
            self.error("pointer-to-reference", span, message);
            return ERROR;
        }
        if !self.has_address_space(pointee, span) {
            self.error("address-space", span, "pointer type must have explicit address space qualifier");
            return ERROR;
        }
        if pointee.ty == Ty::DEPENDENT && pointee.space.is_none() {
            return DEPENDENT;
        }
        QualTy::plain(self.types_mut().pointer(pointee))
    }

    pub(super) fn reference_to(&mut self, to: QualTy, rvalue: bool, span: Span) -> QualTy {
        if to.ty == Ty::ERROR {
            return ERROR;
        }
        // `T &&` where `T` is itself a reference collapses.
        if let TyKind::Reference { .. } = self.types().kind(to.ty) {
            return to;
        }
        if to.ty == Ty::VOID {
            self.error("reference-to-void", span, "cannot form a reference to 'void'");
            return ERROR;
        }
        // A reference to a pointer means one of the thread's own, unless it says otherwise.
        let to = match self.types().kind(to.ty) {
            TyKind::Pointer(_) if to.space.is_none() => to.in_space(AddressSpace::Thread),
            _ => to,
        };
        if !self.has_address_space(to, span) {
            self.error("address-space", span, "reference type must have explicit address space qualifier");
            return ERROR;
        }
        if to.ty == Ty::DEPENDENT && to.space.is_none() {
            return DEPENDENT;
        }
        QualTy::plain(self.types_mut().intern(TyKind::Reference { to, rvalue }))
    }

    fn has_address_space(&self, ty: QualTy, span: Span) -> bool {
        ty.space.is_some()
            || ty.ty.is_unknown()
            || matches!(self.types().kind(ty.ty), TyKind::Function { .. })
            || self.sources.file(span.file).builtin
    }

    pub(super) fn array_of(&mut self, element: QualTy, length: Option<&'a ast::Expr>, span: Span) -> QualTy {
        let len = match length {
            None => None,
            Some(length) => match self.array_length(length) {
                Some(len) => len,
                None => return ERROR,
            },
        };
        if element.ty.is_unknown() && length.is_none() {
            return element;
        }
        if len.is_none() && length.is_some() {
            return DEPENDENT.with_quals_of(element);
        }
        match self.types().kind(element.ty) {
            TyKind::Error => return ERROR,
            TyKind::Dependent => return element,
            TyKind::Void | TyKind::Function { .. } | TyKind::Reference { .. } => {
                let message = format!("an array cannot have elements of type '{}'", self.name_of(element.ty));
                self.error("array-element", span, message);
                return ERROR;
            }
            TyKind::Array { len: None, .. } => {
                self.error("array-element", span, "an array cannot have elements of unknown size");
                return ERROR;
            }
            _ => {}
        }
        self.complete_type(element.ty);
        let too_large = match (self.types().layout(element.ty), len) {
            (Some(layout), Some(len)) => layout.size.checked_mul(len).is_none_or(|size| size > 1 << 40),
            _ => false,
        };
        if too_large {
            self.error("array-size", span, "the array is too large");
            return ERROR;
        }
        element.with_ty(self.types_mut().array(element.ty, len))
    }

    /// The length of an array: `None` after a complaint, `Some(None)` while it is not known.
    fn array_length(&mut self, length: &'a ast::Expr) -> Option<Option<u64>> {
        let expr = self.check_value(length);
        let expr = self.scalar_from_class(expr);
        if expr.ty.ty.is_unknown() {
            return if expr.ty.ty == Ty::ERROR { None } else { Some(None) };
        }
        if !self.types().is_integral(expr.ty.ty) && self.types().enum_id(expr.ty.ty).is_none() {
            let message = format!("size of array has non-integer type '{}'", self.name_of(expr.ty.ty));
            self.error("array-size", length.span, message);
            return None;
        }
        match self.evaluate_or_report(&expr, "array size is not a constant expression")? {
            Value::Unknown => Some(None),
            Value::Bool(b) => Some(Some(u64::from(b))),
            Value::Int(len) if len < 0 => {
                self.error("array-size", length.span, "array size is negative");
                None
            }
            Value::Int(len) => Some(Some(len as u64)),
            _ => Some(None),
        }
    }

    pub(super) fn qualify(&mut self, ty: QualTy, quals: ast::Qualifiers, span: Span) -> QualTy {
        if ty.ty == Ty::ERROR {
            return ERROR;
        }
        if let (Some(old), Some(new)) = (ty.space, quals.space)
            && old != new
        {
            let message =
                format!("multiple address spaces specified for type: '{}' and '{}'", old.text(), new.text());
            self.error("address-space", span, message);
            return ERROR;
        }
        QualTy {
            ty: ty.ty,
            is_const: ty.is_const || quals.is_const,
            is_volatile: ty.is_volatile || quals.is_volatile,
            space: quals.space.or(ty.space),
        }
    }

    /// The type of a parameter: arrays and functions become pointers, top-level qualifiers go.
    pub(in crate::check) fn param_type(&mut self, param: &'a ast::Param) -> QualTy {
        let ty = self.resolve_type(&param.ty);
        self.adjust_param_type(ty, param.span)
    }

    pub(in crate::check) fn adjust_param_type(&mut self, ty: QualTy, span: Span) -> QualTy {
        match *self.types().kind(ty.ty) {
            TyKind::Array { element, .. } => {
                // An array parameter is a pointer, to the thread's memory where nothing else is said.
                let space = Self::space_or_thread(ty);
                let pointer = self.pointer_to(ty.with_ty(element).in_space(space), span);
                QualTy { is_const: false, ..pointer }
            }
            TyKind::Function { .. } => QualTy::plain(self.types_mut().pointer(QualTy::plain(ty.ty))),
            _ => ty,
        }
    }

    /// The qualifiers of a local without an address space are those of the thread.
    pub(in crate::check) fn space_or_thread(ty: QualTy) -> AddressSpace {
        ty.space.unwrap_or(AddressSpace::Thread)
    }
}

impl QualTy {
    fn with_quals_of(self, other: QualTy) -> QualTy {
        QualTy { ty: self.ty, ..other }
    }
}
