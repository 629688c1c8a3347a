//! Static data members with their value outside their class: `constant int Tile<N>::size = 4 * N;`

use crate::check::Checker;
use crate::check::tables::{GlobalInit, Symbol};
use crate::parse::ast;
use crate::types::StructId;

impl<'a> Checker<'a> {
    /// Gives a member its value. A member of a class template gets it in each instance.
    pub(in crate::check) fn define_outside_value(&mut self, var: &'a ast::VarDecl, path: &'a ast::Path) {
        let Ok((last_owner, owner)) = self.outside_owner(path) else { return };
        let is_instance = var.template.as_ref().is_none_or(|header| header.params.is_empty());
        match owner {
            Some(Symbol::ClassTemplate(template)) if !is_instance => {
                self.tables.class_template_mut(template).outside_values.push(var);
                for instance in self.complete_instances(template) {
                    self.attach_value(instance, var, false);
                }
            }
            Some(symbol @ (Symbol::ClassTemplate(_) | Symbol::Type(_))) => {
                let ty = self.symbol_as_type(&symbol, last_owner.args.as_deref(), last_owner.span);
                if let Some(id) = self.tables.types().struct_id(ty.ty) {
                    self.complete_class(id);
                    // `template <> constant int Tile<2>::size = 1;`: for one instance only.
                    self.attach_value(id, var, var.template.is_some());
                }
            }
            // `int n::x = 1;`
            _ => {}
        }
    }

    /// Attaches values outside the class to the members of an instance.
    pub(super) fn attach_outside_values(&mut self, id: StructId) {
        let Some((template, _)) = self.tables.class(id).template else { return };
        for var in self.tables.class_template(template).outside_values.clone() {
            self.attach_value(id, var, false);
        }
    }

    /// Sets the value of a member that has none; with `replaces`, even if it has one, as long as nothing has used it.
    fn attach_value(&mut self, id: StructId, var: &'a ast::VarDecl, replaces: bool) {
        let (Some(path), Some(_)) = (&var.name, &var.init) else { return };
        let class = self.tables.class(id).scope;
        let Some(Symbol::Global(member)) = self.tables.scopes().own(class, &path.last().name) else { return };
        let member = *member;
        match self.tables.deferred_init(member) {
            Some(init) if replaces || init.decl.init.is_none() => {}
            _ => return,
        }
        // Its parameters may have other names there.
        let scope = match (&var.template, self.tables.class(id).template.clone()) {
            (Some(header), Some((_, args))) if !header.params.is_empty() => self.bind_all(header, &args, class),
            _ => class,
        };
        self.tables.defer_init(member, GlobalInit { decl: var, scope });
    }
}
