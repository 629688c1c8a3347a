//! Types and initial values of variables.

use super::auto_types::{contains_auto, variable_span};
use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{ClassState, Tables};
use crate::parse::ast::{self, Init};
use crate::program::Expr;
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    /// The type of a variable, with `auto` and array lengths filled in, and its initial value.
    /// `None` after an error that leaves no type.
    pub(in crate::check) fn variable_type_and_init(
        &mut self,
        var: &'a ast::VarDecl,
    ) -> Option<(QualTy, Option<Expr>)> {
        if contains_auto(&var.ty) {
            return self.deduce_auto_variable(var);
        }
        let ty = self.variable_type(var)?;
        Some(self.variable_init(var, ty))
    }

    /// The written type of a variable; `None` after an error.
    pub(in crate::check) fn variable_type(&mut self, var: &'a ast::VarDecl) -> Option<QualTy> {
        let mut ty = match self.deduced_variable_type(var) {
            Some(deduced) => deduced,
            None => self.resolve_type(&var.ty),
        };
        if ty.ty == Ty::ERROR {
            if let Some(init) = &var.init {
                self.check_init_alone(init);
            }
            return None;
        }
        ty.is_const |= var.specifiers.is_constexpr;
        self.complete_type(ty.ty);
        can_be_variable(&self.tables, &mut self.diagnostics, ty, variable_span(var)).then_some(ty)
    }

    /// The initial value of a variable, and its type with the length that the value gives an array.
    pub(in crate::check) fn variable_init(
        &mut self,
        var: &'a ast::VarDecl,
        mut ty: QualTy,
    ) -> (QualTy, Option<Expr>) {
        let Some(init) = &var.init else { return (ty, None) };
        let value = self.initialize(ty, init);
        // `float a[] = {1, 2}` takes its length from the list.
        if let TyKind::Array { element, len: None } = *self.tables.types().kind(ty.ty)
            && let TyKind::Array { len: Some(len), .. } = *self.tables.types().kind(value.ty.ty)
        {
            ty.ty = self.tables.types_mut().array(element, Some(len));
        }
        (ty, Some(value))
    }

    /// Checks an initializer whose variable has no type, for the mistakes inside it.
    fn check_init_alone(&mut self, init: &'a Init) {
        match init {
            Init::Equal(expr) => {
                self.check_operand(expr);
            }
            Init::Paren(exprs, _) | Init::Brace(exprs, _) => {
                for expr in exprs {
                    self.check_operand(expr);
                }
            }
        }
    }
}

fn can_be_variable(tables: &Tables<'_>, diagnostics: &mut Diagnostics, ty: QualTy, span: Span) -> bool {
    let incomplete = match *tables.types().kind(ty.ty) {
        TyKind::Void | TyKind::Function { .. } => true,
        TyKind::Struct(id) => tables.class(id).state != ClassState::Complete,
        _ => false,
    };
    if let TyKind::SimdgroupMatrix { element } = *tables.types().kind(ty.ty)
        && tables.types().float_kind(element).is_none()
    {
        diagnostics.error("simdgroup-matrix", span, "a simdgroup_matrix is 8x8, of half, bfloat or float");
        return false;
    }
    if incomplete {
        let message = format!("variable has incomplete type '{}'", tables.name_of(ty.ty));
        diagnostics.error("incomplete", span, message);
    }
    !incomplete
}
