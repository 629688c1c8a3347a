//! The scanner: from text to raw tokens.

use super::punct::punct;
use super::token::Punct;
use super::{RawKind, RawToken, Symbol, Symbols, known};
use crate::source::{ExpansionId, FileId, Span};
use std::borrow::Cow;

/// Most tokens of a file: more would take gigabytes.
pub const MAX_TOKENS: usize = 16_000_000;

/// The raw tokens of one file.
#[derive(Debug)]
pub struct Lexed {
    /// The tokens, without an end marker.
    pub tokens: Vec<RawToken>,
    /// The `/*` of a comment that the end of the file cuts off.
    pub unterminated_comment: Option<Span>,
    /// There are more than [`MAX_TOKENS`]; the rest is missing.
    pub is_cut: bool,
}

/// Splits `text` into raw tokens.
pub fn lex(text: &str, file: FileId, symbols: &mut Symbols) -> Lexed {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        position: if text.starts_with('\u{feff}') { 3 } else { 0 },
        file,
        symbols,
        flags: RawToken::START_OF_LINE,
        spliced: false,
        header_next: HeaderName::No,
        unterminated_comment: None,
    };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while let Some(token) = scanner.token() {
        if tokens.len() == MAX_TOKENS {
            return Lexed { tokens, unterminated_comment: None, is_cut: true };
        }
        tokens.push(token);
    }
    Lexed { tokens, unterminated_comment: scanner.unterminated_comment, is_cut: false }
}

/// Progress of the scanner towards `#include <`.
#[derive(Clone, Copy, PartialEq)]
enum HeaderName {
    No,
    AfterHash,
    AfterInclude,
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
    file: FileId,
    symbols: &'a mut Symbols,
    /// The spacing seen before the next token.
    flags: u8,
    /// The token being read contains a line continuation.
    spliced: bool,
    header_next: HeaderName,
    unterminated_comment: Option<Span>,
}

const NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
        byte += 1;
    }
    table
};

fn is_name_byte(byte: u8) -> bool {
    NAME_BYTES[byte as usize]
}

/// The length of a backslash-newline at `position`, if there is one. As in clang, blanks may stand between the two.
fn splice_length(bytes: &[u8], position: usize) -> Option<usize> {
    if bytes.get(position) != Some(&b'\\') {
        return None;
    }
    let rest = &bytes[position + 1..];
    let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)).count();
    (rest.get(blanks) == Some(&b'\n')).then_some(blanks + 2)
}

/// `text` without its line continuations.
pub(super) fn without_splices(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let (mut clean, mut kept, mut position) = (String::new(), 0, 0);
    while position < text.len() {
        match splice_length(text.as_bytes(), position) {
            Some(length) => {
                clean.push_str(&text[kept..position]);
                position += length;
                kept = position;
            }
            None => position += 1,
        }
    }
    clean.push_str(&text[kept..]);
    Cow::Owned(clean)
}

impl Scanner<'_> {
    /// The byte at `position`; 0 past the end.
    fn byte(&self, position: usize) -> u8 {
        self.bytes.get(position).copied().unwrap_or(0)
    }

    /// `position`, or where the text goes on after line continuations that stand there.
    fn unspliced(&self, mut position: usize) -> usize {
        if self.byte(position) == b'\\' {
            while let Some(length) = splice_length(self.bytes, position) {
                position += length;
            }
        }
        position
    }

    /// Moves on to `position`, which may be behind line continuations.
    fn take(&mut self, position: usize, length: usize) {
        self.spliced |= position != self.position;
        self.position = position + length;
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32, expansion: ExpansionId::NONE }
    }

    fn token(&mut self) -> Option<RawToken> {
        self.blank();
        let start = self.position;
        let first = *self.bytes.get(start)?;
        self.spliced = false;
        let mut flags = std::mem::take(&mut self.flags);
        let kind = match first {
            b'<' if self.header_next == HeaderName::AfterInclude && self.header_name() => RawKind::HeaderName,
            b'"' | b'\'' => self.quoted(first, &mut flags),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(self.unspliced(start + 1)).is_ascii_digit() => self.number(),
            _ if is_name_byte(first) => self.name_or_prefixed_literal(&mut flags),
            128.. => self.unicode(),
            _ => self.punct(),
        };
        let symbol = self.symbol(kind, start);
        self.header_next = self.after(kind, symbol, flags);
        Some(RawToken { span: self.span(start, self.position), symbol, kind, flags })
    }

    fn symbol(&mut self, kind: RawKind, start: usize) -> Symbol {
        if matches!(kind, RawKind::Punct(_)) {
            return Symbol::default();
        }
        let text = &self.text[start..self.position];
        let text = if self.spliced { without_splices(text) } else { Cow::Borrowed(text) };
        self.symbols.intern(&text)
    }

    fn after(&self, kind: RawKind, symbol: Symbol, flags: u8) -> HeaderName {
        let includes = [known::INCLUDE, known::IMPORT, known::INCLUDE_NEXT];
        match kind {
            RawKind::Punct(Punct::Hash) if flags & RawToken::START_OF_LINE != 0 => HeaderName::AfterHash,
            RawKind::Ident if self.header_next == HeaderName::AfterHash && includes.contains(&symbol) => {
                HeaderName::AfterInclude
            }
            _ => HeaderName::No,
        }
    }

    /// Skips whitespace, comments and line continuations.
    fn blank(&mut self) {
        loop {
            match self.byte(self.position) {
                b'\n' => {
                    self.flags |= RawToken::START_OF_LINE | RawToken::LEADING_SPACE;
                    self.position += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.flags |= RawToken::LEADING_SPACE;
                    self.position += 1;
                }
                b'\\' => match splice_length(self.bytes, self.position) {
                    Some(length) => self.position += length,
                    None => return,
                },
                b'/' => {
                    let second = self.unspliced(self.position + 1);
                    match self.byte(second) {
                        b'/' => self.line_comment(second + 1),
                        b'*' => self.block_comment(second + 1),
                        _ => return,
                    }
                    self.flags |= RawToken::LEADING_SPACE;
                }
                _ => return,
            }
        }
    }

    fn line_comment(&mut self, mut position: usize) {
        while let Some(&byte) = self.bytes.get(position) {
            match byte {
                b'\n' => break,
                b'\\' => position += splice_length(self.bytes, position).unwrap_or(1),
                _ => position += 1,
            }
        }
        self.position = position;
    }

    fn block_comment(&mut self, mut position: usize) {
        let start = self.position;
        while let Some(offset) = self.bytes[position..].iter().position(|&b| b == b'*') {
            position += offset + 1;
            let slash = self.unspliced(position);
            if self.byte(slash) == b'/' {
                self.position = slash + 1;
                return;
            }
        }
        self.unterminated_comment = Some(self.span(start, start + 2));
        self.position = self.bytes.len();
    }

    /// Reads the rest of a name.
    fn name(&mut self) {
        let rest = &self.bytes[self.position..];
        self.position += rest.iter().position(|&b| !is_name_byte(b)).unwrap_or(rest.len());
        loop {
            let position = self.unspliced(self.position);
            let byte = self.byte(position);
            if is_name_byte(byte) {
                self.take(position, 1);
            } else if let Some(c) = self.letter(position) {
                self.take(position, c.len_utf8());
            } else {
                return;
            }
        }
    }

    /// The Unicode letter or digit at `position`.
    fn letter(&self, position: usize) -> Option<char> {
        if self.byte(position) < 128 {
            return None;
        }
        let c = self.text.get(position..)?.chars().next()?;
        c.is_alphanumeric().then_some(c)
    }

    fn name_or_prefixed_literal(&mut self, flags: &mut u8) -> RawKind {
        let start = self.position;
        self.name();
        let quote = self.byte(self.position);
        if quote != b'"' && quote != b'\'' {
            return RawKind::Ident;
        }
        match (&self.text[start..self.position], quote) {
            ("R" | "LR" | "uR" | "UR" | "u8R", b'"') => self.raw_string(flags),
            ("L" | "u" | "U" | "u8", _) => self.quoted(quote, flags),
            _ => RawKind::Ident,
        }
    }

    fn number(&mut self) -> RawKind {
        let mut last = self.byte(self.position);
        self.position += 1;
        loop {
            let position = self.unspliced(self.position);
            let byte = self.byte(position);
            let goes_on = match byte {
                b'.' => true,
                b'+' | b'-' => matches!(last, b'e' | b'E' | b'p' | b'P'),
                b'\'' => is_name_byte(self.byte(self.unspliced(position + 1))),
                _ => is_name_byte(byte),
            };
            if goes_on {
                self.take(position, 1);
            } else if let Some(c) = self.letter(position) {
                self.take(position, c.len_utf8());
            } else {
                return RawKind::Number;
            }
            last = byte;
        }
    }

    fn quoted(&mut self, quote: u8, flags: &mut u8) -> RawKind {
        self.position += 1;
        loop {
            match self.bytes.get(self.position) {
                None | Some(b'\n') => {
                    *flags |= RawToken::UNTERMINATED;
                    break;
                }
                Some(b'\\') => match splice_length(self.bytes, self.position) {
                    Some(length) => {
                        self.spliced = true;
                        self.position += length;
                    }
                    // An escaped character: the splices between the two, then one byte that cannot end the literal.
                    None => {
                        let escaped = self.unspliced(self.position + 1);
                        self.spliced |= escaped != self.position + 1;
                        let cannot_end = matches!(self.byte(escaped), b'"' | b'\'' | b'\\');
                        self.position = escaped + usize::from(cannot_end);
                    }
                },
                Some(&byte) => {
                    self.position += 1;
                    if byte == quote {
                        break;
                    }
                }
            }
        }
        if quote == b'"' { RawKind::Str } else { RawKind::Char }
    }

    /// `R"delimiter(…)delimiter"`: line continuations mean nothing inside.
    fn raw_string(&mut self, flags: &mut u8) -> RawKind {
        let body = self.position + 1;
        let is_delimiter = |b: &u8| !matches!(b, b'(' | b')' | b'\\' | b'"' | b' ' | b'\t' | b'\r' | b'\n');
        let length = self.bytes[body..].iter().take_while(|&b| is_delimiter(b)).count();
        if length > 16 || self.byte(body + length) != b'(' {
            return self.quoted(b'"', flags);
        }
        let closing = format!("){}\"", &self.text[body..body + length]);
        match self.text[body + length..].find(&closing) {
            Some(offset) => self.position = body + length + offset + closing.len(),
            None => {
                *flags |= RawToken::UNTERMINATED;
                self.position = self.bytes.len();
            }
        }
        RawKind::Str
    }

    /// `<name>` up to the `>` on the same line; `false` when there is none.
    fn header_name(&mut self) -> bool {
        let rest = &self.bytes[self.position..];
        match rest.iter().position(|b| matches!(b, b'>' | b'\n')) {
            Some(length) if rest[length] == b'>' => {
                self.position += length + 1;
                true
            }
            _ => false,
        }
    }

    fn unicode(&mut self) -> RawKind {
        let Some(c) = self.text.get(self.position..).and_then(|rest| rest.chars().next()) else {
            self.position = self.bytes.len();
            return RawKind::Other;
        };
        self.position += c.len_utf8();
        if c.is_alphabetic() {
            self.name();
            return RawKind::Ident;
        }
        RawKind::Other
    }

    fn punct(&mut self) -> RawKind {
        let first = self.byte(self.position);
        let second_at = self.unspliced(self.position + 1);
        let second = self.byte(second_at);
        let third_at = self.unspliced(second_at + 1);
        let Some((punct, length)) = punct([first, second, self.byte(third_at)]) else {
            self.position += 1;
            return RawKind::Other;
        };
        self.position = [self.position, second_at, third_at][length - 1] + 1;
        RawKind::Punct(punct)
    }
}
