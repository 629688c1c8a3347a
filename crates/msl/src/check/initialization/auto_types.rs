//! `auto`: deduction of the type.

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::declarations::type_without_qualifiers;
use crate::check::tables::Tables;
use crate::parse::ast::{self, Init, TypeExprKind};
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    pub(in crate::check) fn deduce_auto_variable(
        &mut self,
        var: &'a ast::VarDecl,
    ) -> Option<(QualTy, Option<Expr>)> {
        let span = variable_span(var);
        let expr = match &var.init {
            Some(Init::Equal(expr)) => expr,
            Some(Init::Paren(exprs, _) | Init::Brace(exprs, _)) if exprs.len() == 1 => &exprs[0],
            Some(_) => {
                self.diagnostics.error(
                    "auto",
                    span,
                    "cannot deduce type for variable with 'auto' from this initializer",
                );
                return None;
            }
            None => {
                let name = var.name.as_ref().map(|name| name.last().name.clone()).unwrap_or_default();
                let message =
                    format!("declaration of variable '{name}' with deduced type 'auto' requires an initializer");
                self.diagnostics.error("auto", span, message);
                return None;
            }
        };
        let value = self.check_expr(expr);
        if let TypeExprKind::DecltypeAuto = var.ty.kind {
            let ty = self.decltype_auto_type(expr)?;
            let value = self.convert(value, ty, Purpose::Variable);
            return Some((ty, Some(value)));
        }
        if value.ty.ty == Ty::ERROR {
            return None;
        }
        if value.ty.ty == Ty::VOID {
            self.diagnostics.error("auto", expr.span, "variable has incomplete type 'void'");
            return None;
        }
        // `auto [a, b] = array;` copies the array.
        if !var.bindings.is_empty()
            && let TyKind::Array { .. } = self.tables.types().kind(value.ty.ty)
            && let TypeExprKind::Auto = type_without_qualifiers(&var.ty)
        {
            let is_const = matches!(&var.ty.kind, TypeExprKind::Qualified { quals, .. } if quals.is_const);
            let ty = QualTy { is_const, ..QualTy::plain(value.ty.ty) };
            let span = value.span;
            return Some((ty, Some(Expr::value(ExprKind::Load(Box::new(value)), ty.ty, span))));
        }
        let mut ty = self.auto_type(&var.ty, &value)?;
        ty.is_const |= var.specifiers.is_constexpr;
        let value = self.convert(value, ty, Purpose::Variable);
        Some((ty, Some(value)))
    }

    /// The type that a type with `auto` in it means for this initializer.
    pub(in crate::check) fn auto_type(&mut self, written: &'a ast::TypeExpr, value: &Expr) -> Option<QualTy> {
        let is_reference = matches!(type_without_qualifiers(written), TypeExprKind::Reference { .. });
        let actual = if is_reference {
            let space = value.ty.space.unwrap_or(AddressSpace::Thread);
            value.ty.in_space(space)
        } else {
            QualTy::plain(self.tables.decayed(value.ty))
        };
        let Some(auto) = self.tables.match_auto_to(written, value, actual) else {
            let message = format!(
                "variable has deduced type that does not fit an initializer of type '{}'",
                self.tables.name_of_qual(value.ty)
            );
            self.diagnostics.error("auto", value.span, message);
            return None;
        };
        let saved = self.position.set_auto(Some(auto));
        let ty = self.resolve_type(written);
        self.position.set_auto(saved);
        (ty.ty != Ty::ERROR).then_some(ty)
    }

    /// The type that `decltype(auto)` means for this initializer.
    fn decltype_auto_type(&mut self, init: &'a ast::Expr) -> Option<QualTy> {
        let ty = self.resolve_decltype(init);
        (ty.ty != Ty::ERROR).then_some(ty)
    }

    /// The value of a return statement, converted to the type that `written`, a result type with `auto` in it, means
    /// for it; `None` after an error.
    pub(in crate::check) fn deduced_return(
        &mut self,
        written: Option<&'a ast::TypeExpr>,
        value: &'a ast::Expr,
    ) -> Option<Expr> {
        let ty = match written {
            Some(written) if matches!(written.kind, TypeExprKind::DecltypeAuto) => {
                self.decltype_auto_type(value)?
            }
            Some(written) if !matches!(type_without_qualifiers(written), TypeExprKind::Auto) => {
                let place = self.check_expr(value);
                if place.ty.ty.is_unknown() {
                    return Some(place);
                }
                let ty = self.auto_type(written, &place)?;
                return Some(self.convert(place, ty, Purpose::Return));
            }
            _ => return Some(self.check_value(value)),
        };
        match self.tables.types().kind(ty.ty) {
            TyKind::Reference { .. } => {
                let place = self.check_expr(value);
                Some(self.convert(place, ty, Purpose::Return))
            }
            _ => Some(self.check_value(value)),
        }
    }
}

impl<'a> Tables<'a> {
    /// The type that `auto` stands for if `written` is to take `value`, whose type for this purpose is `actual`.
    /// `auto &&` is a reference to the place that the value is, if it is one and may not be moved from.
    pub(in crate::check) fn match_auto_to(
        &mut self,
        written: &'a ast::TypeExpr,
        value: &Expr,
        actual: QualTy,
    ) -> Option<QualTy> {
        match &written.kind {
            TypeExprKind::Reference { inner, rvalue: true }
                if value.is_place && !self.is_expiring(value) && matches!(inner.kind, TypeExprKind::Auto) =>
            {
                Some(QualTy::plain(self.types_mut().reference(actual)))
            }
            _ => self.match_auto(written, actual),
        }
    }

    /// The type that `auto` stands for if `written` means `actual`.
    fn match_auto(&self, written: &'a ast::TypeExpr, actual: QualTy) -> Option<QualTy> {
        match &written.kind {
            TypeExprKind::Auto => Some(actual),
            TypeExprKind::Qualified { quals, inner } => {
                if let Some(space) = quals.space {
                    let fits = actual.space.is_none_or(|actual| actual == space);
                    if !fits && !actual.ty.is_unknown() {
                        return None;
                    }
                }
                let space = if quals.space.is_some() { None } else { actual.space };
                self.match_auto(inner, QualTy { is_const: actual.is_const && !quals.is_const, space, ..actual })
            }
            TypeExprKind::Reference { inner, .. } => {
                let to = self.types().referent(actual);
                self.match_auto(inner, to)
            }
            TypeExprKind::Pointer(inner) => match *self.types().kind(actual.ty) {
                TyKind::Pointer(pointee) => self.match_auto(inner, pointee),
                TyKind::Dependent => Some(actual),
                _ => None,
            },
            _ => None,
        }
    }
}

pub(in crate::check) fn contains_auto(written: &ast::TypeExpr) -> bool {
    match &written.kind {
        TypeExprKind::Auto | TypeExprKind::DecltypeAuto => true,
        TypeExprKind::Qualified { inner, .. } | TypeExprKind::Pointer(inner) => contains_auto(inner),
        TypeExprKind::Reference { inner, .. } => contains_auto(inner),
        _ => false,
    }
}

pub(super) fn variable_span(var: &ast::VarDecl) -> Span {
    var.name.as_ref().map_or(var.ty.span, |name| name.last().span)
}
