//! Declarations: at namespace scope, in classes, in blocks.

use super::ast::*;
use super::declarators::{Declarator, Named, Parens};
use super::names::{Name, NameKind, ScopeKind};
use super::paths::{Denotes, ParsedPath};
use super::specifiers::{DeclSpecifiers, DeclarationContext};
use super::{Failed, GUIDE, Parse, Parser};
use crate::diagnostics::Diagnostic;
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use crate::vocabulary::Subject;

impl Parser {
    /// The whole program, of which the first `headers` tokens are kept for others.
    pub(super) fn translation_unit(&mut self, headers: usize) -> TranslationUnit {
        let mut unit = TranslationUnit::default();
        let decls = &mut unit.decls;
        while !self.at_end() {
            if self.position == headers && headers > 0 {
                unit.headers = self.keep_headers(decls);
            }
            if self.at(Punct::RBrace) {
                self.error("syntax", self.span(), "extraneous closing brace ('}')");
                self.bump();
                continue;
            }
            self.declaration_or_skip(DeclarationContext::Namespace, decls);
        }
        unit
    }

    /// A declaration; after an error, what is left of it is skipped.
    pub(super) fn declaration_or_skip(&mut self, context: DeclarationContext, decls: &mut Vec<Decl>) {
        let (before, scope, late, count) = (self.position, self.scope, self.late.len(), decls.len());
        if self.declaration(context, decls).is_err() {
            self.skip_failed(before);
            if decls.len() == count {
                self.late.truncate(late);
            }
        }
        self.scope = scope;
        if self.position == before && !self.at_end() && !self.at(Punct::RBrace) {
            self.bump();
        }
    }

    /// Any declaration but those that only a class has.
    pub(super) fn declaration(&mut self, context: DeclarationContext, decls: &mut Vec<Decl>) -> Parse<()> {
        let start = self.span();
        let TokenKind::Keyword(keyword) = *self.kind() else {
            if self.eat(Punct::Semi) {
                decls.push(Decl { kind: DeclKind::Empty, span: start });
                return Ok(());
            }
            return self.simple_declaration(context, Vec::new(), start, decls);
        };
        match keyword {
            Keyword::Namespace => self.namespace(decls),
            Keyword::Inline if *self.nth(1) == TokenKind::Keyword(Keyword::Namespace) => self.namespace(decls),
            Keyword::Using => self.using(context, decls),
            Keyword::Template => self.template(context, decls),
            Keyword::Extern if *self.nth(1) == TokenKind::Keyword(Keyword::Template) => {
                self.template(context, decls)
            }
            Keyword::Extern if matches!(self.nth(1), TokenKind::Str(_)) => self.linkage_block(decls),
            Keyword::StaticAssert => self.static_assert(decls),
            Keyword::Asm => {
                self.unsupported("'asm' is not supported in Metal");
                Err(Failed)
            }
            _ => self.simple_declaration(context, Vec::new(), start, decls),
        }
    }

    /// `static_assert(c, "…");`
    fn static_assert(&mut self, decls: &mut Vec<Decl>) -> Parse<()> {
        let start = self.span();
        self.bump();
        let opening = self.span();
        self.expect_after(Punct::LParen, "'static_assert'")?;
        let condition = self.with_greater_closing(false, Self::conditional_expression)?;
        let mut message = None;
        if self.eat(Punct::Comma) {
            let TokenKind::Str(text) = self.kind() else {
                return Err(self.fail("expected string literal for diagnostic message in static_assert"));
            };
            message = Some(text.clone());
            self.bump();
        }
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        self.expect_semicolon("expected ';' after 'static_assert'");
        decls.push(Decl { kind: DeclKind::StaticAssert { condition, message }, span: start.to(self.last_span) });
        Ok(())
    }

    /// Specifiers and declarators: variables, functions, typedefs, classes, enums.
    pub(super) fn simple_declaration(
        &mut self,
        context: DeclarationContext,
        headers: Vec<TemplateHeader>,
        start: Span,
        decls: &mut Vec<Decl>,
    ) -> Parse<()> {
        let is_guide = self.opt_guide_name();
        let mut specifiers = self.decl_specifiers(context, &headers)?;
        if is_guide {
            // The result stands behind the parameters.
            specifiers.base = Some(TypeExpr { kind: TypeExprKind::Auto, span: start });
        }
        let first = decls.len();
        if let Some(mut declared) = specifiers.declared.take() {
            declared.span = start.to(self.last_span);
            decls.push(declared);
        } else if self.is_unnamed_type_of_many(&specifiers) {
            decls.push(self.name_unnamed_type(&mut specifiers));
        }
        let headers = if decls.len() > first && !self.at_declarator() { Vec::new() } else { headers };
        let result = if self.at(Punct::Semi) || (decls.len() > first && self.is_semicolon_missing_after_type()) {
            self.declaration_without_declarator(&mut specifiers, first, start, decls);
            Ok(())
        } else {
            self.init_declarators(context, &specifiers, &headers, start, decls)
        };
        self.refuse_type_in_result(&specifiers, first, decls);
        if specifiers.is_friend {
            let friends: Vec<Decl> = decls.drain(first..).collect();
            let wrap = |decl: Decl| Decl { span: decl.span, kind: DeclKind::Friend(Box::new(decl)) };
            decls.extend(friends.into_iter().map(wrap));
        }
        result
    }

    /// `struct S { … } f();`: a function's result cannot define a type.
    fn refuse_type_in_result(&mut self, specifiers: &DeclSpecifiers, first: usize, decls: &[Decl]) {
        let base = specifiers.base.as_ref().map(|base| &base.kind);
        let defined = match decls.get(first).map(|decl| &decl.kind) {
            Some(DeclKind::Class(class)) if class.members.is_some() => {
                class.name.as_ref().map(|name| name.last().name.clone())
            }
            Some(DeclKind::Enum(decl)) if decl.enumerators.is_some() => {
                decl.name.as_ref().map(|name| name.name.clone())
            }
            Some(DeclKind::Function(_)) if matches!(base, Some(TypeExprKind::Class(_) | TypeExprKind::Enum(_))) => {
                Some("(unnamed type)".into())
            }
            _ => None,
        };
        let Some(name) = defined else { return };
        let is_function = |decl: &&Decl| matches!(decl.kind, DeclKind::Function(_));
        if let Some(decl) = decls[first..].iter().find(is_function) {
            let message = format!("'{name}' cannot be defined in the result type of a function");
            self.error("function", decl.span, message);
        }
    }

    /// `S(T) -> S<T>;`, perhaps behind `explicit`, is read as the declaration of a function `__deduce_S`, which the
    /// checker takes for a deduction guide.
    fn opt_guide_name(&mut self) -> bool {
        let at = self.position + usize::from(self.at_keyword(Keyword::Explicit));
        let TokenKind::Ident(class) = &self.tokens[at].kind else { return false };
        let Some(&end) = self.closing.get(&(at + 1)) else { return false };
        let arrow = self.tokens.get(end + 1).map(|token| &token.kind);
        if !self.has_guides
            || self.tokens[at + 1].kind != TokenKind::Punct(Punct::LParen)
            || arrow != Some(&TokenKind::Punct(Punct::Arrow))
        {
            return false;
        }
        if !class.starts_with(GUIDE) {
            self.tokens[at].kind = TokenKind::Ident(smol_str::format_smolstr!("{GUIDE}{class}"));
        }
        true
    }

    /// Something that a declarator can begin with.
    fn at_declarator(&self) -> bool {
        use Punct::{And, AndAnd, ColonColon, LParen, Star};
        let is_punct = matches!(self.kind(), TokenKind::Punct(Star | And | AndAnd | LParen | ColonColon));
        is_punct || self.at_identifier().is_some() || self.at_keyword(Keyword::Operator)
    }

    /// Behind `struct S { … }` stands no `;`, and nothing that could be a declarator of it.
    fn is_semicolon_missing_after_type(&self) -> bool {
        match self.kind() {
            TokenKind::Ident(name) => {
                let found = self.names.lookup(self.scope, name);
                let is_type = found.is_some_and(|found| found.kind == NameKind::Type);
                is_type && self.at_identifier_nth(1)
            }
            TokenKind::Punct(Punct::Star | Punct::And | Punct::AndAnd | Punct::LParen | Punct::Colon) => false,
            TokenKind::Keyword(Keyword::Operator) => false,
            _ => !self.at_attribute(),
        }
    }

    /// `struct S { … };`, `union { … };`, `int;`
    fn declaration_without_declarator(
        &mut self,
        specifiers: &mut DeclSpecifiers,
        first: usize,
        start: Span,
        decls: &mut Vec<Decl>,
    ) {
        let kind = match specifiers.base.take() {
            _ if decls.len() > first => None,
            Some(TypeExpr { kind: TypeExprKind::Class(class), .. }) => {
                // The members of an unnamed union belong to the scope around it.
                if let Some(members) = specifiers.members {
                    let scope = self.names.declaring_scope(self.scope);
                    self.names.link(scope, members);
                }
                Some(DeclKind::Class(*class))
            }
            Some(TypeExpr { kind: TypeExprKind::Enum(decl), .. }) => Some(DeclKind::Enum(*decl)),
            _ if specifiers.is_friend => None,
            _ => {
                let warning =
                    Diagnostic::warning("missing-declarations", start, "declaration does not declare anything");
                self.report(warning);
                Some(DeclKind::Empty)
            }
        };
        if let Some(kind) = kind {
            decls.push(Decl { kind, span: start.to(self.last_span) });
        }
        let what = match decls.last().map(|decl| &decl.kind) {
            Some(DeclKind::Class(ClassDecl { key: ClassKey::Struct, .. })) => "expected ';' after struct",
            Some(DeclKind::Class(ClassDecl { key: ClassKey::Class, .. })) => "expected ';' after class",
            Some(DeclKind::Class(ClassDecl { key: ClassKey::Union, .. })) => "expected ';' after union",
            Some(DeclKind::Enum(_)) => "expected ';' after enum",
            _ => "expected ';' at end of declaration",
        };
        let keyword = match decls.last().map(|decl| &decl.kind) {
            Some(DeclKind::Enum(_)) => "enum",
            Some(DeclKind::Class(ClassDecl { key: ClassKey::Class, .. })) => "class",
            Some(DeclKind::Class(ClassDecl { key: ClassKey::Union, .. })) => "union",
            _ => "struct",
        };
        self.warn_about_early_attributes(&specifiers.attributes, keyword);
        if self.at(Punct::Semi) {
            self.bump();
        } else {
            self.report(Diagnostic::error("syntax", self.last_span.after(), what).suggest(";"));
        }
    }

    /// An unnamed class or enum with several declarators, all of which have to refer to it.
    fn is_unnamed_type_of_many(&self, specifiers: &DeclSpecifiers) -> bool {
        let base = specifiers.base.as_ref().map(|base| &base.kind);
        if !matches!(base, Some(TypeExprKind::Class(_) | TypeExprKind::Enum(_))) {
            return false;
        }
        let mut position = self.position;
        loop {
            match self.tokens[position].kind {
                TokenKind::Punct(Punct::Comma) => return true,
                TokenKind::Eof | TokenKind::Punct(Punct::Semi | Punct::RBrace) => return false,
                _ => position = self.closing.get(&position).copied().unwrap_or(position) + 1,
            }
        }
    }

    fn name_unnamed_type(&mut self, specifiers: &mut DeclSpecifiers) -> Decl {
        self.unnamed += 1;
        let span = specifiers.span;
        let name = smol_str::format_smolstr!("__unnamed_{}", self.unnamed);
        let segments = vec![PathSegment { name: name.clone(), span, args: None }];
        let path = Path { global: false, is_elaborated: false, segments, span };
        let named = TypeExpr { kind: TypeExprKind::Named(path.clone()), span };
        let kind = match specifiers.base.replace(named).map(|base| base.kind) {
            Some(TypeExprKind::Class(mut class)) => {
                class.name = Some(path);
                DeclKind::Class(*class)
            }
            Some(TypeExprKind::Enum(mut decl)) => {
                decl.name = Some(Ident { name: name.clone(), span });
                DeclKind::Enum(*decl)
            }
            _ => DeclKind::Empty,
        };
        let scope = self.names.declaring_scope(self.scope);
        self.names.declare(scope, name, Name { kind: NameKind::Type, scope: specifiers.members });
        Decl { kind, span }
    }

    /// Declarators with commas between them, and the `;` or body behind the last.
    fn init_declarators(
        &mut self,
        context: DeclarationContext,
        specifiers: &DeclSpecifiers,
        headers: &[TemplateHeader],
        start: Span,
        decls: &mut Vec<Decl>,
    ) -> Parse<()> {
        let scope = self.scope;
        loop {
            let ended = self.init_declarator(context, specifiers, headers, start, decls)?;
            self.scope = scope;
            if ended {
                return Ok(());
            }
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        let is_function = matches!(decls.last(), Some(Decl { kind: DeclKind::Function(_), .. }));
        let message = match context {
            DeclarationContext::Class => "expected ';' at end of declaration list",
            DeclarationContext::Namespace if is_function && !self.at_identifier_nth(0) && !self.at_end() => {
                "expected function body after function declarator"
            }
            DeclarationContext::Namespace => "expected ';' after top level declarator",
            _ => "expected ';' at end of declaration",
        };
        self.expect_semicolon(message);
        Ok(())
    }

    /// One declarator with its initializer or body; true where the body ends the declaration.
    fn init_declarator(
        &mut self,
        context: DeclarationContext,
        specifiers: &DeclSpecifiers,
        headers: &[TemplateHeader],
        start: Span,
        decls: &mut Vec<Decl>,
    ) -> Parse<bool> {
        if context == DeclarationContext::Class && self.at(Punct::Colon) {
            let declarator = Declarator::default();
            self.variable(context, specifiers, headers, declarator, start, decls)?;
            return Ok(false);
        }
        self.check_type_or_nameless(context, specifiers)?;
        let parens = match context {
            _ if specifiers.base.is_none() || specifiers.is_typedef => Parens::Parameters,
            DeclarationContext::Namespace if is_void(specifiers) => Parens::Parameters,
            DeclarationContext::Namespace => Parens::OrRareInitializer,
            DeclarationContext::Block => Parens::OrInitializer,
            _ => Parens::Parameters,
        };
        let declarator = self.declarator_with(Named::Yes, parens)?;
        if specifiers.is_typedef {
            self.typedef(specifiers, headers, declarator, start, decls);
            return Ok(false);
        }
        if declarator.is_function() {
            return self.function(context, specifiers, headers, declarator, start, decls);
        }
        self.variable(context, specifiers, headers, declarator, start, decls)?;
        Ok(false)
    }

    /// Without a type only constructors, destructors and conversions can be declared.
    fn check_type_or_nameless(&mut self, context: DeclarationContext, specifiers: &DeclSpecifiers) -> Parse<()> {
        if specifiers.base.is_some() || self.at(Punct::Tilde) || self.at_keyword(Keyword::Operator) {
            return Ok(());
        }
        if !self.at_path() {
            let message = match context {
                DeclarationContext::Class => "expected member name or ';' after declaration specifiers",
                _ => "expected unqualified-id",
            };
            return Err(self.fail(message));
        }
        if context == DeclarationContext::Class && self.at_constructor() {
            return Ok(());
        }
        let mark = self.mark();
        let parsed = self.path(super::paths::PathPlace::Ordinary)?;
        let is_call = self.at(Punct::LParen);
        let before_type = parsed.denotes == Denotes::Unknown && matches!(self.kind(), TokenKind::Keyword(_));
        self.reset(mark);
        if parsed.qualifier.is_some() && is_call && !matches!(parsed.qualifier, Some(Denotes::Namespace(_))) {
            return Ok(());
        }
        if before_type {
            // Most likely a macro that is not defined.
            let message = format!("unknown type name '{}'", parsed.path.last().name);
            return Err(self.fail(message));
        }
        Err(self.fail("C++ requires a type specifier for all declarations"))
    }

    fn typedef(
        &mut self,
        specifiers: &DeclSpecifiers,
        headers: &[TemplateHeader],
        mut declarator: Declarator,
        start: Span,
        decls: &mut Vec<Decl>,
    ) {
        let (Some(parsed), Some(base)) = (declarator.name.take(), specifiers.ty()) else {
            return;
        };
        let segment = parsed.path.last();
        let name = Ident { name: segment.name.clone(), span: segment.span };
        let mut declarator_attributes = std::mem::take(&mut declarator.attributes);
        let ty = declarator.apply(base);
        let members = specifiers.members.or_else(|| self.members_of(&ty));
        let scope = self.names.declaring_scope(self.scope);
        self.names.declare(scope, name.name.clone(), Name { kind: NameKind::Type, scope: members });
        let mut attributes = specifiers.attributes.clone();
        attributes.append(&mut declarator_attributes);
        self.place_attributes(&attributes, Subject::Alias);
        let alias = AliasDecl { name, ty, attributes, template: headers.last().cloned() };
        decls.push(Decl { kind: DeclKind::Alias(alias), span: start.to(self.last_span) });
    }

    /// A variable or data member: its name is known in its own initializer.
    fn variable(
        &mut self,
        context: DeclarationContext,
        specifiers: &DeclSpecifiers,
        headers: &[TemplateHeader],
        mut declarator: Declarator,
        start: Span,
        decls: &mut Vec<Decl>,
    ) -> Parse<()> {
        let mut attributes = specifiers.attributes.clone();
        attributes.append(&mut declarator.attributes);
        let name = declarator.name.take();
        let base = self.required_type(specifiers, "C++ requires a type specifier for all declarations")?;
        let bindings = std::mem::take(&mut declarator.bindings);
        if !bindings.is_empty() && context != DeclarationContext::Block {
            return Err(self.fail("decomposition declaration not permitted in this context"));
        }
        let ty = declarator.apply(base);
        if let Some(parsed) = &name {
            let kind = if headers.is_empty() { NameKind::Value } else { NameKind::VariableTemplate };
            self.declare_unqualified(parsed, kind);
        }
        let bit_width = match context {
            DeclarationContext::Class if self.eat(Punct::Colon) => Some(self.conditional_expression()?),
            _ => None,
        };
        self.opt_attributes(&mut attributes)?;
        let init = self.opt_initializer()?;
        self.opt_attributes(&mut attributes)?;
        let is_member = context == DeclarationContext::Class && !specifiers.specifiers.is_static;
        self.place_attributes(&attributes, if is_member { Subject::Member } else { Subject::Variable });
        let variable = VarDecl {
            name: name.map(|parsed| parsed.path),
            bindings,
            ty,
            init,
            specifiers: specifiers.specifiers,
            attributes,
            bit_width,
            template: headers.last().cloned(),
        };
        decls.push(Decl { kind: DeclKind::Var(variable), span: start.to(self.last_span) });
        Ok(())
    }

    /// Makes a name known in the scope around; one with `::` was declared before.
    pub(super) fn declare_unqualified(&mut self, parsed: &ParsedPath, kind: NameKind) {
        let [segment] = &*parsed.path.segments else {
            return;
        };
        if parsed.path.global || !matches!(parsed.kind, FunctionKind::Plain | FunctionKind::Operator(_)) {
            return;
        }
        // An explicit specialization declares no new name, and a constructor's name remains the class's.
        let scope = self.names.declaring_scope(self.scope);
        let is_constructor =
            self.names.kind(scope) == ScopeKind::Class && self.names.class_name(scope) == Some(&segment.name);
        if segment.args.is_none() && !is_constructor {
            self.names.declare(scope, segment.name.clone(), Name::new(kind));
        }
    }
}

/// A type that no variable has.
fn is_void(specifiers: &DeclSpecifiers) -> bool {
    let base = specifiers.base.as_ref().map(|base| &base.kind);
    matches!(base, Some(TypeExprKind::Builtin(BuiltinType::Void)))
}
