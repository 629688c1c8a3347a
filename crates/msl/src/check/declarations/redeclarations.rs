//! Redeclarations: two declarations of one function.

use crate::check::Checker;
use crate::check::tables::{EntityId, FunctionSource, ScopeId, ScopeKind, SignatureParam, Symbol, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, TemplateParamKind};
use crate::source::Span;
use smol_str::SmolStr;

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
            // Templates are the same if they are written the same.
            (Some(a), Some(b)) => {
                a.params.len() == b.params.len()
                    && self.tables.words(first.result.span, None, a)
                        == self.tables.words(second.result.span, None, b)
                    && a.params.iter().zip(&b.params).all(|(a, b)| self.tables.same_template_param(a, b))
                    && first.params.iter().zip(&second.params).all(|(x, y)| {
                        self.tables.words(x.span, x.name.as_ref(), a)
                            == self.tables.words(y.span, y.name.as_ref(), b)
                    })
            }
            _ => false,
        }
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

    /// Words of the source, without a parameter's name and with template parameters numbered.
    fn words(&self, span: Span, name: Option<&ast::Ident>, header: &ast::TemplateHeader) -> Vec<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut words: Vec<String> = Vec::new();
        for c in self.sources().text(span).chars() {
            match words.last_mut() {
                Some(word) if is_word(c) && word.ends_with(is_word) => word.push(c),
                _ if c.is_whitespace() => words.push(String::new()),
                _ => words.push(c.to_string()),
            }
        }
        let numbered = |word: String| {
            let is_param = |param: &ast::TemplateParam| param.name.as_ref().is_some_and(|n| n.name == *word);
            header.params.iter().position(is_param).map_or(word, |index| format!("<{index}>"))
        };
        let is_name = |word: &String| name.is_some_and(|name| name.name == **word);
        words.into_iter().filter(|word| !word.is_empty() && !is_name(word)).map(numbered).collect()
    }

    /// True if two parameters have the same text, up to their names.
    fn same_param_text(&self, a: &ast::Param, b: &ast::Param) -> bool {
        let text = |param: &ast::Param| -> Vec<String> {
            let whole = self.sources().text(param.span);
            let name = param.name.as_ref().map_or("", |name| name.name.as_str());
            let separators = |c: char| !(c.is_alphanumeric() || c == '_');
            whole
                .split_inclusive(separators)
                .map(|word| word.trim().to_string())
                .filter(|word| !word.is_empty() && word.trim_end_matches(separators) != name)
                .collect()
        };
        text(a) == text(b)
    }
}
