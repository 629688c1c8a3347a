//! Types: type-ids, and the types made of keywords.

use super::ast::{BuiltinType, Decl, Expr, TypeExpr, TypeExprKind};
use super::declarators::Named;
use super::specifiers::DeclarationContext;
use super::{Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;

impl Parser {
    /// A type, in a place for types only: an undeclared name is read as one.
    pub(super) fn type_id(&mut self) -> Parse<TypeExpr> {
        self.type_id_in(DeclarationContext::TypeId)
    }

    /// A type, where an expression could stand as well.
    pub(super) fn type_id_strict(&mut self) -> Parse<TypeExpr> {
        self.type_id_in(DeclarationContext::StrictTypeId)
    }

    /// A type behind `using x =`, which may be defined on the spot.
    pub(super) fn aliased_type(&mut self, decls: &mut Vec<Decl>) -> Parse<TypeExpr> {
        let specifiers = self.decl_specifiers(DeclarationContext::AliasedType, &[])?;
        let base = self.required_type(&specifiers, "expected a type")?;
        let declarator = self.declarator(Named::No)?;
        decls.extend(specifiers.declared);
        Ok(declarator.apply(base))
    }

    fn type_id_in(&mut self, context: DeclarationContext) -> Parse<TypeExpr> {
        let specifiers = self.decl_specifiers(context, &[])?;
        let base = self.required_type(&specifiers, "expected a type")?;
        let declarator = self.declarator(Named::No)?;
        Ok(declarator.apply(base))
    }

    /// The type behind `operator`: pointers, but no arrays and functions.
    pub(super) fn conversion_type_id(&mut self) -> Parse<TypeExpr> {
        let specifiers = self.decl_specifiers(DeclarationContext::TypeId, &[])?;
        let base = self.required_type(&specifiers, "expected a type")?;
        let pointers = self.pointer_operators()?;
        Ok(super::declarators::apply_pointers(pointers, base))
    }

    /// A type followed by nothing but qualifiers: an enum's underlying type, a base class.
    pub(super) fn simple_type(&mut self, message: &str) -> Parse<TypeExpr> {
        let specifiers = self.decl_specifiers(DeclarationContext::TypeId, &[])?;
        self.required_type(&specifiers, message)
    }

    /// `decltype(e)`
    pub(super) fn decltype(&mut self) -> Parse<TypeExpr> {
        let start = self.span();
        self.bump();
        let opening = self.span();
        self.expect_after(Punct::LParen, "'decltype'")?;
        if self.at_keyword(Keyword::Auto) && self.at_nth(1, Punct::RParen) {
            self.bump();
            self.bump();
            return Ok(TypeExpr { kind: TypeExprKind::DecltypeAuto, span: start.to(self.last_span) });
        }
        let expr: Expr = self.unevaluated(|p| p.with_greater_closing(false, Self::expression))?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(TypeExpr { kind: TypeExprKind::Decltype(Box::new(expr)), span: start.to(self.last_span) })
    }

    /// `__typeof__(e)` or `__typeof__(T)`, an extension of GNU that clang has.
    pub(super) fn type_of(&mut self) -> Parse<TypeExpr> {
        let start = self.span();
        self.bump();
        if let Some(ty) = self.opt_operand_type() {
            return Ok(TypeExpr { span: start.to(self.last_span), ..ty });
        }
        let opening = self.span();
        self.expect_after(Punct::LParen, "'__typeof__'")?;
        let expr = self.unevaluated(|p| p.with_greater_closing(false, Self::expression))?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(TypeExpr { kind: TypeExprKind::Typeof(Box::new(expr)), span: start.to(self.last_span) })
    }

    /// True if the current token is a keyword that is a type, or part of one.
    pub(super) fn at_builtin_type(&self) -> bool {
        matches!(self.kind(), TokenKind::Keyword(keyword) if BuiltinWords::is_word(*keyword))
    }

    /// `float`, `unsigned int`: at least one such keyword is there.
    pub(super) fn builtin_type(&mut self) -> Parse<TypeExpr> {
        let mut words = BuiltinWords::default();
        while let TokenKind::Keyword(keyword) = *self.kind()
            && BuiltinWords::is_word(keyword)
        {
            self.builtin_word(&mut words, keyword)?;
        }
        words.type_expr().ok_or_else(|| self.fail("expected a type"))
    }

    /// Takes one keyword of a built-in type.
    pub(super) fn builtin_word(&mut self, words: &mut BuiltinWords, keyword: Keyword) -> Parse<()> {
        if keyword == Keyword::WcharT {
            self.unsupported("'wchar_t' is not supported in Metal");
        }
        let span = self.span();
        if let Some(previous) = words.add(keyword, span) {
            let message = format!("cannot combine with previous '{}' declaration specifier", previous.text());
            return Err(self.fail(message));
        }
        self.bump();
        Ok(())
    }
}

/// The keywords of a built-in type, in any order.
#[derive(Default)]
pub(super) struct BuiltinWords {
    /// `float`, `char`, `int`, …
    core: Option<Keyword>,
    /// `short` or `long`
    size: Option<Keyword>,
    /// `signed` or `unsigned`
    sign: Option<Keyword>,
    span: Option<Span>,
}

impl BuiltinWords {
    pub(super) fn is_word(keyword: Keyword) -> bool {
        use Keyword::*;
        matches!(
            keyword,
            Void | Bool | Char | Short | Int | Long | Half | BFloat | Float | Double | Signed | Unsigned | WcharT
        )
    }

    pub(super) fn is_empty(&self) -> bool {
        self.span.is_none()
    }

    /// Adds a keyword, or returns the one that it conflicts with.
    fn add(&mut self, keyword: Keyword, span: Span) -> Option<Keyword> {
        use Keyword::*;
        match keyword {
            Signed | Unsigned => {
                let conflict = self.core.filter(|core| !matches!(core, Char | Int)).or(self.sign);
                if conflict.is_some() {
                    return conflict;
                }
                self.sign = Some(keyword);
            }
            Short | Long => {
                let size = self.size.filter(|&size| size != Long || keyword != Long);
                let conflict = self.core.filter(|&core| core != Int && (core, keyword) != (Double, Long)).or(size);
                if conflict.is_some() {
                    return conflict;
                }
                self.size = Some(keyword);
            }
            _ => {
                let size = self.size.filter(|&size| keyword != Int && (size, keyword) != (Long, Double));
                let sign = self.sign.filter(|_| !matches!(keyword, Char | Int));
                let conflict = self.core.or(size).or(sign);
                if conflict.is_some() {
                    return conflict;
                }
                self.core = Some(keyword);
            }
        }
        self.span = Some(self.span.map_or(span, |first| first.to(span)));
        None
    }

    /// The type that the keywords form; `None` without keywords.
    pub(super) fn type_expr(&self) -> Option<TypeExpr> {
        use BuiltinType as T;
        let span = self.span?;
        let unsigned = self.sign == Some(Keyword::Unsigned);
        let ty = match (self.core, self.size) {
            (Some(Keyword::Void), _) => T::Void,
            (Some(Keyword::Bool), _) => T::Bool,
            (Some(Keyword::Half), _) => T::Half,
            (Some(Keyword::BFloat), _) => T::BFloat,
            (Some(Keyword::Float), _) => T::Float,
            (Some(Keyword::Double), _) => T::Double,
            (Some(Keyword::Char), _) if unsigned => T::UChar,
            (Some(Keyword::Char), _) => T::Char,
            (_, Some(Keyword::Short)) if unsigned => T::UShort,
            (_, Some(Keyword::Short)) => T::Short,
            (_, Some(_)) if unsigned => T::ULong,
            (_, Some(_)) => T::Long,
            _ if unsigned => T::UInt,
            _ => T::Int,
        };
        Some(TypeExpr { kind: TypeExprKind::Builtin(ty), span })
    }
}
