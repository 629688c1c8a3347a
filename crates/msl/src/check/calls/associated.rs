//! Argument-dependent lookup: functions of the namespaces that the types of the arguments belong to.

use crate::check::expressions::Operand;
use crate::check::tables::{EntityId, ScopeId, Symbol, Tables, TemplateArg};
use crate::types::{StructId, Ty, TyKind};
use std::collections::HashSet;

impl<'a> Tables<'a> {
    /// Adds the functions of this name in the namespaces of the arguments.
    pub(super) fn add_associated(&self, name: &str, args: &[Operand<'a>], entities: &mut Vec<EntityId>) {
        let mut found = Associated::default();
        for arg in args {
            match arg {
                Operand::Value(expr) => self.associate(expr.ty.ty, &mut found),
                Operand::Functions(set) => {
                    set.entities.iter().for_each(|entity| self.associate_function(*entity, &mut found));
                }
                _ => {}
            }
        }
        for space in found.spaces {
            if let Some(Symbol::Functions(functions)) = self.scopes().own(space, name) {
                for &entity in functions {
                    if !entities.contains(&entity) {
                        entities.push(entity);
                    }
                }
            }
        }
    }

    fn associate(&self, ty: Ty, found: &mut Associated) {
        if !found.types.insert(ty) {
            return;
        }
        match self.types().kind(ty) {
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => self.associate(to.ty, found),
            TyKind::Array { element, .. } => self.associate(*element, found),
            TyKind::MemberPointer { class, member } => {
                found.add(self.namespace_of_class(*class));
                self.associate(member.ty, found);
            }
            TyKind::Function { result, params } => {
                self.associate(*result, found);
                params.iter().for_each(|param| self.associate(*param, found));
            }
            TyKind::Struct(id) => {
                self.associate_class(*id, found);
                if let Some((_, args)) = &self.class(*id).template {
                    self.associate_arguments(args, found);
                }
            }
            TyKind::Enum(id) => found.add(self.scopes().enclosing_namespace(self.scope_of_enum(*id))),
            // Classes of the library. Vectors are the compiler's own types.
            TyKind::Matrix { .. } | TyKind::SimdgroupMatrix { .. } | TyKind::Atomic(_) => {
                if let Some(Symbol::Namespace(metal)) = self.scopes().own(ScopeId::GLOBAL, "metal") {
                    found.add(*metal);
                }
            }
            _ => {}
        }
    }

    fn associate_function(&self, function: EntityId, found: &mut Associated) {
        const NO_TEMPLATE: &[TemplateArg] = &[];
        if let Some(Some(signature)) = self.entity(function).signatures.get(NO_TEMPLATE) {
            let params = signature.params.iter().map(|param| param.ty.ty);
            params.chain(signature.result).for_each(|ty| self.associate(ty, found));
        }
    }

    fn associate_class(&self, class: StructId, found: &mut Associated) {
        // Paths to a base may double with each class.
        if !found.classes.insert(class) {
            return;
        }
        found.add(self.namespace_of_class(class));
        self.class(class).bases.iter().for_each(|base| self.associate_class(*base, found));
    }

    fn associate_arguments(&self, args: &[TemplateArg], found: &mut Associated) {
        for arg in args {
            match arg {
                TemplateArg::Type(ty) => self.associate(ty.ty, found),
                TemplateArg::Pack(args) => self.associate_arguments(args, found),
                _ => {}
            }
        }
    }
}

/// The namespaces of some types.
#[derive(Default)]
struct Associated {
    types: HashSet<Ty>,
    classes: HashSet<StructId>,
    spaces: Vec<ScopeId>,
}

impl Associated {
    fn add(&mut self, space: ScopeId) {
        if !self.spaces.contains(&space) {
            self.spaces.push(space);
        }
    }
}
