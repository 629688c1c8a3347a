//! `[[…]]`, `__attribute__((…))` and `alignas(…)`.

use super::ast::{Attribute, Expr, ExprKind, Specifiers, Stage};
use super::{Attempt, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use smol_str::{SmolStr, format_smolstr};

impl Parser {
    pub(super) fn at_attribute(&self) -> bool {
        self.at_attribute_brackets() || self.at_keyword(Keyword::Attribute) || self.at_keyword(Keyword::Alignas)
    }

    /// Any number of attributes of any style.
    pub(super) fn opt_attributes(&mut self, attributes: &mut Vec<Attribute>) -> Parse<()> {
        loop {
            if self.at_attribute_brackets() {
                self.bracket_attributes(attributes)?;
            } else if self.at_keyword(Keyword::Attribute) {
                self.gnu_attributes(attributes)?;
            } else if self.at_keyword(Keyword::Alignas) {
                attributes.push(self.alignas()?);
            } else {
                return Ok(());
            }
        }
    }

    /// `__attribute__` behind the `}` of a class or enum: it is about the type.
    pub(super) fn opt_gnu_attributes(&mut self, attributes: &mut Vec<Attribute>) -> Parse<()> {
        while self.at_keyword(Keyword::Attribute) {
            self.gnu_attributes(attributes)?;
        }
        Ok(())
    }

    /// `[[a, b(1), clang::c]]`
    fn bracket_attributes(&mut self, attributes: &mut Vec<Attribute>) -> Parse<()> {
        let opening = self.span();
        self.bump();
        self.bump();
        let mut prefix = None;
        if self.eat_keyword(Keyword::Using) {
            prefix = Some(self.attribute_word()?);
            self.expect(Punct::Colon)?;
        }
        self.attribute_list(Punct::RBracket, prefix, attributes)?;
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)?;
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)
    }

    /// `__attribute__((a, b(1)))`
    fn gnu_attributes(&mut self, attributes: &mut Vec<Attribute>) -> Parse<()> {
        self.bump();
        let opening = self.span();
        self.expect_after(Punct::LParen, "'__attribute__'")?;
        self.expect_after(Punct::LParen, "'('")?;
        self.attribute_list(Punct::RParen, None, attributes)?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)
    }

    fn attribute_list(&mut self, close: Punct, prefix: Option<SmolStr>, list: &mut Vec<Attribute>) -> Parse<()> {
        while !self.at(close) && !self.at_end() {
            if self.eat(Punct::Comma) {
                continue;
            }
            list.push(self.attribute(prefix.as_ref())?);
            self.eat(Punct::Ellipsis);
            if !self.at(Punct::Comma) {
                break;
            }
        }
        Ok(())
    }

    /// `name(args)` or `scope::name(args)`
    fn attribute(&mut self, prefix: Option<&SmolStr>) -> Parse<Attribute> {
        let start = self.span();
        let mut name = self.attribute_word()?;
        if self.eat(Punct::ColonColon) {
            name = format_smolstr!("{name}::{}", self.attribute_word()?);
        } else if let Some(prefix) = prefix {
            name = format_smolstr!("{prefix}::{name}");
        }
        // GNU's attributes mean the same in both styles.
        let name = name.strip_prefix("gnu::").map_or(name.clone(), SmolStr::from);
        let args = if self.at(Punct::LParen) { self.attribute_arguments()? } else { Vec::new() };
        Ok(Attribute { name, args, span: start.to(self.last_span) })
    }

    /// An attribute's name, which may be a keyword; `__x__` is `x`.
    fn attribute_word(&mut self) -> Parse<SmolStr> {
        let word = match self.kind() {
            TokenKind::Ident(name) => name.clone(),
            TokenKind::Keyword(keyword) => keyword.text().into(),
            _ => return Err(self.fail("expected identifier")),
        };
        self.bump();
        let bare = word.strip_prefix("__").and_then(|word| word.strip_suffix("__"));
        Ok(bare.filter(|bare| !bare.is_empty()).map_or(word.clone(), SmolStr::from))
    }

    fn attribute_arguments(&mut self) -> Parse<Vec<Expr>> {
        let opening = self.span();
        self.bump();
        let args =
            self.nested(|p| p.unevaluated(|p| p.with_greater_closing(false, Self::attribute_argument_list)))?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(args)
    }

    fn attribute_argument_list(&mut self) -> Parse<Vec<Expr>> {
        let mut args = Vec::new();
        while !self.at(Punct::RParen) && !self.at_end() {
            args.push(self.type_or_expression_operand(ExprKind::AlignOf)?);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        Ok(args)
    }

    /// An expression, or a type that is wrapped with `wrap`.
    fn type_or_expression_operand(&mut self, wrap: fn(super::ast::TypeExpr) -> ExprKind) -> Parse<Expr> {
        let start = self.span();
        let ty = self.attempt(Attempt::OperandType, |p| {
            let ty = p.type_id_strict()?;
            // A bare name is an expression: `[[user(locn0)]]`, `[[intersection(triangle)]]`.
            let is_name = matches!(ty.kind, super::ast::TypeExprKind::Named(_));
            if (p.at(Punct::RParen) || p.at(Punct::Comma)) && !is_name { Ok(ty) } else { Err(super::Failed) }
        });
        match ty {
            Some(ty) => Ok(Expr { kind: wrap(ty), span: start.to(self.last_span) }),
            None => self.assignment_expression_or_pack(),
        }
    }

    /// `alignas(16)` or `alignas(T)`
    fn alignas(&mut self) -> Parse<Attribute> {
        let start = self.span();
        self.bump();
        let opening = self.span();
        self.expect_after(Punct::LParen, "'alignas'")?;
        let ty = self.attempt(Attempt::OperandType, |p| {
            let ty = p.type_id_strict()?;
            if p.at(Punct::RParen) { Ok(ty) } else { Err(super::Failed) }
        });
        let argument = match ty {
            Some(ty) => Expr { span: ty.span, kind: ExprKind::AlignOf(ty) },
            None => self.unevaluated(|p| p.with_greater_closing(false, Self::assignment_expression_or_pack))?,
        };
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(Attribute { name: "alignas".into(), args: vec![argument], span: start.to(self.last_span) })
    }
}

/// Finds `[[kernel]]` and its kin. The three with a keyword of their own carry no other meaning and are removed.
pub(super) fn take_stage(attributes: &mut Vec<Attribute>, specifiers: &mut Specifiers) {
    attributes.retain(|attribute| {
        let (stage, keep) = match attribute.name.as_str() {
            "kernel" => (Stage::Kernel, false),
            "vertex" => (Stage::Vertex, false),
            "fragment" => (Stage::Fragment, false),
            "object" | "mesh" | "intersection" => (Stage::Other, true),
            _ => return true,
        };
        specifiers.stage = Some(stage);
        keep
    });
}
