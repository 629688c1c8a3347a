//! Copies of objects whose class says how.

use crate::check::Checker;
use crate::check::tables::{EntityId, Tables};
use crate::program::Expr;
use crate::source::Span;
use crate::types::{AddressSpace, StructId, TyKind};

impl<'a> Checker<'a> {
    /// A copy of the object at `place` by the copy constructor that its class declares; `None` if copying its bytes
    /// does.
    pub(in crate::check) fn copied(&mut self, place: &Expr, span: Span) -> Option<Expr> {
        let class = self.tables.types().struct_id(place.ty.ty).filter(|_| place.is_place)?;
        let ty = place.ty.ty;
        for constructor in self.tables.class(class).constructors.clone() {
            let entity = self.tables.entity(constructor);
            if entity.class != Some(class) || entity.header.is_some() || entity.builtin.is_some() {
                continue;
            }
            if !self.takes_own_reference(constructor, class) {
                continue;
            }
            let Some(signature) = self.signature(constructor, &[]) else { continue };
            if !self.tables.object_fits(constructor, AddressSpace::Thread)
                || self.conversion(place, signature.params[0].ty).is_none()
            {
                continue;
            }
            if self.tables.entity(constructor).source.first().is_some_and(|decl| decl.is_deleted) {
                let message = format!("call to deleted constructor of '{}'", self.tables.name_of(ty));
                self.diagnostics.error("deleted", span, message);
                return Some(Expr::error(span));
            }
            self.refuse_inaccessible(constructor, None, span);
            return Some(self.construct_with(constructor, None, vec![place.clone()], ty, span));
        }
        None
    }

    /// True for a copy constructor: it takes a reference to its class, and needs nothing else.
    fn takes_own_reference(&mut self, constructor: EntityId, class: StructId) -> bool {
        let Some(signature) = self.signature(constructor, &[]) else { return false };
        let [first, rest @ ..] = &*signature.params else { return false };
        let own = match *self.tables.types().kind(first.ty.ty) {
            TyKind::Reference { to, rvalue: false } => self.tables.types().struct_id(to.ty) == Some(class),
            _ => false,
        };
        own && rest.iter().all(|param| param.default.is_some())
    }
}

impl<'a> Tables<'a> {
    /// The reason for which a class has no implicit copy assignment.
    pub(in crate::check) fn unassignable_member(&self, class: StructId) -> Option<String> {
        let fields = &self.types().struct_(class).fields;
        let field = fields.iter().find(|field| {
            let is_reference = matches!(self.types().kind(field.ty.ty), TyKind::Reference { .. });
            (field.ty.is_const || is_reference) && !field.is_padding()
        })?;
        let name = self.name_of_class(class);
        Some(format!(
            "object of type '{name}' cannot be assigned because its copy assignment operator is implicitly deleted: \
             member '{}' is a {}",
            field.name,
            if field.ty.is_const { "constant" } else { "reference" }
        ))
    }

    fn name_of_class(&self, class: StructId) -> String {
        self.types().struct_(class).name.to_string()
    }
}
