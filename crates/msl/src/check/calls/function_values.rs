//! Functions as values: the name of a function where a pointer to one is needed.

use crate::check::Checker;
use crate::check::conversions::{Purpose, cannot_convert};
use crate::check::expressions::{FunctionSet, Operand};
use crate::check::tables::{Signature, TemplateArg};
use crate::diagnostics::Diagnostic;
use crate::program::{Expr, ExprKind, FunctionId};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// The only function of a set, with its explicit arguments.
    pub(in crate::check) fn only_function(&mut self, set: &FunctionSet<'a>) -> Option<FunctionId> {
        let mut found = None;
        for &entity in &set.entities {
            let args = match (self.tables.entity(entity).header, set.explicit) {
                (None, None) => Vec::new(),
                (Some(header), Some(explicit)) => {
                    let scope = self.tables.entity(entity).scope;
                    let name = set.name.clone();
                    let fitted =
                        self.attempt(|this| this.fit_template_args(&[header], scope, explicit, set.span, &name));
                    match fitted {
                        Ok(Some(args)) => args,
                        _ => continue,
                    }
                }
                _ => continue,
            };
            let signature = match self.attempt(|this| this.signature(entity, &args)) {
                Ok(Some(signature)) => signature,
                _ => continue,
            };
            if found.is_some() {
                return None;
            }
            found = Some(self.function_for(entity, args, signature));
        }
        found
    }

    /// A function set as a pointer to a function of type `ty`.
    pub(in crate::check) fn operand_as_function(
        &mut self,
        operand: Operand<'a>,
        ty: Ty,
        span: Span,
    ) -> Option<Expr> {
        let set = match operand {
            Operand::Functions(set) => set,
            Operand::Value(expr) => {
                if expr.ty.ty.is_unknown() {
                    return Some(expr);
                }
                let pointer = self.tables.types_mut().pointer(QualTy::plain(ty));
                if expr.ty.ty == pointer || ty == Ty::DEPENDENT {
                    return Some(expr);
                }
                cannot_convert(
                    &self.tables,
                    &mut self.diagnostics,
                    &expr,
                    QualTy::plain(pointer),
                    Purpose::Parameter,
                );
                return None;
            }
            Operand::Braces(..) | Operand::Type(_) => {
                self.diagnostics.error("function-pointer", span, "expected the name of a function");
                return None;
            }
        };
        if ty == Ty::DEPENDENT {
            return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span));
        }
        let TyKind::Function { result, params } = self.tables.types().kind(ty).clone() else { return None };
        let wanted: Vec<QualTy> = params.iter().map(|&p| QualTy::plain(p)).collect();
        let unknown = result.is_unknown() || params.iter().any(|p| p.is_unknown());
        if unknown {
            return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span));
        }
        let mut found: Option<(bool, FunctionId)> = None;
        for &entity in &set.entities {
            let args = match (self.tables.entity(entity).header, self.tables.entity(entity).family.clone()) {
                (_, Some(family)) => {
                    let member = family.iter().copied().find(|&ty| {
                        let targs = [TemplateArg::Type(QualTy::plain(ty))];
                        self.signature(entity, &targs).is_some_and(|s| same_params(&s, &wanted))
                    });
                    match member {
                        Some(ty) => vec![TemplateArg::Type(QualTy::plain(ty))],
                        None => continue,
                    }
                }
                (Some(_), None) => match self.deduce_from_types(entity, set.explicit, &wanted, Some(result)) {
                    Some(args) => args,
                    None => continue,
                },
                (None, None) => Vec::new(),
            };
            let Some(signature) = self.signature(entity, &args) else { continue };
            if !same_params(&signature, &wanted) {
                continue;
            }
            let is_template = self.tables.entity(entity).header.is_some();
            if found.is_none_or(|(was_template, _)| was_template && !is_template) {
                let id = self.function_for(entity, args, signature);
                found = Some((is_template, id));
            }
        }
        let Some((_, id)) = found else {
            let message = format!("no function '{}' has type '{}'", set.name, self.tables.name_of(ty));
            let mut diagnostic = Diagnostic::error("function-pointer", span, message);
            for &entity in set.entities.iter().take(4) {
                diagnostic = diagnostic.note(self.tables.entity(entity).span, "candidate function");
            }
            self.diagnostics.report(diagnostic);
            return None;
        };
        self.request(id, span);
        self.tables.need_body(id);
        let actual = self.tables.function(id).result;
        if actual != result && !actual.is_unknown() {
            let message = format!(
                "function '{}' returns '{}', not '{}'",
                set.name,
                self.tables.name_of(actual),
                self.tables.name_of(result)
            );
            self.diagnostics.error("function-pointer", span, message);
            return None;
        }
        let pointer = self.tables.types_mut().pointer(QualTy::plain(ty));
        Some(Expr::value(ExprKind::Function(id), pointer, span))
    }
}

fn same_params(signature: &Signature<'_>, wanted: &[QualTy]) -> bool {
    signature.params.len() == wanted.len() && signature.params.iter().zip(wanted).all(|(p, w)| p.ty.ty == w.ty)
}
