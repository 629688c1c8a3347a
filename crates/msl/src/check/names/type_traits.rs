//! Type traits that the compiler answers.

use crate::check::Checker;
use crate::check::tables::{Tables, TemplateArg};
use crate::check::templates::Given;
use crate::parse::ast;
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// `__is_enum(T)` and kin, which no header could define. The parser keeps the operands as template arguments.
    pub(in crate::check) fn check_type_trait(&mut self, path: &'a ast::Path) -> Option<Expr> {
        let span = path.span;
        let [ast::PathSegment { name, args: Some(args), .. }] = &*path.segments else { return None };
        if !name.starts_with("__is_") || self.tables.lookup(self.position.scope(), name).is_some() {
            return None;
        }
        let mut types = Vec::new();
        for given in self.expand_given(args)? {
            types.push(match given {
                Given::Known(TemplateArg::Type(ty)) => ty,
                Given::Known(_) => return None,
                Given::Written(arg) => self.type_argument(arg)?,
            });
        }
        let value = |result: bool| Some(Expr::constant(Value::Bool(result), Ty::BOOL, span));
        if types.iter().any(|ty| ty.ty.is_unknown()) {
            return Some(Expr::constant(Value::Unknown, Ty::BOOL, span));
        }
        let struct_of = |this: &Self, ty: QualTy| this.tables.types().struct_id(ty.ty);
        match (name.as_str(), &*types) {
            ("__is_enum", [ty]) => value(self.tables.types().enum_id(ty.ty).is_some()),
            ("__is_class", [ty]) => {
                let id = struct_of(self, *ty);
                value(id.is_some_and(|id| !self.tables.types().struct_(id).is_union))
            }
            ("__is_union", [ty]) => {
                let id = struct_of(self, *ty);
                value(id.is_some_and(|id| self.tables.types().struct_(id).is_union))
            }
            ("__is_empty", [ty]) => {
                self.complete_type(ty.ty);
                let id = struct_of(self, *ty);
                value(id.is_some_and(|id| self.tables.types().struct_(id).fields.is_empty()))
            }
            ("__is_same", [a, b]) => value(a == b),
            ("__is_base_of", [base, derived]) => {
                let same = struct_of(self, *base).is_some() && base.ty == derived.ty;
                value(same || self.derives_from(derived.ty, base.ty))
            }
            ("__is_convertible" | "__is_convertible_to", [from, to]) => {
                let probe = probe(&self.tables, *from, span);
                let both_void = from.ty == Ty::VOID && to.ty == Ty::VOID;
                value(both_void || from.ty != Ty::VOID && self.conversion(&probe, *to).is_some())
            }
            ("__is_constructible", [ty, args @ ..]) => {
                let probes: Vec<Expr> = args.iter().map(|arg| probe(&self.tables, *arg, span)).collect();
                let ty = *ty;
                let works = self.attempt(|this| match this.tables.types().struct_id(ty.ty) {
                    Some(class) => {
                        this.complete_class(class);
                        this.construct_exprs(class, probes, span);
                    }
                    None => {
                        for probe in probes {
                            this.explicit_cast(probe, ty, span, ast::CastKind::Static);
                        }
                    }
                });
                value(works.is_ok())
            }
            ("__is_trivially_copyable" | "__is_trivial" | "__is_trivially_constructible", [_, ..]) => value(true),
            _ => None,
        }
    }
}

/// An expression of type `ty`, to try operations on.
fn probe(tables: &Tables<'_>, ty: QualTy, span: Span) -> Expr {
    match *tables.types().kind(ty.ty) {
        TyKind::Reference { to, .. } => Expr::place(ExprKind::Error, to, span),
        _ => Expr::value(ExprKind::Error, ty.ty, span),
    }
}
