//! Declarators: the part of a declaration around its name, read from the inside out.
//!
//! `(*f[2])(int)` becomes the list *array of 2, pointer, function*: the layers from the name outwards.
//! Applied to the specifiers' type in reverse, it gives the type of the name.

use super::ast::{Attribute, Expr, Ident, Param, Path, Qualifiers, TypeExpr, TypeExprKind};
use super::names::{ScopeId, ScopeKind};
use super::paths::{Denotes, ParsedPath, PathPlace};
use super::specifiers::{DeclarationContext, qualified};
use super::{Attempt, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use smol_str::SmolStr;

/// Presence of a name in a declarator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Yes,
    No,
    Maybe,
}

/// Meaning of a parenthesis behind the name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parens {
    /// Parameters.
    Parameters,
    /// Parameters whose types are all known; anything else makes the whole no declarator.
    StrictParameters,
    /// Parameters, or the initializer of a variable: left to the caller.
    OrInitializer,
    /// The same at namespace scope, where functions are more likely.
    OrRareInitializer,
}

/// One layer around a name.
pub(super) enum Layer {
    Pointer(Qualifiers),
    Reference { rvalue: bool },
    MemberPointer(Path, Qualifiers),
    Array(Option<Box<Expr>>),
    Function(Box<FunctionLayer>),
}

/// A parameter list with its suffixes.
pub(super) struct FunctionLayer {
    pub(super) params: Vec<Param>,
    pub(super) quals: Qualifiers,
    /// `override` and `final`
    pub(super) virtual_words: Vec<Ident>,
    /// `-> T`
    pub(super) result: Option<TypeExpr>,
    /// Scope of the parameters.
    pub(super) scope: ScopeId,
}

/// A name with the layers around it, innermost first.
#[derive(Default)]
pub(super) struct Declarator {
    pub(super) name: Option<ParsedPath>,
    /// `[a, b]`
    pub(super) bindings: Vec<Ident>,
    pub(super) layers: Vec<Layer>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) is_pack: bool,
}

impl Declarator {
    /// The type of the name; `base` is the type in the specifiers.
    pub(super) fn apply(self, base: TypeExpr) -> TypeExpr {
        apply_layers(self.layers, base)
    }

    /// True if the name itself is a function.
    pub(super) fn is_function(&self) -> bool {
        matches!(self.layers.first(), Some(Layer::Function(_)))
    }
}

pub(super) fn apply_layers(layers: Vec<Layer>, base: TypeExpr) -> TypeExpr {
    layers.into_iter().rev().fold(base, |inner, layer| {
        let span = inner.span;
        let kind = match layer {
            Layer::Pointer(quals) => {
                let pointer = TypeExpr { kind: TypeExprKind::Pointer(Box::new(inner)), span };
                return qualified(pointer, quals, span);
            }
            Layer::Reference { rvalue } => TypeExprKind::Reference { inner: Box::new(inner), rvalue },
            Layer::MemberPointer(class, quals) => {
                let kind = TypeExprKind::MemberPointer { class, inner: Box::new(inner) };
                return qualified(TypeExpr { kind, span }, quals, span);
            }
            Layer::Array(length) => TypeExprKind::Array { element: Box::new(inner), length },
            Layer::Function(function) => {
                let result = Box::new(function.result.unwrap_or(inner));
                TypeExprKind::Function { result, params: function.params, quals: function.quals }
            }
        };
        TypeExpr { kind, span }
    })
}

/// `pointers` as written, from left to right.
pub(super) fn apply_pointers(mut pointers: Vec<Layer>, base: TypeExpr) -> TypeExpr {
    pointers.reverse();
    apply_layers(pointers, base)
}

impl Parser {
    /// A declarator without a name in a type-id.
    pub(super) fn declarator(&mut self, named: Named) -> Parse<Declarator> {
        self.declarator_with(named, Parens::StrictParameters)
    }

    /// Pointers, then the name or a declarator in parentheses, then arrays and parameter lists.
    ///
    /// A qualified name leaves the parser in the scope of the class or namespace it names, so that what follows
    /// finds the members; the caller restores the scope.
    pub(super) fn declarator_with(&mut self, named: Named, parens: Parens) -> Parse<Declarator> {
        let mut pointers = self.pointer_operators()?;
        // In a type-id, `T...` is an expansion, which is the caller's.
        let is_pack = named != Named::No && self.eat(Punct::Ellipsis);
        let mut declarator = self.direct_declarator(named, parens)?;
        declarator.is_pack |= is_pack;
        pointers.reverse();
        declarator.layers.append(&mut pointers);
        Ok(declarator)
    }

    /// `* const`, `C::*`, `&`, `&&`, as written.
    pub(super) fn pointer_operators(&mut self) -> Parse<Vec<Layer>> {
        let mut pointers = Vec::new();
        loop {
            if pointers.len() >= super::MAX_NESTING as usize {
                return Err(self.too_nested());
            }
            if self.at_member_pointer_nth(0) {
                let class = self.path(PathPlace::Type)?.path;
                self.expect(Punct::ColonColon)?;
                self.expect(Punct::Star)?;
                let mut quals = Qualifiers::default();
                while self.opt_qualifier(&mut quals) {}
                pointers.push(Layer::MemberPointer(class, quals));
                continue;
            }
            let layer = match self.kind() {
                TokenKind::Punct(Punct::Star) => Layer::Pointer(Qualifiers::default()),
                TokenKind::Punct(Punct::And) => Layer::Reference { rvalue: false },
                TokenKind::Punct(Punct::AndAnd) => Layer::Reference { rvalue: true },
                _ => return Ok(pointers),
            };
            self.bump();
            let mut quals = Qualifiers::default();
            while self.opt_qualifier(&mut quals) {}
            pointers.push(if matches!(layer, Layer::Pointer(_)) { Layer::Pointer(quals) } else { layer });
        }
    }

    /// `A::B<T>::*` from the nth token on.
    fn at_member_pointer_nth(&self, n: usize) -> bool {
        let mut at = self.position + n;
        let token = |at: usize| self.tokens.get(at).map(|token| &token.kind);
        let is = |at: usize, punct: Punct| token(at) == Some(&TokenKind::Punct(punct));
        if is(at, Punct::ColonColon) {
            at += 1;
        }
        while let Some(TokenKind::Ident(_)) = token(at) {
            at += 1;
            if is(at, Punct::Less) {
                match self.end_of_angles(at) {
                    Some(end) => at = end,
                    None => return false,
                }
            }
            if !is(at, Punct::ColonColon) {
                return false;
            }
            at += 1;
        }
        is(at, Punct::Star) && at > self.position + n + 1
    }

    /// The token behind the `>` that closes the `<` at `at`, if there is one before the end of the statement.
    fn end_of_angles(&self, at: usize) -> Option<usize> {
        /// Most tokens looked at: a longer list is no class.
        const MOST: usize = 256;
        let mut depth = 0i32;
        for (index, token) in self.tokens.iter().enumerate().skip(at).take(MOST) {
            match token.kind {
                TokenKind::Punct(Punct::Less) => depth += 1,
                TokenKind::Punct(Punct::Greater) => depth -= 1,
                TokenKind::Punct(Punct::Shr) => depth -= 2,
                TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace | Punct::LParen | Punct::RParen) => {
                    return None;
                }
                _ => {}
            }
            if depth <= 0 {
                return Some(index + 1);
            }
        }
        None
    }

    fn direct_declarator(&mut self, named: Named, parens: Parens) -> Parse<Declarator> {
        let mut declarator = Declarator::default();
        let mut in_parentheses = false;
        if self.at(Punct::LParen) && self.at_declarator_in_parentheses(named) {
            let opening = self.span();
            self.bump();
            let inner = if parens == Parens::StrictParameters { parens } else { Parens::Parameters };
            declarator = self.nested(|p| p.declarator_with(named, inner))?;
            self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
            in_parentheses = true;
        } else if named == Named::Yes {
            self.opt_attributes(&mut declarator.attributes)?;
            if self.at(Punct::LBracket) {
                declarator.bindings = self.binding_list()?;
                let names: Vec<&str> = declarator.bindings.iter().map(|name| name.name.as_str()).collect();
                let span = declarator.bindings.first().map_or(self.last_span, |name| name.span);
                let name = SmolStr::from(format!("[{}]", names.join(", ")));
                declarator.name = Some(named_path(name, span));
                return Ok(declarator);
            }
            declarator.name = Some(self.declarator_id()?);
        } else if named == Named::Maybe && self.at_identifier().is_some() {
            declarator.name = Some(self.parameter_name());
        }
        self.declarator_suffixes(&mut declarator, parens, in_parentheses)?;
        Ok(declarator)
    }

    /// Behind `(`: another declarator rather than parameters.
    fn at_declarator_in_parentheses(&self, named: Named) -> bool {
        let is_pointer = matches!(self.nth(1), TokenKind::Punct(Punct::Star | Punct::And | Punct::AndAnd))
            || self.at_member_pointer_nth(1);
        match named {
            Named::Yes => true,
            Named::No => is_pointer,
            Named::Maybe => {
                let is_value = |name: &str| {
                    let found = self.names.lookup(self.scope, name);
                    !found.is_some_and(|found| {
                        matches!(found.kind, super::names::NameKind::Type | super::names::NameKind::ClassTemplate)
                    })
                };
                is_pointer || matches!(self.nth(1), TokenKind::Ident(name) if is_value(name))
            }
        }
    }

    /// `[a, b]`: names for the parts of a value, an extension of C++17 in Metal before version 4.
    fn binding_list(&mut self) -> Parse<Vec<Ident>> {
        let opening = self.span();
        self.bump();
        let mut names = Vec::new();
        loop {
            let span = self.span();
            let Some(name) = self.at_identifier().cloned() else {
                return Err(self.fail("expected identifier"));
            };
            self.bump();
            self.names.declare(self.scope, name.clone(), super::names::Name::new(super::names::NameKind::Value));
            names.push(Ident { name, span });
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)?;
        Ok(names)
    }

    /// The name that is declared.
    fn declarator_id(&mut self) -> Parse<ParsedPath> {
        let is_name = self.at_path() || self.at_keyword(Keyword::Operator) || self.at(Punct::Tilde);
        if !is_name {
            return Err(self.fail("expected unqualified-id"));
        }
        let parsed = self.path(PathPlace::Ordinary)?;
        if let Some(Denotes::Type(Some(scope)) | Denotes::Namespace(scope)) = parsed.qualifier {
            self.scope = self.names.member_definition_scope(self.scope, scope);
        }
        Ok(parsed)
    }

    /// A parameter's name: a single identifier, whatever it means outside.
    fn parameter_name(&mut self) -> ParsedPath {
        let span = self.span();
        let name = self.at_identifier().cloned().unwrap_or_default();
        self.bump();
        named_path(name, span)
    }

    /// Arrays, parameter lists and attributes behind a name.
    fn declarator_suffixes(
        &mut self,
        declarator: &mut Declarator,
        parens: Parens,
        in_parentheses: bool,
    ) -> Parse<()> {
        let mut count = 0;
        loop {
            if self.at_attribute() {
                self.opt_attributes(&mut declarator.attributes)?;
            } else if self.at(Punct::LBracket) {
                declarator.layers.push(self.array_bounds()?);
            } else if self.at(Punct::LParen) {
                let parens = match parens {
                    Parens::OrInitializer | Parens::OrRareInitializer if in_parentheses => Parens::Parameters,
                    other => other,
                };
                let Some(function) = self.opt_function_suffix(declarator, parens)? else {
                    return Ok(());
                };
                declarator.layers.push(Layer::Function(Box::new(function)));
            } else {
                return Ok(());
            }
            count += 1;
            if count > super::MAX_NESTING {
                return Err(self.too_nested());
            }
        }
    }

    /// `[n]` or `[]`
    fn array_bounds(&mut self) -> Parse<Layer> {
        let opening = self.span();
        self.bump();
        let length = if self.at(Punct::RBracket) {
            None
        } else {
            let length =
                self.nested(|p| p.unevaluated(|p| p.with_greater_closing(false, Self::assignment_expression)))?;
            Some(Box::new(length))
        };
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)?;
        Ok(Layer::Array(length))
    }

    /// A parameter list, unless the parenthesis is an initializer.
    fn opt_function_suffix(&mut self, declarator: &mut Declarator, parens: Parens) -> Parse<Option<FunctionLayer>> {
        let attributes = &mut declarator.attributes;
        match parens {
            Parens::Parameters => self.function_suffix(DeclarationContext::Parameter, attributes).map(Some),
            Parens::StrictParameters => {
                self.function_suffix(DeclarationContext::StrictParameter, attributes).map(Some)
            }
            Parens::OrInitializer | Parens::OrRareInitializer => {
                let is_rare = parens == Parens::OrRareInitializer;
                let context =
                    if is_rare { DeclarationContext::Parameter } else { DeclarationContext::StrictParameter };
                let mut found = Vec::new();
                let function = self.attempt(Attempt::Parameters, |p| p.function_suffix(context, &mut found));
                if function.is_some() {
                    attributes.append(&mut found);
                } else if is_rare && self.at_likely_parameter() {
                    // Parse again for the sake of the error message.
                    return self.function_suffix(context, attributes).map(Some);
                }
                Ok(function)
            }
        }
    }

    /// Behind `(` stands a type that is not called.
    fn at_likely_parameter(&self) -> bool {
        let is_type = match self.nth(1) {
            TokenKind::Keyword(keyword) => {
                super::types::BuiltinWords::is_word(*keyword)
                    || super::specifiers::address_space(*keyword).is_some()
                    || matches!(keyword, Keyword::Const | Keyword::Struct | Keyword::Typename | Keyword::Auto)
            }
            TokenKind::Ident(name) => {
                let found = self.names.lookup(self.scope, name);
                found.is_some_and(|found| {
                    matches!(found.kind, super::names::NameKind::Type | super::names::NameKind::ClassTemplate)
                })
            }
            _ => false,
        };
        // `coord::pixel` is a value of an enum.
        let goes_on = [Punct::LParen, Punct::LBrace, Punct::ColonColon].iter().any(|&punct| self.at_nth(2, punct));
        is_type && !goes_on
    }

    /// `(params) const noexcept -> T`
    fn function_suffix(
        &mut self,
        context: DeclarationContext,
        attributes: &mut Vec<Attribute>,
    ) -> Parse<FunctionLayer> {
        let scope = self.names.add_scope(ScopeKind::Block, Some(self.scope));
        self.in_scope(scope, |p| {
            let params = p.parameter_list(context)?;
            let mut quals = Qualifiers::default();
            let mut virtual_words = Vec::new();
            loop {
                if p.opt_qualifier(&mut quals) {
                    continue;
                }
                match p.kind() {
                    TokenKind::Keyword(Keyword::Noexcept) => p.noexcept_specification()?,
                    TokenKind::Ident(word) if matches!(word.as_str(), "override" | "final") => {
                        virtual_words.push(Ident { name: word.clone(), span: p.span() });
                        p.bump();
                    }
                    TokenKind::Punct(Punct::And | Punct::AndAnd) if context == DeclarationContext::Parameter => {
                        p.bump()
                    }
                    _ if p.at_attribute() => p.opt_attributes(attributes)?,
                    _ => break,
                }
            }
            let result = if p.eat(Punct::Arrow) { Some(p.type_id()?) } else { None };
            Ok(FunctionLayer { params, quals, virtual_words, result, scope })
        })
    }

    /// `noexcept` or `noexcept(c)`: there are no exceptions to promise about.
    pub(super) fn noexcept_specification(&mut self) -> Parse<()> {
        self.bump();
        if self.at(Punct::LParen) {
            self.skip_balanced();
        }
        Ok(())
    }
}

/// A name without qualifiers.
fn named_path(name: SmolStr, span: crate::source::Span) -> ParsedPath {
    let segments = vec![super::ast::PathSegment { name, span, args: None }];
    ParsedPath {
        path: super::ast::Path { global: false, is_elaborated: false, segments, span },
        denotes: Denotes::Unknown,
        kind: super::ast::FunctionKind::Plain,
        conversion: None,
        qualifier: None,
    }
}
