//! Parameters of functions.

use super::ast::{Ident, Param, TypeExprKind};
use super::declarators::{Named, Parens};
use super::names::{Name, NameKind};
use super::specifiers::DeclarationContext;
use super::{Parse, Parser};
use crate::lex::token::{Keyword, Punct};
use crate::vocabulary::Subject;

impl Parser {
    /// `(int a, float b)`, in the scope that the parameters belong to.
    pub(super) fn parameter_list(&mut self, context: DeclarationContext) -> Parse<Vec<Param>> {
        let opening = self.span();
        self.expect(Punct::LParen)?;
        let params = self.nested(|p| p.with_greater_closing(false, |p| p.parameters(context)))?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(params)
    }

    fn parameters(&mut self, context: DeclarationContext) -> Parse<Vec<Param>> {
        let mut params = Vec::new();
        if self.at(Punct::RParen) {
            return Ok(params);
        }
        if self.at_keyword(Keyword::Void) && self.at_nth(1, Punct::RParen) {
            self.bump();
            return Ok(params);
        }
        loop {
            // C's variable arguments end the list and have no place in the tree.
            if self.at(Punct::Ellipsis) && self.at_nth(1, Punct::RParen) {
                self.unsupported("variadic functions are not supported in Metal");
                self.bump();
                return Ok(params);
            }
            params.push(self.parameter(context)?);
            if !self.eat(Punct::Comma) {
                return Ok(params);
            }
        }
    }

    /// `device const float *x [[buffer(0)]] = nullptr`
    fn parameter(&mut self, context: DeclarationContext) -> Parse<Param> {
        let start = self.span();
        let mut specifiers = self.decl_specifiers(context, &[])?;
        let base = self.required_type(&specifiers, "expected parameter declarator")?;
        let is_strict = context == DeclarationContext::StrictParameter;
        let parens = if is_strict { Parens::StrictParameters } else { Parens::Parameters };
        let mut declarator = self.declarator_with(Named::Maybe, parens)?;
        let mut attributes = std::mem::take(&mut specifiers.attributes);
        attributes.append(&mut declarator.attributes);
        self.place_attributes(&attributes, Subject::Parameter);
        let is_pack = declarator.is_pack;
        let name = declarator.name.take().map(|parsed| {
            let segment = parsed.path.last();
            Ident { name: segment.name.clone(), span: segment.span }
        });
        let ty = declarator.apply(base);
        if is_strict && matches!(ty.kind, TypeExprKind::Class(_) | TypeExprKind::Enum(_)) {
            return Err(self.fail("types may not be defined in parameter types"));
        }
        if let Some(name) = &name {
            self.names.declare(self.scope, name.name.clone(), Name::new(NameKind::Value));
        }
        let default = match self.eat(Punct::Assign) {
            true if is_strict => Some(self.unevaluated(Self::initializer_clause)?),
            true => Some(self.initializer_clause()?),
            false => None,
        };
        Ok(Param { name, ty, default, attributes, is_pack, span: start.to(self.last_span) })
    }
}
