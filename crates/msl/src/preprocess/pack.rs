//! `#pragma pack`: the most that the members of a struct are aligned. Its stack is kept here; the parser gets the value
//! that holds from each pragma on.

use super::Preprocessor;
use crate::diagnostics::Diagnostic;
use crate::lex::token::{Pragma, Punct};
use crate::lex::{RawKind, RawToken};
use crate::source::Span;
use smol_str::SmolStr;

/// State of `#pragma pack`.
#[derive(Default)]
pub(super) struct Packing {
    /// `None`: members have their own alignment.
    current: Option<u8>,
    pushed: Vec<Pushed>,
}

/// A value that `pack(push)` saved.
struct Pushed {
    label: Option<SmolStr>,
    value: Option<u8>,
    span: Span,
}

/// Most entries on the stack.
const MOST_PUSHED: usize = 10_000;

impl Preprocessor<'_> {
    /// `pack(n)`, `pack()`, `pack(push, label, n)`, `pack(pop, label, n)`, `pack(show)`, the operands without `pack`.
    pub(super) fn pack(&mut self, operands: &[RawToken], place: Span) -> Option<Pragma> {
        let mut tokens = Vec::new();
        self.expand_alone(operands, &mut tokens);
        let [open, inside @ .., close] = &*tokens else {
            return self.ignore_pack(place, "missing '(' after '#pragma pack' - ignoring");
        };
        if !open.is(Punct::LParen) {
            return self.ignore_pack(open.span, "missing '(' after '#pragma pack' - ignoring");
        }
        if !close.is(Punct::RParen) {
            return self.ignore_pack(close.span, "missing ')' after '#pragma pack' - ignoring");
        }
        let words: Vec<&[RawToken]> = inside.split(|token| token.is(Punct::Comma)).collect();
        if words.iter().any(|word| word.len() != 1) && !inside.is_empty() {
            return self.ignore_pack(open.span, "expected integer or identifier in '#pragma pack' - ignored");
        }
        let words: Vec<RawToken> = words.iter().filter_map(|word| word.first().copied()).collect();
        let action = words.first().map(|&word| self.text(word).to_string());
        match action.as_deref() {
            None => self.packing.current = None,
            Some("show") if words.len() == 1 => {
                let value = self.packing.current.map_or("0".to_string(), |value| value.to_string());
                self.warning("pragma-pack", place, format!("value of #pragma pack(show) == {value}"));
                return None;
            }
            Some("push") => {
                let (label, value) = self.pack_operands(&words[1..])?;
                if self.packing.pushed.len() >= MOST_PUSHED {
                    self.error("pragma-pack", place, "#pragma pack(push, …) is nested too deeply");
                    return None;
                }
                self.packing.pushed.push(Pushed { label, value: self.packing.current, span: place });
                if let Some(value) = value {
                    self.packing.current = value;
                }
            }
            Some("pop") => {
                let (label, value) = self.pack_operands(&words[1..])?;
                self.pop_pack(label.as_deref(), place);
                if let Some(value) = value {
                    self.packing.current = value;
                }
            }
            Some(_) if words.len() == 1 => self.packing.current = self.pack_value(words[0])?,
            Some(_) => {
                return self.ignore_pack(words[0].span, "unknown action for '#pragma pack' - ignored");
            }
        }
        Some(Pragma::Pack(self.packing.current))
    }

    /// Label and value behind `push` or `pop`; `None` if the pragma is ignored.
    fn pack_operands(&mut self, words: &[RawToken]) -> Option<(Option<SmolStr>, Option<Option<u8>>)> {
        let label = |this: &Self, word: RawToken| Some(SmolStr::new(this.text(word)));
        match *words {
            [] => Some((None, None)),
            [word] if word.kind == RawKind::Ident => Some((label(self, word), None)),
            [word] => Some((None, Some(self.pack_value(word)?))),
            [name, word] if name.kind == RawKind::Ident => Some((label(self, name), Some(self.pack_value(word)?))),
            [first, ..] => {
                self.ignore_pack(first.span, "expected integer or identifier in '#pragma pack' - ignored");
                None
            }
        }
    }

    /// The alignment that a number means: `Some(None)` for 0, none at all.
    fn pack_value(&mut self, word: RawToken) -> Option<Option<u8>> {
        let value = match self.text(word).parse::<u8>() {
            Ok(0) => None,
            Ok(value) if value.is_power_of_two() && value <= 16 => Some(value),
            _ if word.kind == RawKind::Ident => {
                self.ignore_pack(word.span, "unknown action for '#pragma pack' - ignored");
                return None;
            }
            _ => {
                let message = "expected #pragma pack parameter to be '1', '2', '4', '8', or '16'";
                self.ignore_pack(word.span, message);
                return None;
            }
        };
        Some(value)
    }

    fn pop_pack(&mut self, label: Option<&str>, place: Span) {
        let pushed = &mut self.packing.pushed;
        let found = match label {
            None => pushed.len().checked_sub(1),
            Some(label) => pushed.iter().rposition(|pushed| pushed.label.as_deref() == Some(label)),
        };
        match found {
            Some(found) => {
                self.packing.current = pushed[found].value;
                pushed.truncate(found);
            }
            None => {
                let message = "#pragma pack(pop, ...) failed: stack empty";
                self.warning("ignored-pragmas", place, message);
            }
        }
    }

    fn ignore_pack(&mut self, span: Span, message: &str) -> Option<Pragma> {
        self.warning("ignored-pragmas", span, message);
        None
    }

    /// Warns about each `push` without a `pop`.
    pub(super) fn finish_packing(&mut self) {
        for pushed in std::mem::take(&mut self.packing.pushed).into_iter().rev() {
            let message = "unterminated '#pragma pack (push, ...)' at end of file";
            self.report(Diagnostic::warning("pragma-pack", pushed.span, message));
        }
    }
}
