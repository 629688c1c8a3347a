//! Arguments of class templates, deduced from those of a constructor: `tensor(data, extents)`.
//!
//! Headers write the deduction guides of a class template `tensor` as functions `__deduce_tensor`, whose results are
//! the types to construct.

use super::overload::CallSite;
use crate::check::Checker;
use crate::check::tables::Symbol;
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::Ty;

impl<'a> Checker<'a> {
    /// `T(args)`, if `T` is a class template with guides that is named without arguments.
    pub(super) fn check_deduced_construction(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let ast::ExprKind::Path(path) = &callee.kind else { return None };
        if path.last().args.is_some() {
            return None;
        }
        let Symbol::ClassTemplate(template) = self.attempt(|this| this.resolve_path(path)).ok()?.ok()??.symbol
        else {
            return None;
        };
        let template = self.tables.class_template(template);
        let (scope, name) = (template.scope, template.name.clone());
        let guides = match self.tables.scopes().find_in(scope, &format!("__deduce_{name}")) {
            Some(Symbol::Functions(guides)) => guides,
            _ => return None,
        };
        let operands = self.check_args(args);
        if operands.iter().any(|operand| self.tables.is_dependent_operand(operand)) {
            return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span));
        }
        let site = CallSite { name: &name, explicit: None, object: None, is_constructor: true, span: path.span };
        let Some(candidate) = self.choose(&guides, &site, &operands) else { return Some(Expr::error(span)) };
        let Some(result) = candidate.signature.result else { return Some(Expr::error(span)) };
        let Some(class) = self.tables.types().struct_id(result) else { return Some(Expr::error(span)) };
        self.complete_class(class);
        Some(self.construct_operands(class, operands, span))
    }
}
