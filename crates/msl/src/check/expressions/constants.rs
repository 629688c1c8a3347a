//! Constant expressions: calls of the evaluator, with bodies checked as it needs them.

use crate::check::Checker;
use crate::check::tables::BodyState;
use crate::diagnostics::Diagnostic;
use crate::evaluate::{self, Failure};
use crate::program::{Expr, Value};
use crate::types::Ty;

impl<'a> Checker<'a> {
    /// The value of a constant expression, bodies of `constexpr` functions checked as needed.
    pub(in crate::check) fn try_evaluate(&mut self, expr: &Expr) -> Result<Value, Failure> {
        self.try_evaluate_in(expr, false)
    }

    /// The value of an initializer that may call functions that are not `constexpr`.
    pub(in crate::check) fn try_evaluate_dynamic(&mut self, expr: &Expr) -> Result<Value, Failure> {
        self.try_evaluate_in(expr, true)
    }

    fn try_evaluate_in(&mut self, expr: &Expr, is_dynamic: bool) -> Result<Value, Failure> {
        loop {
            let scope = evaluate::Scope {
                locals: self.function.locals(),
                params: &[],
                known: self.function.known_locals(),
                captures: self.known_captures(),
                is_dynamic,
            };
            let result = evaluate::evaluate_in(self.tables.program(), scope, expr);
            match result {
                Err(Failure::NeedsBody(id)) => {
                    let state = self.tables.instance(id).body;
                    if matches!(state, BodyState::InProgress | BodyState::Done) {
                        let reason = format!(
                            "undefined function '{}' cannot be used in a constant expression",
                            self.tables.function(id).name
                        );
                        return Err(Failure::NotConstant { span: expr.span, reason });
                    }
                    self.check_body(id);
                }
                result => return result,
            }
        }
    }

    pub(in crate::check) fn evaluate_or_report(&mut self, expr: &Expr, message: &str) -> Option<Value> {
        if expr.ty.ty == Ty::ERROR {
            return None;
        }
        if expr.ty.ty == Ty::DEPENDENT {
            return Some(Value::Unknown);
        }
        match self.try_evaluate(expr) {
            Ok(value) => Some(value),
            Err(failure) => {
                let diagnostic = Diagnostic::error("not-constant", expr.span, message);
                let diagnostic = match failure {
                    Failure::NotConstant { span, reason } => diagnostic.note(span, reason),
                    Failure::TooLong { span } => diagnostic.note(span, "the evaluation takes too many steps"),
                    Failure::NeedsBody(_) => diagnostic,
                };
                self.diagnostics.report(diagnostic);
                None
            }
        }
    }
}

/// The truth value of a constant, if it is known.
pub(in crate::check) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(b) => Some(*b),
        Value::Int(i) => Some(*i != 0),
        Value::Float(f) => Some(*f != 0.0),
        Value::Null => Some(false),
        Value::Function(_) => Some(true),
        _ => None,
    }
}
