//! The token array: looking at tokens, taking them, splitting `>>`.

use super::{Parse, Parser};
use crate::lex::token::{Keyword, Pragma, Punct, Token, TokenKind};
use crate::source::Span;
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

static EOF: TokenKind = TokenKind::Eof;
static GREATER: TokenKind = TokenKind::Punct(Punct::Greater);
static GREATER_EQUAL: TokenKind = TokenKind::Punct(Punct::GreaterEqual);
static ASSIGN: TokenKind = TokenKind::Punct(Punct::Assign);

/// Takes the pragmas out of the stream, so that no production stumbles over them, and files them under the token
/// that they stand before. The rest ends in `Eof` even where the input forgot to.
pub(super) fn set_pragmas_aside(all_tokens: Vec<Token>) -> (Vec<Token>, HashMap<usize, Vec<Pragma>>) {
    let mut tokens = Vec::with_capacity(all_tokens.len() + 1);
    let mut pragmas: HashMap<usize, Vec<Pragma>> = HashMap::default();
    for token in all_tokens {
        match token.kind {
            TokenKind::Pragma(pragma) => pragmas.entry(tokens.len()).or_default().push(pragma),
            // GNU's `__extension__` ("do not warn") is allowed anywhere, and ignored.
            TokenKind::Ident(name) if name == "__extension__" => {}
            _ => tokens.push(token),
        }
    }
    if !matches!(tokens.last(), Some(Token { kind: TokenKind::Eof, .. })) {
        let span = tokens.last().map_or_else(Span::default, |token| token.span.after());
        tokens.push(Token { kind: TokenKind::Eof, span });
    }
    (tokens, pragmas)
}

/// The values of `#pragma pack`, each with the position of the first token that it holds for.
pub(super) fn packing(pragmas: &HashMap<usize, Vec<Pragma>>) -> Vec<(usize, Option<u8>)> {
    let last = |pragmas: &[Pragma]| {
        pragmas.iter().rev().find_map(|pragma| match pragma {
            Pragma::Pack(value) => Some(*value),
            _ => None,
        })
    };
    let values = pragmas.iter().filter_map(|(&position, pragmas)| Some((position, last(pragmas)?)));
    let mut values: Vec<(usize, Option<u8>)> = values.collect();
    values.sort_unstable_by_key(|(position, _)| *position);
    values
}

/// Pairs brackets. A brace closes whatever parentheses were left open inside it, so that a forgotten `)` spoils no
/// more than its block.
pub(super) fn closing_brackets(tokens: &[Token]) -> HashMap<usize, usize> {
    let mut closing = HashMap::default();
    let mut open: Vec<(usize, Punct)> = Vec::new();
    for (position, token) in tokens.iter().enumerate() {
        let TokenKind::Punct(punct) = token.kind else {
            continue;
        };
        let opener = match punct {
            Punct::LParen | Punct::LBracket | Punct::LBrace => {
                open.push((position, punct));
                continue;
            }
            Punct::RParen => Punct::LParen,
            Punct::RBracket => Punct::LBracket,
            Punct::RBrace => Punct::LBrace,
            _ => continue,
        };
        let stops = |p: Punct| p == opener || (opener != Punct::LBrace && p == Punct::LBrace);
        let Some(depth) = open.iter().rposition(|&(_, p)| stops(p)) else {
            continue;
        };
        if open[depth].1 == opener {
            closing.insert(open[depth].0, position);
            open.truncate(depth);
        }
    }
    closing
}

impl Parser {
    /// The current token, or the rest of it.
    pub(super) fn kind(&self) -> &TokenKind {
        let kind = &self.tokens[self.position].kind;
        match (self.split, kind) {
            (0, _) => kind,
            (1, TokenKind::Punct(Punct::Shr)) => &GREATER,
            (1, TokenKind::Punct(Punct::ShrAssign)) => &GREATER_EQUAL,
            _ => &ASSIGN,
        }
    }

    /// The token `n` places after the current one.
    pub(super) fn nth(&self, n: usize) -> &TokenKind {
        if n == 0 {
            return self.kind();
        }
        self.tokens.get(self.position + n).map_or(&EOF, |token| &token.kind)
    }

    /// The current token in the source.
    pub(super) fn span(&self) -> Span {
        let mut span = self.tokens[self.position].span;
        span.start = (span.start + u32::from(self.split)).min(span.end);
        span
    }

    pub(super) fn at(&self, punct: Punct) -> bool {
        *self.kind() == TokenKind::Punct(punct)
    }

    pub(super) fn at_nth(&self, n: usize, punct: Punct) -> bool {
        *self.nth(n) == TokenKind::Punct(punct)
    }

    pub(super) fn at_keyword(&self, keyword: Keyword) -> bool {
        *self.kind() == TokenKind::Keyword(keyword)
    }

    pub(super) fn at_end(&self) -> bool {
        *self.kind() == TokenKind::Eof
    }

    /// The current token's name, where it is an identifier.
    pub(super) fn at_identifier(&self) -> Option<&SmolStr> {
        match self.kind() {
            TokenKind::Ident(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn at_identifier_nth(&self, n: usize) -> bool {
        matches!(self.nth(n), TokenKind::Ident(_))
    }

    /// True if the current token begins with `>`.
    pub(super) fn at_closing_angle(&self) -> bool {
        use Punct::{Greater, GreaterEqual, Shr, ShrAssign};
        matches!(self.kind(), TokenKind::Punct(Greater | GreaterEqual | Shr | ShrAssign))
    }

    /// Takes the current token; stays at the end.
    pub(super) fn bump(&mut self) {
        self.last_span = self.span();
        self.split = 0;
        if self.position + 1 < self.tokens.len() {
            self.position += 1;
        }
    }

    /// Goes to another token.
    pub(super) fn jump(&mut self, position: usize) {
        self.position = position.min(self.tokens.len() - 1);
        self.split = 0;
        if self.position > 0 {
            self.last_span = self.tokens[self.position - 1].span;
        }
    }

    pub(super) fn eat(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.bump();
        }
        found
    }

    /// Takes one `>`, if need be off the front of a longer token.
    pub(super) fn closing_angle(&mut self, opening: Span) -> Parse<()> {
        if !self.at_closing_angle() {
            return Err(self.expected_closing(Punct::Greater, Punct::Less, opening));
        }
        if self.at(Punct::Greater) {
            self.bump();
        } else {
            let start = self.span();
            self.split += 1;
            self.last_span = Span { end: start.start + 1, ..start };
        }
        Ok(())
    }

    /// `[[`
    pub(super) fn at_attribute_brackets(&self) -> bool {
        self.at(Punct::LBracket) && self.at_nth(1, Punct::LBracket)
    }

    /// Position of the bracket that closes the one at the current token.
    pub(super) fn closing_position(&self) -> Option<usize> {
        self.closing.get(&self.position).copied()
    }

    /// Skips from an opening bracket past the closing one; from any other token past that token.
    pub(super) fn skip_balanced(&mut self) {
        match self.closing_position() {
            Some(closing) => self.jump(closing + 1),
            None => self.bump(),
        }
    }

    /// The text of tokens, with blanks only between words.
    pub(super) fn text_of(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        for token in &self.tokens[from..to] {
            let word = match &token.kind {
                TokenKind::Ident(name) => name.as_str(),
                TokenKind::Keyword(keyword) => keyword.text(),
                TokenKind::Punct(punct) => punct.text(),
                TokenKind::Int(literal) => &literal.value.to_string(),
                _ => "…",
            };
            let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            if is_word(text.chars().last()) && is_word(word.chars().next()) {
                text.push(' ');
            }
            text.push_str(word);
        }
        text
    }
}
