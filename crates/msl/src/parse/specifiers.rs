//! Specifiers before a declarator: storage, qualifiers, attributes and the type, in any order.

use super::ast::{
    Attribute, Decl, FunctionKind, Qualifiers, Specifiers, Stage, TemplateHeader, TypeExpr, TypeExprKind,
};
use super::attributes::take_stage;
use super::names::ScopeId;
use super::paths::{Denotes, ParsedPath, PathPlace};
use super::types::BuiltinWords;
use super::{Failed, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use crate::types::{AddressSpace, Coherence};

/// Kind of declaration that specifiers begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DeclarationContext {
    Namespace,
    Class,
    Block,
    /// A function's parameter.
    Parameter,
    /// Either a parameter or an argument of a constructor.
    StrictParameter,
    TemplateParameter,
    TypeId,
    /// Behind `using x =`.
    AliasedType,
    /// Either a type or an expression.
    StrictTypeId,
}

impl DeclarationContext {
    /// True for a whole declaration, which may have `static`, `typedef` and the definition of a class.
    pub(super) fn is_declaration(self) -> bool {
        matches!(self, DeclarationContext::Namespace | DeclarationContext::Class | DeclarationContext::Block)
    }

    /// True if classes and enums can be defined here.
    pub(super) fn allows_definitions(self) -> bool {
        self.is_declaration() || self == DeclarationContext::AliasedType
    }

    fn is_strict(self) -> bool {
        matches!(self, DeclarationContext::StrictParameter | DeclarationContext::StrictTypeId)
    }
}

/// The specifiers of a declaration.
#[derive(Default)]
pub(super) struct DeclSpecifiers {
    pub(super) specifiers: Specifiers,
    pub(super) quals: Qualifiers,
    pub(super) base: Option<TypeExpr>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) is_typedef: bool,
    pub(super) is_friend: bool,
    /// Scope of the members of the class or enum defined here.
    pub(super) members: Option<ScopeId>,
    /// The class or enum that the specifiers declare; the type refers to it by name.
    pub(super) declared: Option<Decl>,
    pub(super) span: Span,
}

impl DeclSpecifiers {
    /// The type with its qualifiers.
    pub(super) fn ty(&self) -> Option<TypeExpr> {
        let base = self.base.clone()?;
        Some(qualified(base, self.quals, self.span))
    }
}

/// `inner` with qualifiers, if there are any.
pub(super) fn qualified(inner: TypeExpr, quals: Qualifiers, span: Span) -> TypeExpr {
    if quals.is_empty() {
        return inner;
    }
    TypeExpr { kind: TypeExprKind::Qualified { quals, inner: Box::new(inner) }, span }
}

/// The address space of a keyword.
pub(super) fn address_space(keyword: Keyword) -> Option<AddressSpace> {
    Some(match keyword {
        Keyword::Thread => AddressSpace::Thread,
        Keyword::Device => AddressSpace::Device,
        Keyword::Constant => AddressSpace::Constant,
        Keyword::Threadgroup => AddressSpace::Threadgroup,
        Keyword::ThreadgroupImageblock => AddressSpace::ThreadgroupImageblock,
        Keyword::RayData => AddressSpace::RayData,
        Keyword::ObjectData => AddressSpace::ObjectData,
        _ => return None,
    })
}

impl Parser {
    /// Specifiers in any order; the type may be missing, as it is before a constructor.
    pub(super) fn decl_specifiers(
        &mut self,
        context: DeclarationContext,
        headers: &[TemplateHeader],
    ) -> Parse<DeclSpecifiers> {
        let start = self.span();
        let mut found = DeclSpecifiers { span: start, ..DeclSpecifiers::default() };
        let mut words = BuiltinWords::default();
        loop {
            let has_type = found.base.is_some() || !words.is_empty();
            if found.declared.is_some() && self.at_another_declaration() {
                break;
            }
            if self.at_attribute() {
                self.opt_attributes(&mut found.attributes)?;
                continue;
            }
            let progress = match *self.kind() {
                TokenKind::Keyword(keyword) if BuiltinWords::is_word(keyword) && found.base.is_none() => {
                    self.builtin_word(&mut words, keyword)?;
                    true
                }
                TokenKind::Keyword(keyword) => {
                    self.opt_qualifier(&mut found.quals)
                        || self.opt_storage(keyword, context, &mut found)
                        || (!has_type && self.opt_keyword_type(context, headers, &mut found)?)
                }
                _ if self.at_coherent() => self.opt_qualifier(&mut found.quals),
                _ => !has_type && self.at_path() && self.opt_named_type(context, &mut found)?,
            };
            if !progress {
                break;
            }
        }
        found.base = found.base.or_else(|| words.type_expr());
        found.span = start.to(self.last_span);
        take_stage(&mut found.attributes, &mut found.specifiers);
        Ok(found)
    }

    /// Behind `struct S { … }`: specifiers of something else, so that a `;` must be missing.
    fn at_another_declaration(&self) -> bool {
        let mut n = 0;
        while let TokenKind::Keyword(keyword) = *self.nth(n) {
            let is_qualifier = matches!(keyword, Keyword::Const | Keyword::Volatile | Keyword::Restrict);
            if !is_qualifier && address_space(keyword).is_none() {
                return !matches!(keyword, Keyword::Attribute | Keyword::Alignas | Keyword::Operator);
            }
            n += 1;
        }
        // `struct S { … } const T x`
        n > 0 && self.at_identifier_nth(n) && self.at_identifier_nth(n + 1)
    }

    /// The type of `specifiers`, or an error where there is none.
    pub(super) fn required_type(&mut self, specifiers: &DeclSpecifiers, message: &str) -> Parse<TypeExpr> {
        match specifiers.ty() {
            Some(ty) => Ok(ty),
            None => Err(self.fail(message)),
        }
    }

    /// `coherent`, `coherent(device)` or `coherent(system)` before another qualifier or a type: the accesses are
    /// visible to other threadgroups, or to all of the system.
    fn opt_coherent(&mut self) -> Option<Coherence> {
        if !self.at_coherent() {
            return None;
        }
        self.bump();
        if !self.at(Punct::LParen) {
            return Some(Coherence::Device);
        }
        let scope = match self.nth(1) {
            TokenKind::Keyword(Keyword::Device) => Some(Coherence::Device),
            TokenKind::Ident(scope) if scope == "system" => Some(Coherence::System),
            _ => None,
        };
        self.bump();
        if scope.is_none() {
            self.error("coherent", self.span(), "scope of 'coherent' must be 'device' or 'system'");
        }
        self.bump();
        self.bump();
        scope.or(Some(Coherence::Device))
    }

    /// True at `coherent` if it is a qualifier here, and no name.
    pub(super) fn at_coherent(&self) -> bool {
        let is_word = matches!(self.kind(), TokenKind::Ident(name) if name == "coherent");
        let is_qualifier = |n: usize| match *self.nth(n) {
            TokenKind::Keyword(keyword) => {
                matches!(keyword, Keyword::Const | Keyword::Volatile) || address_space(keyword).is_some()
            }
            _ => false,
        };
        // Neither a keyword nor the name behind the parenthesis could belong to a call.
        let has_scope = self.at_nth(1, Punct::LParen)
            && self.at_nth(3, Punct::RParen)
            && (is_qualifier(2) || matches!(self.nth(4), TokenKind::Ident(_) | TokenKind::Keyword(_)));
        // `coherent uint *p`: no name is in front of another name or of a type.
        let is_before_type = match *self.nth(1) {
            TokenKind::Ident(_) => true,
            TokenKind::Keyword(keyword) => BuiltinWords::is_word(keyword),
            _ => false,
        };
        self.has_coherence && is_word && (is_qualifier(1) || has_scope || is_before_type)
    }

    /// `const`, `volatile`, `__restrict`, `coherent` or an address space.
    pub(super) fn opt_qualifier(&mut self, quals: &mut Qualifiers) -> bool {
        if let Some(coherence) = self.opt_coherent() {
            quals.coherence = quals.coherence.max(Some(coherence));
            return true;
        }
        let TokenKind::Keyword(keyword) = *self.kind() else {
            return false;
        };
        match keyword {
            Keyword::Const => quals.is_const = true,
            Keyword::Volatile => quals.is_volatile = true,
            Keyword::Restrict => {}
            _ => {
                let Some(space) = address_space(keyword) else {
                    return false;
                };
                // `thread device float *p` is a variable of the thread; the other one is the pointee's.
                quals.space = match quals.space {
                    None | Some(AddressSpace::Thread) => Some(space),
                    Some(other) if space == AddressSpace::Thread => Some(other),
                    Some(other) => {
                        if other != space {
                            self.error("address-space", self.span(), "multiple address spaces specified for type");
                        }
                        Some(space)
                    }
                };
            }
        }
        self.bump();
        true
    }

    /// `constexpr`, `static`, `kernel` and the like.
    fn opt_storage(&mut self, keyword: Keyword, context: DeclarationContext, found: &mut DeclSpecifiers) -> bool {
        let specifiers = &mut found.specifiers;
        match keyword {
            _ if !context.is_declaration() && keyword != Keyword::Register => return false,
            Keyword::Constexpr => specifiers.is_constexpr = true,
            Keyword::Static => specifiers.is_static = true,
            Keyword::Inline => specifiers.is_inline = true,
            Keyword::Extern => specifiers.is_extern = true,
            Keyword::Explicit => specifiers.is_explicit = true,
            Keyword::Mutable => {
                specifiers.is_mutable = true;
                if context != DeclarationContext::Class {
                    self.error("mutable", self.span(), "'mutable' can only be applied to member variables");
                }
            }
            Keyword::Kernel => specifiers.stage = Some(Stage::Kernel),
            Keyword::Vertex => specifiers.stage = Some(Stage::Vertex),
            Keyword::Fragment => specifiers.stage = Some(Stage::Fragment),
            Keyword::Register => {}
            Keyword::Typedef => found.is_typedef = true,
            Keyword::Friend if context == DeclarationContext::Class => found.is_friend = true,
            Keyword::Virtual => {
                specifiers.is_virtual = true;
                self.unsupported("virtual functions are not supported in Metal");
            }
            Keyword::ThreadLocal => {
                specifiers.is_thread_local = true;
                self.unsupported("thread-local storage is not supported in Metal");
            }
            _ => return false,
        }
        self.bump();
        true
    }

    /// A type that begins with a keyword and is no built-in one.
    fn opt_keyword_type(
        &mut self,
        context: DeclarationContext,
        headers: &[TemplateHeader],
        found: &mut DeclSpecifiers,
    ) -> Parse<bool> {
        let start = self.span();
        match *self.kind() {
            TokenKind::Keyword(Keyword::Auto) => {
                self.bump();
                found.base = Some(TypeExpr { kind: TypeExprKind::Auto, span: start });
            }
            TokenKind::Keyword(Keyword::Decltype) if self.at_path() => {
                return self.opt_named_type(context, found);
            }
            TokenKind::Keyword(Keyword::Decltype) => found.base = Some(self.nested(Self::decltype)?),
            TokenKind::Keyword(Keyword::Typeof) => found.base = Some(self.nested(Self::type_of)?),
            TokenKind::Keyword(Keyword::Typename) => {
                self.bump();
                let path = self.path(PathPlace::Type)?.path;
                found.base = Some(TypeExpr { kind: TypeExprKind::Named(path), span: start.to(self.last_span) });
            }
            TokenKind::Keyword(Keyword::Struct | Keyword::Class | Keyword::Union) => {
                self.class_specifier(context, headers, found)?;
            }
            TokenKind::Keyword(Keyword::Enum) => self.enum_specifier(context, found)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A type's name, unless it is a constructor's, or no type's at all.
    fn opt_named_type(&mut self, context: DeclarationContext, found: &mut DeclSpecifiers) -> Parse<bool> {
        if context == DeclarationContext::Class && self.at_constructor() {
            return Ok(false);
        }
        let mark = self.mark();
        let parsed = self.path(PathPlace::Ordinary)?;
        if self.is_nameless_function(&parsed) || !self.can_be_type(&parsed, context) {
            self.reset(mark);
            return if context.is_strict() { Err(Failed) } else { Ok(false) };
        }
        let span = parsed.path.span;
        found.base = Some(TypeExpr { kind: TypeExprKind::Named(parsed.path), span });
        Ok(true)
    }

    /// `A::A`, `A::~A`, `A::operator T`: the names of functions without a result type.
    fn is_nameless_function(&self, parsed: &ParsedPath) -> bool {
        match parsed.kind {
            FunctionKind::Plain => {}
            _ => return true,
        }
        let [.., class, last] = &*parsed.path.segments else {
            return false;
        };
        class.name == last.name
            && self.at(Punct::LParen)
            && !matches!(parsed.qualifier, Some(Denotes::Namespace(_)))
    }

    /// True if a path is read as a type. An undeclared one is, where a declaration is likely: the checker
    /// will say that it is unknown.
    fn can_be_type(&self, parsed: &ParsedPath, context: DeclarationContext) -> bool {
        use Punct::{And, AndAnd, Comma, Ellipsis, RParen, Star};
        if parsed.denotes.is_type() {
            return true;
        }
        let unknown = parsed.denotes == Denotes::Unknown;
        let before_name = self.at_identifier_nth(0);
        let before_pointer = self.at(Star) || self.at(And) || self.at(AndAnd);
        match context {
            DeclarationContext::TypeId
            | DeclarationContext::AliasedType
            | DeclarationContext::TemplateParameter => unknown,
            DeclarationContext::StrictTypeId => false,
            DeclarationContext::StrictParameter => unknown && before_name,
            DeclarationContext::Parameter => {
                let ends = self.at(Comma) || self.at(RParen) || self.at(Ellipsis);
                let before_keyword = matches!(self.kind(), TokenKind::Keyword(_));
                unknown && (before_name || before_pointer || before_keyword || ends)
            }
            DeclarationContext::Block => before_name || self.at_keyword(Keyword::Operator),
            DeclarationContext::Namespace | DeclarationContext::Class => {
                before_name || self.at_keyword(Keyword::Operator) || (unknown && before_pointer)
            }
        }
    }
}
