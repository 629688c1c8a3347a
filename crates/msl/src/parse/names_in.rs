//! Plain names that a piece of the tree uses, for parameter packs and lambda captures.

use super::ast::{
    Block, Condition, Decl, DeclKind, Expr, ExprKind, Init, Path, Stmt, StmtKind, TemplateArg, TypeExpr,
    TypeExprKind, VarDecl,
};
use smol_str::SmolStr;

/// The names used in a type.
pub fn names_in_type<'a>(ty: &'a TypeExpr, names: &mut Vec<&'a SmolStr>) {
    match &ty.kind {
        TypeExprKind::Named(path) => names_in_path(path, names),
        TypeExprKind::Decltype(expr) | TypeExprKind::Typeof(expr) => names_in_expr(expr, names),
        TypeExprKind::Pointer(inner)
        | TypeExprKind::Reference { inner, .. }
        | TypeExprKind::Qualified { inner, .. }
        | TypeExprKind::PackExpansion(inner) => names_in_type(inner, names),
        TypeExprKind::Array { element, length } => {
            names_in_type(element, names);
            names.extend(length.iter().flat_map(|length| collected(length)));
        }
        TypeExprKind::MemberPointer { class, inner } => {
            names_in_path(class, names);
            names_in_type(inner, names);
        }
        TypeExprKind::Function { result, params, .. } => {
            names_in_type(result, names);
            for param in params {
                names_in_type(&param.ty, names);
            }
        }
        TypeExprKind::Builtin(_)
        | TypeExprKind::Auto
        | TypeExprKind::DecltypeAuto
        | TypeExprKind::Class(_)
        | TypeExprKind::Enum(_) => {}
    }
}

fn collected(expr: &Expr) -> Vec<&SmolStr> {
    let mut names = Vec::new();
    names_in_expr(expr, &mut names);
    names
}

fn names_in_path<'a>(path: &'a Path, names: &mut Vec<&'a SmolStr>) {
    if let Some(first) = path.segments.first()
        && !path.global
    {
        names.push(&first.name);
    }
    for arg in path.segments.iter().filter_map(|segment| segment.args.as_ref()).flatten() {
        match arg {
            TemplateArg::Type(ty) => names_in_type(ty, names),
            TemplateArg::Expr(expr) => names_in_expr(expr, names),
        }
    }
}

/// The names used in an expression.
pub fn names_in_expr<'a>(expr: &'a Expr, names: &mut Vec<&'a SmolStr>) {
    match &expr.kind {
        ExprKind::Path(path) => names_in_path(path, names),
        ExprKind::Paren(inner) | ExprKind::SizeOfExpr(inner) | ExprKind::PackExpansion(inner) => {
            names_in_expr(inner, names);
        }
        ExprKind::Unary { operand, .. } => names_in_expr(operand, names),
        ExprKind::Binary { lhs, rhs, .. } | ExprKind::Assign { lhs, rhs, .. } | ExprKind::Comma(lhs, rhs) => {
            names_in_expr(lhs, names);
            names_in_expr(rhs, names);
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            for part in [condition, then, otherwise] {
                names_in_expr(part, names);
            }
        }
        ExprKind::Call { callee, args } => {
            names_in_expr(callee, names);
            for arg in args {
                names_in_expr(arg, names);
            }
        }
        ExprKind::Construct { ty, args, .. } => {
            names_in_type(ty, names);
            for arg in args {
                names_in_expr(arg, names);
            }
        }
        ExprKind::InitList(items) => {
            for item in items {
                names_in_expr(&item.value, names);
            }
        }
        ExprKind::Index { base, index } => {
            names_in_expr(base, names);
            names_in_expr(index, names);
        }
        ExprKind::Member { base, member, .. } => {
            names_in_expr(base, names);
            for arg in member.segments.iter().filter_map(|segment| segment.args.as_ref()).flatten() {
                match arg {
                    TemplateArg::Type(ty) => names_in_type(ty, names),
                    TemplateArg::Expr(expr) => names_in_expr(expr, names),
                }
            }
        }
        ExprKind::MemberPointer { base, member, .. } => {
            names_in_expr(base, names);
            names_in_expr(member, names);
        }
        ExprKind::Cast { ty, operand, .. } => {
            names_in_type(ty, names);
            names_in_expr(operand, names);
        }
        ExprKind::OffsetOf(member) => names_in_expr(member, names),
        ExprKind::SizeOfType(ty) | ExprKind::AlignOf(ty) | ExprKind::Object(ty) => names_in_type(ty, names),
        ExprKind::SizeOfPack(name) => names.push(&name.name),
        ExprKind::Lambda(lambda) => {
            for capture in &lambda.captures {
                names.push(&capture.name.name);
            }
            names_in_block(&lambda.body, names);
        }
        ExprKind::Statements(block) => names_in_block(block, names),
        ExprKind::Fold { lhs, rhs, .. } => {
            for part in [lhs, rhs].into_iter().flatten() {
                names_in_expr(part, names);
            }
        }
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Char(_)
        | ExprKind::Str(_)
        | ExprKind::Nullptr
        | ExprKind::This
        | ExprKind::Error => {}
    }
}

/// The names used in a block.
pub fn names_in_block<'a>(block: &'a Block, names: &mut Vec<&'a SmolStr>) {
    for stmt in &block.stmts {
        names_in_stmt(stmt, names);
    }
}

fn names_in_stmt<'a>(stmt: &'a Stmt, names: &mut Vec<&'a SmolStr>) {
    match &stmt.kind {
        StmtKind::Block(block) => names_in_block(block, names),
        StmtKind::Expr(expr) => names_in_expr(expr, names),
        StmtKind::Decl(decls) => {
            for decl in decls {
                names_in_decl(decl, names);
            }
        }
        StmtKind::If { init, condition, then, otherwise, .. } => {
            if let Some(init) = init {
                names_in_stmt(init, names);
            }
            names_in_condition(condition, names);
            names_in_stmt(then, names);
            if let Some(otherwise) = otherwise {
                names_in_stmt(otherwise, names);
            }
        }
        StmtKind::While { condition, body, .. } | StmtKind::Switch { condition, body } => {
            names_in_condition(condition, names);
            names_in_stmt(body, names);
        }
        StmtKind::DoWhile { condition, body, .. } => {
            names_in_expr(condition, names);
            names_in_stmt(body, names);
        }
        StmtKind::For { init, condition, step, body, .. } => {
            if let Some(init) = init {
                names_in_stmt(init, names);
            }
            if let Some(condition) = condition {
                names_in_condition(condition, names);
            }
            if let Some(step) = step {
                names_in_expr(step, names);
            }
            names_in_stmt(body, names);
        }
        StmtKind::RangeFor { variable, range, body, .. } => {
            names_in_var(variable, names);
            names_in_expr(range, names);
            names_in_stmt(body, names);
        }
        StmtKind::Case { labels, body } => {
            for value in labels.iter().flat_map(|label| label.value.iter().chain(&label.last)) {
                names_in_expr(value, names);
            }
            names_in_stmt(body, names);
        }
        StmtKind::Return(Some(expr)) => names_in_expr(expr, names),
        StmtKind::FpPragma(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) | StmtKind::Empty => {
        }
    }
}

fn names_in_condition<'a>(condition: &'a Condition, names: &mut Vec<&'a SmolStr>) {
    match condition {
        Condition::Expr(expr) => names_in_expr(expr, names),
        Condition::Var(var) => names_in_var(var, names),
    }
}

fn names_in_decl<'a>(decl: &'a Decl, names: &mut Vec<&'a SmolStr>) {
    match &decl.kind {
        DeclKind::Var(var) => names_in_var(var, names),
        DeclKind::Alias(alias) => names_in_type(&alias.ty, names),
        DeclKind::StaticAssert { condition, .. } => names_in_expr(condition, names),
        _ => {}
    }
}

fn names_in_var<'a>(var: &'a VarDecl, names: &mut Vec<&'a SmolStr>) {
    names_in_type(&var.ty, names);
    match &var.init {
        Some(Init::Equal(expr)) => names_in_expr(expr, names),
        Some(Init::Paren(exprs, _) | Init::Brace(exprs, _)) => {
            for expr in exprs {
                names_in_expr(expr, names);
            }
        }
        None => {}
    }
}
