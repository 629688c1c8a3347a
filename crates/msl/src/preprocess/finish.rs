//! The last step: raw tokens become those that the parser reads.

use super::{Preprocessor, limits, too_many_tokens};
use crate::lex::token::{Keyword, Punct, Token, TokenKind};
use crate::lex::{RawKind, RawToken};
use crate::source::{ExpansionId, FileId, Span};
use smol_str::SmolStr;

/// `and`, `or` and the other operators that C++ also spells as words.
pub(super) fn alternative_operator(text: &str) -> Option<Punct> {
    Some(match text {
        "and" => Punct::AndAnd,
        "and_eq" => Punct::AndAssign,
        "bitand" => Punct::And,
        "bitor" => Punct::Or,
        "compl" => Punct::Tilde,
        "not" => Punct::Not,
        "not_eq" => Punct::NotEqual,
        "or" => Punct::OrOr,
        "or_eq" => Punct::OrAssign,
        "xor" => Punct::Caret,
        "xor_eq" => Punct::XorAssign,
        _ => return None,
    })
}

impl Preprocessor<'_> {
    /// Reads the program to its end.
    pub(super) fn finish(mut self, main: FileId) -> Vec<Token> {
        let expected = self.frames.first().map_or(0, |frame| frame.tokens.len());
        let mut tokens = Vec::with_capacity((expected * 2 + 1).min(limits::TOKENS));
        // Tokens of names and numbers, by symbol: most occur many times.
        let mut known: Vec<Option<TokenKind>> = Vec::new();
        let mut strings = StringRun::default();
        while let Some(raw) = self.next_expanded() {
            let Some(kind) = self.meaning_of(raw, &mut known) else {
                continue;
            };
            strings.push(&mut tokens, Token { kind, span: raw.span });
            if tokens.len() > limits::TOKENS {
                self.stop(too_many_tokens(self.sources.outermost(raw.span)));
            }
        }
        strings.end(&mut tokens);
        self.finish_packing();
        if self.stopped {
            tokens.clear();
        }
        let end = self.sources.file(main).text.len() as u32;
        let span = Span { file: main, start: end, end, expansion: ExpansionId::NONE };
        tokens.push(Token { kind: TokenKind::Eof, span });
        tokens
    }

    /// The parser's token for `raw`; `None`, after an error, if there is none.
    fn meaning_of(&mut self, raw: RawToken, known: &mut Vec<Option<TokenKind>>) -> Option<TokenKind> {
        let index = raw.symbol.0 as usize;
        match raw.kind {
            RawKind::Punct(punct) => Some(TokenKind::Punct(punct)),
            RawKind::Ident | RawKind::Number => {
                if let Some(Some(kind)) = known.get(index) {
                    return Some(kind.clone());
                }
                let before = self.diagnostics.len();
                let kind = self.word(raw);
                // An invalid number is reported at each of its uses.
                if self.diagnostics.len() == before {
                    if known.len() <= index {
                        known.resize(index + 1, None);
                    }
                    known[index] = Some(kind.clone());
                }
                Some(kind)
            }
            RawKind::Pragma => self.pragmas.get(index).cloned().map(TokenKind::Pragma),
            RawKind::Char | RawKind::Str => Some(self.literal(raw)),
            _ => {
                self.stray(raw);
                None
            }
        }
    }

    fn word(&mut self, raw: RawToken) -> TokenKind {
        let text = self.symbols.text(raw.symbol);
        if raw.kind == RawKind::Number {
            let mut diagnostics = Vec::new();
            let kind = crate::lex::number(text, raw.span, &mut diagnostics);
            for diagnostic in diagnostics {
                self.report(diagnostic);
            }
            return kind;
        }
        match (Keyword::from_str(text), alternative_operator(text)) {
            (Some(keyword), _) => TokenKind::Keyword(keyword),
            (None, Some(punct)) => TokenKind::Punct(punct),
            (None, None) => TokenKind::Ident(self.symbols.name(raw.symbol)),
        }
    }

    fn literal(&mut self, raw: RawToken) -> TokenKind {
        let mut diagnostics = Vec::new();
        let text = self.symbols.text(raw.symbol);
        let terminated = !raw.has(RawToken::UNTERMINATED);
        let kind = match raw.kind {
            RawKind::Char => TokenKind::Char(crate::lex::character(text, raw.span, terminated, &mut diagnostics)),
            _ => TokenKind::Str(crate::lex::string(text, raw.span, terminated, &mut diagnostics)),
        };
        for diagnostic in diagnostics {
            self.report(diagnostic);
        }
        kind
    }

    fn stray(&mut self, raw: RawToken) {
        let Some(c) = self.text(raw).chars().next() else {
            return;
        };
        let message = match c {
            '\0' => "null character is not allowed outside of comments and literals".into(),
            ' '..='~' => format!("unexpected character '{c}'"),
            _ => format!("unexpected character <U+{:04X}>", u32::from(c)),
        };
        self.error("unexpected-character", raw.span, message);
    }
}

/// Joins adjacent string literals. The text is collected apart: a run may be long, and joining two by two would
/// copy it again for each.
#[derive(Default)]
struct StringRun {
    text: String,
    /// Number of literals in the run; the first is the last token.
    length: usize,
}

impl StringRun {
    fn push(&mut self, tokens: &mut Vec<Token>, token: Token) {
        let TokenKind::Str(text) = &token.kind else {
            if self.length > 0 {
                self.end(tokens);
            }
            tokens.push(token);
            return;
        };
        self.text.push_str(text);
        self.length += 1;
        match tokens.last_mut().filter(|_| self.length > 1) {
            Some(first) => first.span = first.span.to(token.span),
            None => tokens.push(token),
        }
    }

    fn end(&mut self, tokens: &mut [Token]) {
        if let Some(first) = tokens.last_mut().filter(|_| self.length > 1) {
            first.kind = TokenKind::Str(SmolStr::new(&self.text));
        }
        self.text.clear();
        self.length = 0;
    }
}
