//! Pointers, references, arrays and qualified types.

use super::type_names::{DEPENDENT, ERROR};
use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::parse::ast::{self, TypeExprKind};
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
                let scope = self.tables.pack_scope(self.position.scope(), &binding);
                let ty = self.in_scope(scope, |this| this.resolve_type(pattern));
                types.push(adjust_param_type(&mut self.tables, &mut self.diagnostics, ty, param.span).ty);
            }
        }
        types
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
        match self.tables.types().kind(element.ty) {
            TyKind::Error => return ERROR,
            TyKind::Dependent => return element,
            TyKind::Void | TyKind::Function { .. } | TyKind::Reference { .. } => {
                let message =
                    format!("an array cannot have elements of type '{}'", self.tables.name_of(element.ty));
                self.diagnostics.error("array-element", span, message);
                return ERROR;
            }
            TyKind::Array { len: None, .. } => {
                self.diagnostics.error("array-element", span, "an array cannot have elements of unknown size");
                return ERROR;
            }
            _ => {}
        }
        self.complete_type(element.ty);
        let too_large = match (self.tables.types().layout(element.ty), len) {
            (Some(layout), Some(len)) => layout.size.checked_mul(len).is_none_or(|size| size > 1 << 40),
            _ => false,
        };
        if too_large {
            self.diagnostics.error("array-size", span, "the array is too large");
            return ERROR;
        }
        element.with_ty(self.tables.types_mut().array(element.ty, len))
    }

    /// The length of an array: `None` after an error, `Some(None)` while it is not known.
    fn array_length(&mut self, length: &'a ast::Expr) -> Option<Option<u64>> {
        let expr = self.check_value(length);
        let expr = self.scalar_from_class(expr);
        if expr.ty.ty.is_unknown() {
            return if expr.ty.ty == Ty::ERROR { None } else { Some(None) };
        }
        if !self.tables.types().is_integral(expr.ty.ty) && self.tables.types().enum_id(expr.ty.ty).is_none() {
            let message = format!("size of array has non-integer type '{}'", self.tables.name_of(expr.ty.ty));
            self.diagnostics.error("array-size", length.span, message);
            return None;
        }
        match self.evaluate_or_report(&expr, "array size is not a constant expression")? {
            Value::Unknown => Some(None),
            Value::Bool(b) => Some(Some(u64::from(b))),
            Value::Int(len) if len < 0 => {
                self.diagnostics.error("array-size", length.span, "array size is negative");
                None
            }
            Value::Int(len) => Some(Some(len as u64)),
            _ => Some(None),
        }
    }

    /// The type of a parameter: arrays and functions become pointers, top-level qualifiers are dropped.
    pub(in crate::check) fn param_type(&mut self, param: &'a ast::Param) -> QualTy {
        let ty = self.resolve_type(&param.ty);
        adjust_param_type(&mut self.tables, &mut self.diagnostics, ty, param.span)
    }
}

impl<'a> Tables<'a> {
    fn has_address_space(&self, ty: QualTy, span: Span) -> bool {
        ty.space.is_some()
            || ty.ty.is_unknown()
            || matches!(self.types().kind(ty.ty), TyKind::Function { .. })
            || self.is_in_stdlib(span)
    }

    fn is_pointer_or_array_of_them(&self, mut ty: Ty) -> bool {
        while let TyKind::Array { element, .. } = *self.types().kind(ty) {
            ty = element;
        }
        matches!(self.types().kind(ty), TyKind::Pointer(_))
    }
}

pub(super) fn pointer_to(
    tables: &mut Tables<'_>,
    diagnostics: &mut Diagnostics,
    pointee: QualTy,
    span: Span,
) -> QualTy {
    if pointee.ty == Ty::ERROR {
        return ERROR;
    }
    if let TyKind::Reference { .. } = tables.types().kind(pointee.ty) {
        let message = format!("'{}' declared as a pointer to a reference", tables.name_of(pointee.ty));
        diagnostics.error("pointer-to-reference", span, message);
        return ERROR;
    }
    // A pointer to a pointer, like a reference to one, refers to thread memory unless it names another address space.
    let pointee = match tables.types().kind(pointee.ty) {
        TyKind::Pointer(_) if pointee.space.is_none() => pointee.in_space(AddressSpace::Thread),
        _ => pointee,
    };
    if !tables.has_address_space(pointee, span) {
        diagnostics.error("address-space", span, "pointer type must have explicit address space qualifier");
        return ERROR;
    }
    if pointee.ty == Ty::DEPENDENT && pointee.space.is_none() {
        return DEPENDENT;
    }
    QualTy::plain(tables.types_mut().pointer(pointee))
}

pub(super) fn reference_to(
    tables: &mut Tables<'_>,
    diagnostics: &mut Diagnostics,
    to: QualTy,
    rvalue: bool,
    span: Span,
) -> QualTy {
    if to.ty == Ty::ERROR {
        return ERROR;
    }
    // `T &&` where `T` is itself a reference collapses.
    if let TyKind::Reference { to: target, rvalue: inner } = *tables.types().kind(to.ty) {
        let collapsed = TyKind::Reference { to: target, rvalue: inner && rvalue };
        return QualTy::plain(tables.types_mut().intern(collapsed));
    }
    if to.ty == Ty::VOID {
        diagnostics.error("reference-to-void", span, "cannot form a reference to 'void'");
        return ERROR;
    }
    // A reference to a pointer, or to an array of pointers, refers to thread memory unless it names another address
    // space.
    let to = match to.space.is_none() && tables.is_pointer_or_array_of_them(to.ty) {
        true => to.in_space(AddressSpace::Thread),
        false => to,
    };
    if !tables.has_address_space(to, span) {
        diagnostics.error("address-space", span, "reference type must have explicit address space qualifier");
        return ERROR;
    }
    if to.ty == Ty::DEPENDENT && to.space.is_none() {
        return DEPENDENT;
    }
    QualTy::plain(tables.types_mut().intern(TyKind::Reference { to, rvalue }))
}

pub(super) fn qualify(diagnostics: &mut Diagnostics, ty: QualTy, quals: ast::Qualifiers, span: Span) -> QualTy {
    if ty.ty == Ty::ERROR {
        return ERROR;
    }
    if let (Some(old), Some(new)) = (ty.space, quals.space)
        && old != new
    {
        let message = format!("multiple address spaces specified for type: '{}' and '{}'", old.text(), new.text());
        diagnostics.error("address-space", span, message);
        return ERROR;
    }
    QualTy {
        ty: ty.ty,
        is_const: ty.is_const || quals.is_const,
        is_volatile: ty.is_volatile || quals.is_volatile,
        coherence: ty.coherence.max(quals.coherence),
        space: quals.space.or(ty.space),
    }
}

pub(in crate::check) fn adjust_param_type(
    tables: &mut Tables<'_>,
    diagnostics: &mut Diagnostics,
    ty: QualTy,
    span: Span,
) -> QualTy {
    match *tables.types().kind(ty.ty) {
        TyKind::Array { element, .. } => {
            // An array parameter is a pointer, to thread memory unless it names another address space.
            let space = space_or_thread(ty);
            let pointer = pointer_to(tables, diagnostics, ty.with_ty(element).in_space(space), span);
            QualTy { is_const: false, ..pointer }
        }
        TyKind::Function { .. } => QualTy::plain(tables.types_mut().pointer(QualTy::plain(ty.ty))),
        _ => ty,
    }
}

/// The address space of a type; thread memory if none is written.
pub(in crate::check) fn space_or_thread(ty: QualTy) -> AddressSpace {
    ty.space.unwrap_or(AddressSpace::Thread)
}

impl QualTy {
    fn with_quals_of(self, other: QualTy) -> QualTy {
        QualTy { ty: self.ty, ..other }
    }
}
