//! Unevaluated operands: `decltype`, `sizeof`.

use super::operand::{FunctionSet, Operand};
use crate::check::Checker;
use crate::parse::ast::{self, ExprKind as Ast};
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty};

impl<'a> Checker<'a> {
    /// `decltype(e)`
    fn type_of_operand(&mut self, operand: Operand<'a>, expr: &'a ast::Expr) -> QualTy {
        match operand {
            Operand::Functions(set) => match self.only_function(&set) {
                Some(id) => {
                    self.result_of(id, expr.span);
                    let pointer = self.tables.function_pointer_type(id);
                    self.tables.types().pointee(pointer).expect("a pointer")
                }
                None if self.position.in_pattern() => QualTy::plain(Ty::DEPENDENT),
                None => {
                    let message = match self.functions_refuse(&set) {
                        Some(reason) => reason,
                        None => format!("reference to overloaded function '{}' could not be resolved", set.name),
                    };
                    self.diagnostics.error("overloaded", expr.span, message);
                    QualTy::plain(Ty::ERROR)
                }
            },
            Operand::Value(value) => {
                // A name gives its declared type, another place a reference to it.
                let is_name = matches!(expr.kind, Ast::Path(_) | Ast::Member { .. });
                if value.is_place && !is_name {
                    let space = value.ty.space.unwrap_or(AddressSpace::Thread);
                    return QualTy::plain(self.tables.types_mut().reference(value.ty.in_space(space)));
                }
                let declared = match &value.kind {
                    ExprKind::Local(id) => Some(self.function.local(*id).ty),
                    ExprKind::Deref(address) => match &address.kind {
                        ExprKind::Load(place) => match place.kind {
                            ExprKind::Local(id) => Some(self.function.local(id).ty),
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                };
                declared.unwrap_or(QualTy { space: None, ..value.ty })
            }
            Operand::Type(ty) => ty,
            Operand::Braces(_, span) => {
                self.diagnostics.error("decltype", span, "an initializer list has no type");
                QualTy::plain(Ty::ERROR)
            }
        }
    }

    /// Reason that the explicit arguments of a function name fit none of its templates.
    fn functions_refuse(&mut self, set: &FunctionSet<'a>) -> Option<String> {
        let explicit = set.explicit?;
        for &entity in &set.entities {
            let Some(header) = self.tables.entity(entity).header else { continue };
            let scope = self.tables.entity(entity).scope;
            let name = set.name.clone();
            let fitted = self.attempt(|this| {
                let args = this.fit_template_args(&[header], scope, explicit, set.span, &name)?;
                this.tables.entity_mut(entity).signatures.remove(&args);
                this.signature(entity, &args)
            });
            if let Err(first) = fitted {
                return Some(format!("no matching function '{name}': {}", first.message));
            }
        }
        None
    }

    pub(super) fn size_of(&mut self, ty: Ty, span: Span) -> Expr {
        self.complete_type(ty);
        if self.tables.is_dependent_type(ty) {
            return Expr::constant(Value::Unknown, Ty::ULONG, span);
        }
        let ty = self.tables.types().referent(QualTy::plain(ty)).ty;
        match self.tables.types().layout(ty) {
            Some(layout) => Expr::constant(Value::Int(i128::from(layout.size)), Ty::ULONG, span),
            None if ty == Ty::ERROR => Expr::error(span),
            None => {
                let message =
                    format!("invalid application of 'sizeof' to an incomplete type '{}'", self.tables.name_of(ty));
                self.diagnostics.error("sizeof", span, message);
                Expr::error(span)
            }
        }
    }

    pub(in crate::check) fn resolve_decltype(&mut self, expr: &'a ast::Expr) -> QualTy {
        let saved = self.position.set_unevaluated(true);
        let operand = self.check_operand(expr);
        let ty = self.type_of_operand(operand, expr);
        self.position.set_unevaluated(saved);
        ty
    }
}
