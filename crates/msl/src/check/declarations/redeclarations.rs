//! Redeclarations: two declarations of one function.

use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{
    EntityId, FunctionSource, ScopeId, ScopeKind, Signature, SignatureParam, Symbol, Tables,
};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, TemplateParamKind};
use crate::source::Span;
use smol_str::SmolStr;
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// Adds a definition to a function declared before, or reports a second one. True if `entity` is not new.
    pub(in crate::check) fn merge_redeclaration(
        &mut self,
        scope: ScopeId,
        name: &SmolStr,
        entity: EntityId,
    ) -> bool {
        let Some(Symbol::Functions(others)) = self.tables.scopes().own(scope, name).cloned() else { return false };
        let decl = self.tables.entity(entity).source.first().expect("a declared function");
        for other in others {
            if !self.same_signature(other, entity) {
                continue;
            }
            let previous = self.tables.entity(other).source;
            let FunctionSource::Declared { definition, declaration } = previous else { continue };
            self.refuse_other_specifiers(declaration, decl);
            self.refuse_second_default(declaration, decl);
            self.merge_defaults(other, entity);
            match (definition, decl.body.is_some()) {
                (Some(first), true) => {
                    let message = format!("redefinition of '{name}'");
                    let diagnostic = Diagnostic::error("redefinition", decl.name.span, message);
                    self.diagnostics.report(diagnostic.note(first.name.span, "previous definition is here"));
                    self.refuse_other_result(other, entity);
                }
                (None, true) => {
                    self.refuse_other_result(other, entity);
                    self.tables.set_definition(other, decl);
                    self.check_declared_function(other);
                }
                (_, false) => self.refuse_other_result(other, entity),
            }
            return true;
        }
        false
    }

    /// Both declarations of a function at namespace scope are `constexpr` or none is, and a `static` one comes first.
    fn refuse_other_specifiers(&mut self, first: &'a ast::FunctionDecl, second: &'a ast::FunctionDecl) {
        let name = &second.name.last().name;
        let (was, is) = (first.specifiers, second.specifiers);
        let is_in_namespace =
            matches!(self.tables.scopes().get(self.position.scope()).kind, ScopeKind::Namespace(_));
        let message = match () {
            () if was.is_constexpr && !is.is_constexpr => {
                format!("non-constexpr declaration of '{name}' follows constexpr declaration")
            }
            () if !was.is_constexpr && is.is_constexpr => {
                format!("constexpr declaration of '{name}' follows non-constexpr declaration")
            }
            () if is_in_namespace && !was.is_static && is.is_static => {
                format!("static declaration of '{name}' follows non-static declaration")
            }
            () => return,
        };
        let diagnostic = Diagnostic::error("redefinition", second.name.span, message);
        self.diagnostics.report(diagnostic.note(first.name.span, "previous declaration is here"));
    }

    /// A default argument is given once.
    pub(in crate::check) fn refuse_second_default(
        &mut self,
        first: &'a ast::FunctionDecl,
        second: &'a ast::FunctionDecl,
    ) {
        for (old, new) in first.params.iter().zip(&second.params) {
            if let (Some(old), Some(new)) = (&old.default, &new.default) {
                let diagnostic = Diagnostic::error("redefinition", new.span, "redefinition of default argument");
                self.diagnostics.report(diagnostic.note(old.span, "previous definition is here"));
            }
        }
    }

    /// A later declaration can add default arguments to a function, but not to a template.
    pub(in crate::check) fn merge_defaults(&mut self, old: EntityId, new: EntityId) {
        let sources = (self.tables.entity(old).source.first(), self.tables.entity(new).source.first());
        let (Some(first), Some(second)) = sources else { return };
        let is_new = |(old, new): (&ast::Param, &ast::Param)| match (&old.default, &new.default) {
            (None, Some(_)) => Some(new.span),
            _ => None,
        };
        let Some(added) = first.params.iter().zip(&second.params).find_map(is_new) else { return };
        if self.tables.entity(old).header.is_some() {
            let message = "default arguments cannot be added to a function template that has already been declared";
            let diagnostic = Diagnostic::error("default-argument", added, message);
            self.diagnostics.report(diagnostic.note(first.name.span, "previous declaration is here"));
            return;
        }
        let (Some(first), Some(second)) = (self.signature(old, &[]), self.signature(new, &[])) else { return };
        let params = first.params.iter().zip(&second.params).map(|(old, new)| SignatureParam {
            ty: old.ty,
            name: new.name,
            default: old.default.or(new.default),
            pack: new.pack,
            span: new.span,
        });
        let merged =
            Signature { params: params.collect(), result: first.result, this: first.this, scope: first.scope };
        refuse_missing_defaults(&mut self.diagnostics, &merged);
        self.tables.entity_mut(old).signatures.insert(Vec::new(), Some(Rc::new(merged)));
    }

    fn refuse_other_result(&mut self, old: EntityId, new: EntityId) {
        if self.tables.entity(old).header.is_some() {
            return;
        }
        let (Some(a), Some(b)) = (self.signature(old, &[]), self.signature(new, &[])) else { return };
        if let (Some(a), Some(b)) = (a.result, b.result)
            && a != b
            && !a.is_unknown()
            && !b.is_unknown()
        {
            let message = "functions that differ only in their return type cannot be overloaded";
            let span = self.tables.entity(new).span;
            let diagnostic = Diagnostic::error("redefinition", span, message);
            let previous = self.tables.entity(old).span;
            self.diagnostics.report(diagnostic.note(previous, "previous declaration is here"));
        }
    }

    /// True for two declarations of one function.
    pub(in crate::check) fn same_signature(&mut self, a: EntityId, b: EntityId) -> bool {
        let (first, second) = match (self.tables.entity(a).source.first(), self.tables.entity(b).source.first()) {
            (Some(first), Some(second)) => (first, second),
            _ => return false,
        };
        if first.params.len() != second.params.len() || first.method_quals != second.method_quals {
            return false;
        }
        match (self.tables.entity(a).header, self.tables.entity(b).header) {
            (None, None) => {
                let (Some(a), Some(b)) = (self.signature(a, &[]), self.signature(b, &[])) else { return false };
                let unknown = |p: &SignatureParam<'a>| self.tables.is_dependent_type(p.ty.ty);
                if a.params.iter().chain(&b.params).any(unknown) {
                    return first.params.iter().zip(&second.params).all(|(a, b)| self.tables.same_param_text(a, b));
                }
                a.params.iter().zip(&b.params).all(|(a, b)| a.ty.ty == b.ty.ty)
            }
            // Templates are the same if they are written the same. A friend template of a class template is written
            // once, and each instance of the class has its own.
            (Some(a), Some(b)) => {
                !std::ptr::eq(first, second)
                    && a.params.len() == b.params.len()
                    && self.tables.words(first.result.span, None, Some(a))
                        == self.tables.words(second.result.span, None, Some(b))
                    && a.params.iter().zip(&b.params).all(|(a, b)| self.tables.same_template_param(a, b))
                    && first.params.iter().zip(&second.params).all(|(x, y)| {
                        self.tables.words(without_default(x), x.name.as_ref(), Some(a))
                            == self.tables.words(without_default(y), y.name.as_ref(), Some(b))
                    })
            }
            _ => false,
        }
    }
}

/// A parameter up to its default argument, which may be in one of several declarations.
fn without_default(param: &ast::Param) -> Span {
    match &param.default {
        Some(default) => Span { end: default.span.start, ..param.span },
        None => param.span,
    }
}

/// Parameters behind one with a default argument have one, too.
pub(super) fn refuse_missing_defaults(diagnostics: &mut Diagnostics, signature: &Signature<'_>) {
    let behind = signature.params.iter().skip_while(|param| param.default.is_none());
    for param in behind.filter(|param| param.default.is_none() && param.pack.is_none()) {
        let name = param.name.map(|name| format!(" '{}'", name.name)).unwrap_or_default();
        diagnostics.error("default-argument", param.span, format!("missing default argument on parameter{name}"));
    }
}

impl<'a> Tables<'a> {
    pub(in crate::check) fn same_text(&self, a: Span, b: Span) -> bool {
        let words = |span: Span| -> Vec<String> {
            self.sources().text(span).split_whitespace().map(ToString::to_string).collect()
        };
        words(a) == words(b)
    }

    fn same_template_param(&self, a: &ast::TemplateParam, b: &ast::TemplateParam) -> bool {
        match (&a.kind, &b.kind) {
            (TemplateParamKind::Type { default: None }, TemplateParamKind::Type { default: None }) => true,
            _ => self.same_text(a.span, b.span),
        }
    }

    /// Words of the source, without a parameter's name and attributes and with template parameters numbered.
    fn words(&self, span: Span, name: Option<&ast::Ident>, header: Option<&ast::TemplateHeader>) -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut words: Vec<String> = Vec::new();
        for c in self.sources().text(span).chars() {
            match words.last_mut() {
                Some(word) if is_word(c) && word.ends_with(is_word) => word.push(c),
                _ if c.is_whitespace() => words.push(String::new()),
                _ => words.push(c.to_string()),
            }
        }
        words.retain(|word| !word.is_empty());
        remove_attributes(&mut words);
        let numbered = |word: String| {
            let is_param = |param: &ast::TemplateParam| param.name.as_ref().is_some_and(|n| n.name == *word);
            let position = header.and_then(|header| header.params.iter().position(is_param));
            position.map_or(word, |index| format!("<{index}>"))
        };
        let is_name = |word: &String| name.is_some_and(|name| name.name == **word);
        // The `=` before a default argument that is left out.
        let is_end = |word: &String| word == "=";
        words.into_iter().filter(|word| !is_name(word) && !is_end(word)).map(numbered).collect()
    }

    /// True if two parameters have the same text, up to their names, attributes and default arguments.
    fn same_param_text(&self, a: &ast::Param, b: &ast::Param) -> bool {
        let text = |param: &ast::Param| self.words(without_default(param), param.name.as_ref(), None);
        text(a) == text(b)
    }
}

/// Removes what stands in `[[…]]`: a later declaration may have other attributes.
fn remove_attributes(words: &mut Vec<String>) {
    let find =
        |words: &[String], bracket: &str| words.windows(2).position(|two| two[0] == bracket && two[1] == bracket);
    while let Some(start) = find(words, "[")
        && let Some(length) = find(&words[start..], "]")
    {
        words.drain(start..start + length + 2);
    }
}
