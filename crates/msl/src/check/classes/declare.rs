//! Declarations of classes.

use crate::check::Checker;
use crate::check::tables::{ClassState, Symbol};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::parse::ast::ClassKey;
use crate::types::{QualTy, StructId, Ty};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Declares or defines a class; its type, unless it is a template.
    pub(in crate::check) fn declare_class(&mut self, decl: &'a ast::ClassDecl) -> Option<Ty> {
        if let Some(header) = &decl.template {
            self.declare_class_template(decl, header);
            return None;
        }
        let id = match &decl.name {
            None => {
                let key = if decl.key == ClassKey::Union { "(anonymous union)" } else { "(anonymous struct)" };
                self.add_class(SmolStr::new_static(key), decl.span, self.scope)
            }
            Some(path) => self.named_class(path)?,
        };
        if decl.members.is_some() {
            if self.class(id).state != ClassState::Declared {
                let message = format!("redefinition of '{}'", self.types().struct_(id).name);
                let previous = self.types().struct_(id).span;
                let diagnostic = Diagnostic::error("redefinition", decl.span, message);
                self.report(diagnostic.note(previous, "previous definition is here"));
                return None;
            }
            self.define_class(id, decl);
        }
        Some(self.struct_type(id))
    }

    fn named_class(&mut self, path: &'a ast::Path) -> Option<StructId> {
        let name = &path.last().name;
        if path.segments.len() > 1 {
            // `struct Outer::Inner { … }`
            return match self.resolve_path(path) {
                Ok(Some(found)) => match found.symbol {
                    Symbol::Type(ty) => self.types().struct_id(ty.ty),
                    _ => None,
                },
                Ok(None) => {
                    self.undeclared(path, true);
                    None
                }
                Err(()) => None,
            };
        }
        if let Some(Symbol::Type(ty)) = self.scopes.own(self.scope, name)
            && let Some(id) = self.types().struct_id(ty.ty)
        {
            return Some(id);
        }
        let id = self.add_class(name.clone(), path.span, self.scope);
        let ty = self.struct_type(id);
        // A function of the same name may stand beside it.
        if !matches!(self.scopes.own(self.scope, name), Some(Symbol::Functions(_))) {
            self.insert_once(name, Symbol::Type(QualTy::plain(ty)), path.span);
        }
        Some(id)
    }
}
