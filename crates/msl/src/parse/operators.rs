//! Operators: their precedence, and the names of operator functions.

use super::ast::{BinaryOp, FunctionKind, TypeExpr, UnaryOp};
use super::{Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use smol_str::{SmolStr, format_smolstr};

/// The binary operator that `punct` is, and how tightly it binds.
pub(super) fn binary_operator(punct: Punct) -> Option<(BinaryOp, u8)> {
    use BinaryOp as B;
    Some(match punct {
        Punct::Star => (B::Mul, 10),
        Punct::Slash => (B::Div, 10),
        Punct::Percent => (B::Rem, 10),
        Punct::Plus => (B::Add, 9),
        Punct::Minus => (B::Sub, 9),
        Punct::Shl => (B::Shl, 8),
        Punct::Shr => (B::Shr, 8),
        Punct::Less => (B::Less, 7),
        Punct::Greater => (B::Greater, 7),
        Punct::LessEqual => (B::LessEqual, 7),
        Punct::GreaterEqual => (B::GreaterEqual, 7),
        Punct::EqualEqual => (B::Equal, 6),
        Punct::NotEqual => (B::NotEqual, 6),
        Punct::And => (B::BitAnd, 5),
        Punct::Caret => (B::BitXor, 4),
        Punct::Or => (B::BitOr, 3),
        Punct::AndAnd => (B::And, 2),
        Punct::OrOr => (B::Or, 1),
        _ => return None,
    })
}

/// The assignment that `punct` is: the operator before its `=`.
pub(super) fn assignment_operator(punct: Punct) -> Option<Option<BinaryOp>> {
    use BinaryOp as B;
    Some(match punct {
        Punct::Assign => None,
        Punct::StarAssign => Some(B::Mul),
        Punct::SlashAssign => Some(B::Div),
        Punct::PercentAssign => Some(B::Rem),
        Punct::PlusAssign => Some(B::Add),
        Punct::MinusAssign => Some(B::Sub),
        Punct::ShlAssign => Some(B::Shl),
        Punct::ShrAssign => Some(B::Shr),
        Punct::AndAssign => Some(B::BitAnd),
        Punct::XorAssign => Some(B::BitXor),
        Punct::OrAssign => Some(B::BitOr),
        _ => return None,
    })
}

/// The prefix operator that `punct` is.
pub(super) fn prefix_operator(punct: Punct) -> Option<UnaryOp> {
    Some(match punct {
        Punct::Plus => UnaryOp::Plus,
        Punct::Minus => UnaryOp::Minus,
        Punct::Not => UnaryOp::Not,
        Punct::Tilde => UnaryOp::BitNot,
        Punct::Star => UnaryOp::Deref,
        Punct::And => UnaryOp::AddressOf,
        Punct::Increment => UnaryOp::PreIncrement,
        Punct::Decrement => UnaryOp::PreDecrement,
        _ => return None,
    })
}

/// The operators that a function may be named after, `()` and `[]` aside.
fn is_overloadable(punct: Punct) -> bool {
    use Punct::*;
    let others = matches!(punct, Increment | Decrement | Not | Tilde | Comma | Arrow);
    others || binary_operator(punct).is_some() || assignment_operator(punct).is_some()
}

impl Parser {
    /// `operator+`, `operator()`, `operator T`
    pub(super) fn operator_function_name(&mut self) -> Parse<(SmolStr, Span, FunctionKind, Option<TypeExpr>)> {
        let start = self.span();
        self.bump();
        let text = match (self.kind(), self.nth(1)) {
            (TokenKind::Punct(Punct::LParen), TokenKind::Punct(Punct::RParen)) => "()",
            (TokenKind::Punct(Punct::LBracket), TokenKind::Punct(Punct::RBracket)) => "[]",
            (TokenKind::Punct(Punct::Arrow), TokenKind::Punct(Punct::Star)) => "->*",
            (TokenKind::Punct(punct), _) if is_overloadable(*punct) => punct.text(),
            (TokenKind::Keyword(keyword @ (Keyword::New | Keyword::Delete)), _) => {
                let message = format!("'operator {}' is not supported in Metal", keyword.text());
                return Err(self.fail(message));
            }
            (TokenKind::Str(_), _) => {
                let message = "user-defined literals are not supported in Metal: their parameters would be \
                               'unsigned long long' or 'long double'";
                return Err(self.fail(message));
            }
            _ => return self.conversion_function_name(start),
        };
        self.bump();
        if matches!(text, "()" | "[]" | "->*") {
            self.bump();
        }
        let name = format_smolstr!("operator{text}");
        Ok((name, start.to(self.last_span), FunctionKind::Operator(text.into()), None))
    }

    fn conversion_function_name(&mut self, start: Span) -> Parse<(SmolStr, Span, FunctionKind, Option<TypeExpr>)> {
        let from = self.position;
        let ty = self.conversion_type_id()?;
        let name = format_smolstr!("operator {}", self.text_of(from, self.position));
        Ok((name, start.to(self.last_span), FunctionKind::Conversion, Some(ty)))
    }
}
