//! Preprocessing tokens.

use super::Symbol;
use super::token::Punct;
use crate::source::Span;

/// Kind of raw token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RawKind {
    /// A name; keywords are names here.
    Ident,
    /// A pp-number: anything that starts like a number.
    Number,
    /// A character literal with its quotes.
    Char,
    /// A string literal with its quotes and prefix.
    Str,
    /// `<name>` after `#include`.
    HeaderName,
    /// An operator or separator.
    Punct(Punct),
    /// A character that begins no token.
    Other,
    /// In a macro's body: the parameter whose index is the symbol.
    Parameter,
    /// In a macro's body: `__VA_OPT__`; the symbol says how many tokens of the body are inside.
    VaOpt,
    /// While a body is substituted: an empty argument beside `##`.
    Placemarker,
    /// A pragma to keep; the symbol is its index in the preprocessor's list.
    Pragma,
}

/// A preprocessing token.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RawToken {
    /// Its text in the source.
    pub span: Span,
    /// Its text, without line continuations; not set for [`RawKind::Punct`].
    pub symbol: Symbol,
    /// Kind of token.
    pub kind: RawKind,
    pub(crate) flags: u8,
}

impl RawToken {
    pub(crate) const LEADING_SPACE: u8 = 1;
    pub(crate) const START_OF_LINE: u8 = 2;
    /// The name of a macro met inside its own expansion: never to be expanded again.
    pub(crate) const NO_EXPAND: u8 = 4;
    /// A literal without its closing quote.
    pub(crate) const UNTERMINATED: u8 = 8;
    /// In a macro's body: `##` follows.
    pub(crate) const PASTE_LEFT: u8 = 16;
    /// In a macro's body: a parameter after `#`.
    pub(crate) const STRINGIFY: u8 = 32;

    /// Whitespace or a comment stands before it.
    pub fn leading_space(&self) -> bool {
        self.has(Self::LEADING_SPACE)
    }

    /// It is the first on its line.
    pub fn start_of_line(&self) -> bool {
        self.has(Self::START_OF_LINE)
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn is(&self, punct: Punct) -> bool {
        self.kind == RawKind::Punct(punct)
    }

    pub(crate) fn with(self, flag: u8) -> RawToken {
        RawToken { flags: self.flags | flag, ..self }
    }

    /// The same token with the spacing of `other`, in whose place it stands.
    pub(crate) fn spaced_like(self, other: RawToken) -> RawToken {
        const SPACING: u8 = RawToken::LEADING_SPACE | RawToken::START_OF_LINE;
        RawToken { flags: self.flags & !SPACING | other.flags & SPACING, ..self }
    }
}
