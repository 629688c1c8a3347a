//! Walking a checked program: the expressions in statements, and the functions and globals that code reaches.

use crate::program::{
    CastKind, Expr, ExprKind, FunctionId, GlobalId, LocalId, Program, Stmt, StmtKind, UnaryOp, Value,
};
use crate::types::Ty;
use std::collections::BTreeSet;

/// Calls `visit` for every statement, each before those inside it, in the order of the source; also for those in
/// statement expressions.
pub fn walk_stmts<'p>(stmts: &'p [Stmt], visit: &mut dyn FnMut(&'p Stmt)) {
    outer_stmts(stmts, &mut |stmt| {
        visit(stmt);
        stmt_exprs(stmt, &mut |expr| stmts_in_expr(expr, visit));
    });
}

/// Calls `visit` for the statements inside of an expression.
fn stmts_in_expr<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Stmt)) {
    match &expr.kind {
        ExprKind::Statements { body, value } => {
            walk_stmts(body, visit);
            value.iter().for_each(|value| stmts_in_expr(value, visit));
        }
        _ => operands(expr, &mut |operand| stmts_in_expr(operand, visit)),
    }
}

/// Calls `visit` for every statement but those in statement expressions.
fn outer_stmts<'p>(stmts: &'p [Stmt], visit: &mut dyn FnMut(&'p Stmt)) {
    for stmt in stmts {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Block(body) | StmtKind::Loop { body, .. } => outer_stmts(body, visit),
            StmtKind::If { then, otherwise, .. } => {
                outer_stmts(then, visit);
                outer_stmts(otherwise, visit);
            }
            StmtKind::Switch { cases, .. } => cases.iter().for_each(|case| outer_stmts(&case.body, visit)),
            StmtKind::FpPragma(_)
            | StmtKind::Expr(_)
            | StmtKind::Local(..)
            | StmtKind::Init { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_) => {}
        }
    }
}

/// Calls `visit` for every expression in `stmts`, those inside others included, each before its operands.
pub fn walk_exprs<'p>(stmts: &'p [Stmt], visit: &mut dyn FnMut(&'p Expr)) {
    outer_stmts(stmts, &mut |stmt| stmt_exprs(stmt, &mut |expr| walk_expr(expr, visit)));
}

/// Calls `visit` for `expr` and every expression inside it, each before its operands.
pub fn walk_expr<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Expr)) {
    visit(expr);
    operands(expr, &mut |operand| walk_expr(operand, visit));
}

/// Calls `visit` for the expressions directly in a statement, not those in statements inside it.
pub fn stmt_exprs<'p>(stmt: &'p Stmt, visit: &mut dyn FnMut(&'p Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) => visit(expr),
        StmtKind::Local(_, init) => init.iter().for_each(visit),
        StmtKind::Init { place, value } => {
            visit(place);
            visit(value);
        }
        StmtKind::If { condition, .. } => visit(condition),
        StmtKind::Loop { condition, step, .. } => condition.iter().chain(step).for_each(visit),
        StmtKind::Switch { value, .. } => visit(value),
        StmtKind::Return(value) => value.iter().for_each(visit),
        StmtKind::FpPragma(_) | StmtKind::Block(_) | StmtKind::Break | StmtKind::Continue => {}
    }
}

/// Calls `visit` for the expressions directly inside `expr`, or in its statements.
pub fn operands<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Expr)) {
    match &expr.kind {
        ExprKind::Error
        | ExprKind::Constant(_)
        | ExprKind::Local(_)
        | ExprKind::Global(_)
        | ExprKind::Function(_)
        | ExprKind::Zero => {}
        ExprKind::Load(operand)
        | ExprKind::Deref(operand)
        | ExprKind::AddressOf(operand)
        | ExprKind::Field { base: operand, .. }
        | ExprKind::Swizzle { base: operand, .. }
        | ExprKind::ThreadElements(operand)
        | ExprKind::Decay(operand)
        | ExprKind::Temporary(operand)
        | ExprKind::Cast { operand, .. }
        | ExprKind::Unary { operand, .. }
        | ExprKind::Increment { place: operand, .. }
        | ExprKind::Splat(operand) => visit(operand),
        ExprKind::Index { base: first, index: second }
        | ExprKind::Binary { lhs: first, rhs: second, .. }
        | ExprKind::MatrixProduct { lhs: first, rhs: second }
        | ExprKind::ShortCircuit { lhs: first, rhs: second, .. }
        | ExprKind::PointerAdd { pointer: first, offset: second, .. }
        | ExprKind::PointerDifference { lhs: first, rhs: second }
        | ExprKind::Assign { place: first, value: second }
        | ExprKind::CompoundAssign { place: first, value: second, .. }
        | ExprKind::Comma(first, second) => {
            visit(first);
            visit(second);
        }
        ExprKind::Statements { body, value } => {
            outer_stmts(body, &mut |stmt| stmt_exprs(stmt, visit));
            value.iter().for_each(|value| visit(value));
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::CallPointer { pointer, args } => {
            visit(pointer);
            args.iter().for_each(visit);
        }
        ExprKind::Call { args, .. }
        | ExprKind::Construct { args, .. }
        | ExprKind::Aggregate(args)
        | ExprKind::Compose(args) => args.iter().for_each(visit),
    }
}

/// The value of a condition that is known before the program runs, such as a template argument. Code generators leave
/// out what it excludes, as clang does.
pub fn decided(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        ExprKind::Constant(Value::Bool(value)) => Some(*value),
        ExprKind::Constant(Value::Int(value)) => Some(*value != 0),
        ExprKind::Cast { kind: CastKind::Number, operand } if condition.ty.ty == Ty::BOOL => decided(operand),
        ExprKind::Unary { op: UnaryOp::Not, operand } => decided(operand).map(|value| !value),
        ExprKind::ShortCircuit { is_or, lhs, rhs } => match decided(lhs)? {
            value if value == *is_or => Some(value),
            _ => decided(rhs),
        },
        _ => None,
    }
}

/// The only part of `a ? b : c`, `a && b` or `a || b` that is evaluated, if `a` is known and does not decide alone.
pub fn chosen(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Conditional { condition, then, otherwise } => {
            Some(if decided(condition)? { then } else { otherwise })
        }
        ExprKind::ShortCircuit { is_or, lhs, rhs } => (decided(lhs)? != *is_or).then_some(rhs),
        _ => None,
    }
}

/// Calls `visit` for the statements that can be executed, as [`outer_stmts`] does for all.
fn live_stmts<'p>(stmts: &'p [Stmt], visit: &mut dyn FnMut(&'p Stmt)) {
    for stmt in stmts {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Block(body) | StmtKind::Loop { body, .. } => live_stmts(body, visit),
            StmtKind::If { condition, then, otherwise } => {
                let taken = decided(condition);
                if taken != Some(false) {
                    live_stmts(then, visit);
                }
                if taken != Some(true) {
                    live_stmts(otherwise, visit);
                }
            }
            StmtKind::Switch { cases, .. } => cases.iter().for_each(|case| live_stmts(&case.body, visit)),
            _ => {}
        }
    }
}

/// Calls `visit` for the expressions in `expr` that can be evaluated, as [`walk_expr`] does for all.
fn live_expr<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Expr)) {
    match (chosen(expr), decided(expr)) {
        (Some(chosen), _) => live_expr(chosen, visit),
        (None, Some(_)) => {}
        (None, None) => {
            visit(expr);
            operands(expr, &mut |operand| live_expr(operand, visit));
        }
    }
}

/// The variables of a body that are declared where it cannot be executed.
pub fn excluded_locals(body: &[Stmt]) -> BTreeSet<LocalId> {
    fn declare(stmt: &Stmt, locals: &mut BTreeSet<LocalId>) {
        if let StmtKind::Local(id, _) = stmt.kind {
            locals.insert(id);
        }
    }
    let (mut all, mut live) = (BTreeSet::new(), BTreeSet::new());
    walk_stmts(body, &mut |stmt| declare(stmt, &mut all));
    live_stmts(body, &mut |stmt| {
        declare(stmt, &mut live);
        let mut in_expr = |expr| stmts_in_expr(expr, &mut |stmt| declare(stmt, &mut live));
        stmt_exprs(stmt, &mut in_expr);
    });
    &all - &live
}

/// Functions and globals that code can reach.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reachable {
    /// The function itself and those that it calls or passes on, directly or not, also through globals' initializers.
    pub functions: BTreeSet<FunctionId>,
    /// The globals that these mention, and those in the initializers of such globals.
    pub globals: BTreeSet<GlobalId>,
}

/// Everything that `functions` and `globals` can reach, themselves included.
pub fn reachable(
    program: &Program,
    functions: impl IntoIterator<Item = FunctionId>,
    globals: impl IntoIterator<Item = GlobalId>,
) -> Reachable {
    search(program, functions, globals, outer_stmts, walk_expr)
}

/// The same without code that cannot be executed, such as a branch that a template argument excludes.
pub fn live(
    program: &Program,
    functions: impl IntoIterator<Item = FunctionId>,
    globals: impl IntoIterator<Item = GlobalId>,
) -> Reachable {
    search(program, functions, globals, live_stmts, live_expr)
}

/// Calls a function for parts of `T`.
type Walk<T, P> = for<'p, 'v> fn(&'p T, &'v mut dyn FnMut(&'p P));

fn search(
    program: &Program,
    functions: impl IntoIterator<Item = FunctionId>,
    globals: impl IntoIterator<Item = GlobalId>,
    stmts: Walk<[Stmt], Stmt>,
    exprs: Walk<Expr, Expr>,
) -> Reachable {
    let mut search = Search { reached: Reachable::default(), functions: Vec::new(), globals: Vec::new() };
    functions.into_iter().for_each(|id| search.function(id));
    globals.into_iter().for_each(|id| search.global(id));
    loop {
        if let Some(id) = search.functions.pop() {
            let body = program.function(id).body.as_deref().unwrap_or_default();
            stmts(body, &mut |stmt| {
                stmt_exprs(stmt, &mut |expr| exprs(expr, &mut |expr| search.expr(expr)));
            });
        } else if let Some(id) = search.globals.pop() {
            let global = program.global(id);
            global.value.iter().for_each(|value| search.value(value));
            global.init.iter().for_each(|init| exprs(init, &mut |expr| search.expr(expr)));
        } else {
            return search.reached;
        }
    }
}

/// The functions that `root` can reach, itself included, in the order of the program.
pub fn reachable_functions(program: &Program, root: FunctionId) -> Vec<FunctionId> {
    reachable(program, [root], []).functions.into_iter().collect()
}

/// A search in progress: everything reached, and the part not visited yet.
struct Search {
    reached: Reachable,
    functions: Vec<FunctionId>,
    globals: Vec<GlobalId>,
}

impl Search {
    fn function(&mut self, id: FunctionId) {
        if self.reached.functions.insert(id) {
            self.functions.push(id);
        }
    }

    fn global(&mut self, id: GlobalId) {
        if self.reached.globals.insert(id) {
            self.globals.push(id);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Function(id)
            | ExprKind::Call { function: id, .. }
            | ExprKind::Construct { constructor: id, .. } => self.function(*id),
            ExprKind::Global(id) => self.global(*id),
            ExprKind::Constant(value) => self.value(value),
            _ => {}
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Function(id) => self.function(*id),
            Value::Aggregate(parts) => parts.iter().for_each(|part| self.value(part)),
            _ => {}
        }
    }
}
