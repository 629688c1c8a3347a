//! Deduction from the arguments of a class template.

use super::deduce::{Deduction, Match};
use crate::check::Checker;
use crate::check::tables::{ScopeId, TemplateArg};
use crate::parse::ast::{self, ExprKind, TemplateParamKind, TypeExprKind};
use crate::parse::names_in::{names_in_expr, names_in_type};
use crate::program::Value;
use crate::types::Ty;

impl<'a> Checker<'a> {
    /// Matches written template arguments with those of a type.
    pub(super) fn deduce_args(
        &mut self,
        patterns: &'a [ast::TemplateArg],
        actual: &[TemplateArg],
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let actual: Vec<TemplateArg> = actual.iter().flat_map(flatten).collect();
        let mut rest = actual.iter();
        for pattern in patterns {
            let pack = matches!(
                pattern,
                ast::TemplateArg::Type(ast::TypeExpr { kind: TypeExprKind::PackExpansion(_), .. })
                    | ast::TemplateArg::Expr(ast::Expr { kind: ExprKind::PackExpansion(_), .. })
            );
            if pack {
                return self.deduce_pack_arg(pattern, rest.as_slice(), deduction);
            }
            // A default argument that the pattern leaves out matches anything.
            let Some(arg) = rest.next() else { return false };
            if !self.deduce_arg(pattern, arg, deduction) {
                return false;
            }
        }
        true
    }

    fn deduce_arg(
        &mut self,
        pattern: &'a ast::TemplateArg,
        actual: &TemplateArg,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        match (pattern, actual) {
            (ast::TemplateArg::Type(pattern), TemplateArg::Type(actual)) => {
                self.deduce_type(pattern, *actual, Match::Exact, deduction)
            }
            (ast::TemplateArg::Expr(expr), TemplateArg::Type(actual)) => match &expr.kind {
                ExprKind::Path(path) => self.deduce_named(path, *actual, Match::Exact, deduction),
                _ => actual.ty.is_unknown(),
            },
            (ast::TemplateArg::Expr(expr), actual) => self.deduce_value(expr, actual, deduction),
            (ast::TemplateArg::Type(pattern), TemplateArg::Template(template)) => match &pattern.kind {
                TypeExprKind::Named(path) => match path.as_ident().and_then(|name| deduction.param_named(name)) {
                    Some(index) => deduction.bind(index, TemplateArg::Template(*template)),
                    None => true,
                },
                _ => false,
            },
            (ast::TemplateArg::Type(_), actual) => actual.is_dependent(),
        }
    }

    fn deduce_pack_arg(
        &mut self,
        pattern: &'a ast::TemplateArg,
        actual: &[TemplateArg],
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let mut names = Vec::new();
        match pattern {
            ast::TemplateArg::Type(ty) => names_in_type(ty, &mut names),
            ast::TemplateArg::Expr(expr) => names_in_expr(expr, &mut names),
        }
        let mut collected: Vec<(usize, Vec<TemplateArg>)> =
            deduction.open_packs(&names).into_iter().map(|index| (index, Vec::new())).collect();
        for arg in actual {
            let mut one = deduction.clone();
            let inner = match pattern {
                ast::TemplateArg::Type(ast::TypeExpr { kind: TypeExprKind::PackExpansion(inner), .. }) => match arg
                {
                    TemplateArg::Type(actual) => self.deduce_type(inner, *actual, Match::Exact, &mut one),
                    _ => false,
                },
                ast::TemplateArg::Expr(ast::Expr { kind: ExprKind::PackExpansion(inner), .. }) => {
                    match (arg, &inner.kind) {
                        (TemplateArg::Type(actual), ExprKind::Path(path)) => {
                            self.deduce_named(path, *actual, Match::Exact, &mut one)
                        }
                        (arg, _) => self.deduce_value(inner, arg, &mut one),
                    }
                }
                _ => false,
            };
            if !inner {
                return false;
            }
            for (index, pack) in &mut collected {
                pack.extend(one.bound[*index].take());
            }
        }
        collected.into_iter().all(|(index, pack)| deduction.bind(index, TemplateArg::Pack(pack)))
    }

    /// True if the pattern is a constant with that value.
    fn is_value(&mut self, pattern: &'a ast::Expr, actual: &TemplateArg, scope: ScopeId) -> bool {
        let value = self.attempt(|this| {
            this.in_scope(scope, |this| {
                let checked = this.check_value(pattern);
                this.try_evaluate(&checked).ok()
            })
        });
        match (value, actual) {
            (Ok(Some(Value::Int(value))), TemplateArg::Int(_, actual)) => value == *actual,
            (Ok(Some(Value::Bool(value))), TemplateArg::Int(_, actual)) => i128::from(value) == *actual,
            _ => true,
        }
    }

    pub(super) fn deduce_value(
        &mut self,
        pattern: &'a ast::Expr,
        actual: &TemplateArg,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let param = match &pattern.kind {
            ExprKind::Path(path) => path.as_ident().and_then(|name| deduction.param_named(name)),
            _ => None,
        };
        let Some(index) = param else {
            return !self.position.is_ordering() || self.is_value(pattern, actual, deduction.scope);
        };
        match (&deduction.params[index].kind, actual) {
            (TemplateParamKind::Type { .. }, TemplateArg::Type(_)) => deduction.bind(index, actual.clone()),
            (TemplateParamKind::Value { ty, .. }, TemplateArg::Int(_, value)) => {
                // The parameter's own type decides; one that depends on another parameter is checked on substitution.
                let scope = deduction.scope;
                let own = self.attempt(|this| this.in_scope(scope, |this| this.resolve_type(ty)));
                let ty = match own {
                    Ok(own) if !own.ty.is_unknown() => own.ty,
                    _ => actual_type(actual),
                };
                deduction.bind(index, TemplateArg::Int(ty, *value))
            }
            (TemplateParamKind::Value { .. }, actual) => deduction.bind(index, actual.clone()),
            (TemplateParamKind::Template { .. }, TemplateArg::Template(_)) => deduction.bind(index, actual.clone()),
            _ => false,
        }
    }
}

fn actual_type(arg: &TemplateArg) -> Ty {
    match arg {
        TemplateArg::Int(ty, _) => *ty,
        _ => Ty::ERROR,
    }
}

fn flatten(arg: &TemplateArg) -> Vec<TemplateArg> {
    match arg {
        TemplateArg::Pack(args) => args.iter().flat_map(flatten).collect(),
        arg => vec![arg.clone()],
    }
}
