//! Primary expressions: literals, names, parentheses, and types that are called.

use super::ast::{BinaryOp, CastKind, Expr, ExprKind, TypeExpr, TypeExprKind};
use super::operators::binary_operator;
use super::paths::{Denotes, PathPlace};
use super::{Failed, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};

impl Parser {
    pub(super) fn primary_expression(&mut self) -> Parse<Expr> {
        let span = self.span();
        let kind = match self.kind() {
            TokenKind::Int(literal) => ExprKind::Int(*literal),
            TokenKind::Float(literal) => ExprKind::Float(*literal),
            TokenKind::Char(value) => ExprKind::Char(*value),
            TokenKind::Str(text) => ExprKind::Str(text.clone()),
            TokenKind::Keyword(Keyword::True) => ExprKind::Bool(true),
            TokenKind::Keyword(Keyword::False) => ExprKind::Bool(false),
            TokenKind::Keyword(Keyword::Nullptr) => ExprKind::Nullptr,
            TokenKind::Keyword(Keyword::This) => ExprKind::This,
            TokenKind::Keyword(keyword) => return self.keyword_expression(*keyword),
            TokenKind::Punct(Punct::LParen) => return self.parenthesized_expression(),
            TokenKind::Punct(Punct::LBracket) => return self.nested(Self::lambda),
            _ if self.at_path() => return self.name_expression(),
            _ => return Err(self.fail("expected expression")),
        };
        self.bump();
        Ok(Expr { kind, span })
    }

    /// A name, or `T{…}` where the name is a type's.
    fn name_expression(&mut self) -> Parse<Expr> {
        if let Some(function) = self.opt_builtin_function() {
            return function;
        }
        let parsed = self.path(PathPlace::Ordinary)?;
        let span = parsed.path.span;
        // Only a type can precede a brace; the checker reports an unknown one.
        let may_be_type = parsed.denotes.is_type() || parsed.denotes == Denotes::Unknown;
        if may_be_type && self.at(Punct::LBrace) {
            let ty = TypeExpr { kind: TypeExprKind::Named(parsed.path), span };
            return self.construction(ty);
        }
        Ok(Expr { kind: ExprKind::Path(parsed.path), span })
    }

    fn keyword_expression(&mut self, keyword: Keyword) -> Parse<Expr> {
        match keyword {
            Keyword::Operator => self.name_expression(),
            Keyword::Decltype if self.at_path() => self.name_expression(),
            Keyword::StaticCast => self.named_cast(CastKind::Static),
            Keyword::ReinterpretCast => self.named_cast(CastKind::Reinterpret),
            Keyword::ConstCast => self.named_cast(CastKind::Const),
            Keyword::Typename => {
                let start = self.span();
                self.bump();
                let path = self.path(PathPlace::Type)?.path;
                let ty = TypeExpr { kind: TypeExprKind::Named(path), span: start.to(self.last_span) };
                self.construction(ty)
            }
            Keyword::Decltype => {
                let ty = self.nested(Self::decltype)?;
                self.construction(ty)
            }
            Keyword::Typeof => {
                let ty = self.nested(Self::type_of)?;
                self.construction(ty)
            }
            _ if self.at_builtin_type() => {
                let ty = self.builtin_type()?;
                self.construction(ty)
            }
            _ => Err(self.refused_expression(keyword)),
        }
    }

    /// Expressions of C++ that Metal does not have.
    fn refused_expression(&mut self, keyword: Keyword) -> Failed {
        let text = keyword.text();
        match keyword {
            Keyword::New | Keyword::Delete => {
                self.unsupported(format!("'{text}' is not supported in Metal"));
            }
            Keyword::Throw => self.unsupported("cannot use 'throw' with exceptions disabled"),
            Keyword::DynamicCast | Keyword::Typeid => {
                self.unsupported(format!(
                    "use of {text} requires run-time type information, which Metal does not have"
                ));
            }
            Keyword::Asm => self.unsupported("'asm' is not supported in Metal"),
            Keyword::Noexcept => self.unsupported("the 'noexcept' operator is not supported in Metal"),
            _ => return self.fail("expected expression"),
        }
        Failed
    }

    /// `(…)` or `{…}` behind a type.
    fn construction(&mut self, ty: TypeExpr) -> Parse<Expr> {
        let start = ty.span;
        let braces = self.at(Punct::LBrace);
        let args = if braces {
            self.braced_arguments()?
        } else if self.at(Punct::LParen) {
            self.parenthesized_arguments()?
        } else {
            return Err(self.fail("expected '(' for function-style cast or type construction"));
        };
        Ok(Expr { kind: ExprKind::Construct { ty, args, braces }, span: start.to(self.last_span) })
    }

    /// `static_cast<T>(e)`
    fn named_cast(&mut self, kind: CastKind) -> Parse<Expr> {
        let start = self.span();
        self.bump();
        let opening = self.span();
        self.expect_after(Punct::Less, "cast keyword")?;
        let ty = self.with_greater_closing(true, Self::type_id)?;
        self.closing_angle(opening)?;
        let opening = self.span();
        self.expect_after(Punct::LParen, "'>'")?;
        let operand = self.nested(|p| p.with_greater_closing(false, Self::expression))?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        let kind = ExprKind::Cast { kind, ty, operand: Box::new(operand) };
        Ok(Expr { kind, span: start.to(self.last_span) })
    }

    /// `(e)`, a fold expression or `({ … })`.
    fn parenthesized_expression(&mut self) -> Parse<Expr> {
        let opening = self.span();
        self.bump();
        let kind = self.nested(|p| p.with_greater_closing(false, Self::inside_parentheses))?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(Expr { kind, span: opening.to(self.last_span) })
    }

    fn inside_parentheses(&mut self) -> Parse<ExprKind> {
        if self.at(Punct::LBrace) {
            return self.statement_expression();
        }
        if self.eat(Punct::Ellipsis) {
            let op = self.fold_operator()?;
            let rhs = self.unary_expression()?;
            return Ok(ExprKind::Fold { op, lhs: None, rhs: Some(Box::new(rhs)) });
        }
        let inner = self.expression()?;
        if !self.at_nth(1, Punct::Ellipsis) || self.at(Punct::RParen) {
            return Ok(ExprKind::Paren(Box::new(inner)));
        }
        let op = self.fold_operator()?;
        self.bump();
        let mut rhs = None;
        if !self.at(Punct::RParen) {
            self.fold_operator()?;
            rhs = Some(Box::new(self.unary_expression()?));
        }
        Ok(ExprKind::Fold { op, lhs: Some(Box::new(inner)), rhs })
    }

    /// `{ … }` in parentheses, an extension of GNU C that clang has.
    fn statement_expression(&mut self) -> Parse<ExprKind> {
        if self.is_unevaluated {
            return Err(self.fail("a statement expression may not appear inside of a constant expression"));
        }
        let open_classes = std::mem::replace(&mut self.open_classes, 0);
        let block = self.scoped_block();
        self.open_classes = open_classes;
        block.map(ExprKind::Statements)
    }

    /// The operator of a fold; `None` for the comma.
    fn fold_operator(&mut self) -> Parse<Option<BinaryOp>> {
        let op = match *self.kind() {
            TokenKind::Punct(Punct::Comma) => None,
            TokenKind::Punct(punct) if binary_operator(punct).is_some() => binary_operator(punct).map(|(op, _)| op),
            _ => return Err(self.fail("expected a foldable binary operator in fold expression")),
        };
        self.bump();
        Ok(op)
    }
}
