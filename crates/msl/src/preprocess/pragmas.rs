//! `#pragma` and `_Pragma`: the few that this compiler uses are kept as tokens.

use super::{Preprocessor, behind};
use crate::lex::token::{Pragma, Punct};
use crate::lex::{RawKind, RawToken, Symbol, known};
use crate::source::Span;
use smol_str::SmolStr;

impl Preprocessor<'_> {
    /// `#pragma operands`: a token if it is kept.
    pub(super) fn pragma(&mut self, keyword: RawToken, operands: &[RawToken]) -> Option<RawToken> {
        if operands.first().is_some_and(|first| is_word(first, known::ONCE)) {
            self.pragma_once(operands[0]);
            return None;
        }
        let end = operands.last().map_or(keyword.span, |last| last.span);
        let pragma = self.meaning(operands)?;
        Some(self.pragma_token(keyword.span.to(end), pragma))
    }

    fn pragma_token(&mut self, span: Span, pragma: Pragma) -> RawToken {
        self.pragmas.push(pragma);
        let symbol = Symbol(self.pragmas.len() as u32 - 1);
        RawToken { span, symbol, kind: RawKind::Pragma, flags: RawToken::LEADING_SPACE }
    }

    /// `_Pragma("…")`, whose name was just read.
    pub(super) fn pragma_operator(&mut self, name: RawToken) -> Option<RawToken> {
        let open = self.next_unexpanded();
        let string = if open.is_some_and(|t| t.is(Punct::LParen)) { self.next_expanded() } else { None };
        let string = string.filter(|t| t.kind == RawKind::Str && !t.has(RawToken::UNTERMINATED));
        let close = if string.is_some() { self.next_expanded() } else { None };
        let (Some(string), Some(_)) = (string, close.filter(|t| t.is(Punct::RParen))) else {
            self.error("pragma", name.span, "_Pragma takes a parenthesized string literal");
            return None;
        };
        let text = crate::lex::string(self.text(string), string.span, true, &mut Vec::new());
        let mut tokens = crate::lex::lex(&text, name.span.file, &mut self.symbols).tokens;
        for token in &mut tokens {
            token.span = string.span;
        }
        if tokens.first().is_some_and(|first| is_word(first, known::ONCE)) {
            self.pragma_once(name);
            return None;
        }
        let pragma = self.meaning(&tokens)?;
        Some(self.pragma_token(name.span, pragma))
    }

    /// Meaning of a pragma; `None` if this compiler ignores it.
    fn meaning(&mut self, words: &[RawToken]) -> Option<Pragma> {
        let (first, rest) = words.split_first()?;
        if is_word(first, known::UNROLL) {
            return self.unroll(rest, first.span);
        }
        if is_word(first, known::NOUNROLL) {
            return Some(Pragma::UnrollDisable);
        }
        if self.text(*first) == "pack" {
            return self.pack(rest, first.span);
        }
        let (second, rest) = rest.split_first()?;
        if self.text(*first) == "STDC" {
            return self.standard(*second, rest);
        }
        let clang = is_word(first, known::CLANG);
        if clang && is_word(second, known::LOOP) {
            return self.clang_loop(rest);
        }
        if (clang || is_word(first, known::METAL)) && is_word(second, known::FP) {
            let mut text = String::new();
            for (i, &token) in rest.iter().enumerate() {
                if i > 0 && token.leading_space() {
                    text.push(' ');
                }
                text.push_str(self.text(token));
            }
            return Some(Pragma::Fp(SmolStr::new(text)));
        }
        None
    }

    /// `#pragma STDC FP_CONTRACT ON|OFF|DEFAULT`: the same as `#pragma METAL fp contract(…)`.
    fn standard(&self, name: RawToken, operand: &[RawToken]) -> Option<Pragma> {
        if self.text(name) != "FP_CONTRACT" {
            return None;
        }
        let contract = match self.text(*operand.first()?) {
            "ON" => "contract(on)",
            "OFF" => "contract(off)",
            "DEFAULT" => "contract(default)",
            _ => return None,
        };
        Some(Pragma::Fp(SmolStr::new_static(contract)))
    }

    /// The last of the options of `#pragma clang loop` that is about unrolling.
    fn clang_loop(&mut self, mut options: &[RawToken]) -> Option<Pragma> {
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
            }
            options = after;
        }
        pragma
    }

    /// `unroll`, `unroll N` and `unroll(N)`. A count that only templates know means "as far as possible".
    fn unroll(&mut self, operand: &[RawToken], place: Span) -> Option<Pragma> {
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
}

fn is_word(token: &RawToken, word: Symbol) -> bool {
    token.kind == RawKind::Ident && token.symbol == word
}
