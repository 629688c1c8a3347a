//! Subscripts: `base[index]`.

use super::operand::{FunctionSet, Operand};
use crate::LanguageVersion;
use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{Symbol, Tables};
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `base[index]`
    pub(super) fn check_index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Expr {
        let base = self.check_expr(base);
        if let TyKind::Struct(class) = *self.tables.types().kind(base.ty.ty) {
            return self.index_object(base, class, index, span);
        }
        let index = self.check_value(index);
        let index = self.scalar_from_class(index);
        // `2[p]` is `p[2]`.
        let (base, index) =
            match (self.tables.types().pointee(index.ty.ty), self.tables.is_integral_or_unscoped(base.ty.ty)) {
                (Some(_), true) => (index, self.load(base)),
                _ => (base, index),
            };
        if base.ty.ty.is_unknown() || index.ty.ty == Ty::ERROR {
            let ty = if base.ty.ty == Ty::DEPENDENT { Ty::DEPENDENT } else { Ty::ERROR };
            return Expr { kind: ExprKind::Error, ty: QualTy::plain(ty), is_place: true, span };
        }
        let (element, is_place) = match *self.tables.types().kind(base.ty.ty) {
            TyKind::Pointer(pointee) => {
                if !check_index_type(&self.tables, &mut self.diagnostics, &index) {
                    return Expr::error(span);
                }
                let pointer = self.load(base);
                if index.ty.ty == Ty::DEPENDENT {
                    return Expr { kind: ExprKind::Error, ty: pointee, is_place: true, span };
                }
                let moved = self.pointer_add(pointer, pointee, index, false, span);
                return match moved.ty.ty {
                    Ty::ERROR => moved,
                    _ => self.tables.deref(moved, span),
                };
            }
            TyKind::Array { element, .. } => (element, base.is_place),
            TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. } => (element, base.is_place),
            TyKind::Matrix { element, rows, .. } => (self.tables.types_mut().vector(element, rows), base.is_place),
            _ => {
                let message = format!(
                    "subscripted value of type '{}' is not an array, pointer, or vector",
                    self.tables.name_of(base.ty.ty)
                );
                self.diagnostics.error("not-indexable", base.span, message);
                return Expr::error(span);
            }
        };
        if !check_index_type(&self.tables, &mut self.diagnostics, &index) {
            return Expr::error(span);
        }
        let quals = base.ty.with_ty(element);
        if index.ty.ty == Ty::DEPENDENT {
            return Expr { kind: ExprKind::Error, ty: quals, is_place, span };
        }
        refuse_index_out_of_range(&self.tables, &mut self.diagnostics, &base, &index);
        let index = self.tables.index_value(index);
        Expr { kind: ExprKind::Index { base: Box::new(base), index: Box::new(index) }, ty: quals, is_place, span }
    }

    /// The arguments of a subscript, of which Metal 4 takes several, as C++23 does: `t[x, y]`.
    fn subscripts(&mut self, index: &'a ast::Expr) -> Vec<Operand<'a>> {
        match &index.kind {
            ast::ExprKind::Comma(first, last) => {
                let mut all = self.subscripts(first);
                all.extend(self.check_args(std::slice::from_ref(&**last)));
                all
            }
            _ => self.check_args(std::slice::from_ref(index)),
        }
    }

    fn index_object(&mut self, object: Expr, class: StructId, index: &'a ast::Expr, span: Span) -> Expr {
        self.complete_class(class);
        match self.tables.lookup_member(class, "operator[]").map(|found| found.symbol) {
            Some(Symbol::Functions(entities)) => {
                let args = match self.tables.std() >= LanguageVersion::new(4, 0) {
                    true => self.subscripts(index),
                    false => self.check_args(std::slice::from_ref(index)),
                };
                let at = object.span;
                let set = FunctionSet {
                    name: "operator[]".into(),
                    entities,
                    explicit: None,
                    object: Some(object),
                    span: at,
                    allows_adl: false,
                };
                self.call_set(set, args, span)
            }
            Some(Symbol::Dependent) => {
                Expr { kind: ExprKind::Error, ty: QualTy::plain(Ty::DEPENDENT), is_place: true, span }
            }
            _ => {
                let message =
                    format!("type '{}' does not provide a subscript operator", self.tables.name_of(object.ty.ty));
                self.diagnostics.error("not-indexable", object.span, message);
                Expr::error(span)
            }
        }
    }
}

fn check_index_type(tables: &Tables<'_>, diagnostics: &mut Diagnostics, index: &Expr) -> bool {
    let ty = index.ty.ty;
    if ty.is_unknown() || tables.is_integral_or_unscoped(ty) {
        return true;
    }
    diagnostics.error("index-type", index.span, "array subscript is not an integer");
    false
}

/// A constant index past the end is always a mistake.
fn refuse_index_out_of_range(tables: &Tables<'_>, diagnostics: &mut Diagnostics, base: &Expr, index: &Expr) {
    let len = match *tables.types().kind(base.ty.ty) {
        TyKind::Vector { len, .. } | TyKind::PackedVector { len, .. } => u64::from(len),
        TyKind::Matrix { columns, .. } => u64::from(columns),
        TyKind::Array { len: Some(len), .. } => len,
        _ => return,
    };
    let ExprKind::Constant(crate::program::Value::Int(value)) = index.kind else { return };
    if value < 0 || value as u64 >= len {
        let message =
            format!("index {value} is outside '{}', which has {len} elements", tables.name_of(base.ty.ty));
        diagnostics.warn("index-range", index.span, message);
    }
}
