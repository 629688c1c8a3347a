//! `a ?: b`, an extension of GNU C that clang has.

use super::Parser;
use super::ast::*;
use smol_str::SmolStr;

impl Parser {
    /// `a ?: b` is `a ? a : b` with `a` evaluated once: `({ auto x = a; x ? x : b; })`, unless a second look at `a`
    /// changes nothing. So it stays a constant expression where it can be one.
    pub(super) fn value_or(&mut self, value: Expr, otherwise: Expr) -> Expr {
        let span = value.span.to(otherwise.span);
        let conditional = |value: Expr| {
            let [condition, then, otherwise] = [value.clone(), value, otherwise].map(Box::new);
            Expr { kind: ExprKind::Conditional { condition, then, otherwise }, span }
        };
        if is_pure(&value) {
            return conditional(value);
        }
        self.unnamed += 1;
        let name: SmolStr = smol_str::format_smolstr!("__value_{}", self.unnamed);
        let at = value.span;
        let segments = vec![PathSegment { name, span: at, args: None }];
        let path = Path { global: false, is_elaborated: false, segments, span: at };
        let variable = VarDecl {
            name: Some(path.clone()),
            bindings: Vec::new(),
            ty: TypeExpr { kind: TypeExprKind::Auto, span: at },
            init: Some(Init::Equal(value)),
            specifiers: Specifiers::default(),
            attributes: Vec::new(),
            bit_width: None,
            template: None,
        };
        let declared = Decl { kind: DeclKind::Var(variable), span: at };
        let result = conditional(Expr { kind: ExprKind::Path(path), span: at });
        let stmts = vec![
            Stmt { kind: StmtKind::Decl(vec![declared]), span: at },
            Stmt { kind: StmtKind::Expr(result), span },
        ];
        Expr { kind: ExprKind::Statements(Block { stmts, span }), span }
    }
}

/// True if evaluating it twice is the same as once.
fn is_pure(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Path(_) | ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Nullptr | ExprKind::This => true,
        ExprKind::Paren(inner) => is_pure(inner),
        ExprKind::Member { base, .. } => is_pure(base),
        ExprKind::Binary { lhs, rhs, .. } => is_pure(lhs) && is_pure(rhs),
        _ => false,
    }
}
