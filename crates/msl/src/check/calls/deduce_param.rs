//! Deduction from one parameter and its argument.

use crate::check::Checker;
use crate::check::expressions::Operand;
use crate::check::tables::{Tables, TemplateArg};
use crate::check::templates::{Deduction, Match};
use crate::parse::ast::{self, TypeExprKind};
use crate::parse::names_in::names_in_type;
use crate::program::Expr;
use crate::types::{AddressSpace, QualTy, TyKind};

impl<'a> Checker<'a> {
    pub(super) fn deduce_param(
        &mut self,
        pattern: &'a ast::TypeExpr,
        arg: &Operand<'a>,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        match arg {
            Operand::Value(expr) => {
                let actual = self.tables.argument_type(pattern, expr);
                if let Some(index) = forwarded_param(pattern, deduction) {
                    let forwarded = match expr.is_place && !self.tables.is_expiring(expr) {
                        true => QualTy::plain(self.tables.types_mut().reference(actual)),
                        // `T &&` of a plain type is a reference to thread memory.
                        false if actual.space == Some(AddressSpace::Thread) => QualTy { space: None, ..actual },
                        false => actual,
                    };
                    return deduction.bind(index, TemplateArg::Type(forwarded));
                }
                let pattern = strip_top_level(pattern);
                let mentions = mentions_param(pattern, deduction);
                let before = deduction.clone();
                let by_value = !matches!(self.tables.types().kind(actual.ty), TyKind::Array { .. });
                let fits = match (&pattern.kind, self.tables.types().pointee(actual.ty)) {
                    // A parameter written as an array is a pointer.
                    (TypeExprKind::Array { element, .. }, Some(pointee)) if by_value => {
                        self.deduce_array_element(element, pointee, deduction)
                    }
                    _ => self.deduce_type(pattern, actual, Match::Convertible, deduction),
                };
                if !fits && !mentions {
                    // Nothing to deduce here: a conversion is enough.
                    *deduction = before;
                    return true;
                }
                fits
            }
            Operand::Functions(set) => {
                // A single function has a type to deduce from.
                if set.entities.len() == 1
                    && let Some(id) = self.attempt(|this| this.only_function(set)).ok().flatten()
                {
                    let ty = self.tables.function_pointer_type(id);
                    return self.deduce_type(
                        strip_top_level(pattern),
                        QualTy::plain(ty),
                        Match::Convertible,
                        deduction,
                    );
                }
                true
            }
            Operand::Braces(..) | Operand::Type(_) => true,
        }
    }

    /// `T x[N]` takes a pointer to thread memory unless it names another address space.
    pub(super) fn deduce_array_element(
        &mut self,
        element: &'a ast::TypeExpr,
        pointee: QualTy,
        deduction: &mut Deduction<'a>,
    ) -> bool {
        let actual = match names_space(element) {
            true => pointee,
            false if pointee.space == Some(AddressSpace::Thread) => QualTy { space: None, ..pointee },
            false => return false,
        };
        self.deduce_type(element, actual, Match::Convertible, deduction)
    }

    pub(super) fn deduce_pack_param(
        &mut self,
        param: &'a ast::Param,
        args: &[Operand<'a>],
        deduction: &mut Deduction<'a>,
    ) -> Result<(), String> {
        let pattern = match &param.ty.kind {
            TypeExprKind::PackExpansion(inner) => &**inner,
            _ => &param.ty,
        };
        let mut names = Vec::new();
        names_in_type(pattern, &mut names);
        let packs = deduction.open_packs(&names);
        let mut collected: Vec<Vec<TemplateArg>> = vec![Vec::new(); packs.len()];
        for arg in args {
            let mut one = deduction.clone();
            if !self.deduce_param(pattern, arg, &mut one) {
                return Err(format!("could not match '{}'", self.tables.sources().text(param.span)));
            }
            for (slot, &index) in collected.iter_mut().zip(&packs) {
                slot.extend(one.bound[index].take());
            }
        }
        for (pack, index) in collected.into_iter().zip(packs) {
            deduction.bound[index] = Some(TemplateArg::Pack(pack));
        }
        Ok(())
    }
}

impl<'a> Tables<'a> {
    /// The type of an argument, for deduction.
    fn argument_type(&mut self, pattern: &ast::TypeExpr, expr: &Expr) -> QualTy {
        if let TypeExprKind::Reference { .. } = strip_qualifiers(pattern).kind {
            let space =
                if expr.is_place { expr.ty.space.unwrap_or(AddressSpace::Thread) } else { AddressSpace::Thread };
            return expr.ty.in_space(space);
        }
        QualTy::plain(self.decayed(expr.ty))
    }
}

/// The template parameter `T` of a forwarding reference, `T &&`: for a place, it is deduced as a reference to it; for
/// a value, or an object that may be moved from, as its plain type.
fn forwarded_param(pattern: &ast::TypeExpr, deduction: &Deduction<'_>) -> Option<usize> {
    let TypeExprKind::Reference { inner, rvalue: true } = &pattern.kind else { return None };
    let TypeExprKind::Named(path) = &inner.kind else { return None };
    let index = deduction.param_named(path.as_ident()?)?;
    let is_type = matches!(deduction.params[index].kind, ast::TemplateParamKind::Type { .. });
    (is_type && index >= deduction.explicit).then_some(index)
}

/// True if an element of an array, or of the arrays in it, names its address space.
fn names_space(element: &ast::TypeExpr) -> bool {
    match &element.kind {
        TypeExprKind::Qualified { quals, inner } => quals.space.is_some() || names_space(inner),
        TypeExprKind::Array { element, .. } => names_space(element),
        _ => false,
    }
}

/// True if the pattern names a parameter that can be deduced from it.
pub(super) fn mentions_param(pattern: &ast::TypeExpr, deduction: &Deduction<'_>) -> bool {
    match &pattern.kind {
        TypeExprKind::Named(path) => {
            let is_param = |name: &str| {
                let open = &deduction.params[deduction.explicit.min(deduction.params.len())..];
                open.iter().any(|param| param.name.as_ref().is_some_and(|n| n.name == name))
            };
            if path.segments.len() > 1 {
                return false;
            }
            let last = path.last();
            is_param(&last.name)
                || last.args.iter().flatten().any(|arg| match arg {
                    ast::TemplateArg::Type(ty) => mentions_param(ty, deduction),
                    ast::TemplateArg::Expr(ast::Expr { kind: ast::ExprKind::Path(path), .. }) => {
                        path.as_ident().is_some_and(|name| is_param(name))
                    }
                    ast::TemplateArg::Expr(_) => false,
                })
        }
        TypeExprKind::Pointer(inner)
        | TypeExprKind::Reference { inner, .. }
        | TypeExprKind::Qualified { inner, .. }
        | TypeExprKind::PackExpansion(inner) => mentions_param(inner, deduction),
        TypeExprKind::Array { element, .. } => mentions_param(element, deduction),
        TypeExprKind::MemberPointer { class, inner } => {
            let names_class = class.as_ident().is_some_and(|name| deduction.param_named(name).is_some());
            names_class || mentions_param(inner, deduction)
        }
        TypeExprKind::Function { result, params, .. } => {
            mentions_param(result, deduction) || params.iter().any(|p| mentions_param(&p.ty, deduction))
        }
        _ => false,
    }
}

fn strip_qualifiers(pattern: &ast::TypeExpr) -> &ast::TypeExpr {
    match &pattern.kind {
        TypeExprKind::Qualified { inner, .. } => strip_qualifiers(inner),
        _ => pattern,
    }
}

/// A parameter's type without the parts that deduction ignores: its own qualifiers, or the reference.
fn strip_top_level(pattern: &ast::TypeExpr) -> &ast::TypeExpr {
    let unqualified = match &pattern.kind {
        TypeExprKind::Qualified { inner, .. } => strip_top_level(inner),
        _ => pattern,
    };
    match &unqualified.kind {
        TypeExprKind::Reference { inner, .. } => inner,
        _ => unqualified,
    }
}
