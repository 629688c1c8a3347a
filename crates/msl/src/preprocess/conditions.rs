//! The expressions of `#if`.

use super::{Preprocessor, behind, limits};
use crate::diagnostics::Diagnostic;
use crate::lex::token::{Punct, TokenKind};
use crate::lex::{RawKind, RawToken, known};
use crate::source::Span;

/// Boxed, as it is large and rare.
type Problem = Box<Diagnostic>;

fn problem(span: Span, message: impl Into<String>) -> Problem {
    Box::new(Diagnostic::error("condition", span, message))
}

/// A 64-bit integer; arithmetic is unsigned where one side is.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) bits: u64,
    pub(super) unsigned: bool,
}

impl Value {
    fn truth(value: bool) -> Value {
        Value { bits: u64::from(value), unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }

    fn signed(self) -> i64 {
        self.bits as i64
    }
}

impl Preprocessor<'_> {
    /// The value of `#if line`; false after an error.
    pub(super) fn condition(&mut self, keyword: RawToken, line: &[RawToken]) -> bool {
        let mut tokens = Vec::with_capacity(line.len());
        let in_condition = std::mem::replace(&mut self.in_condition, true);
        self.expand_alone(line, &mut tokens);
        self.in_condition = in_condition;
        let end = behind(*line.last().unwrap_or(&keyword));
        match self.evaluate(&tokens, end) {
            Ok(value) => value.is_true(),
            Err(problem) => {
                self.report(*problem);
                false
            }
        }
    }

    /// The value of an expression whose macros are expanded; `end` is the place behind it.
    pub(super) fn evaluate(&mut self, tokens: &[RawToken], end: Span) -> Result<Value, Problem> {
        let mut evaluator = Evaluator { preprocessor: self, tokens, next: 0, end, depth: 0 };
        let mut value = evaluator.conditional(true)?;
        while evaluator.accept(Punct::Comma) {
            value = evaluator.conditional(true)?;
        }
        match evaluator.peek() {
            None => Ok(value),
            Some(token) if token.is(Punct::RParen) => {
                Err(problem(token.span, "missing '(' in preprocessor expression"))
            }
            Some(token) => {
                let message = "token is not a valid binary operator in a preprocessor subexpression";
                Err(problem(token.span, message))
            }
        }
    }
}

struct Evaluator<'p, 'a, 't> {
    preprocessor: &'p mut Preprocessor<'a>,
    tokens: &'t [RawToken],
    next: usize,
    end: Span,
    depth: usize,
}

/// Precedence of a binary operator; `None` for other tokens.
fn precedence(punct: Punct) -> Option<u8> {
    Some(match punct {
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        Punct::Plus | Punct::Minus => 9,
        Punct::Shl | Punct::Shr => 8,
        Punct::Less | Punct::Greater | Punct::LessEqual | Punct::GreaterEqual => 7,
        Punct::EqualEqual | Punct::NotEqual => 6,
        Punct::And => 5,
        Punct::Caret => 4,
        Punct::Or => 3,
        Punct::AndAnd => 2,
        Punct::OrOr => 1,
        _ => return None,
    })
}

impl Evaluator<'_, '_, '_> {
    fn peek(&self) -> Option<RawToken> {
        self.tokens.get(self.next).copied()
    }

    fn peek_punct(&self) -> Option<Punct> {
        match self.peek()?.kind {
            RawKind::Punct(punct) => Some(punct),
            RawKind::Ident => super::finish::alternative_operator(self.preprocessor.text(self.peek()?)),
            _ => None,
        }
    }

    fn accept(&mut self, punct: Punct) -> bool {
        let found = self.peek_punct() == Some(punct);
        self.next += usize::from(found);
        found
    }

    fn here(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    fn enter(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > limits::CONDITION_DEPTH {
            return Err(problem(self.here(), "preprocessor expression is nested too deeply"));
        }
        Ok(())
    }

    /// `a ? b : c` and all that binds more tightly. Where `live` is false the value is not needed, and dividing by
    /// zero is no error.
    fn conditional(&mut self, live: bool) -> Result<Value, Problem> {
        self.enter()?;
        let condition = self.binary(1, live)?;
        let mut value = condition;
        if self.accept(Punct::Question) {
            let first = self.conditional(live && condition.is_true())?;
            if !self.accept(Punct::Colon) {
                return Err(problem(self.here(), "expected ':' in preprocessor expression"));
            }
            let second = self.conditional(live && !condition.is_true())?;
            let bits = if condition.is_true() { first.bits } else { second.bits };
            value = Value { bits, unsigned: first.unsigned || second.unsigned };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, minimum: u8, live: bool) -> Result<Value, Problem> {
        let mut left = self.unary(live)?;
        while let Some(operator) = self.peek_punct()
            && let Some(level) = precedence(operator)
            && level >= minimum
        {
            let place = self.here();
            self.next += 1;
            let needed = match operator {
                Punct::AndAnd => left.is_true(),
                Punct::OrOr => !left.is_true(),
                _ => true,
            };
            let right = self.binary(level + 1, live && needed)?;
            left = self.apply(operator, left, right, place, live && needed)?;
        }
        Ok(left)
    }

    fn apply(&mut self, operator: Punct, a: Value, b: Value, place: Span, live: bool) -> Result<Value, Problem> {
        let unsigned = a.unsigned || b.unsigned;
        let (x, y) = (a.signed(), b.signed());
        let compare = |ordering: std::cmp::Ordering| match operator {
            Punct::Less => ordering.is_lt(),
            Punct::Greater => ordering.is_gt(),
            Punct::LessEqual => ordering.is_le(),
            _ => ordering.is_ge(),
        };
        let (bits, overflow) = match operator {
            Punct::AndAnd => return Ok(Value::truth(a.is_true() && b.is_true())),
            Punct::OrOr => return Ok(Value::truth(a.is_true() || b.is_true())),
            Punct::EqualEqual => return Ok(Value::truth(a.bits == b.bits)),
            Punct::NotEqual => return Ok(Value::truth(a.bits != b.bits)),
            Punct::Less | Punct::Greater | Punct::LessEqual | Punct::GreaterEqual => {
                let ordering = if unsigned { a.bits.cmp(&b.bits) } else { x.cmp(&y) };
                return Ok(Value::truth(compare(ordering)));
            }
            Punct::Slash | Punct::Percent if b.bits == 0 => {
                if live {
                    let kind = if operator == Punct::Slash { "division" } else { "remainder" };
                    return Err(problem(place, format!("{kind} by zero in preprocessor expression")));
                }
                (0, false)
            }
            Punct::Slash if unsigned => (a.bits / b.bits, false),
            Punct::Percent if unsigned => (a.bits % b.bits, false),
            Punct::Slash => signed(x.overflowing_div(y)),
            Punct::Percent => signed(x.overflowing_rem(y)),
            Punct::Star => signed(x.overflowing_mul(y)),
            Punct::Plus => signed(x.overflowing_add(y)),
            Punct::Minus => signed(x.overflowing_sub(y)),
            Punct::And => (a.bits & b.bits, false),
            Punct::Or => (a.bits | b.bits, false),
            Punct::Caret => (a.bits ^ b.bits, false),
            // The sides of a shift do not influence each other's sign.
            Punct::Shl => {
                return Ok(Value { bits: shifted(a, b, true), unsigned: a.unsigned });
            }
            Punct::Shr => {
                return Ok(Value { bits: shifted(a, b, false), unsigned: a.unsigned });
            }
            _ => return Err(problem(place, "expected value in expression")),
        };
        if overflow && !unsigned && live {
            let message = "integer overflow in preprocessor expression";
            self.preprocessor.warning("integer-overflow", place, message);
        }
        Ok(Value { bits, unsigned })
    }

    fn unary(&mut self, live: bool) -> Result<Value, Problem> {
        self.enter()?;
        let Some(token) = self.peek() else {
            return Err(problem(self.end, "expected value in expression"));
        };
        let operator = self.peek_punct();
        self.next += 1;
        let value = match token.kind {
            RawKind::Number | RawKind::Char => self.literal(token)?,
            RawKind::Ident if operator.is_none() => {
                if self.peek().is_some_and(|next| next.is(Punct::LParen)) {
                    let name = self.preprocessor.text(token);
                    return Err(problem(token.span, format!("function-like macro '{name}' is not defined")));
                }
                Value::truth(token.symbol == known::TRUE)
            }
            _ => match operator {
                Some(Punct::Plus) => self.unary(live)?,
                Some(Punct::Minus) => {
                    let value = self.unary(live)?;
                    Value { bits: value.bits.wrapping_neg(), ..value }
                }
                Some(Punct::Tilde) => {
                    let value = self.unary(live)?;
                    Value { bits: !value.bits, ..value }
                }
                Some(Punct::Not) => Value::truth(!self.unary(live)?.is_true()),
                Some(Punct::LParen) => self.parenthesized(token, live)?,
                _ => {
                    return Err(problem(token.span, "invalid token at start of a preprocessor expression"));
                }
            },
        };
        self.depth -= 1;
        Ok(value)
    }

    fn parenthesized(&mut self, open: RawToken, live: bool) -> Result<Value, Problem> {
        let mut value = self.conditional(live)?;
        while self.accept(Punct::Comma) {
            value = self.conditional(live)?;
        }
        if self.accept(Punct::RParen) {
            return Ok(value);
        }
        let mut error = problem(self.here(), "expected ')' in preprocessor expression");
        *error = error.note(open.span, "to match this '('");
        Err(error)
    }

    fn literal(&mut self, token: RawToken) -> Result<Value, Problem> {
        let mut diagnostics = Vec::new();
        let text = self.preprocessor.text(token);
        let value = if token.kind == RawKind::Char {
            let terminated = !token.has(RawToken::UNTERMINATED);
            let value = crate::lex::character(text, token.span, terminated, &mut diagnostics);
            Ok(Value { bits: value as u64, unsigned: false })
        } else {
            match crate::lex::number(text, token.span, &mut diagnostics) {
                TokenKind::Int(literal) => {
                    let unsigned = literal.unsigned || literal.value > i64::MAX as u64;
                    Ok(Value { bits: literal.value, unsigned })
                }
                _ => Err(problem(token.span, "floating point literal in preprocessor expression")),
            }
        };
        for diagnostic in diagnostics {
            self.preprocessor.report(diagnostic);
        }
        value
    }
}

fn signed((value, overflow): (i64, bool)) -> (u64, bool) {
    (value as u64, overflow)
}

/// `a << b` or `a >> b`; a negative count shifts the other way, a large one shifts everything out.
fn shifted(a: Value, b: Value, left: bool) -> u64 {
    let backwards = !b.unsigned && b.signed() < 0;
    let count = if backwards { b.signed().unsigned_abs() } else { b.bits };
    let fill = if !a.unsigned && a.signed() < 0 { u64::MAX } else { 0 };
    match (left != backwards, count < 64) {
        (true, true) => a.bits << count,
        (true, false) => 0,
        (false, true) if a.unsigned => a.bits >> count,
        (false, true) => (a.signed() >> count) as u64,
        (false, false) => fill,
    }
}
