//! `deprecated`, `unavailable` and `nodiscard`: diagnostics at the uses of a declaration.

use crate::check::Checker;
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::TyKind;

impl<'a> Checker<'a> {
    /// Keeps the attributes of a variable or member for its uses; `declared` is its name.
    pub(in crate::check) fn note_attributes(&mut self, attributes: &'a [ast::Attribute], declared: Span) {
        for attribute in attributes.iter().filter(|attribute| is_notice(attribute)) {
            self.tables.add_notice(declared, attribute);
        }
    }

    /// Reports a use of the variable or member whose name was declared at `declared`.
    pub(in crate::check) fn use_variable(&mut self, name: &str, declared: Span, span: Span) {
        for attribute in self.tables.notices(declared) {
            self.report_notice(attribute, name, declared, span);
        }
    }

    /// Reports a use of a function.
    pub(in crate::check) fn use_function(&mut self, decl: &'a ast::FunctionDecl, span: Span) {
        for attribute in decl.attributes.iter().filter(|attribute| is_notice(attribute)) {
            let name = &decl.name.last().name;
            self.report_notice(attribute, name, decl.name.last().span, span);
        }
    }

    fn report_notice(&mut self, attribute: &'a ast::Attribute, name: &str, declared: Span, span: Span) {
        let word = &attribute.name;
        let mut message = format!("'{name}' is {word}");
        if let Some(text) = text_of(attribute) {
            message = format!("{message}: {text}");
        }
        let diagnostic = match word == "deprecated" {
            true => Diagnostic::warning("deprecated-declarations", span, message),
            false => Diagnostic::error("unavailable", span, message),
        };
        let note = format!("'{name}' has been explicitly marked {word} here");
        self.diagnostics.report(diagnostic.note(declared, note));
    }

    /// Warns about a call as a statement whose result must be used.
    pub(in crate::check) fn warn_about_discarded(&mut self, value: &Expr) {
        let ExprKind::Call { function, .. } = &value.kind else { return };
        let entity = self.tables.instance(*function).entity;
        let declared = self.tables.find_entity(entity).and_then(|entity| entity.source.first());
        let of_function = declared.and_then(|decl| decl.attributes.iter().find(|it| must_be_used(it)));
        let class = match *self.tables.types().kind(value.ty.ty) {
            TyKind::Struct(id) => self.tables.class(id).decl,
            _ => None,
        };
        let of_class = class.and_then(|decl| decl.attributes.iter().find(|it| must_be_used(it)));
        let what = if of_function.is_some() { "function" } else { "type" };
        let Some(attribute) = of_function.or(of_class) else { return };
        let mut message = format!("ignoring return value of {what} declared with '{}' attribute", attribute.name);
        if let Some(text) = text_of(attribute) {
            message = format!("{message}: {text}");
        }
        self.diagnostics.warn("unused-result", value.span, message);
    }
}

fn is_notice(attribute: &ast::Attribute) -> bool {
    matches!(attribute.name.as_str(), "deprecated" | "unavailable")
}

fn must_be_used(attribute: &ast::Attribute) -> bool {
    matches!(attribute.name.as_str(), "nodiscard" | "warn_unused_result")
}

/// The message in `deprecated("message")`.
fn text_of(attribute: &ast::Attribute) -> Option<&str> {
    match attribute.args.first().map(|arg| &arg.kind) {
        Some(ast::ExprKind::Str(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}
