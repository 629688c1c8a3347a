//! Statements.

use super::memory::{Slot, known};
use super::number::truth;
use super::{Machine, Outcome, SUBEXPRESSION, not_constant};
use crate::program::{Case, Expr, LocalId, Stmt, StmtKind, Value};

/// Way in which control leaves a statement.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Slot),
}

impl<'p> Machine<'p> {
    pub(super) fn block(&mut self, stmts: &'p [Stmt]) -> Outcome<Flow> {
        for stmt in stmts {
            self.charge_statement(stmt.span)?;
            match self.deeper(stmt.span, |machine| machine.statement(stmt))? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, stmt: &'p Stmt) -> Outcome<Flow> {
        match &stmt.kind {
            // Constant expressions are exact to the last bit in any mode.
            StmtKind::FpPragma(_) => {}
            StmtKind::Expr(expr) => self.effect(expr)?,
            StmtKind::Local(id, init) => self.declare(*id, init.as_ref(), stmt)?,
            StmtKind::Init { place, value } => {
                let value = self.value(value)?;
                let place = self.place(place)?;
                self.store(&place, value, stmt.span)?;
            }
            StmtKind::Block(stmts) => return self.block(stmts),
            StmtKind::If { condition, then, otherwise } => {
                let branch = if self.condition(condition)? { then } else { otherwise };
                return self.block(branch);
            }
            StmtKind::Loop { condition, test_first, step, body, .. } => {
                return self.repeat(condition.as_ref(), *test_first, step.as_ref(), body, stmt);
            }
            StmtKind::Switch { value, cases } => return self.switch(value, cases),
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Return(None) => return Ok(Flow::Return(Slot::Uninit)),
            StmtKind::Return(Some(expr)) => return Ok(Flow::Return(self.value(expr)?)),
        }
        Ok(Flow::Next)
    }

    fn declare(&mut self, id: LocalId, init: Option<&'p Expr>, stmt: &'p Stmt) -> Outcome<()> {
        let value = match init {
            Some(init) => self.value(init)?,
            None => Slot::Uninit,
        };
        // In a loop, this ends the variable of the last iteration.
        if let Some(old) = self.frame().locals.remove(&id) {
            self.memory.remove(old);
        }
        let place = self.local(id, stmt.span)?;
        self.store(&place, value, stmt.span)
    }

    fn repeat(
        &mut self,
        condition: Option<&'p Expr>,
        test_first: bool,
        step: Option<&'p Expr>,
        body: &'p [Stmt],
        stmt: &'p Stmt,
    ) -> Outcome<Flow> {
        let mut test = test_first;
        loop {
            self.charge_statement(stmt.span)?;
            if test
                && let Some(condition) = condition
                && !self.condition(condition)?
            {
                return Ok(Flow::Next);
            }
            test = true;
            match self.block(body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                flow @ Flow::Return(_) => return Ok(flow),
            }
            if let Some(step) = step {
                self.effect(step)?;
            }
        }
    }

    fn switch(&mut self, value: &'p Expr, cases: &'p [Case]) -> Outcome<Flow> {
        let span = value.span;
        let value = match known(self.value(value)?)? {
            Slot::Scalar(Value::Int(value)) => value,
            Slot::Scalar(Value::Bool(value)) => i128::from(value),
            _ => return Err(not_constant(span, SUBEXPRESSION)),
        };
        let entry = |label| cases.iter().position(|case| case.labels.contains(&label));
        let Some(first) = entry(Some(value)).or_else(|| entry(None)) else { return Ok(Flow::Next) };
        for case in &cases[first..] {
            match self.block(&case.body)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    /// Evaluates for the effects alone.
    pub(super) fn effect(&mut self, expr: &'p Expr) -> Outcome<()> {
        if expr.is_place { self.place(expr).map(drop) } else { self.value(expr).map(drop) }
    }

    /// The value of a condition.
    pub(super) fn condition(&mut self, expr: &'p Expr) -> Outcome<bool> {
        match known(self.value(expr)?)? {
            Slot::Scalar(value) => truth(&value).ok_or_else(|| not_constant(expr.span, SUBEXPRESSION)),
            Slot::Address(_) => Ok(true),
            _ => Err(not_constant(expr.span, SUBEXPRESSION)),
        }
    }
}
