//! A macro's body with its arguments in the place of its parameters.

use super::Preprocessor;
use super::expand::Arguments;
use super::macros::{Macro, MacroKind};
use crate::diagnostics::Diagnostic;
use crate::lex::token::Punct;
use crate::lex::{RawKind, RawToken, Symbol};
use crate::source::{ExpansionId, FileId, Span};

/// Text that `#` and `##` make counts as tokens, because it can double at each step just like them.
const BYTES_PER_TOKEN: usize = 16;

impl Preprocessor<'_> {
    /// Appends the body of `definition` to the arena, as part of `expansion`.
    pub(super) fn substitute(&mut self, definition: &Macro, arguments: &mut Arguments, expansion: ExpansionId) {
        let body = &definition.body;
        let variadic = variadic_parameter(definition);
        let start = self.arena.len();
        // True if `##` precedes the current item; and the place of the item on its left.
        let (mut paste, mut left) = (false, Span::default());
        let mut i = 0;
        while let Some(&item) = body.get(i) {
            i += 1;
            let item = RawToken { span: Span { expansion, ..item.span }, ..item };
            let from = self.arena.len();
            match item.kind {
                RawKind::VaOpt => {
                    let inside = item.symbol.0 as usize;
                    let given = variadic.is_some_and(|v| !self.expanded(arguments, v).is_empty());
                    if given && inside > 0 {
                        continue;
                    }
                    i += inside;
                    self.arena.push(placemarker(item));
                }
                RawKind::Parameter => self.substitute_parameter(item, paste, arguments),
                RawKind::Punct(Punct::Comma) if item.has(RawToken::PASTE_LEFT) => {
                    // GNU's `, ## __VA_ARGS__`: the comma goes with empty arguments, and is never pasted.
                    let next = body.get(i).filter(|next| is_parameter(next, variadic));
                    let Some(&parameter) = next else {
                        self.arena.push(item);
                        self.finish_paste(start, from, paste, left);
                        (paste, left) = (true, item.span);
                        continue;
                    };
                    i += 1;
                    let index = parameter.symbol.0 as usize;
                    if arguments.written(index).is_empty() {
                        self.arena.push(placemarker(item));
                    } else {
                        self.arena.push(item);
                        self.append(parameter, arguments.written(index));
                    }
                    (paste, left) = (parameter.has(RawToken::PASTE_LEFT), item.span);
                    continue;
                }
                _ => self.arena.push(item),
            }
            self.finish_paste(start, from, paste, left);
            (paste, left) = (item.has(RawToken::PASTE_LEFT), item.span);
            if self.stopped {
                break;
            }
        }
        if definition.has_operators {
            self.drop_operators(start);
        }
    }

    fn substitute_parameter(&mut self, item: RawToken, paste: bool, arguments: &mut Arguments) {
        let index = item.symbol.0 as usize;
        if item.has(RawToken::STRINGIFY) {
            let text = self.stringify(arguments.written(index));
            if self.charge(item, text.len() / BYTES_PER_TOKEN) {
                let token = self.made_token(RawKind::Str, &text, item);
                self.arena.push(token);
            }
        } else if paste || item.has(RawToken::PASTE_LEFT) {
            match arguments.written(index) {
                [] => self.arena.push(placemarker(item)),
                written => self.append(item, written),
            }
        } else {
            let expanded = self.expanded(arguments, index);
            self.append(item, expanded);
        }
    }

    /// Appends an argument in the place of `parameter`.
    fn append(&mut self, parameter: RawToken, tokens: &[RawToken]) {
        if tokens.is_empty() || !self.charge(parameter, tokens.len()) {
            return;
        }
        let from = self.arena.len();
        self.arena.extend_from_slice(tokens);
        self.arena[from] = self.arena[from].spaced_like(parameter);
    }

    /// Removes the tokens that only served the operators.
    fn drop_operators(&mut self, start: usize) {
        let mut kept = start;
        for i in start..self.arena.len() {
            let token = self.arena[i];
            if token.kind != RawKind::Placemarker {
                let flags = token.flags & !(RawToken::PASTE_LEFT | RawToken::STRINGIFY);
                self.arena[kept] = RawToken { flags, ..token };
                kept += 1;
            }
        }
        self.arena.truncate(kept);
    }

    /// If `paste`, joins the tokens on both sides of `at`; `start` is where the expansion begins.
    fn finish_paste(&mut self, start: usize, at: usize, paste: bool, left: Span) {
        if !paste || at <= start || at >= self.arena.len() {
            return;
        }
        let (before, after) = (self.arena[at - 1], self.arena[at]);
        let joined = match (before.kind, after.kind) {
            (_, RawKind::Placemarker) => Some(before),
            (RawKind::Placemarker, _) => Some(after.spaced_like(before)),
            _ => self.joined(before, after, left),
        };
        if let Some(joined) = joined {
            self.arena[at - 1] = joined;
            self.arena.remove(at);
        }
    }

    /// The one token that the texts of two make; `None`, with an error, when they make none.
    fn joined(&mut self, before: RawToken, after: RawToken, left: Span) -> Option<RawToken> {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        text.push_str(self.text(before));
        text.push_str(self.text(after));
        if !self.charge(before, text.len() / BYTES_PER_TOKEN) {
            return None;
        }
        let token = match crate::lex::lex(&text, FileId::default(), &mut self.symbols).tokens[..] {
            [token] if token.span.end as usize == text.len() => {
                Some(RawToken { span: left, ..token }.spaced_like(before))
            }
            _ => None,
        };
        let placeable = !matches!(before.kind, RawKind::Pragma) && !matches!(after.kind, RawKind::Pragma);
        if token.is_none() && placeable {
            let message = format!("pasting formed '{text}', an invalid preprocessing token");
            self.report(Diagnostic::error("invalid-paste", left, message));
        }
        self.scratch = text;
        token.filter(|_| placeable)
    }

    /// `tokens` as a string literal, with single spaces where they had any.
    fn stringify(&self, tokens: &[RawToken]) -> String {
        let mut text = String::from("\"");
        for (i, &token) in tokens.iter().enumerate() {
            if i > 0 && (token.leading_space() || token.start_of_line()) {
                text.push(' ');
            }
            let spelling = self.text(token);
            if matches!(token.kind, RawKind::Str | RawKind::Char) {
                for c in spelling.chars() {
                    match c {
                        '"' | '\\' => text.extend(['\\', c]),
                        '\n' => text.push_str("\\n"),
                        _ => text.push(c),
                    }
                }
            } else {
                text.push_str(spelling);
            }
        }
        // A lone backslash at the end would escape the closing quote.
        let backslashes = text.bytes().rev().take_while(|&b| b == b'\\').count();
        if backslashes % 2 == 1 {
            text.pop();
        }
        text.push('"');
        text
    }
}

fn placemarker(item: RawToken) -> RawToken {
    RawToken { kind: RawKind::Placemarker, symbol: Symbol::default(), ..item }
}

/// The index of the parameter that takes all the arguments that are left.
fn variadic_parameter(definition: &Macro) -> Option<usize> {
    match &definition.kind {
        MacroKind::Function(parameters) if parameters.variadic => parameters.names.len().checked_sub(1),
        _ => None,
    }
}

fn is_parameter(item: &RawToken, index: Option<usize>) -> bool {
    item.kind == RawKind::Parameter && !item.has(RawToken::STRINGIFY) && index == Some(item.symbol.0 as usize)
}
