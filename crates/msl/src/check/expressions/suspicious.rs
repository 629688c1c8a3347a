//! `-W`: expressions that are valid, and probably not meant.

use crate::check::Checker;
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, BinaryOp, ExprKind};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// `if (a = b)`; a second pair of parentheses says that it is meant.
    pub(in crate::check) fn warn_about_condition(&mut self, condition: &ast::Expr) {
        let ExprKind::Assign { op: None, op_span, .. } = &condition.kind else { return };
        let message = "using the result of an assignment as a condition without parentheses";
        let diagnostic = Diagnostic::warning("parentheses", *op_span, message).range(condition.span);
        let diagnostic = diagnostic
            .note(*op_span, "place parentheses around the assignment to silence this warning")
            .note(*op_span, "use '==' to turn this assignment into an equality comparison");
        self.diagnostics.report(diagnostic.suggest("=="));
    }

    /// `a < b < c`, `a & b == c`
    pub(super) fn warn_about_precedence(&mut self, op: BinaryOp, lhs: &ast::Expr, rhs: &ast::Expr, op_span: Span) {
        let operator = |expr: &ast::Expr| match expr.kind {
            ExprKind::Binary { op, .. } => Some(op),
            _ => None,
        };
        if !self.diagnostics.shows_warnings() {
            return;
        }
        if let Some(first) = operator(lhs).filter(|first| is_relational(*first) && is_relational(op)) {
            let message = format!(
                "chained comparison 'X {} Y {} Z' does not behave the same as a mathematical expression",
                first.text(),
                op.text()
            );
            self.diagnostics.warn("parentheses", op_span, message);
        }
        if !matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor) {
            return;
        }
        let comparisons = [operator(lhs), operator(rhs)].map(|op| op.filter(|op| op.is_comparison()));
        // `a == b & c == d` is a logical operation without a short cut.
        if let [Some(inner), None] | [None, Some(inner)] = comparisons {
            let (outer, inner) = (op.text(), inner.text());
            let message = format!("{outer} has lower precedence than {inner}; {inner} will be evaluated first");
            self.diagnostics.warn("parentheses", op_span, message);
        }
    }

    /// `x = x`, `s.x = s.x`
    pub(super) fn warn_about_self_assignment(&mut self, lhs: &ast::Expr, rhs: &ast::Expr, op_span: Span) {
        if !self.diagnostics.shows_warnings() || !self.tables.same_text(lhs.span, rhs.span) {
            return;
        }
        let (id, what) = match (&lhs.kind, &rhs.kind) {
            (ExprKind::Path(_), ExprKind::Path(_)) => ("self-assign", "variable"),
            (ExprKind::Member { .. }, ExprKind::Member { .. }) if is_chain(lhs) => ("self-assign-field", "field"),
            _ => return,
        };
        self.diagnostics.warn(id, op_span, format!("explicitly assigning value of {what} to itself"));
    }
}

fn is_relational(op: BinaryOp) -> bool {
    op.is_comparison() && !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
}

/// True for members of variables, which mean the same object each time.
fn is_chain(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Path(_) | ExprKind::This => true,
        ExprKind::Member { base, .. } => is_chain(base),
        _ => false,
    }
}
