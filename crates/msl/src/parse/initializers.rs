//! Initializers and argument lists.

use super::ast::{Expr, ExprKind, Init, InitItem};
use super::{Parse, Parser};
use crate::lex::token::{Punct, TokenKind};

impl Parser {
    /// `= e`, `(a, b)`, `{a, b}` or nothing.
    pub(super) fn opt_initializer(&mut self) -> Parse<Option<Init>> {
        let start = self.span();
        if self.eat(Punct::Assign) {
            return self.initializer_clause().map(|value| Some(Init::Equal(value)));
        }
        if self.at(Punct::LParen) {
            let args = self.parenthesized_arguments()?;
            return Ok(Some(Init::Paren(args, start.to(self.last_span))));
        }
        if self.at(Punct::LBrace) {
            let args = self.braced_arguments()?;
            return Ok(Some(Init::Brace(args, start.to(self.last_span))));
        }
        Ok(None)
    }

    /// An expression or a brace list.
    pub(super) fn initializer_clause(&mut self) -> Parse<Expr> {
        if self.at(Punct::LBrace) { self.braced_list() } else { self.assignment_expression() }
    }

    /// `{a, {b}, .c = d, e...}`
    pub(super) fn braced_list(&mut self) -> Parse<Expr> {
        let start = self.span();
        let items = self.init_items()?;
        Ok(Expr { kind: ExprKind::InitList(items), span: start.to(self.last_span) })
    }

    /// The values of `{a, b}`; with designators, a single brace list.
    pub(super) fn braced_arguments(&mut self) -> Parse<Vec<Expr>> {
        let start = self.span();
        let items = self.init_items()?;
        if items.iter().any(|item| item.designator.is_some() || item.index.is_some()) {
            return Ok(vec![Expr { kind: ExprKind::InitList(items), span: start.to(self.last_span) }]);
        }
        Ok(items.into_iter().map(|item| item.value).collect())
    }

    fn init_items(&mut self) -> Parse<Vec<InitItem>> {
        let opening = self.span();
        self.expect(Punct::LBrace)?;
        let items = self.nested(|p| {
            p.with_greater_closing(false, |p| {
                let mut items = Vec::new();
                while !p.at(Punct::RBrace) && !p.at_end() {
                    items.push(p.init_item()?);
                    if !p.eat(Punct::Comma) {
                        break;
                    }
                }
                Ok(items)
            })
        })?;
        self.expect_closing(Punct::RBrace, Punct::LBrace, opening)?;
        Ok(items)
    }

    fn init_item(&mut self) -> Parse<InitItem> {
        let (mut designator, mut index) = (None, None);
        if self.at(Punct::LBracket) && self.at_index_designator() {
            index = Some(self.index_designator()?);
        } else if self.at(Punct::Dot) && self.at_identifier_nth(1) {
            self.bump();
            designator = Some(self.identifier()?);
            if !self.at(Punct::LBrace) {
                self.expect(Punct::Assign)?;
            }
        }
        let value = self.initializer_clause()?;
        Ok(InitItem { designator, index, value: self.opt_pack_expansion(value) })
    }

    /// `[…] =`, which no lambda looks like.
    fn at_index_designator(&self) -> bool {
        let after = self.closing_position().and_then(|closing| self.tokens.get(closing + 1));
        after.is_some_and(|token| token.kind == TokenKind::Punct(Punct::Assign))
    }

    /// `[3] =` or `[0 ... 3] =`
    fn index_designator(&mut self) -> Parse<(Expr, Option<Expr>)> {
        let opening = self.span();
        self.bump();
        let first = self.conditional_expression()?;
        let last = if self.eat(Punct::Ellipsis) { Some(self.conditional_expression()?) } else { None };
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)?;
        self.expect(Punct::Assign)?;
        Ok((first, last))
    }

    /// `(a, b)`
    pub(super) fn parenthesized_arguments(&mut self) -> Parse<Vec<Expr>> {
        let opening = self.span();
        self.expect(Punct::LParen)?;
        let args = self.nested(|p| {
            p.with_greater_closing(false, |p| {
                let mut args = Vec::new();
                if p.at(Punct::RParen) {
                    return Ok(args);
                }
                loop {
                    args.push(p.assignment_expression_or_pack()?);
                    if !p.eat(Punct::Comma) {
                        return Ok(args);
                    }
                }
            })
        })?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(args)
    }

    /// One argument: an expression or brace list, perhaps expanded.
    pub(super) fn assignment_expression_or_pack(&mut self) -> Parse<Expr> {
        let value = self.initializer_clause()?;
        Ok(self.opt_pack_expansion(value))
    }

    /// `e...`
    fn opt_pack_expansion(&mut self, value: Expr) -> Expr {
        if !matches!(self.kind(), TokenKind::Punct(Punct::Ellipsis)) {
            return value;
        }
        self.bump();
        let span = value.span.to(self.last_span);
        Expr { kind: ExprKind::PackExpansion(Box::new(value)), span }
    }
}
