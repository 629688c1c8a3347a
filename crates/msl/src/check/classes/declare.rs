//! Declarations of classes.

use crate::check::Checker;
use crate::check::tables::{ClassState, Symbol};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, ClassKey};
use crate::types::{QualTy, StructId, Ty};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Declares or defines a class; returns its type, unless it is a template.
    pub(in crate::check) fn declare_class(&mut self, decl: &'a ast::ClassDecl) -> Option<Ty> {
        if let Some(header) = &decl.template {
            self.declare_class_template(decl, header);
            return None;
        }
        let id = match &decl.name {
            None => {
                let key = if decl.key == ClassKey::Union { "(anonymous union)" } else { "(anonymous struct)" };
                self.tables.add_class(SmolStr::new_static(key), decl.span, self.position.scope())
            }
            Some(path) => self.named_class(path)?,
        };
        self.refuse_other_key(id, decl);
        if decl.members.is_some() {
            if self.tables.class(id).state != ClassState::Declared {
                let message = format!("redefinition of '{}'", self.tables.types().struct_(id).name);
                let previous = self.tables.types().struct_(id).span;
                let diagnostic = Diagnostic::error("redefinition", decl.span, message);
                self.diagnostics.report(diagnostic.note(previous, "previous definition is here"));
                return None;
            }
            self.define_class(id, decl);
        }
        Some(self.tables.struct_type(id))
    }

    /// A union is not declared as a struct, nor the other way round.
    fn refuse_other_key(&mut self, id: StructId, decl: &'a ast::ClassDecl) {
        let is_union = decl.key == ClassKey::Union;
        let first = *self.tables.class_mut(id).is_union.get_or_insert(is_union);
        if first != is_union {
            let name = self.tables.types().struct_(id).name.clone();
            let message = format!("use of '{name}' with tag type that does not match previous declaration");
            let previous = self.tables.types().struct_(id).span;
            let diagnostic = Diagnostic::error("redefinition", decl.span, message);
            self.diagnostics.report(diagnostic.note(previous, "previous use is here"));
        }
    }

    fn named_class(&mut self, path: &'a ast::Path) -> Option<StructId> {
        let name = &path.last().name;
        if path.segments.len() > 1 {
            // `struct Outer::Inner { … }`
            return match self.resolve_path(path) {
                Ok(Some(found)) => match found.symbol {
                    Symbol::Type(ty) => self.tables.types().struct_id(ty.ty),
                    _ => None,
                },
                Ok(None) => {
                    self.undeclared(path, true);
                    None
                }
                Err(()) => None,
            };
        }
        if let Some(Symbol::Type(ty)) = self.tables.scopes().own(self.position.scope(), name)
            && let Some(id) = self.tables.types().struct_id(ty.ty)
        {
            return Some(id);
        }
        let id = self.tables.add_class(name.clone(), path.span, self.position.scope());
        let ty = self.tables.struct_type(id);
        // A function may have the same name.
        if !matches!(self.tables.scopes().own(self.position.scope(), name), Some(Symbol::Functions(_))) {
            self.insert_once(name, Symbol::Type(QualTy::plain(ty)), path.span);
        }
        Some(id)
    }
}
