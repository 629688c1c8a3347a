//! Partial ordering: the template whose parameters, filled with made-up types, fit the other is more specialized.

use super::deduce::{Deduction, Match};
use crate::check::Checker;
use crate::check::tables::{EntityId, ScopeId, Specialization, Tables, TemplateArg};
use crate::parse::ast::{self, TemplateParamKind};
use crate::types::{QualTy, Ty, TyKind};

/// Smallest made-up value.
pub(in crate::check) const MADE_UP: i128 = 1_000_003;

impl<'a> Checker<'a> {
    /// True if `a` fits `b`; the caller tests both directions.
    pub(super) fn is_more_specialized<D>(&mut self, a: &Specialization<'a, D>, b: &Specialization<'a, D>) -> bool {
        if a.header.params.is_empty() {
            return !b.header.params.is_empty();
        }
        let saved = self.position.set_ordering(true);
        let result = self.fits_pattern(a, b) && !self.fits_pattern(b, a);
        self.position.set_ordering(saved);
        result
    }

    /// True if the arguments of `a`, with made-up parameters, fit the pattern of `b`.
    fn fits_pattern<D>(&mut self, a: &Specialization<'a, D>, b: &Specialization<'a, D>) -> bool {
        let made_up = self.tables.made_up_args(a.header);
        let scope = self.bind_all(a.header, &made_up, a.scope);
        let args = self.attempt(|this| {
            this.in_scope(scope, |this| a.args.iter().map(|arg| this.loose_arg(arg)).collect::<Vec<TemplateArg>>())
        });
        let Ok(args) = args else { return true };
        let has_pack = b.header.params.iter().any(|param| param.is_pack);
        if args.len() != b.args.len() && !has_pack {
            return false;
        }
        let mut deduction = Deduction::new(b.header, b.scope);
        self.deduce_args(b.args, &args, &mut deduction)
    }

    fn loose_arg(&mut self, arg: &'a ast::TemplateArg) -> TemplateArg {
        let ty = match arg {
            ast::TemplateArg::Type(ty) => self.attempt(|this| this.resolve_type(ty)).ok(),
            ast::TemplateArg::Expr(expr) => match self.expr_as_type(expr) {
                Some(ty) => Some(ty),
                None => {
                    let value = self.attempt(|this| this.value_argument(arg, Ty::LONG)).ok().flatten();
                    return match value {
                        Some(crate::program::Value::Int(value)) => TemplateArg::Int(Ty::LONG, value),
                        _ => TemplateArg::UnknownValue,
                    };
                }
            },
        };
        TemplateArg::Type(ty.unwrap_or(QualTy::plain(Ty::DEPENDENT)))
    }

    /// True if, of two function templates that fit a call equally well, `a` is the more specialized.
    pub(in crate::check) fn is_more_specialized_function(&mut self, a: EntityId, b: EntityId) -> bool {
        let saved = self.position.set_ordering(true);
        let fits = (self.params_fit(a, b), self.params_fit(b, a));
        self.position.set_ordering(saved);
        match fits {
            (true, false) => true,
            // Of two that fit each other, the one without a pack.
            (true, true) => !self.tables.has_param_pack(a) && self.tables.has_param_pack(b),
            (false, _) => false,
        }
    }

    fn params_fit(&mut self, a: EntityId, b: EntityId) -> bool {
        let (Some(a_header), Some(b_header)) = (self.tables.entity(a).header, self.tables.entity(b).header) else {
            return true;
        };
        let made_up = self.tables.made_up_args(a_header);
        let a_scope = self.tables.entity(a).scope;
        let scope = self.bind_all(a_header, &made_up, a_scope);
        let a_params = self.tables.entity(a).source.params();
        let b_params = self.tables.entity(b).source.params();
        let mut deduction = Deduction::new(b_header, self.tables.entity(b).scope);
        for (a_param, b_param) in a_params.iter().zip(b_params) {
            let ty = self.attempt(|this| this.in_scope(scope, |this| this.resolve_type(&a_param.ty)));
            let ty = ty.unwrap_or(QualTy::plain(Ty::DEPENDENT));
            // References do not count here, nor do top-level qualifiers.
            let (ty, pattern) = match (self.tables.types().kind(ty.ty), &b_param.ty.kind) {
                (TyKind::Reference { to, .. }, ast::TypeExprKind::Reference { inner, .. }) => (*to, &**inner),
                (TyKind::Reference { to, .. }, _) => (QualTy::plain(to.ty), &b_param.ty),
                (_, ast::TypeExprKind::Reference { inner, .. }) => (ty, &**inner),
                _ => (QualTy::plain(ty.ty), &b_param.ty),
            };
            if !self.deduce_type(pattern, ty, Match::Exact, &mut deduction) {
                return false;
            }
        }
        true
    }
}

impl<'a> Tables<'a> {
    /// Arguments that are equal to nothing else.
    fn made_up_args(&mut self, header: &'a ast::TemplateHeader) -> Vec<TemplateArg> {
        let mut args = Vec::new();
        for (index, param) in header.params.iter().enumerate() {
            let arg = match &param.kind {
                TemplateParamKind::Type { .. } => {
                    let name = param.name.as_ref().map_or("T", |name| name.name.as_str());
                    let id = self.add_class(name.into(), param.span, ScopeId::GLOBAL);
                    TemplateArg::Type(QualTy::plain(self.struct_type(id)))
                }
                TemplateParamKind::Value { .. } => TemplateArg::Int(Ty::INT, MADE_UP + index as i128),
                TemplateParamKind::Template { .. } => TemplateArg::UnknownValue,
            };
            args.push(if param.is_pack { TemplateArg::Pack(vec![arg]) } else { arg });
        }
        args
    }

    fn has_param_pack(&self, id: EntityId) -> bool {
        let is_pack =
            |param: &ast::Param| param.is_pack || matches!(param.ty.kind, ast::TypeExprKind::PackExpansion(_));
        self.entity(id).source.params().iter().any(is_pack)
    }
}
