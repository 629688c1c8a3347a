//! `[[…]]`, `__attribute__((…))` and `alignas(…)`.

use super::ast::{Attribute, Expr, ExprKind, Specifiers, Stage};
use super::{Attempt, Parse, Parser};
use crate::diagnostics::Diagnostic;
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use crate::vocabulary::{self, Effect, Form, Subject};
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
        self.attribute_list(Punct::RBracket, Form::Bracket, prefix, attributes)?;
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)?;
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)
    }

    /// `__attribute__((a, b(1)))`
    fn gnu_attributes(&mut self, attributes: &mut Vec<Attribute>) -> Parse<()> {
        self.bump();
        let opening = self.span();
        self.expect_after(Punct::LParen, "'__attribute__'")?;
        self.expect_after(Punct::LParen, "'('")?;
        self.attribute_list(Punct::RParen, Form::Gnu, None, attributes)?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)
    }

    fn attribute_list(
        &mut self,
        close: Punct,
        form: Form,
        prefix: Option<SmolStr>,
        list: &mut Vec<Attribute>,
    ) -> Parse<()> {
        while !self.at(close) && !self.at_end() {
            if self.eat(Punct::Comma) {
                continue;
            }
            list.push(self.attribute(form, prefix.as_ref())?);
            self.eat(Punct::Ellipsis);
            if !self.at(Punct::Comma) {
                break;
            }
        }
        Ok(())
    }

    /// `name(args)` or `scope::name(args)`
    fn attribute(&mut self, form: Form, prefix: Option<&SmolStr>) -> Parse<Attribute> {
        let start = self.span();
        let mut name = self.attribute_word()?;
        if self.eat(Punct::ColonColon) {
            name = format_smolstr!("{name}::{}", self.attribute_word()?);
        } else if let Some(prefix) = prefix {
            name = format_smolstr!("{prefix}::{name}");
        }
        let args = if self.at(Punct::LParen) { self.attribute_arguments()? } else { Vec::new() };
        let span = start.to(self.last_span);
        Ok(Attribute { name: self.recognized(form, name, span), args, span })
    }

    /// The name of an attribute without `gnu` and `clang`, after which it means the same in all forms. Reports unknown
    /// attributes and those that cannot be honoured.
    fn recognized(&mut self, form: Form, name: SmolStr, span: Span) -> SmolStr {
        let (form, bare) = match name.split_once("::") {
            Some(("gnu", bare)) => (Form::Gnu, SmolStr::from(bare)),
            Some(("clang" | "_Clang", bare)) => (Form::Clang, SmolStr::from(bare)),
            _ => (form, name.clone()),
        };
        let Some(word) = vocabulary::attribute(form, &bare) else {
            let message = format!("unknown attribute '{name}' ignored");
            self.report(Diagnostic::warning("unknown-attributes", span, message));
            return name;
        };
        if let Effect::Refused(reason) = word.effect {
            self.error("attribute", span, format!("attribute '{bare}' is not supported: {reason}"));
        }
        bare
    }

    /// Warns about attributes that a declaration or statement does not take.
    pub(super) fn place_attributes(&mut self, attributes: &[Attribute], subject: Subject) {
        for attribute in attributes {
            let Some(word) = vocabulary::any_attribute(&attribute.name) else { continue };
            let is_refused = matches!(word.effect, Effect::Refused(_));
            if word.subjects.contains(&subject) || is_refused {
                continue;
            }
            let message = format!("'{}' attribute only applies to {}", attribute.name, word.subjects_text());
            let diagnostic = match attribute.name == "alignas" && subject != Subject::Alias {
                true => Diagnostic::error("alignment", attribute.span, message),
                false => Diagnostic::warning("ignored-attributes", attribute.span, message),
            };
            // Specifiers belong to each of several declarators.
            if !self.diagnostics.contains(&diagnostic) {
                self.report(diagnostic);
            }
        }
    }

    /// Attributes of a declaration or statement that keeps none.
    pub(super) fn opt_attributes_of(&mut self, subject: Subject) -> Parse<()> {
        let mut attributes = Vec::new();
        self.opt_attributes(&mut attributes)?;
        self.place_attributes(&attributes, subject);
        Ok(())
    }

    /// Attributes before `struct` or `enum` in a declaration of nothing else.
    pub(super) fn warn_about_early_attributes(&mut self, attributes: &[Attribute], keyword: &str) {
        for attribute in attributes {
            let message = format!(
                "attribute '{}' is ignored, place it after \"{keyword}\" to apply attribute to type declaration",
                attribute.name
            );
            self.report(Diagnostic::warning("ignored-attributes", attribute.span, message));
        }
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
