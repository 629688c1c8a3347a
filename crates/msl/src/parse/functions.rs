//! Functions, methods, constructors: the part after the declarator.

use super::ast::*;
use super::attributes::take_stage;
use super::declarators::{Declarator, FunctionLayer, Layer, apply_layers};
use super::late::LateBody;
use super::names::{NameKind, ScopeId};
use super::paths::ParsedPath;
use super::specifiers::{DeclSpecifiers, DeclarationContext};
use super::{Failed, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use crate::vocabulary::Subject;

impl Parser {
    /// A function with its body, if there is one; true where there is.
    pub(super) fn function(
        &mut self,
        context: DeclarationContext,
        specifiers: &DeclSpecifiers,
        headers: &[TemplateHeader],
        mut declarator: Declarator,
        start: Span,
        decls: &mut Vec<Decl>,
    ) -> Parse<bool> {
        let Some(parsed) = declarator.name.take() else {
            return Err(self.fail("expected unqualified-id"));
        };
        let Layer::Function(layer) = declarator.layers.remove(0) else {
            return Err(Failed);
        };
        let FunctionLayer { params, quals, virtual_words, result, scope } = *layer;
        let is_template = headers.last().is_some_and(|header| !header.params.is_empty());
        if headers.is_empty() || is_template {
            let kind = if is_template { NameKind::FunctionTemplate } else { NameKind::Value };
            self.declare_unqualified(&parsed, kind);
        }
        let span = start.to(self.last_span);
        let kind = self.function_kind(&parsed, specifiers);
        let is_auto = |ty: &TypeExpr| matches!(ty.kind, TypeExprKind::Auto | TypeExprKind::DecltypeAuto);
        if let (Some(base), Some(trailing)) = (&specifiers.base, &result)
            && !is_auto(base)
        {
            let message = "function with trailing return type must specify return type 'auto'";
            self.error("function", trailing.span, message);
        }
        let base = specifiers.ty().unwrap_or(TypeExpr { kind: TypeExprKind::Builtin(BuiltinType::Void), span });
        let result = parsed.conversion.or(result).unwrap_or_else(|| apply_layers(declarator.layers, base));
        let mut name = parsed.path;
        if let (FunctionKind::Constructor, Some(last)) = (&kind, name.segments.last_mut()) {
            last.args = None;
        }
        let mut attributes = specifiers.attributes.clone();
        attributes.append(&mut declarator.attributes);
        let mut function = FunctionDecl {
            name,
            kind,
            result,
            params,
            method_quals: quals,
            body: None,
            member_inits: Vec::new(),
            is_defaulted: false,
            is_deleted: false,
            fp_pragmas: Vec::new(),
            specifiers: specifiers.specifiers,
            attributes,
            templates: headers.to_vec(),
            guide: None,
            span,
        };
        take_stage(&mut function.attributes, &mut function.specifiers);
        self.place_attributes(&function.attributes, Subject::Function);
        self.refuse_virtual_words(context, &function, &virtual_words);
        self.check_function_specifiers(context, specifiers, parsed.qualifier.as_ref(), &function);
        let ended = self.function_ending(context, &mut function, scope);
        decls.push(Decl { kind: DeclKind::Function(function), span: start.to(self.last_span) });
        ended
    }

    fn function_kind(&self, parsed: &ParsedPath, specifiers: &DeclSpecifiers) -> FunctionKind {
        match &parsed.kind {
            FunctionKind::Plain if specifiers.base.is_none() => FunctionKind::Constructor,
            kind => kind.clone(),
        }
    }

    /// `= default`, `= delete`, a body, or nothing yet; true where nothing can follow.
    fn function_ending(
        &mut self,
        context: DeclarationContext,
        function: &mut FunctionDecl,
        scope: ScopeId,
    ) -> Parse<bool> {
        if self.at(Punct::Assign) {
            return self.function_assignment(function);
        }
        if self.at_keyword(Keyword::Try) {
            self.unsupported("cannot use 'try' with exceptions disabled");
            return Err(Failed);
        }
        if !(self.at(Punct::LBrace) || self.at(Punct::Colon)) {
            return Ok(false);
        }
        match context {
            DeclarationContext::Block => {
                self.error("syntax", self.span(), "function definition is not allowed here");
                self.skip_statement();
            }
            DeclarationContext::Class => {
                let start = self.position;
                self.skip_function_body()?;
                self.late.push(LateBody { start, scope, path: Vec::new() });
            }
            _ => self.in_scope(scope, |p| p.function_body(function))?,
        }
        Ok(true)
    }

    /// `= default`, `= delete`, `= 0`
    fn function_assignment(&mut self, function: &mut FunctionDecl) -> Parse<bool> {
        self.bump();
        match self.kind() {
            TokenKind::Keyword(Keyword::Default) => function.is_defaulted = true,
            TokenKind::Keyword(Keyword::Delete) => function.is_deleted = true,
            // A pure virtual function: `virtual` was already refused.
            TokenKind::Int(_) if function.specifiers.is_virtual => {}
            _ => {
                return Err(self.fail("initializer on function does not look like a pure-specifier"));
            }
        }
        self.bump();
        Ok(false)
    }
}
