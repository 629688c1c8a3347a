//! `-W`: variables that are read before they have a value.
//!
//! A walk over the statements in the order of execution. Of each variable that may have no value, it knows if it has
//! none on every path (`-Wuninitialized`), or none if a condition went one way (`-Wsometimes-uninitialized`). As in
//! clang, numbers, vectors and pointers are followed, and all but a plain read, such as taking the address, gives a
//! value.

use crate::diagnostics::Diagnostic;
use crate::program::{CastKind, Expr, ExprKind, Function, LocalId, Program, Stmt, StmtKind, Value};
use crate::source::{SourceMap, Span};
use crate::types::{AddressSpace, Ty, TyKind, Types};
use crate::walk;
use std::collections::{BTreeMap, BTreeSet};

/// Most variables without an initializer that a function may have to be looked at: a branch copies the state of all.
const MOST_VARIABLES: usize = 1000;

/// A variable that may have no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lack {
    /// It has none.
    Certain,
    /// It has none in its own initializer.
    Own,
    /// It has none if the condition of the `if` there had this value.
    Sometimes(Span, bool),
    /// It is not known to have one: nothing is reported.
    Possible,
}

/// The variables that may have no value at some place; `None` if control does not get there.
type State = Option<BTreeMap<LocalId, Lack>>;

/// Appends warnings about the functions of the user's own files.
pub(crate) fn warn(program: &Program, sources: &SourceMap, diagnostics: &mut Vec<Diagnostic>) {
    let mut reported = BTreeSet::new();
    for function in &program.functions {
        let Some(body) = &function.body else { continue };
        if sources.file(function.span.file).builtin || !is_small(body) {
            continue;
        }
        let mut walk = Walk { types: &program.types, function, exits: Vec::new(), found: Vec::new() };
        walk.stmts(body, Some(BTreeMap::new()));
        for (local, use_, lack) in walk.found {
            let variable = &function.locals[local.0 as usize];
            // Each instantiation of a template would say the same.
            if reported.insert((variable.span.file, variable.span.start, use_.start)) {
                diagnostics.push(diagnostic(&variable.name, variable.span, use_, lack));
            }
        }
    }
}

/// True unless too many variables of a body have no initializer.
fn is_small(body: &[Stmt]) -> bool {
    let mut count = 0;
    walk::walk_stmts(body, &mut |stmt| count += usize::from(matches!(stmt.kind, StmtKind::Local(_, None))));
    (0..=MOST_VARIABLES).contains(&count)
}

fn diagnostic(name: &str, declared: Span, use_: Span, lack: Lack) -> Diagnostic {
    let diagnostic = match lack {
        Lack::Sometimes(condition, value) => {
            let message = format!("variable '{name}' is used uninitialized whenever 'if' condition is {value}");
            let diagnostic = Diagnostic::warning("sometimes-uninitialized", condition, message);
            diagnostic.note(use_, "uninitialized use occurs here")
        }
        Lack::Own => {
            let message = format!("variable '{name}' is uninitialized when used within its own initialization");
            return Diagnostic::warning("uninitialized", use_, message);
        }
        Lack::Certain | Lack::Possible => {
            let message = format!("variable '{name}' is uninitialized when used here");
            Diagnostic::warning("uninitialized", use_, message)
        }
    };
    diagnostic.note(declared, format!("initialize the variable '{name}' to silence this warning"))
}

/// The states in which control leaves a loop or switch, or goes to the next round of a loop.
#[derive(Default)]
struct Exits {
    breaks: State,
}

struct Walk<'p> {
    types: &'p Types,
    function: &'p Function,
    exits: Vec<Exits>,
    /// The first use of each variable without a value.
    found: Vec<(LocalId, Span, Lack)>,
}

impl<'p> Walk<'p> {
    fn stmts(&mut self, stmts: &'p [Stmt], mut state: State) -> State {
        for stmt in stmts {
            state = self.stmt(stmt, state);
        }
        state
    }

    fn stmt(&mut self, stmt: &'p Stmt, mut state: State) -> State {
        match &stmt.kind {
            StmtKind::FpPragma(_) => {}
            StmtKind::Expr(expr) => self.expr(expr, &mut state),
            StmtKind::Local(id, init) => self.local(*id, init.as_ref(), &mut state),
            StmtKind::Init { place, value } => {
                self.expr(value, &mut state);
                self.written(place, &mut state);
            }
            StmtKind::Block(inner) => return self.stmts(inner, state),
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition, &mut state);
                return self.branches(condition, then, otherwise, state);
            }
            StmtKind::Loop { condition, test_first, step, body, .. } => {
                return self.looped(condition.as_ref(), *test_first, step.as_ref(), body, state);
            }
            StmtKind::Switch { value, cases } => {
                self.expr(value, &mut state);
                self.exits.push(Exits::default());
                let entry = weakened(&state);
                let mut after = None;
                for case in cases {
                    after = self.stmts(&case.body, joined(entry.clone(), after));
                }
                let has_default = cases.iter().any(|case| case.labels.contains(&None));
                let breaks = self.exits.pop().unwrap_or_default().breaks;
                after = joined(after, breaks);
                return if has_default { after } else { joined(after, entry) };
            }
            StmtKind::Break => {
                if let Some(exits) = self.exits.last_mut() {
                    exits.breaks = joined(exits.breaks.take(), state);
                }
                return None;
            }
            StmtKind::Continue => return None,
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.expr(value, &mut state);
                }
                return None;
            }
        }
        state
    }

    fn local(&mut self, id: LocalId, init: Option<&'p Expr>, state: &mut State) {
        let local = &self.function.locals[id.0 as usize];
        let is_thread = local.space == AddressSpace::Thread && !local.ty.is_volatile;
        let is_followed = is_thread && is_followed(self.types, local.ty.ty);
        if let Some(init) = init {
            if let Some(known) = state.as_mut().filter(|_| is_followed) {
                known.insert(id, Lack::Own);
            }
            self.expr(init, state);
        }
        let Some(known) = state else { return };
        match init.is_none() && is_followed {
            true => known.insert(id, Lack::Certain),
            false => known.remove(&id),
        };
    }

    fn branches(&mut self, condition: &Expr, then: &'p [Stmt], otherwise: &'p [Stmt], before: State) -> State {
        let known = match condition.kind {
            ExprKind::Constant(Value::Bool(value)) => Some(value),
            _ => None,
        };
        let inside = weakened(&before);
        let yes = self.stmts(then, inside.clone());
        let no = self.stmts(otherwise, inside);
        match known {
            Some(true) => return yes,
            Some(false) => return no,
            None => {}
        }
        let (Some(yes), Some(no), Some(before)) = (&yes, &no, &before) else { return joined(yes, no) };
        let mut after = joined(Some(yes.clone()), Some(no.clone())).unwrap_or_default();
        for (id, lack) in &mut after {
            match (yes.get(id), no.get(id), before.get(id)) {
                (None, Some(Lack::Certain), _) => *lack = Lack::Sometimes(condition.span, false),
                (Some(Lack::Certain), None, _) => *lack = Lack::Sometimes(condition.span, true),
                // Neither branch changed it.
                (Some(Lack::Possible), Some(Lack::Possible), Some(same)) => *lack = *same,
                _ => {}
            }
        }
        Some(after)
    }

    fn looped(
        &mut self,
        condition: Option<&'p Expr>,
        test_first: bool,
        step: Option<&'p Expr>,
        body: &'p [Stmt],
        mut state: State,
    ) -> State {
        // A variable that a later round reads may have got its value in an earlier one.
        let mut changed = BTreeSet::new();
        let mut note = |expr: &Expr| {
            if let ExprKind::Local(id) = expr.kind {
                changed.insert(id);
            }
        };
        let mut note_written = |expr: &'p Expr| written_places(expr, &mut note);
        walk::walk_exprs(body, &mut note_written);
        condition.into_iter().chain(step).for_each(|expr| walk::walk_expr(expr, &mut note_written));
        if let Some(known) = &mut state {
            for (id, lack) in known.iter_mut() {
                if changed.contains(id) || *lack != Lack::Certain {
                    *lack = Lack::Possible;
                }
            }
        }
        self.exits.push(Exits::default());
        if let Some(condition) = condition.filter(|_| test_first) {
            self.expr(condition, &mut state);
        }
        let entry = state.clone();
        let mut after = self.stmts(body, state);
        // `continue` leads here, too.
        after = if changed.is_empty() { joined(after, entry.clone()) } else { joined(after, weakened(&entry)) };
        for expr in step.into_iter().chain(condition.filter(|_| !test_first)) {
            self.expr(expr, &mut after);
        }
        let breaks = self.exits.pop().unwrap_or_default().breaks;
        let is_forever = condition.is_none_or(|it| matches!(it.kind, ExprKind::Constant(Value::Bool(true))));
        match (is_forever, test_first) {
            (true, _) => breaks,
            (false, true) => joined(joined(entry, after), breaks),
            (false, false) => joined(after, breaks),
        }
    }

    fn expr(&mut self, expr: &'p Expr, state: &mut State) {
        match &expr.kind {
            ExprKind::Load(place) => match place.kind {
                ExprKind::Local(id) => self.used(id, expr.span, state),
                ExprKind::Swizzle { ref base, .. } | ExprKind::Index { ref base, .. }
                    if matches!(base.kind, ExprKind::Local(_)) =>
                {
                    if let ExprKind::Index { index, .. } = &place.kind {
                        self.expr(index, state);
                    }
                    if let ExprKind::Local(id) = base.kind {
                        self.used(id, expr.span, state);
                    }
                }
                _ => self.expr(place, state),
            },
            // A place in another role, as of an address.
            ExprKind::Local(id) => {
                if let Some(known) = state {
                    known.remove(id);
                }
            }
            ExprKind::Cast { kind: CastKind::Discard, operand } if is_plain_read(operand) => {}
            ExprKind::Assign { place, value } => {
                self.expr(value, state);
                self.written(place, state);
            }
            ExprKind::CompoundAssign { place, value, .. } => {
                self.expr(value, state);
                if let ExprKind::Local(id) = place.kind {
                    self.used(id, place.span, state);
                }
                self.written(place, state);
            }
            ExprKind::Increment { place, .. } => {
                if let ExprKind::Local(id) = place.kind {
                    self.used(id, place.span, state);
                }
                self.written(place, state);
            }
            ExprKind::ShortCircuit { lhs, rhs, .. } => {
                self.expr(lhs, state);
                let mut after = weakened(state);
                self.expr(rhs, &mut after);
                *state = self.rejoined(state.take(), after);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.expr(condition, state);
                let (mut yes, mut no) = (weakened(state), weakened(state));
                self.expr(then, &mut yes);
                self.expr(otherwise, &mut no);
                let after = joined(yes, no);
                *state = self.rejoined(state.take(), after);
            }
            ExprKind::Statements { body, value } => {
                *state = self.stmts(body, state.take());
                value.iter().for_each(|value| self.expr(value, state));
            }
            _ => walk::operands(expr, &mut |operand| self.expr(operand, state)),
        }
    }

    /// The state after something that was perhaps executed: what it left alone is as before.
    fn rejoined(&self, before: State, after: State) -> State {
        let (Some(before), Some(mut after)) = (before, after) else { return None };
        for (id, lack) in &mut after {
            if let Some(same) = before.get(id).filter(|_| *lack == Lack::Possible) {
                *lack = *same;
            }
        }
        Some(after)
    }

    fn used(&mut self, id: LocalId, span: Span, state: &mut State) {
        let Some(known) = state else { return };
        if let Some(lack) = known.remove(&id)
            && lack != Lack::Possible
            && !self.found.iter().any(|(other, ..)| *other == id)
        {
            self.found.push((id, span, lack));
        }
    }

    fn written(&mut self, place: &'p Expr, state: &mut State) {
        self.expr(place, state);
    }
}

/// Types whose values clang follows, too.
fn is_followed(types: &Types, ty: Ty) -> bool {
    matches!(
        types.kind(ty),
        TyKind::Bool
            | TyKind::Int(_)
            | TyKind::Float(_)
            | TyKind::Vector { .. }
            | TyKind::Pointer(_)
            | TyKind::Enum(_)
            | TyKind::MemberPointer { .. }
    )
}

fn is_plain_read(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(_) => true,
        ExprKind::Load(place) => matches!(place.kind, ExprKind::Local(_)),
        _ => false,
    }
}

/// Calls `visit` for the variables in `expr` that it gives a value, or may give one through their address.
fn written_places<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Expr)) {
    let place = match &expr.kind {
        ExprKind::Assign { place, .. }
        | ExprKind::CompoundAssign { place, .. }
        | ExprKind::Increment { place, .. }
        | ExprKind::AddressOf(place) => place,
        _ => return,
    };
    walk::walk_expr(place, visit);
}

/// The state inside a branch: a use there need not happen, so that it does not count for an earlier condition.
fn weakened(state: &State) -> State {
    let mut state = state.clone();
    for lack in state.iter_mut().flat_map(BTreeMap::values_mut) {
        if let Lack::Sometimes(..) = lack {
            *lack = Lack::Possible;
        }
    }
    state
}

/// The state where two paths meet.
fn joined(a: State, b: State) -> State {
    let (mut a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        (a, b) => return a.or(b),
    };
    for (id, lack) in &mut a {
        if b.get(id) != Some(lack) {
            *lack = Lack::Possible;
        }
    }
    for (id, _) in b {
        a.entry(id).or_insert(Lack::Possible);
    }
    Some(a)
}
