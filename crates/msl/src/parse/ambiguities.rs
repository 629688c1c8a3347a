//! Declaration or expression? The first tokens of a statement decide; where both are possible, it is a declaration.

use super::declarators::{Named, Parens};
use super::paths::{Denotes, PathPlace};
use super::specifiers::{DeclarationContext, address_space};
use super::types::BuiltinWords;
use super::{Attempt, Failed, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};

impl Parser {
    /// True if the statement at the current token is a declaration.
    pub(super) fn at_declaration(&mut self) -> bool {
        match *self.kind() {
            TokenKind::Keyword(keyword) => self.keyword_begins_declaration(keyword),
            TokenKind::Punct(Punct::LBracket) => self.at_attribute_brackets(),
            _ if self.at_coherent() => true,
            _ if self.at_path() => self.name_begins_declaration(),
            _ => false,
        }
    }

    fn keyword_begins_declaration(&mut self, keyword: Keyword) -> bool {
        use Keyword::*;
        match keyword {
            Const | Volatile | Constexpr | Static | Inline | Extern | Mutable | Register | Typedef | Using
            | Template | StaticAssert | Namespace | Struct | Class | Union | Enum | Auto | Alignas | Attribute
            | Virtual | Explicit | Friend | ThreadLocal | Kernel | Vertex | Fragment => true,
            Decltype if self.at_path() => self.name_begins_declaration(),
            Typename | Decltype | Typeof => self.type_begins_declaration(),
            _ if BuiltinWords::is_word(keyword) => self.type_begins_declaration(),
            _ => address_space(keyword).is_some(),
        }
    }

    /// A type that is spelled with keywords begins a declaration, unless it is called.
    fn type_begins_declaration(&mut self) -> bool {
        let mark = self.mark();
        let result = self.skip_keyword_type();
        let (parenthesis, brace) = (self.at(Punct::LParen), self.at(Punct::LBrace));
        self.reset(mark);
        match result {
            Ok(()) if parenthesis => self.can_be_declaration(),
            Ok(()) => !brace,
            Err(Failed) => true,
        }
    }

    fn skip_keyword_type(&mut self) -> Parse<()> {
        if self.at_keyword(Keyword::Decltype) || self.at_keyword(Keyword::Typeof) {
            self.bump();
            self.skip_balanced();
            return Ok(());
        }
        if self.eat_keyword(Keyword::Typename) {
            return self.path(PathPlace::Type).map(|_| ());
        }
        self.builtin_type().map(|_| ())
    }

    fn name_begins_declaration(&mut self) -> bool {
        let mark = self.mark();
        let Ok(parsed) = self.path(PathPlace::Ordinary) else {
            self.reset(mark);
            return false;
        };
        let has_args = parsed.path.last().args.is_some();
        let next = self.kind().clone();
        self.reset(mark);
        use Punct::*;
        match (parsed.denotes, next) {
            (Denotes::Type(_), TokenKind::Punct(LParen)) => self.can_be_declaration(),
            (Denotes::Type(_), TokenKind::Punct(punct)) => {
                matches!(punct, Star | And | AndAnd | Semi | Assign | LBracket | ColonColon)
            }
            (Denotes::Type(_), _) => true,
            (Denotes::Unknown, TokenKind::Ident(_)) => true,
            (Denotes::Unknown, TokenKind::Punct(Star | And)) => has_args,
            (Denotes::Unknown, TokenKind::Keyword(keyword)) => address_space(keyword).is_some(),
            _ => false,
        }
    }

    /// `T(x);` declares `x`, `T(x, y);` makes a `T`.
    fn can_be_declaration(&mut self) -> bool {
        let mark = self.mark();
        let found = self.attempt(Attempt::Declaration, |p| {
            let specifiers = p.decl_specifiers(DeclarationContext::Block, &[])?;
            if specifiers.base.is_none() {
                return Err(Failed);
            }
            p.declarator_with(Named::Yes, Parens::OrInitializer)?;
            use Punct::{Assign, Colon, Comma, LBrace, Semi};
            let ends = matches!(p.kind(), TokenKind::Punct(Assign | Colon | Comma | LBrace | Semi));
            if ends { Ok(()) } else { Err(Failed) }
        });
        self.reset(mark);
        found.is_some()
    }
}
