//! Pragmas about loops: `unroll` and `clang loop`.

use super::pragmas::is_word;
use super::{Preprocessor, behind};
use crate::lex::token::{Pragma, Punct};
use crate::lex::{RawKind, RawToken, known};
use crate::source::Span;

/// Options of `#pragma clang loop` that are hints, and change nothing here.
const HINTS: &[&str] = &[
    "vectorize",
    "vectorize_width",
    "vectorize_predicate",
    "interleave",
    "interleave_count",
    "distribute",
    "pipeline",
    "pipeline_initiation_interval",
];

impl Preprocessor<'_> {
    /// The last of the options of `#pragma clang loop` that is about unrolling.
    pub(super) fn clang_loop(&mut self, mut options: &[RawToken]) -> Option<Pragma> {
        let mut pragma = None;
        while let Some((option, rest)) = options.split_first() {
            let mut depth = 0_usize;
            let closing = rest.iter().position(|token| {
                depth += usize::from(token.is(Punct::LParen));
                depth -= usize::from(token.is(Punct::RParen) && depth > 0);
                depth == 0
            });
            let length = closing.map_or(rest.len(), |closing| closing + 1);
            let (operand, after) = rest.split_at(length);
            if is_word(option, known::UNROLL_COUNT) {
                pragma = self.unroll(operand, option.span);
            } else if is_word(option, known::UNROLL) {
                let says = |word| operand.iter().any(|token| is_word(token, word));
                if says(known::DISABLE) {
                    pragma = Some(Pragma::UnrollDisable);
                } else if says(known::FULL) {
                    pragma = Some(Pragma::UnrollFull);
                } else if says(known::ENABLE) {
                    pragma = Some(Pragma::Unroll);
                } else {
                    let message = "invalid argument; expected 'enable', 'full' or 'disable'";
                    self.error("pragma", option.span, message);
                }
            } else {
                self.check_loop_option(*option, operand);
            }
            options = after;
        }
        pragma
    }

    /// `unroll`, `unroll N` and `unroll(N)`. A count that only templates know means "as far as possible".
    pub(super) fn unroll(&mut self, operand: &[RawToken], place: Span) -> Option<Pragma> {
        let mut tokens = Vec::new();
        self.expand_alone(operand, &mut tokens);
        if tokens.is_empty() {
            return Some(Pragma::Unroll);
        }
        if tokens.iter().any(|token| token.kind == RawKind::Ident) {
            return Some(Pragma::Unroll);
        }
        let end = operand.last().map_or(place, |&last| behind(last));
        match self.evaluate(&tokens, end) {
            Ok(value) => {
                let negative = !value.unsigned && (value.bits as i64) < 0;
                match u32::try_from(value.bits) {
                    Ok(count @ 1..) => Some(Pragma::UnrollCount(count)),
                    Err(_) if !negative => Some(Pragma::Unroll),
                    _ => {
                        let value = value.bits as i64;
                        let message = format!("invalid value '{value}'; must be positive");
                        self.error("pragma", tokens[0].span, message);
                        None
                    }
                }
            }
            Err(mut problem) => {
                problem.id = "pragma";
                self.report(*problem);
                None
            }
        }
    }

    /// Refuses an option that clang does not have, or has with an operand.
    fn check_loop_option(&mut self, option: RawToken, operand: &[RawToken]) {
        let name = self.text(option).to_string();
        if !HINTS.contains(&name.as_str()) {
            let message = format!(
                "invalid option '{name}'; expected vectorize, vectorize_width, interleave, interleave_count, unroll, \
                 unroll_count, pipeline, pipeline_initiation_interval, vectorize_predicate, or distribute"
            );
            self.error("pragma", option.span, message);
        } else if !operand.first().is_some_and(|token| token.is(Punct::LParen)) || operand.len() < 3 {
            self.error("pragma", option.span, format!("expected '(' and an argument after '{name}'"));
        }
    }
}
